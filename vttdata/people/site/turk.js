// Mechanical Turk takes answers from a form only.

import { $, make } from "./elements.js";

// Returns the address that takes a worker's answers, null where the text is no address of Mechanical Turk: answers go
// nowhere else, whatever a link to the page says.
export function turkAddress(text) {
  try {
    const url = new URL(text ?? "");
    const isTurk = url.protocol === "https:" && url.hostname.endsWith(".mturk.com");
    return isTurk ? `${url.origin}/mturk/externalSubmit` : null;
  } catch {
    return null;
  }
}

export function submitToTurk(address, fields) {
  const form = $("turk");
  form.replaceChildren(...Object.entries(fields).map(([name, value]) => make("input", { type: "hidden", name, value })));
  form.action = address;
  form.submit();
}
