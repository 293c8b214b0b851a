// Page of the task `relevance`: captions to mark, and a last choice that says that none describes the video.

import { make } from "./elements.js";

export function showTask({ box, shown, hint, keys }) {
  const choice = (text, number) => make("label", { className: "choice" },
    make("input", { type: "checkbox", value: String(number) }),
    make("span", { dir: "auto", translate: false, textContent: number < 0 ? text : `${(number + 1) % 10}. ${text}` }));
  const none = choice("None of these describes the video.", -1);
  box.replaceChildren(
    make("fieldset", {},
      make("legend", { textContent: "Which sentences describe the video?" }),
      ...shown.captions.map(choice),
      none),
  );
  const inputs = [...box.querySelectorAll("input")];
  const last = inputs.at(-1);
  const change = (input) => {
    for (const other of inputs) if ((input === last) !== (other === last) && input.checked) other.checked = false;
    hint("");
  };
  box.onchange = (event) => change(event.target);
  keys(["1 to 9 and 0 mark sentences", "N says none", "Enter continues"]);
  return {
    key: (key) => {
      const digit = /^\d$/.test(key) ? (Number(key) + 9) % 10 : -1;
      const input = key.toLowerCase() === "n" ? last : digit >= 0 && digit < inputs.length - 1 ? inputs[digit] : undefined;
      if (input === undefined) return false;
      input.checked = !input.checked;
      input.focus();
      change(input);
      return true;
    },
    read: () => {
      if (!inputs.some((input) => input.checked)) return "Mark the sentences that describe the video, or say that none does.";
      return { relevant: inputs.slice(0, -1).map((input) => input.checked) };
    },
  };
}
