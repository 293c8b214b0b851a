// Answers of a worker to a HIT: stored in the browser, timed, and exported as CSV and JSON.

const COLUMNS = ["hit", "worker", "item", "position", "score", "seconds", "watched", "note"];

// The first character must be a letter or digit, so that a spreadsheet never takes an id for a formula.
const WORKER_ID = /^[\p{L}\p{N}][\p{L}\p{M}\p{N} ._@:+-]{0,99}$/u;

// Returns the worker id in a text, "" if it is not one.
function parseWorkerId(text) {
  const id = (text ?? "").normalize("NFC").trim();
  return WORKER_ID.test(id) ? id : "";
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

  add(score, seconds, watched, note) {
    const item = this.hit.items[this.position].item;
    const round = (value) => Math.round(value * 1000) / 1000;
    this.list.push({ item, position: this.position, score, seconds: round(seconds), watched: round(watched), note });
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

// Measures the seconds spent on an item, without the time while the page is hidden.
class Stopwatch {
  constructor() {
    this.secondsBefore = 0;
    this.startedAt = null;
  }

  start(secondsBefore) {
    this.secondsBefore = secondsBefore;
    this.startedAt = document.hidden ? null : performance.now();
  }

  pause() {
    this.secondsBefore = this.seconds;
    this.startedAt = null;
  }

  get seconds() {
    return this.secondsBefore + (this.startedAt === null ? 0 : (performance.now() - this.startedAt) / 1000);
  }
}
