// Transport of a page that needs no server: the answers of a worker to a HIT are kept in the browser, and at the end
// downloaded, posted, or given to Mechanical Turk. The HIT is in the page, as static_page.py writes it.

import { $, make } from "./elements.js";
import { nextAttempt } from "./retry.js";
import { submitToTurk, turkAddress } from "./turk.js";

const COLUMNS = ["hit", "worker", "item", "position", "score", "seconds", "shown", "note"];
const SEND_TIMEOUT_SECONDS = 30;
const RETRY_SECONDS = 15;

// The first character must be a letter or digit, so that a spreadsheet never takes an id for a formula.
const WORKER_ID = /^[\p{L}\p{N}][\p{L}\p{M}\p{N} ._@:+-]{0,99}$/u;

// Returns the worker id in a text, "" if it is not one.
function parseWorkerId(text) {
  const id = (text ?? "").normalize("NFC").trim();
  return WORKER_ID.test(id) ? id : "";
}

function countCaptions(count) {
  return count === 1 ? "1 caption" : `${count} captions`;
}

class Answers {
  constructor(hit, worker) {
    this.hit = hit;
    this.worker = worker;
    this.storageKey = JSON.stringify(["vttdata", hit.hit, hit.digest, worker]);
    this.canStore = true;
    this.list = [];
    this.secondsSpent = 0; // on the next item, before the page was left
    this.load();
  }

  load() {
    const state = this.readStorage();
    if (state === null || state.list.length < this.list.length) return;
    this.list = state.list;
    this.secondsSpent = state.spent;
  }

  // If another window of the same worker is ahead, its answers are kept.
  save() {
    if ((this.readStorage()?.list.length ?? 0) > this.list.length) return this.load();
    try {
      localStorage.setItem(this.storageKey, JSON.stringify({ list: this.list, spent: this.secondsSpent }));
    } catch {
      this.canStore = false;
    }
  }

  // Returns the stored answers, null if there are none or they are corrupt.
  readStorage() {
    let text = null;
    try {
      text = localStorage.getItem(this.storageKey);
    } catch {
      this.canStore = false;
    }
    try {
      const { list, spent } = JSON.parse(text ?? "");
      const items = this.hit.items;
      return list.every((answer, index) => answer.item === items[index].item) && spent >= 0 ? { list, spent } : null;
    } catch {
      return null;
    }
  }

  // Position of the next item to answer, from 0.
  get position() {
    return this.list.length;
  }

  get isComplete() {
    return this.position === this.hit.items.length;
  }

  add(score, seconds, shown, note) {
    const item = this.hit.items[this.position].item;
    const round = (value) => Math.round(value * 1000) / 1000;
    this.list.push({ item, position: this.position, score, seconds: round(seconds), shown, note });
    this.secondsSpent = 0;
    this.save();
  }

  toJson() {
    return JSON.stringify({ hit: this.hit.hit, worker: this.worker, answers: this.list }, null, 1) + "\n";
  }

