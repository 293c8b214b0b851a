// The worker's page: consent, qualification, one item after another. An answer waits in the browser until the server
// has acknowledged it, through reloads and times without a network. The task's own part is in task.js.

import { showTask } from "./task.js";

const base = location.pathname.replace(/\/$/, "");
const stored = `vttdata ${base}`;
const RETRY_SECONDS = [1, 2, 4, 8, 15];
const $ = (id) => document.getElementById(id);

let state = null;
let task = null;
let shownAt = 0;
let isSending = false;

class Refusal extends Error {
  constructor(status, message) {
    super(message);
    this.status = status;
  }
}

async function request(path, body) {
  const options = body === undefined ? {} : {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify(body),
  };
  const response = await fetch(base + path, { ...options, signal: AbortSignal.timeout(30000) });
  const content = await response.json().catch(() => ({}));
  if (!response.ok) throw new Refusal(response.status, content.error ?? `The server answered ${response.status}.`);
  return content;
}

// Repeats a request until the server answers; a refusal that will not change is thrown.
async function insist(path, body) {
  for (let attempt = 0; ; attempt += 1) {
    try {
      const content = await request(path, body);
      notify("");
      return content;
    } catch (error) {
      if (error instanceof Refusal && error.status < 500) throw error;
      const waiting = body === undefined ? "" : " Your answer is kept here and will be sent.";
      notify(error instanceof Refusal ? error.message : `No connection to the server.${waiting}`);
      const seconds = RETRY_SECONDS[Math.min(attempt, RETRY_SECONDS.length - 1)];
      await new Promise((resolve) => {
        const timer = setTimeout(resolve, 1000 * seconds * (0.7 + 0.6 * Math.random()));
        addEventListener("online", () => (clearTimeout(timer), resolve()), { once: true });
      });
    }
  }
}

function notify(text) {
  $("notice").textContent = text;
  $("notice").hidden = text === "";
}

function showSection(id) {
  for (const name of ["message", "consent", "quiz", "task"]) $(name).hidden = name !== id;
  scrollTo(0, 0);
}

function paragraphs(box, texts) {
  box.replaceChildren(...texts.map((text) => {
    const paragraph = document.createElement("p");
    paragraph.textContent = text;
    return paragraph;
  }));
}

function showMessage(title, ...texts) {
  $("message-title").textContent = title;
  paragraphs($("message-text"), texts);
  showSection("message");
  $("message-title").focus();
}

function show(next) {
  state = next;
  document.title = state.title;
  $("turk").hidden = true;
  if (state.stage !== "item") $("video").removeAttribute("src");
  if (state.stage === "consent") return showConsent();
  if (state.stage === "quiz") return showQuiz();
  if (state.stage === "item") return showItem();
  if (state.stage === "stopped") {
    return showMessage("Thank you", "The test was not passed, so there is no task for you here.");
  }
  if (state.stage === "wait") {
    showMessage("Nothing to do at the moment", "Everything that is left is with other people. This page looks again by itself.");
    setTimeout(load, 20000);
    return undefined;
  }
  return showEnd();
}

function showConsent() {
  $("consent-title").textContent = state.title;
  paragraphs($("consent-instructions"), state.instructions);
  $("consent-text").textContent = state.consent;
  showSection("consent");
  $("consent-title").focus();
}

function showQuiz() {
  $("quiz-note").textContent = state.reasons?.length
    ? `Not passed. ${state.reasons.join(" ")} You can try once more.`
    : `Answer these questions; you can try ${state.attempts === 1 ? "once" : `${state.attempts} times`}.`;
  $("quiz-questions").replaceChildren(...state.quiz.map((question, number) => {
    const group = document.createElement("fieldset");
    const legend = document.createElement("legend");
    legend.textContent = question.text;
    group.append(legend);
    question.choices.forEach((choice, index) => {
      const label = document.createElement("label");
      const input = document.createElement("input");
      Object.assign(input, { type: "radio", name: `q${number}`, value: String(index), required: true });
      label.append(input, ` ${choice}`);
      group.append(label);
    });
    return group;
  }));
  showSection("quiz");
  $("quiz-title").focus();
}

function showEnd() {
  const code = state.code;
  const platform = state.platform ?? {};
  const texts = [`You are done${state.done ? "" : "; there is nothing left to do"}.`, `Your completion code is ${code}.`];
  showMessage("Thank you!", ...texts);
  if (platform.SESSION_ID || platform.STUDY_ID) {
    const link = document.createElement("a");
    link.href = `https://app.prolific.com/submissions/complete?cc=${encodeURIComponent(code)}`;
    link.textContent = "Return to Prolific";
    $("message-text").append(link);
  }
  let turk = null;
  try {
    const url = new URL(platform.turkSubmitTo ?? "");
    // Codes go to Mechanical Turk only, whatever the link says.
    if (url.protocol === "https:" && url.hostname.endsWith(".mturk.com")) turk = `${url.origin}/mturk/externalSubmit`;
  } catch {
    turk = null;
  }
  if (turk !== null) {
    $("turk").action = turk;
    $("turk").elements.assignmentId.value = platform.assignmentId ?? "";
    $("turk").elements.code.value = code;
    $("turk").hidden = false;
  }
}

