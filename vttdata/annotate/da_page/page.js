// The task: one item after the other, by mouse, touch or keyboard. There is no way back, since an answer that is changed
// after other captions were seen would not be independent of them.

const SLOW_VIDEO_MS = 15000; // time of loading without data after which the assessor may report a video
const hit = JSON.parse(element("hit").textContent);
const parameters = readParameters();
const video = element("video");
const next = element("next");
const stopwatch = new Stopwatch();
const scale = new Scale(element("scale"), element("slider"), updateNext);
let answers = null;
let position = 0;
let slowVideoTimer = 0;
let usedTabKey = false;

function updateNext() {
  next.disabled = scale.score === null;
  element("hint").textContent = scale.score === null ? "Click or drag on the scale to answer." : "";
}

function showItem() {
  position = answers.position;
  if (answers.isComplete) return finish();
  const item = hit.items[position];
  element("count").textContent = `${position + 1} of ${hit.items.length}`;
  element("bar").max = hit.items.length;
  element("bar").value = position;
  element("caption").textContent = item.caption;
  element("caption").scrollTop = 0;
  element("announcement").textContent = `${position + 1} of ${hit.items.length}. Caption: ${item.caption}`;
  next.textContent = position + 1 === hit.items.length ? "Finish" : "Next";
  scale.reset();
  updateNext();
  loadVideo(item.video);
  showScreen("task");
  element("slider").focus({ preventScroll: true });
  stopwatch.start(answers.secondsSpent);
  answers.secondsSpent = 0;
}

function finish() {
  clearTimeout(slowVideoTimer);
  video.removeAttribute("src");
  video.load();
  showEnd(answers, parameters);
}

function loadVideo(address) {
  showProblem(null);
  video.src = address;
  watchForSlowVideo();
}

// Browsers that save data load nothing before a video is played, which is not a problem.
function watchForSlowVideo() {
  clearTimeout(slowVideoTimer);
  slowVideoTimer = setTimeout(() => {
    const isLate = video.readyState === 0 && video.networkState === video.NETWORK_LOADING;
    if (isLate) showProblem("This video is slow to load.");
  }, SLOW_VIDEO_MS);
}

// A browser that cannot decode the picture may still play the sound, but such a video cannot be assessed.
function onVideoLoaded() {
  clearTimeout(slowVideoTimer);
  showProblem(video.videoWidth === 0 ? "This browser cannot show the picture of this video." : null);
  const following = hit.items[position + 1];
  if (following !== undefined && following.video !== hit.items[position].video) {
    Object.assign(document.createElement("video"), { preload: "auto", src: following.video });
  }
}

// Shows a problem with the video, or hides it if the text is null.
function showProblem(text) {
  const wasShown = !element("problem").hidden;
  element("problem").hidden = text === null;
  element("problem-text").textContent = text ?? "";
  element("answer").inert = text !== null;
  if (text !== null) element("retry").focus();
  else if (wasShown) element("slider").focus({ preventScroll: true });
}

function secondsWatched() {
  let seconds = 0;
  for (let span = 0; span < video.played.length; span += 1) seconds += video.played.end(span) - video.played.start(span);
  return seconds;
}

function recordAnswer(score, note) {
  answers.load(); // of several answers to an item the first one counts, also from another window
  if (answers.position === position) answers.add(score, stopwatch.seconds, secondsWatched(), note);
  showItem();
}

function submitScore() {
  if (scale.score === null) element("hint").textContent = "Move the marker first: click or drag on the scale.";
  else recordAnswer(scale.score, "");
}

function startTask(answersOfWorker) {
  answers = answersOfWorker;
  if (!answers.canStore) addEventListener("beforeunload", (event) => answers.isComplete || event.preventDefault());
  showItem();
}

function togglePlayback() {
  if (video.paused) video.play().catch(() => undefined);
  else video.pause();
}

// A focused button handles its own keys, and so do the video's controls if they were reached with the Tab key. After a
// mere click on the video, keys move the marker.
function onKey(event) {
  if (event.key === "Tab") usedTabKey = true;
  if (element("task").hidden || event.ctrlKey || event.altKey || event.metaKey) return;
  if (event.target.closest("button, summary") !== null || (usedTabKey && event.target === video)) return;
  if (event.key === "Enter" && !event.repeat && element("problem").hidden) submitScore();
  else if (event.key === " ") event.repeat || togglePlayback();
  else if (element("answer").inert || !scale.handleKey(event.key)) return;
  event.preventDefault();
}

function onVisibilityChange() {
  if (answers === null || answers.isComplete) return;
  if (document.hidden) {
    stopwatch.pause();
    saveProgress();
  } else {
    stopwatch.start(stopwatch.seconds);
    loadProgress();
  }
}

function saveProgress() {
  if (answers === null || answers.isComplete) return;
  answers.secondsSpent = stopwatch.seconds;
  answers.save();
}

// The same worker may have answered items in another window.
function loadProgress() {
  answers.load();
  if (answers.position !== position) showItem();
}

video.addEventListener("loadedmetadata", onVideoLoaded);
video.addEventListener("waiting", watchForSlowVideo);
video.addEventListener("error", () => {
  if (!video.hasAttribute("src")) return;
  clearTimeout(slowVideoTimer);
  showProblem("This video cannot be played.");
});
next.addEventListener("click", submitScore);
element("retry").addEventListener("click", () => loadVideo(hit.items[position].video));
element("report").addEventListener("click", () => recordAnswer(null, "video cannot be played"));
document.addEventListener("keydown", onKey, true);
document.addEventListener("pointerdown", () => (usedTabKey = false), true);
document.addEventListener("visibilitychange", onVisibilityChange);
addEventListener("pagehide", saveProgress);
addEventListener("storage", (event) => event.key === answers?.storageKey && loadProgress());
element("question").textContent = hit.question;
element("low").textContent = hit.ends[0];
element("high").textContent = hit.ends[1];
showStart(hit, parameters, startTask);