  toCsv() {
    const quote = (value) => (/[",\r\n]/.test(value) ? `"${value.replaceAll('"', '""')}"` : value);
    const toRow = (answer) => COLUMNS.map((name) => quote(String(answer[name] ?? ""))).join(",");
    const rows = this.list.map((answer) => toRow({ ...answer, hit: this.hit.hit, worker: this.worker }));
    return [COLUMNS.join(","), ...rows, ""].join("\r\n");
  }

  // Crowd platforms export answers as position_item_score|position_item_score|...
  toCrowd() {
    return this.list.map((answer) => `${answer.position}_${answer.item}_${answer.score ?? ""}`).join("|");
  }
}

// Reads the page's address: `worker` or `workerId`, and the parameters of Mechanical Turk.
function readParameters() {
  const query = new URLSearchParams(location.search);
  const assignment = query.get("assignmentId");
  return {
    worker: parseWorkerId(query.get("worker") ?? query.get("workerId")),
    assignment,
    isPreview: assignment === "ASSIGNMENT_ID_NOT_AVAILABLE",
    turk: assignment === null ? null : turkAddress(query.get("turkSubmitTo")),
  };
}

function setStatus(text, state) {
  $("sending").textContent = text;
  $("sending").dataset.state = state;
}

let posts = 0;

// Posts the answers until the server says that they are saved: the login page of a network may answer in its place.
async function postAnswers(answers) {
  posts += 1;
  const number = posts;
  $("send").disabled = true;
  setStatus("Sending your answers ...", "busy");
  try {
    const response = await fetch(answers.hit.submit, {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: answers.toJson(),
      redirect: "error",
      signal: AbortSignal.timeout(1000 * SEND_TIMEOUT_SECONDS),
    });
    if (!response.ok) throw new Error(`the server answered ${response.status}`);
    const content = await response.json().catch(() => null);
    if (content?.saved !== true) throw new Error("the server did not say that they are saved");
    setStatus("Your answers have arrived. You may close this page.", "good");
    $("send").hidden = true;
  } catch (error) {
    const reason = error.message.startsWith("the server") ? error.message : "no connection to the server";
    setStatus(`Your answers could not be sent (${reason}). Nothing is lost: try again, or download them.`, "bad");
    $("send").textContent = "Try again";
    $("send").disabled = false;
    await nextAttempt(RETRY_SECONDS);
    if (number === posts) await postAnswers(answers);
  }
}

function download(answers, extension, type, text) {
  const name = `${answers.hit.hit}-${answers.worker}`.replace(/[^\p{L}\p{M}\p{N}._-]+/gu, "_");
  const link = make("a", { href: URL.createObjectURL(new Blob([text], { type })), download: `${name}.${extension}` });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
  setStatus("If no file appears, open the text below and copy it.", "good");
}

async function copyText(text) {
  try {
    await navigator.clipboard.writeText(text);
    setStatus("Copied.", "good");
  } catch {
    $("plain").open = true;
    $("text").select();
    setStatus("The browser does not allow this page to copy. Copy the selected text below.", "bad");
  }
}

function offerCopies(answers, canSend) {
  for (const name of ["csv", "json", "copy", "plain"]) $(name).hidden = false;
  $("csv").onclick = () => download(answers, "csv", "text/csv", answers.toCsv());
  $("json").onclick = () => download(answers, "json", "application/json", answers.toJson());
  $("copy").onclick = () => copyText(answers.toCsv());
  $("text").value = answers.toCsv();
  $("csv").classList.toggle("primary", !canSend);
}

export function openTransport(page) {
  const hit = JSON.parse($("hit").textContent);
  const parameters = readParameters();
  // Texts of the first screen are in the page's markup.
  const texts = {
    title: document.title,
    instructions: Array.from($("start-instructions").children, (paragraph) => paragraph.textContent),
    consent: $("start-consent").textContent,
  };
  let answers = null;
  let position = 0;

  function showNext() {
    position = answers.position;
    if (answers.isComplete) return showEnd();
    const item = hit.items[position];
    const spent = answers.secondsSpent;
    answers.secondsSpent = 0;
    return page.show({
      ...texts,
      stage: "item",
      position,
      count: hit.items.length,
      done: position,
      video: item.video,
      following: hit.items[position + 1]?.video,
      shown: { caption: item.caption, question: hit.question, ends: hit.ends, min_shown: hit.min_shown },
      spent,
    });
  }

  function showEnd() {
    const reports = answers.list.filter((answer) => answer.score === null).length;
    const reported = reports === 0 ? "" : ` and reported ${reports} ${reports === 1 ? "video" : "videos"}`;
    const canSend = parameters.turk !== null || hit.submit !== null;
    const advice = canSend ? "" : " Download your answers and give the file to the person who gave you this task.";
    const text = `You assessed ${countCaptions(answers.position - reports)}${reported}.${advice}`;
    page.show({ ...texts, stage: "done", texts: [text], canSend });
    offerCopies(answers, canSend);
    if (parameters.turk === null && canSend) postAnswers(answers);
  }

  // The same worker may have answered items in another window.
  function lookAgain() {
    if (answers === null || answers.isComplete) return;
    answers.load();
    if (answers.position !== position) showNext();
  }

  addEventListener("storage", (event) => event.key === answers?.storageKey && lookAgain());
  document.addEventListener("visibilitychange", () => document.hidden || lookAgain());

  return {
    open: () => {
      const known = parameters.worker === "" ? null : new Answers(hit, parameters.worker);
      const done = known?.position ?? 0;
      const notes = [`You will see ${countCaptions(hit.items.length)}.`];
      if (parameters.isPreview) notes.push("This is a preview. Accept the task to start.");
      else if (known !== null) notes.push(`You take part as ${known.worker}.`);
      if (done > 0) notes.push(`${countCaptions(done)} done: you continue where you stopped.`);
      page.show({
        ...texts,
        stage: "consent",
        asksWorker: known === null && !parameters.isPreview,
        note: notes.join(" "),
        resumes: done > 0,
        isPreview: parameters.isPreview,
      });
    },
    begin: (text) => {
      const worker = parameters.worker || parseWorkerId(text);
      if (worker === "") {
        return page.refuse("Use only letters, digits, spaces and . _ @ : + -, and begin with a letter or digit.");
      }
      answers = new Answers(hit, worker);
      if (!answers.canStore) addEventListener("beforeunload", (event) => answers.isComplete || event.preventDefault());
      return showNext();
    },
    answer: ({ answer, problem, seconds, observed }) => {
      answers.load(); // of several answers to an item the first one counts, also from another window
      const note = problem === undefined ? "" : "video cannot be played";
      if (answers.position === position) answers.add(answer?.score ?? null, seconds, observed.shown, note);
      showNext();
    },
    pause: (seconds) => {
      answers.secondsSpent = seconds;
      answers.save();
    },
    send: () => {
      if (parameters.turk === null) return postAnswers(answers);
      const fields = { assignmentId: parameters.assignment, answers: answers.toCrowd(), details: answers.toJson() };
      return submitToTurk(parameters.turk, fields);
    },
  };
}
