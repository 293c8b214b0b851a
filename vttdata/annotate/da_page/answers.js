// The answers of one worker to one HIT: kept in the browser, timed, and written out as CSV and JSON.

const COLUMNS = ["hit", "worker", "item", "position", "score", "seconds", "watched", "note"];

// The first character must be a letter or digit, so that a spreadsheet never takes an id for a formula.
const WORKER = /^[\p{L}\p{N}][\p{L}\p{M}\p{N} ._@:+-]{0,99}$/u;

function workerId(text) {
  const id = (text ?? "").normalize("NFC").trim();
  return WORKER.test(id) ? id : "";
}

class Answers {
  constructor(hit, worker) {
    this.hit = hit;
    this.worker = worker;
    this.key = JSON.stringify(["vttdata", hit.hit, hit.print, worker]);
    this.kept = true;
    this.list = [];
    this.spent = 0;
    this.load();
  }

  load() {
    const state = this.stored();
    if (state === null || state.list.length < this.list.length) return;
    this.list = state.list;
    this.spent = state.spent;
  }

  // Another window of the same worker may have gone further in the meantime: then its answers stay.
  save() {
    if ((this.stored()?.list.length ?? 0) > this.list.length) return this.load();
    try {
      localStorage.setItem(this.key, JSON.stringify({ list: this.list, spent: this.spent }));
    } catch {
      this.kept = false;
    }
  }

  // What the browser keeps, or null where there is nothing or it is damaged.
  stored() {
    let text = null;
    try {
      text = localStorage.getItem(this.key);
    } catch {
      this.kept = false;
    }
    try {
      const { list, spent } = JSON.parse(text ?? "");
      const items = this.hit.items;
      return list.every((answer, place) => answer.item === items[place].item) && spent >= 0 ? { list, spent } : null;
    } catch {
      return null;
    }
  }

  get position() {
    return this.list.length;
  }

  get complete() {
    return this.position === this.hit.items.length;
  }

  add(score, seconds, watched, note) {
    const item = this.hit.items[this.position].item;
    const round = (value) => Math.round(value * 1000) / 1000;
    this.list.push({ item, position: this.position, score, seconds: round(seconds), watched: round(watched), note });
    this.spent = 0;
    this.save();
  }

  get record() {
    return { hit: this.hit.hit, worker: this.worker, answers: this.list };
  }

  toJson() {
    return JSON.stringify(this.record, null, 1) + "\n";
  }

  toCsv() {
    const quoted = (value) => (/[",\r\n]/.test(value) ? `"${value.replaceAll('"', '""')}"` : value);
    const row = (answer) => COLUMNS.map((name) => quoted(String(answer[name] ?? ""))).join(",");
    const rows = this.list.map((answer) => row({ ...answer, hit: this.hit.hit, worker: this.worker }));
    return [COLUMNS.join(","), ...rows, ""].join("\r\n");
  }

  // As crowd platforms export it: place_item_score|place_item_score|...
  toCrowd() {
    return this.list.map((answer) => `${answer.position}_${answer.item}_${answer.score ?? ""}`).join("|");
  }
}

// Seconds for which something was looked at: the time while the page is hidden does not count.
class Clock {
  constructor() {
    this.before = 0;
    this.since = null;
  }

  start(before) {
    this.before = before;
    this.since = document.hidden ? null : performance.now();
  }

  pause() {
    this.before = this.seconds;
    this.since = null;
  }

  get seconds() {
    return this.before + (this.since === null ? 0 : (performance.now() - this.since) / 1000);
  }
}
