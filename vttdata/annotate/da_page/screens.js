// Start and end of the task: the worker's id, and sending or downloading the answers.

const SEND_TIMEOUT_SECONDS = 30;

function element(id) {
  return document.getElementById(id);
}

function showScreen(id) {
  for (const name of ["start", "task", "end"]) element(name).hidden = name !== id;
  scrollTo(0, 0);
}

function countCaptions(count) {
  return count === 1 ? "1 caption" : `${count} captions`;
}

// Reads the page's address: `worker` or `workerId`, and the parameters of Mechanical Turk.
function readParameters() {
  const query = new URLSearchParams(location.search);
  const assignment = query.get("assignmentId");
  let turkUrl = null;
  try {
    // Answers go to Mechanical Turk only, whatever a link to this page says.
    const url = new URL(query.get("turkSubmitTo") ?? "");
    if (url.protocol === "https:" && url.hostname.endsWith(".mturk.com")) turkUrl = `${url.origin}/mturk/externalSubmit`;
  } catch {
    turkUrl = null;
  }
  return {
    worker: parseWorkerId(query.get("worker") ?? query.get("workerId")),
    assignment,
    isPreview: assignment === "ASSIGNMENT_ID_NOT_AVAILABLE",
    turkUrl: assignment === null ? null : turkUrl,
  };
}

function showStart(hit, parameters, onStart) {
  const field = element("worker");
  element("start-count").textContent = countCaptions(hit.items.length);
  element("worker-field").hidden = parameters.worker !== "" || parameters.isPreview;
  field.value = parameters.worker;
  field.required = !parameters.isPreview;
  element("begin").disabled = parameters.isPreview;
  if (parameters.isPreview) element("start-note").textContent = "This is a preview. Accept the task to start.";
  else if (parameters.worker !== "") showProgress(new Answers(hit, parameters.worker));
  element("start-form").addEventListener("submit", (event) => {
    event.preventDefault();
    const worker = parseWorkerId(field.value);
    if (worker !== "") return onStart(new Answers(hit, worker));
    element("start-note").textContent = "Use only letters, digits, spaces and . _ @ : + -, and begin with a letter or digit.";
    field.focus();
  });
  showScreen("start");
}

function showProgress(answers) {
  element("start-note").textContent = `You take part as ${answers.worker}.`;
  if (answers.position === 0) return;
  element("start-note").textContent += ` ${countCaptions(answers.position)} done: you continue where you stopped.`;
  element("begin").textContent = "Continue";
}

function showEnd(answers, parameters) {
  const reports = answers.list.filter((answer) => answer.score === null).length;
  const reported = reports === 0 ? "" : ` and reported ${reports} ${reports === 1 ? "video" : "videos"}`;
  const canSend = parameters.turkUrl !== null || answers.hit.submit !== null;
  element("end-text").textContent = `You assessed ${countCaptions(answers.position - reports)}${reported}. ${
    canSend ? "" : "Download your answers and give the file to the person who gave you this task."
  }`;
  element("csv").onclick = () => download(answers, "csv", "text/csv", answers.toCsv());
  element("json").onclick = () => download(answers, "json", "application/json", answers.toJson());
  element("copy").onclick = () => copyText(answers.toCsv());
  element("text").value = answers.toCsv();
  element("send").hidden = !canSend;
  element("send").onclick = () =>
    parameters.turkUrl === null ? postAnswers(answers) : submitToTurk(answers, parameters);
  element("csv").classList.toggle("primary", !canSend);
  showScreen("end");
  element("end-title").focus();
  if (parameters.turkUrl === null && canSend) postAnswers(answers);
}

function setStatus(text, state) {
  element("sending").textContent = text;
  element("sending").dataset.state = state;
}

async function postAnswers(answers) {
  element("send").disabled = true;
  setStatus("Sending your answers ...", "busy");
  try {
    const response = await fetch(answers.hit.submit, {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: answers.toJson(),
      signal: AbortSignal.timeout(1000 * SEND_TIMEOUT_SECONDS),
    });
    if (!response.ok) throw new Error(`the server answered ${response.status}`);
    setStatus("Your answers have arrived. You may close this page.", "good");
    element("send").hidden = true;
  } catch (error) {
    const reason = error.message.startsWith("the server") ? error.message : "no connection to the server";
    setStatus(`Your answers could not be sent (${reason}). Nothing is lost: try again, or download them.`, "bad");
    element("send").textContent = "Try again";
    element("send").disabled = false;
  }
}

function submitToTurk(answers, parameters) {
  const form = element("turk");
  const fields = { assignmentId: parameters.assignment, answers: answers.toCrowd(), details: answers.toJson() };
  form.replaceChildren();
  for (const [name, value] of Object.entries(fields)) {
    const field = document.createElement("input");
    Object.assign(field, { type: "hidden", name, value });
    form.append(field);
  }
  form.action = parameters.turkUrl;
  form.submit();
}

function download(answers, extension, type, text) {
  const link = document.createElement("a");
  const name = `${answers.hit.hit}-${answers.worker}`.replace(/[^\p{L}\p{M}\p{N}._-]+/gu, "_");
  link.href = URL.createObjectURL(new Blob([text], { type }));
  link.download = `${name}.${extension}`;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
  setStatus("If no file appears, open the text below and copy it.", "good");
}

async function copyText(text) {
  try {
    await navigator.clipboard.writeText(text);
    setStatus("Copied.", "good");
  } catch {
    element("plain").open = true;
    element("text").select();
    setStatus("The browser does not allow this page to copy. Copy the selected text below.", "bad");
  }
}
