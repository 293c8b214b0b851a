// Page of the task `choose`: a proposed clip in its video, whose ends are set to the frame that is shown. Times are those
// at which the browser presents frames (requestVideoFrameCallback), compared with the list of all frames' times.

import { make } from "./elements.js";

export function showTask({ box, video, shown, hint, keys }) {
  const times = shown.times;
  const clip = { first: shown.first, last: shown.last };
  let frame = null;
  // Frame that is sought and not shown yet, from which the next step goes on.
  let wanted = null;
  let stopAt = null;
  const live = () => box.contains(status);
  const status = make("p", { id: "clip", className: "text" });
  const position = make("p", { id: "frame", className: "note" });
  const end = (index) => (index + 1 < times.length ? times[index + 1] - times[0] : shown.end);
  const seconds = (value) => `${value.toFixed(2)} s`;

  function nearest(time) {
    let low = 0;
    let high = times.length - 1;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (times[middle] < time) low = middle + 1;
      else high = middle;
    }
    return low > 0 && time - times[low - 1] <= times[low] - time ? low - 1 : low;
  }
  function describe() {
    const start = times[clip.first] - times[0];
    const finish = end(clip.last);
    const moved = clip.first !== shown.first || clip.last !== shown.last ? ", trimmed" : "";
    status.textContent = `Clip: ${seconds(start)} to ${seconds(finish)}, ${seconds(finish - start)} long${moved}`;
    if (frame !== null) position.textContent = `Shown: frame ${frame} at ${seconds(times[frame] - times[0])}`;
  }
  function onFrame(now, metadata) {
    if (!live()) return;
    frame = nearest(metadata.mediaTime);
    if (frame === wanted || !video.seeking) wanted = null;
    if (stopAt !== null && frame >= stopAt) {
      video.pause();
      stopAt = null;
    }
    describe();
    video.requestVideoFrameCallback(onFrame);
  }
  // A frame is shown from its time on, so that the middle to the next one finds it whatever the rounding.
  function seek(index) {
    const target = Math.min(Math.max(index, 0), times.length - 1);
    const next = target + 1 < times.length ? times[target + 1] : times[target] + 0.02;
    wanted = target;
    video.pause();
    video.currentTime = (times[target] + next) / 2;
  }
  function step(number) {
    stopAt = null;
    seek((wanted ?? frame ?? clip.first) + number);
  }
  function setEnd(name) {
    if (frame === null || video.seeking) return hint("Wait until the frame is shown.");
    clip[name] = frame;
    hint("");
    return describe();
  }
  function play() {
    seek(clip.first);
    stopAt = clip.last;
    video.play().catch(() => {});
  }
  const actions = {
    "[": ["Start here", () => setEnd("first")],
    "]": ["End here", () => setEnd("last")],
    ",": ["Frame back", () => step(-1)],
    ".": ["Frame on", () => step(1)],
    p: ["Play the clip", play],
    s: ["Go to its start", () => seek(clip.first)],
    e: ["Go to its end", () => seek(clip.last)],
    r: ["Proposal again", () => (Object.assign(clip, { first: shown.first, last: shown.last }), describe())],
  };
  const decisions = make("fieldset", {}, make("legend", { textContent: "Is this a clip?" }),
    ...[["keep", "Keep it, as it is set above (K)"], ["reject", "Reject it (X)"]].map(([value, text]) => make("label", {},
      make("input", { type: "radio", name: "decision", value }), text)));
  box.replaceChildren(
    status,
    position,
    make("div", { className: "frames" }, ...Object.entries(actions).map(([key, [text, act]]) => {
      const button = make("button", { type: "button" }, text, " ", make("kbd", { textContent: key.toUpperCase() }));
      button.addEventListener("click", act);
      return button;
    })),
    decisions,
  );
  decisions.addEventListener("change", () => hint(""));
  keys(["[ and ] set the ends", "comma and full stop step by a frame", "P plays the clip", "S and E go to its ends",
    "R takes the proposal again", "K keeps", "X rejects", "Enter continues"]);
  describe();
  video.requestVideoFrameCallback(onFrame);
  if (video.readyState >= 1) seek(clip.first);
  else video.addEventListener("loadedmetadata", () => live() && seek(clip.first), { once: true });
  const decide = (value) => {
    decisions.querySelector(`input[value=${value}]`).checked = true;
    hint("");
  };
  return {
    key: (key) => {
      const name = key.toLowerCase();
      if (name === "k" || name === "x") decide(name === "k" ? "keep" : "reject");
      else if (name in actions) actions[name][1]();
      else return false;
      return true;
    },
    read: () => {
      const chosen = decisions.querySelector("input:checked")?.value;
      if (chosen === undefined) return "Keep or reject the clip first.";
      if (chosen === "reject") return { decision: "reject" };
      return clip.last < clip.first ? "The clip ends before it starts." : { decision: "keep", ...clip };
    },
  };
}
