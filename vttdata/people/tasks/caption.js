// Page of the task `caption`: a text field whose content is checked while it is written, or a question about the video.

import { make } from "./elements.js";

const PAUSE_MILLISECONDS = 600;
// Scripts that put no spaces between words; each of their letters is a word.
const LETTER_OF_UNSPACED_SCRIPT = new RegExp(
  `[${["Han", "Hiragana", "Katakana", "Bopomofo", "Thai", "Lao", "Khmer", "Myanmar"].map((name) => `\\p{Script=${name}}`).join("")}]\\p{M}*`,
  "gu",
);

// Asks which of several texts or pictures belongs to the video.
function showQuestion({ box, shown, hint, keys }) {
  const isPicture = shown.choices[0].picture !== undefined;
  const choice = ({ text, picture }, index) => make("label", {},
    make("input", { type: "radio", name: "choice", value: String(index) }),
    isPicture
      ? make("img", { src: picture, alt: `Picture ${index + 1}` })
      : make("span", { dir: "auto", translate: false, textContent: `${index + 1}. ${text}` }));
  box.replaceChildren(make("fieldset", { className: isPicture ? "pictures" : "" },
    make("legend", { textContent: `Which ${isPicture ? "picture is from" : "sentence describes"} the video?` }),
    ...shown.choices.map(choice)));
  const inputs = [...box.querySelectorAll("input")];
  for (const input of inputs) input.addEventListener("change", () => hint(""));
  keys([`1 to ${inputs.length} choose an answer`, "Enter continues"]);
  return {
    key: (key) => {
      const input = /^[1-9]$/.test(key) ? inputs[Number(key) - 1] : undefined;
      if (input === undefined) return false;
      input.checked = true;
      input.focus();
      hint("");
      return true;
    },
    read: () => {
      const chosen = inputs.findIndex((input) => input.checked);
      return chosen < 0 ? "Please choose one of the answers." : { choice: chosen };
    },
  };
}

export function showTask({ box, shown, draft, hint, check, keys }) {
  if (shown.choices !== undefined) return showQuestion({ box, shown, hint, keys });
  const asked = shown.facets === undefined ? "What happens in the video?" : `In one sentence: ${shown.facets.join(", ")}?`;
  const question = `${asked} At least ${shown.min_words} words.`;
  const label = make("label", { htmlFor: "written", textContent: question });
  const field = make("textarea", { id: "written", rows: 3, maxLength: 2000, spellcheck: true });
  field.setAttribute("aria-describedby", "hint");
  box.replaceChildren(label, field);
  keys(["Enter in the text sends the caption"]);
  let timer = null;
  // How the text came about, without what it says.
  const observed = { keys: 0, changes: 0, pastes: 0, ...draft?.observed };
  field.value = draft?.text ?? "";
  field.addEventListener("keydown", () => (observed.keys += 1));
  field.addEventListener("input", ({ inputType }) => {
    observed.changes += 1;
    if (/^insertFrom(Paste|Drop|Yank)/.test(inputType ?? "")) observed.pastes += 1;
  });
  const words = () =>
    field.value.replace(LETTER_OF_UNSPACED_SCRIPT, " $& ").split(/\s+/).filter((word) => /[\p{L}\p{N}]/u.test(word)).length;
  field.addEventListener("input", () => {
    clearTimeout(timer);
    hint(words() < shown.min_words ? `${words()} of ${shown.min_words} words.` : "");
    if (words() < shown.min_words) return;
    timer = setTimeout(async () => {
      const text = field.value;
      const result = await check({ caption: text }).catch(() => ({ problem: null }));
      if (field.isConnected && field.value === text) hint(result.problem ?? "");
    }, PAUSE_MILLISECONDS);
  });
  return {
    observed: () => observed,
    draft: () => ({ text: field.value, observed }),
    read: () => (words() < shown.min_words ? `Please write at least ${shown.min_words} words.` : { caption: field.value }),
  };
}
