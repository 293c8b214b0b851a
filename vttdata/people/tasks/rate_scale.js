// Page of the task `rate-scale`: a caption and one row of steps for each question.

import { make } from "./elements.js";

export function showTask({ box, shown, hint, keys }) {
  const [lowest, highest] = shown.steps;
  const names = Object.keys(shown.questions);
  const steps = Array.from({ length: highest - lowest + 1 }, (_, index) => lowest + index);
  const groups = names.map((name, number) =>
    make("fieldset", {},
      make("legend", { textContent: shown.questions[name] }),
      make("div", { className: "steps" }, ...steps.map((step) => make("label", {},
        make("input", { type: "radio", name: `criterion${number}`, value: String(step) }), String(step)))),
      make("p", { className: "ends note" }, ...[`${lowest}: ${shown.ends[0]}`, `${highest}: ${shown.ends[1]}`]
        .map((text) => make("span", { textContent: text })))));
  box.replaceChildren(
    make("h2", { textContent: "Caption" }),
    make("blockquote", { id: "caption", className: "text", dir: "auto", translate: false, textContent: shown.caption }),
    make("div", { className: "question" }, ...groups),
  );
  keys([`${lowest} to ${Math.min(highest, 9)} choose a step`, "Enter continues"]);
  const chosen = (number) => box.querySelector(`input[name=criterion${number}]:checked`);
  box.addEventListener("change", () => hint(""));
  return {
    // A digit answers the question that has the focus, or else the first one without an answer.
    key: (key, target) => {
      const focused = /^criterion(\d+)$/.exec(target.name ?? "");
      const open = names.findIndex((_, number) => chosen(number) === null);
      const number = focused && names.length > 1 ? Number(focused[1]) : open < 0 ? names.length - 1 : open;
      const input = /^\d$/.test(key) ? box.querySelector(`input[name=criterion${number}][value="${key}"]`) : null;
      if (input === null) return false;
      input.checked = true;
      // The next digit is for the next question.
      (box.querySelector(`input[name=criterion${number + 1}]`) ?? input).focus();
      hint("");
      return true;
    },
    read: () => {
      if (names.some((_, number) => chosen(number) === null)) return "Please answer every question.";
      return { scores: Object.fromEntries(names.map((name, number) => [name, Number(chosen(number).value)])) };
    },
  };
}
