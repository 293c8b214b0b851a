// The worker's page: what is read first, a qualification, one item after another. The task's own part is in task.js.
//
// transport.js says where items come from and where answers go, a server (served.js) or this browser (static.js).
// `openTransport(page)` returns what the page calls: `open()`, `begin(worker)`, `takeQuiz(choices)`,
// `answer({ answer or problem, seconds, observed })`, `pause(seconds)` when an item is left for a while, `send()`, and of
// a server `check(answer)` and `keep(draft)`, with what is written and not sent yet. It answers, at once or later, by
// `page.show(state)`, where `state.stage` names the screen.

import { $, make, setParagraphs } from "./elements.js";
import { Stopwatch } from "./stopwatch.js";
import { showTask } from "./task.js";
import { openTransport } from "./transport.js";
import { Viewing } from "./viewing.js";

const WATCH = "Please watch the video first.";
const SLOW_VIDEO_MS = 15000; // time of loading without data after which a worker may report a video
const video = $("video");
const stopwatch = new Stopwatch();
const viewing = new Viewing(video, updateNext);
const transport = openTransport({ show, notify, refuse, setBusy });

let state = { stage: "message" };
let task = null;
let isBusy = false;
let slowVideoTimer = 0;
let usedTabKey = false;
let following = null; // element that loads the next video ahead

// Shows a sentence above every screen.
function notify(text) {
  $("notice").textContent = text;
  $("notice").hidden = text === "";
}

// Shows what is wrong with what was just entered, which can be corrected.
function refuse(text) {
  if (state.stage !== "consent") return hint(text);
  $("start-note").textContent = text;
  return $("worker").focus();
}

function setBusy(busy) {
  isBusy = busy;
  if (busy) $("next").setAttribute("aria-disabled", "true");
  else $("next").removeAttribute("aria-disabled");
}

function showSection(id) {
  for (const name of ["message", "start", "quiz", "task", "end"]) $(name).hidden = name !== id;
  scrollTo(0, 0);
}

function show(next) {
  state = next;
  document.title = state.title;
  if (state.stage === "item") return showItem();
  task = null;
  clearTimeout(slowVideoTimer);
  video.removeAttribute("src");
  video.load();
  following = null;
  const screens = { consent: showStart, quiz: showQuiz, done: showEnd, message: showMessage };
  return screens[state.stage]();
}

function showMessage() {
  $("message-title").textContent = state.heading;
  setParagraphs($("message-text"), state.texts);
  showSection("message");
  $("message-title").focus();
}

function showStart() {
  $("start-title").textContent = state.title;
  setParagraphs($("start-instructions"), state.instructions);
  $("start-data").hidden = state.consent === "";
  $("start-consent").textContent = state.consent;
  $("worker-field").hidden = !state.asksWorker;
  $("worker").required = state.asksWorker === true;
  $("start-note").textContent = state.note ?? "";
  $("begin").textContent = state.resumes ? "Continue" : state.consent === "" ? "Start" : "I agree, start";
  $("begin").disabled = state.isPreview === true;
  showSection("start");
  $("start-title").focus();
}

function showQuiz() {
  $("quiz-note").textContent = state.reasons?.length
    ? `Not passed. ${state.reasons.join(" ")} You can try once more.`
    : `Answer these questions; you can try ${state.attempts === 1 ? "once" : `${state.attempts} times`}.`;
  $("quiz-questions").replaceChildren(...state.quiz.map((question, number) => make("fieldset", {},
    make("legend", { textContent: question.text }),
    ...question.choices.map((choice, index) => make("label", {},
      make("input", { type: "radio", name: `q${number}`, value: String(index), required: true }), ` ${choice}`)))));
  showSection("quiz");
  $("quiz-title").focus();
}

function showEnd() {
  setParagraphs($("end-text"), state.texts);
  if (state.link) $("end-text").append(make("a", state.link));
  $("send").hidden = !state.canSend;
  showSection("end");
  $("end-title").focus();
}

function showItem() {
  const several = state.count > 1;
  $("task-title").textContent = state.title;
  $("count").textContent = several ? `${state.position + 1} of ${state.count}` : `Video ${state.done + 1}`;
  $("announcement").textContent = $("count").textContent;
  $("bar").max = several ? state.count : 1;
  $("bar").value = several ? state.position : 0;
  $("bar").hidden = !several;
  $("next").textContent = several && state.position + 1 === state.count ? "Finish" : "Next";
  setParagraphs($("help"), state.instructions);
  task = null;
  hint("");
  viewing.restart();
  loadVideo();
  showSection("task");
  task = showTask({
    box: $("box"),
    video,
    shown: state.shown,
    draft: state.draft,
    hint,
    check: transport.check,
    keys: (texts) => $("help").append(make("p", { textContent: `Keys: ${["Space plays or pauses", ...texts].join(", ")}.` })),
  });
  updateNext();
  focusTask();
  stopwatch.start(state.spent ?? 0);
}

