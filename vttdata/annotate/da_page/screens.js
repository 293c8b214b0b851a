// The start and the end of the task: who assesses, and how the answers get out.

const SEND_SECONDS = 30;

function find(id) {
  return document.getElementById(id);
}

function show(id) {
  for (const name of ["start", "task", "end"]) find(name).hidden = name !== id;
  scrollTo(0, 0);
}

function captions(count) {
  return count === 1 ? "1 caption" : `${count} captions`;
}

// What opened the page says in its address: `worker` or `workerId`, and Mechanical Turk's own names.
function opened() {
  const query = new URLSearchParams(location.search);
  const assignment = query.get("assignmentId");
  let turk = null;
  try {
    const url = new URL(query.get("turkSubmitTo") ?? "");
    if (url.protocol === "https:" && url.hostname.endsWith(".mturk.com")) turk = `${url.origin}/mturk/externalSubmit`;
  } catch {
    turk = null;
  }
  return {
    worker: workerId(query.get("worker") ?? query.get("workerId")),
    assignment,
    preview: assignment === "ASSIGNMENT_ID_NOT_AVAILABLE",
    turk: assignment === null ? null : turk,
  };
}

function showStart(hit, opening, begin) {
  const field = find("worker");
  find("start-count").textContent = captions(hit.items.length);
  find("worker-field").hidden = opening.worker !== "" || opening.preview;
  field.value = opening.worker;
  field.required = !opening.preview;
  find("begin").disabled = opening.preview;
  if (opening.preview) find("start-note").textContent = "This is a preview. Accept the task to begin.";
  else if (opening.worker !== "") tellProgress(new Answers(hit, opening.worker));
  find("start-form").addEventListener("submit", (event) => {
    event.preventDefault();
    const worker = workerId(field.value);
    if (worker !== "") return begin(new Answers(hit, worker));
    find("start-note").textContent = "Use letters, digits, spaces and . _ @ : + - only, beginning with a letter or digit.";
    field.focus();
  });
  show("start");
}

function tellProgress(answers) {
  find("start-note").textContent = `You take part as ${answers.worker}.`;
  if (answers.position === 0) return;
  find("start-note").textContent += ` ${captions(answers.position)} done: you go on where you left.`;
  find("begin").textContent = "Continue";
}

function showEnd(answers, opening) {
  const reported = answers.list.filter((answer) => answer.score === null).length;
  const left = reported === 0 ? "" : ` and reported ${reported} ${reported === 1 ? "video" : "videos"}`;
  const sends = opening.turk !== null || answers.hit.submit !== null;
  find("end-text").textContent = `You assessed ${captions(answers.position - reported)}${left}. ${
    sends ? "" : "Download your answers and hand the file to the person who gave you this task."
  }`;
  find("csv").onclick = () => download(answers, "csv", "text/csv", answers.toCsv());
  find("json").onclick = () => download(answers, "json", "application/json", answers.toJson());
  find("copy").onclick = () => copy(answers.toCsv());
  find("text").value = answers.toCsv();
  find("send").hidden = !sends;
  find("send").onclick = () => (opening.turk === null ? send(answers) : submitToTurk(answers, opening));
  find("csv").classList.toggle("primary", !sends);
  show("end");
  find("end-title").focus();
  if (opening.turk === null && sends) send(answers);
}

function status(text, kind) {
  find("sending").textContent = text;
  find("sending").dataset.kind = kind;
}

async function send(answers) {
  find("send").disabled = true;
  status("Sending your answers ...", "busy");
  try {
    const response = await fetch(answers.hit.submit, {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: answers.toJson(),
      signal: AbortSignal.timeout(1000 * SEND_SECONDS),
    });
    if (!response.ok) throw new Error(`the server answered ${response.status}`);
    status("Your answers have arrived. You may close this page.", "good");
    find("send").hidden = true;
  } catch (error) {
    const reason = error.message.startsWith("the server") ? error.message : "no connection to the server";
    status(`Your answers could not be sent (${reason}). Nothing is lost: try again, or download them.`, "bad");
    find("send").textContent = "Try again";
    find("send").disabled = false;
  }
}

function submitToTurk(answers, opening) {
  const form = find("turk");
  const fields = { assignmentId: opening.assignment, answers: answers.toCrowd(), details: answers.toJson() };
  form.replaceChildren();
  for (const [name, value] of Object.entries(fields)) {
    const field = document.createElement("input");
    Object.assign(field, { type: "hidden", name, value });
    form.append(field);
  }
  form.action = opening.turk;
  form.submit();
}

function download(answers, ending, type, text) {
  const link = document.createElement("a");
  const name = `${answers.hit.hit}-${answers.worker}`.replace(/[^\p{L}\p{M}\p{N}._-]+/gu, "_");
  link.href = URL.createObjectURL(new Blob([text], { type }));
  link.download = `${name}.${ending}`;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
  status("If no file appears, open the text below and copy it.", "good");
}

async function copy(text) {
  try {
    await navigator.clipboard.writeText(text);
    status("Copied.", "good");
  } catch {
    find("plain").open = true;
    find("text").select();
    status("The browser does not let this page copy. Copy the marked text below.", "bad");
  }
}
