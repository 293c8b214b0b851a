// Transport of a page that a server shows (server.py). An answer waits in the browser until the server has said that it
// is saved or refused, through reloads, times without a network, and whatever else answers in the server's place: the
// login page of a network, a proxy with too many requests.

import { nextAttempt } from "./retry.js";
import { submitToTurk, turkAddress } from "./turk.js";

const base = location.pathname.replace(/\/$/, "");
const RETRY_SECONDS = [1, 2, 4, 8, 15];
const WAIT_SECONDS = 20;

// The server's own refusal. `refused` says what it ends: the "answer", the "link", or nothing before a "correction"; it
// is empty where trying again may help.
class Refusal extends Error {
  constructor(status, content) {
    super(content.error);
    this.status = status;
    this.refused = content.refused;
  }
}

// Answers that are not acknowledged, each under a key of its own, so that no window replaces those of another.
class Waiting {
  constructor() {
    this.prefix = `vttdata ${base} answer `;
    this.inMemory = new Map();
  }

  all() {
    const found = new Map(this.inMemory);
    try {
      for (const key of Object.keys(localStorage)) {
        if (key.startsWith(this.prefix)) found.set(key.slice(this.prefix.length), JSON.parse(localStorage.getItem(key)));
      }
    } catch {
      // Without storage there are those of this page alone.
    }
    return [...found.values()];
  }

  add(answer) {
    try {
      localStorage.setItem(this.prefix + answer.id, JSON.stringify(answer));
    } catch {
      this.inMemory.set(answer.id, answer);
    }
  }

  remove({ id }) {
    this.inMemory.delete(id);
    try {
      localStorage.removeItem(this.prefix + id);
    } catch {
      // It was never stored.
    }
  }
}

// Something about the item that is shown, kept through reloads: `get` returns the item and the value.
const keep = (name) => {
  const key = `vttdata ${base} ${name}`;
  return {
    get: () => {
      try {
        return JSON.parse(localStorage.getItem(key)) ?? [];
      } catch {
        return [];
      }
    },
    set: (value) => {
      try {
        localStorage.setItem(key, JSON.stringify(value));
      } catch {
        // Without storage it ends with the page.
      }
    },
  };
};
const spent = keep("seconds");
const draft = keep("draft");

// Returns what the server says, and throws for anything that is not the server's: `isOurs` tells by its content.
async function request(path, body, isOurs) {
  const options = body === undefined ? {} : {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify(body),
  };
  // The server never sends its pages elsewhere; a network that wants a login does.
  const response = await fetch(base + path, { ...options, redirect: "error", signal: AbortSignal.timeout(30000) });
  const content = (await response.json().catch(() => null)) ?? {};
  if (response.status === 200 && isOurs(content)) return content;
  if (response.status !== 200 && typeof content.refused === "string") throw new Refusal(response.status, content);
  throw new Error(`Something else than the server answered (${response.status}); your network may want you to log in.`);
}

