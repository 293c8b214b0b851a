// The requester's page: how the campaign stands, asked for anew every few seconds.

import { $, make } from "./elements.js";

const base = location.pathname.replace(/\/$/, "");
const REFRESH_SECONDS = 5;

function cell(value) {
  const isNumber = typeof value === "number";
  const text = value === null ? "" : isNumber && !Number.isInteger(value) ? value.toFixed(3) : String(value);
  return make("td", { textContent: text, className: isNumber ? "number" : "" });
}

function table(id, head, rows) {
  const header = make("tr", {}, ...head.map((name, column) => {
    const isNumber = rows.some((values) => typeof values[column] === "number");
    return make("th", { textContent: name, className: isNumber ? "number" : "", scope: "col" });
  }));
  const lines = rows.map((values) => make("tr", {}, ...values.map((value) => cell(value))));
  const box = $(id);
  const left = box.parentElement.scrollLeft;
  box.replaceChildren(...(rows.length ? [header, ...lines] : []));
  if (!rows.length) box.append(make("caption", { textContent: "None yet." }));
  box.parentElement.scrollLeft = left;
}

function show(report) {
  document.title = report.title;
  $("title").textContent = report.title;
  const time = report.seconds === null ? "" : `, median ${report.seconds.toFixed(1)} s each`;
  $("summary").textContent = `Task ${report.task}: ${report.units} units by ${report.judgments} workers each, ` +
    `${report.complete} complete; ${report.answers} answers${time}.`;
  $("count").textContent = `${report.collected} of ${report.wanted}`;
  $("bar").max = Math.max(report.wanted, 1);
  $("bar").value = report.collected;
  table("workers", ["worker", "answers", "seconds", "verdict", "evidence", "flags"], report.workers.map((worker) => [
    worker.worker, worker.answers, worker.seconds.toFixed(1),
    `${worker.verdict}${worker.keep ? "" : " (left out)"}`, worker.evidence, worker.flags.join("; "),
  ]));
  $("idle").textContent = report.idle.length ? `Without an answer so far: ${report.idle.join(", ")}.` : "";
  table("agreement", ["of", "level", "items", "ratings", "Krippendorff", "Fleiss", "Cohen", "Spearman", "Kendall"],
    report.agreement.map((row) => [row.name, row.level, row.items, row.ratings, row.alpha, row.fleiss, row.cohen,
      row.spearman, row.kendall]));
  table("problems", ["video", "worker", "problem"],
    report.problems.map((entry) => [entry.video_id, entry.worker, entry.problem]));
}

async function refresh() {
  try {
    const response = await fetch(`${base}/report`, { signal: AbortSignal.timeout(30000) });
    if (!response.ok) throw new Error(`The server answered ${response.status}.`);
    show(await response.json());
    $("notice").hidden = true;
  } catch {
    $("notice").textContent = "No connection to the server; this is how the campaign stood before.";
    $("notice").hidden = false;
  }
  setTimeout(refresh, 1000 * REFRESH_SECONDS);
}

for (const name of ["results.csv", "workers.csv", "agreement.csv", "report.md"]) {
  $("downloads").append(make("a", { href: `${base}/${name}`, textContent: name, download: name }), " ");
}
refresh();