function showItem() {
  const several = state.count > 1;
  $("count").textContent = several ? `${state.position + 1} of ${state.count}` : `Video ${state.done + 1}`;
  $("bar").max = several ? state.count : 1;
  $("bar").value = several ? state.position : 0;
  $("bar").hidden = !several;
  $("task-title").textContent = `${state.title}, ${$("count").textContent}`;
  paragraphs($("help"), state.instructions);
  hint("");
  $("problem").hidden = true;
  $("answer").inert = false;
  const address = `${base}/video/${state.video}`;
  if ($("video").getAttribute("src") !== address) $("video").src = address;
  else $("video").currentTime = 0;
  showSection("task");
  task = showTask({
    box: $("box"),
    video: $("video"),
    shown: state.shown,
    hint,
    submit,
    check: (answer) => request("/check", { unit: state.unit, item: state.item, answer }),
    keys: (texts) => {
      const line = document.createElement("p");
      line.textContent = `Keys: ${["Space plays or pauses", ...texts].join(", ")}.`;
      $("help").append(line);
    },
  });
  $("task-title").focus({ preventScroll: true });
  shownAt = performance.now();
}

function hint(text) {
  $("hint").textContent = text;
}

async function submit() {
  if (isSending) return;
  const answer = task.read();
  if (typeof answer === "string") return hint(answer);
  await send({ answer });
}

async function send(content) {
  const pending = {
    id: crypto.randomUUID?.() ?? Array.from(crypto.getRandomValues(new Uint8Array(16)), (x) => x.toString(16)).join(""),
    unit: state.unit,
    item: state.item,
    seconds: (performance.now() - shownAt) / 1000,
    ...content,
  };
  try {
    localStorage.setItem(stored, JSON.stringify(pending));
  } catch {
    // Without storage an answer waits in this page's memory only.
  }
  await deliver(pending);
}

async function deliver(pending) {
  isSending = true;
  $("next").setAttribute("aria-disabled", "true");
  try {
    const next = await insist("/answer", pending);
    localStorage.removeItem(stored);
    if (next.saved === "elsewhere") notify("This was answered in another window already.");
    show(next);
  } catch (error) {
    localStorage.removeItem(stored);
    // What can be corrected stays on the page.
    if (error.status === 422 && state !== null) hint(error.message);
    else if (error.status === 422) await load();
    else showMessage("This cannot go on", error.message ?? String(error));
  } finally {
    isSending = false;
    $("next").removeAttribute("aria-disabled");
  }
}

async function load() {
  try {
    show(await insist("/state"));
  } catch (error) {
    showMessage("This cannot go on", error.message);
  }
}

$("agree").addEventListener("click", async () => show(await insist("/agree", {})));
$("quiz-form").addEventListener("submit", async (event) => {
  event.preventDefault();
  const choices = state.quiz.map((_, number) => Number(new FormData(event.target).get(`q${number}`)));
  show(await insist("/quiz", { choices }));
});
$("next").addEventListener("click", submit);
$("retry").addEventListener("click", () => {
  $("problem").hidden = true;
  $("answer").inert = false;
  $("video").load();
});
$("report").addEventListener("click", () => send({ problem: $("problem-text").textContent }));
$("video").addEventListener("error", () => {
  if (!$("video").getAttribute("src")) return;
  $("problem-text").textContent = "The video cannot be played.";
  $("problem").hidden = false;
  $("answer").inert = true;
});
document.addEventListener("keydown", (event) => {
  if ($("task").hidden || event.ctrlKey || event.metaKey || event.altKey || !$("problem").hidden) return;
  const tag = event.target.tagName;
  const isText = tag === "TEXTAREA" || (tag === "INPUT" && event.target.type === "text");
  if (isText) {
    if (event.key === "Enter" && !event.shiftKey && !event.isComposing) {
      event.preventDefault();
      submit();
    }
    return;
  }
  const video = $("video");
  if (event.key === " " && tag !== "BUTTON" && tag !== "SUMMARY" && tag !== "VIDEO" && event.target.type !== "checkbox") {
    event.preventDefault();
    if (video.paused) video.play().catch(() => {});
    else video.pause();
  } else if (event.key === "Enter" && tag !== "BUTTON" && tag !== "SUMMARY" && tag !== "A") {
    event.preventDefault();
    submit();
  } else if (tag !== "VIDEO" && task.key?.(event.key, event.target)) {
    event.preventDefault();
  }
});

const pending = localStorage.getItem(stored);
if (pending === null) load();
else deliver(JSON.parse(pending));