export function openTransport(page) {
  const answers = new Waiting();
  let state = null;

  // Repeats a request until the server answers; a refusal that will not change is thrown.
  async function insist(path, body, isOurs = (content) => typeof content.stage === "string") {
    for (let attempt = 0; ; attempt += 1) {
      try {
        const content = await request(path, body, isOurs);
        page.notify("");
        return content;
      } catch (error) {
        if (error instanceof Refusal && error.refused !== "") throw error;
        const isAnswered = error instanceof Refusal || error.message.startsWith("Something else");
        const waiting = body === undefined ? "" : " Your answer is kept here and will be sent.";
        page.notify(`${isAnswered ? error.message : "No connection to the server."}${waiting}`);
        await nextAttempt(RETRY_SECONDS[Math.min(attempt, RETRY_SECONDS.length - 1)]);
      }
    }
  }

  function stop(error) {
    page.show({ title: document.title, stage: "message", heading: "This cannot go on", texts: [error.message] });
  }

  function show(next) {
    state = next;
    if (state.stage === "wait") setTimeout(load, 1000 * WAIT_SECONDS);
    page.show({ ...state, ...(SCREENS[state.stage]?.() ?? {}) });
  }

  const address = (name) => (typeof name === "number" ? `${base}/video/${name}` : name);
  const SCREENS = {
    item: () => {
      const name = `${state.unit} ${state.item}`;
      const [item, seconds] = spent.get();
      const [drafted, written] = draft.get();
      return {
        video: address(state.video),
        following: state.following === null ? undefined : address(state.following),
        spent: item === name ? seconds : 0,
        draft: drafted === name ? written : undefined,
      };
    },
    stopped: () => ({
      stage: "message",
      heading: "Thank you",
      texts: ["The test was not passed, so there is no task for you here."],
    }),
    wait: () => ({
      stage: "message",
      heading: "Nothing to do at the moment",
      texts: ["Everything that is left is with other people. This page looks again by itself."],
    }),
    done: () => {
      const isProlific = state.platform.SESSION_ID !== undefined || state.platform.STUDY_ID !== undefined;
      const href = `https://app.prolific.com/submissions/complete?cc=${encodeURIComponent(state.code)}`;
      return {
        texts: [
          `You are done${state.done ? "" : "; there is nothing left to do"}.`,
          `Your completion code is ${state.code}.`,
        ],
        link: isProlific ? { href, textContent: "Return to Prolific" } : null,
        canSend: turkAddress(state.platform.turkSubmitTo) !== null,
      };
    },
  };

  const ask = (path, body) => insist(path, body).then(show, stop);
  const load = () => ask("/state");

  async function save(pending) {
    page.setBusy(true);
    try {
      const isOurs = (content) => content.id === pending.id && typeof content.saved === "string";
      const next = await insist("/answer", pending, isOurs);
      answers.remove(pending);
      draft.set([]);
      return next;
    } catch (error) {
      // A link may work again, such as when its server does; the answer is sent then.
      if (error.refused !== "link") answers.remove(pending);
      throw error;
    } finally {
      page.setBusy(false);
    }
  }

  async function deliver(pending) {
    try {
      const next = await save(pending);
      const notes = {
        elsewhere: "This was answered in another window already.",
        late: "While you were away, others answered this, so your answer is not needed any more.",
      };
      if (next.saved in notes) page.notify(notes[next.saved]);
      show(next);
    } catch (error) {
      // What can be corrected stays on the page.
      if (error.refused === "correction") page.refuse(error.message);
      else stop(error);
    }
  }

  // Sends what earlier pages could not, and shows what is next.
  async function open() {
    const notes = [];
    for (const pending of answers.all()) {
      try {
        await save(pending);
      } catch (error) {
        if (error.refused === "link") return stop(error);
        notes.push(`An answer was refused. ${error.message}`);
      }
    }
    await load();
    if (notes.length) page.notify(notes.join(" "));
    return undefined;
  }

  // Without storage, an answer that waits would be lost with the page.
  addEventListener("beforeunload", (event) => answers.inMemory.size && event.preventDefault());

  return {
    open,
    begin: () => ask("/agree", {}),
    takeQuiz: (choices) => ask("/quiz", { choices }),
    check: (answer) => request("/check", { unit: state.unit, item: state.item, answer }, (content) => "problem" in content),
    answer: ({ answer, problem, seconds, observed }) => {
      const bytes = Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, "0"));
      const pending = { id: bytes.join(""), unit: state.unit, item: state.item, answer, problem, seconds, observed };
      answers.add(pending);
      return deliver(pending);
    },
    keep: (written) => draft.set([`${state.unit} ${state.item}`, written]),
    pause: (seconds) => spent.set([`${state.unit} ${state.item}`, seconds]),
    send: () =>
      submitToTurk(turkAddress(state.platform.turkSubmitTo), {
        assignmentId: state.platform.assignmentId ?? "",
        code: state.code,
      }),
  };
}
