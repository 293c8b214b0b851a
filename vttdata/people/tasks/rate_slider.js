// Page of the task `rate-slider`: a caption and a scale without numbers (scale.js). Nothing depends on the kind of
// item, so that controls look like any other item.

import { $, make } from "./elements.js";
import { Scale } from "./scale.js";

const ADVICE = "Click or drag on the scale to answer.";
let scale = null;

function makeScale(box, ends, hint) {
  const slider = make("input", { id: "slider", type: "range", min: 0, max: 100, step: 1, value: 50 });
  slider.setAttribute("aria-labelledby", "question");
  slider.setAttribute("aria-describedby", "caption");
  const ticks = make("div", { className: "ticks" }, ...Array.from({ length: 5 }, () => make("i")));
  const track = make("div", { className: "track" }, make("div", { className: "fill" }));
  const scaleBox = make("div", { id: "scale", className: "scale" }, slider, track, ticks,
    make("div", { className: "thumb" }));
  box.replaceChildren(
    make("h2", { id: "caption-label", textContent: "Caption" }),
    make("blockquote", { id: "caption", className: "text", dir: "auto", translate: false }),
    make("p", { id: "question", className: "question" }),
    scaleBox,
    make("div", { className: "ends" }, ...ends.map((text) => make("span", { textContent: text }))),
  );
  return new Scale(scaleBox, slider, () => hint(scale.score === null ? ADVICE : ""));
}

export function showTask({ box, video, shown, hint, keys }) {
  // The same elements show every item, so that a focus on the slider stays there.
  scale ??= makeScale(box, shown.ends, hint);
  $("caption").textContent = shown.caption;
  $("caption").scrollTop = 0;
  $("question").textContent = shown.question;
  scale.reset();
  video.loop = true;
  hint(ADVICE);
  keys(["arrows, Page Up, Page Down, Home and End move the marker", "Enter continues"]);
  return {
    first: scale.slider,
    key: (key) => scale.handleKey(key),
    read: () => (scale.score === null ? "Place your answer on the scale first." : { score: scale.score }),
  };
}
