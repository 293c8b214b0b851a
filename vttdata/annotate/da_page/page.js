// The task itself: one item after the other, with mouse, touch or keyboard. There is no way back: an answer given again
// after other captions were seen would no longer be independent of them.

const PATIENCE = 15000; // ms of loading in vain after which the assessor may report a video
const hit = JSON.parse(find("hit").textContent);
const opening = opened();
const video = find("video");
const next = find("next");
const clock = new Clock();
const scale = new Scale(find("scale"), find("slider"), refresh);
let answers = null;
let position = 0;
let waiting = 0;
let tabbed = false;

function refresh() {
  next.disabled = scale.score === null;
  find("hint").textContent = scale.score === null ? "Click or drag on the scale to answer." : "";
}

function present() {
  position = answers.position;
  if (answers.complete) return finish();
  const item = hit.items[position];
  find("count").textContent = `${position + 1} of ${hit.items.length}`;
  find("bar").max = hit.items.length;
  find("bar").value = position;
  find("caption").textContent = item.caption;
  find("caption").scrollTop = 0;
  find("spoken").textContent = `${position + 1} of ${hit.items.length}. Caption: ${item.caption}`;
  next.textContent = position + 1 === hit.items.length ? "Finish" : "Next";
  scale.reset();
  refresh();
  showVideo(item.video);
  show("task");
  find("slider").focus({ preventScroll: true });
  clock.start(answers.spent);
  answers.spent = 0;
}

function finish() {
  clearTimeout(waiting);
  video.removeAttribute("src");
  video.load();
  showEnd(answers, opening);
}

function showVideo(address) {
  trouble(null);
  video.src = address;
  expect();
}

// Browsers that save data fetch nothing before a video is played: that is no trouble.
function expect() {
  clearTimeout(waiting);
  waiting = setTimeout(() => {
    const late = video.readyState === 0 && video.networkState === video.NETWORK_LOADING;
    if (late) trouble("This video is slow to arrive.");
  }, PATIENCE);
}

// A browser that cannot decode the picture may still play the sound: that is no video to assess.
function arrived() {
  clearTimeout(waiting);
  trouble(video.videoWidth === 0 ? "This video has no picture that this browser can show." : null);
  const later = hit.items[position + 1];
  if (later !== undefined && later.video !== hit.items[position].video) {
    Object.assign(document.createElement("video"), { preload: "auto", src: later.video });
  }
}

function trouble(text) {
  const before = !find("trouble").hidden;
  find("trouble").hidden = text === null;
  find("trouble-text").textContent = text ?? "";
  find("answer").inert = text !== null;
  if (text !== null) find("retry").focus();
  else if (before) find("slider").focus({ preventScroll: true });
}

function watched() {
  let seconds = 0;
  for (let span = 0; span < video.played.length; span += 1) seconds += video.played.end(span) - video.played.start(span);
  return seconds;
}

function accept(score, note) {
  answers.load(); // the first answer stays, also one given in another window
  if (answers.position === position) answers.add(score, clock.seconds, watched(), note);
  present();
}

function go() {
  if (scale.score === null) find("hint").textContent = "Move the marker first: click or drag on the scale.";
  else accept(scale.score, "");
}

function begin(chosen) {
  answers = chosen;
  if (!answers.kept) addEventListener("beforeunload", (event) => answers.complete || event.preventDefault());
  present();
}

function playOrPause() {
  if (video.paused) video.play().catch(() => undefined);
  else video.pause();
}

// Buttons keep their keys while they have the focus, and so do the video's own controls when they were reached by keys:
// after a mere click on the video the keys mean the scale.
function onKey(event) {
  if (event.key === "Tab") tabbed = true;
  if (find("task").hidden || event.ctrlKey || event.altKey || event.metaKey) return;
  if (event.target.closest("button, summary") !== null || (tabbed && event.target === video)) return;
  if (event.key === "Enter" && !event.repeat && find("trouble").hidden) go();
  else if (event.key === " ") event.repeat || playOrPause();
  else if (find("answer").inert || !scale.key(event.key)) return;
  event.preventDefault();
}

function onVisibility() {
  if (answers === null || answers.complete) return;
  if (document.hidden) {
    clock.pause();
    leave();
  } else {
    clock.start(clock.seconds);
    catchUp();
  }
}

function leave() {
  if (answers === null || answers.complete) return;
  answers.spent = clock.seconds;
  answers.save();
}

// The same worker may have gone on in another window.
function catchUp() {
  answers.load();
  if (answers.position !== position) present();
}

video.addEventListener("loadedmetadata", arrived);
video.addEventListener("waiting", expect);
video.addEventListener("error", () => {
  if (!video.hasAttribute("src")) return;
  clearTimeout(waiting);
  trouble("This video cannot be played.");
});
next.addEventListener("click", go);
find("retry").addEventListener("click", () => showVideo(hit.items[position].video));
find("report").addEventListener("click", () => accept(null, "video cannot be played"));
document.addEventListener("keydown", onKey, true);
document.addEventListener("pointerdown", () => (tabbed = false), true);
document.addEventListener("visibilitychange", onVisibility);
addEventListener("pagehide", leave);
addEventListener("storage", (event) => event.key === answers?.key && catchUp());
find("question").textContent = hit.question;
find("low").textContent = hit.ends[0];
find("high").textContent = hit.ends[1];
showStart(hit, opening, begin);
