// Page of the task `caption`: a text field whose content is checked while it is written.

const PAUSE_MILLISECONDS = 600;

export function showTask({ box, shown, hint, check, keys }) {
  const label = document.createElement("label");
  const field = document.createElement("textarea");
  label.textContent = `What happens in the video? At least ${shown.min_words} words.`;
  label.htmlFor = "text";
  Object.assign(field, { id: "text", rows: 3, maxLength: 2000, spellcheck: true });
  field.setAttribute("aria-describedby", "hint");
  box.replaceChildren(label, field);
  keys(["Enter in the text sends the caption"]);
  let timer = null;
  const words = () => field.value.split(/\s+/).filter((word) => /[\p{L}\p{N}]/u.test(word)).length;
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
    read: () => (words() < shown.min_words ? `Please write at least ${shown.min_words} words.` : { caption: field.value }),
  };
}