function focusTask() {
  (task.first ?? $("task-title")).focus({ preventScroll: true });
}

// Tasks call this whenever an answer changes.
function hint(text) {
  $("hint").textContent = text;
  updateNext();
}

// Returns the answer, or a sentence on what is missing.
function read() {
  const answer = task.read();
  const isShown = viewing.share >= (state.shown.min_shown ?? 0);
  return typeof answer === "string" || isShown ? answer : WATCH;
}

function updateNext() {
  const answer = task === null ? "" : read();
  $("next").disabled = typeof answer === "string";
  if (answer === WATCH && $("hint").textContent === "") $("hint").textContent = WATCH;
  if (answer !== WATCH && $("hint").textContent === WATCH) $("hint").textContent = "";
}

function loadVideo() {
  showProblem(null);
  video.src = state.video;
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

// A browser that cannot decode the picture may still play the sound, but such a video cannot be judged.
function onVideoLoaded() {
  clearTimeout(slowVideoTimer);
  showProblem(video.videoWidth === 0 ? "This browser cannot show the picture of this video." : null);
  const isNew = state.following !== undefined && state.following !== state.video;
  following = isNew ? make("video", { preload: "auto", src: state.following }) : null;
}

// Shows a problem with the video, or hides it if the text is null.
function showProblem(text) {
  const wasShown = !$("problem").hidden;
  $("problem").hidden = text === null;
  $("problem-text").textContent = text ?? "";
  $("answer").inert = text !== null;
  if (text !== null) $("retry").focus();
  else if (wasShown && task !== null) focusTask();
}

function submit() {
  const answer = read();
  if (typeof answer === "string") hint(answer);
  else send({ answer });
}

function send(content) {
  if (isBusy) return;
  const observed = { shown: Math.round(1000 * viewing.share) / 1000, ...task.observed?.() };
  transport.answer({ ...content, seconds: stopwatch.seconds, observed });
}

// Buttons handle their own keys, and so does the video if it was reached with the Tab key. After a mere click on the
// video, keys belong to the task.
function onKey(event) {
  if (event.key === "Tab") usedTabKey = true;
  if ($("task").hidden || event.ctrlKey || event.metaKey || event.altKey || !$("problem").hidden) return;
  const { key, target } = event;
  const isText = target.tagName === "TEXTAREA" || (target.tagName === "INPUT" && target.type === "text");
  const isButton = target.closest("button, summary, a") !== null;
  if ((target === video && usedTabKey) || (isText && (key !== "Enter" || event.shiftKey || event.isComposing))) return;
  if (key === "Enter" && !isButton) event.repeat || submit();
  else if (key === " " && !isButton && target.type !== "checkbox") event.repeat || togglePlayback();
  else if (!task.key?.(key, target)) return;
  event.preventDefault();
}

function togglePlayback() {
  if (video.paused) video.play().catch(() => undefined);
  else video.pause();
}

function onVisibilityChange() {
  if (state.stage !== "item") return;
  if (document.hidden) {
    stopwatch.pause();
    transport.pause(stopwatch.seconds);
  } else {
    stopwatch.start(stopwatch.seconds);
  }
}

$("start-form").addEventListener("submit", (event) => {
  event.preventDefault();
  transport.begin($("worker").value);
});
$("quiz-form").addEventListener("submit", (event) => {
  event.preventDefault();
  transport.takeQuiz(state.quiz.map((_, number) => Number(new FormData(event.target).get(`q${number}`))));
});
$("next").addEventListener("click", submit);
$("send").addEventListener("click", () => transport.send());
$("box").addEventListener("input", () => {
  updateNext();
  if (task?.draft !== undefined) transport.keep(task.draft());
});
$("retry").addEventListener("click", loadVideo);
$("report").addEventListener("click", () => send({ problem: $("problem-text").textContent }));
video.addEventListener("loadedmetadata", onVideoLoaded);
video.addEventListener("waiting", watchForSlowVideo);
video.addEventListener("error", () => {
  if (!video.hasAttribute("src")) return;
  clearTimeout(slowVideoTimer);
  showProblem("This video cannot be played.");
});
document.addEventListener("keydown", onKey, true);
document.addEventListener("pointerdown", () => (usedTabKey = false), true);
document.addEventListener("visibilitychange", onVisibilityChange);
addEventListener("pagehide", () => state.stage === "item" && transport.pause(stopwatch.seconds));
transport.open();
