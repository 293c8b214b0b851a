// Page of the task `foil-review`: a sentence with one part marked, and the verdicts.

import { make } from "./elements.js";

export function showTask({ box, shown, hint, keys }) {
  const [start, end] = shown.marked;
  // Offsets count characters, not the units of JavaScript's strings.
  const characters = Array.from(shown.sentence);
  const part = (from, to) => characters.slice(from, to).join("");
  const names = Object.keys(shown.verdicts);
  box.replaceChildren(
    make("h2", { textContent: "Sentence" }),
    make("blockquote", { id: "caption", className: "text", dir: "auto", translate: false }, part(0, start),
      make("mark", { textContent: part(start, end) }), part(end)),
    make("fieldset", {},
      make("legend", { textContent: "What is true of the marked part?" }),
      ...names.map((name, index) => make("label", {},
        make("input", { type: "radio", name: "verdict", value: name }),
        make("span", { textContent: `${index + 1}. ${shown.verdicts[name]}` })))),
  );
  box.addEventListener("change", () => hint(""));
  keys([`1 to ${names.length} choose an answer`, "Enter continues"]);
  return {
    key: (key) => {
      const input = /^[1-9]$/.test(key) ? box.querySelectorAll("input")[Number(key) - 1] : undefined;
      if (input === undefined) return false;
      input.checked = true;
      input.focus();
      hint("");
      return true;
    },
    read: () => {
      const chosen = box.querySelector("input:checked");
      return chosen === null ? "Please choose one of the answers." : { verdict: chosen.value };
    },
  };
}
