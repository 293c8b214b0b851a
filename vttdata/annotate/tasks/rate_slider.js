// Page of the task `rate-slider`: a caption and a scale without numbers, as on the page of a single HIT (scale.js).

function make(tag, properties, ...children) {
  const element = Object.assign(document.createElement(tag), properties);
  element.append(...children);
  return element;
}

export function showTask({ box, shown, hint, keys }) {
  const slider = make("input", { id: "slider", type: "range", min: 0, max: 100, step: 1, value: 50 });
  slider.setAttribute("aria-labelledby", "question");
  slider.setAttribute("aria-describedby", "caption");
  const ticks = make("div", { className: "ticks" }, ...Array.from({ length: 5 }, () => make("i")));
  const track = make("div", { className: "track" }, make("div", { className: "fill" }));
  const scaleBox = make("div", { id: "scale", className: "scale unanswered" }, slider, track, ticks,
    make("div", { className: "thumb" }));
  box.replaceChildren(
    make("h2", { id: "caption-label", textContent: "Caption" }),
    make("blockquote", { id: "caption", className: "text", dir: "auto", translate: false, textContent: shown.caption }),
    make("p", { id: "question", className: "question", textContent: shown.question }),
    scaleBox,
    make("div", { className: "ends" }, ...shown.ends.map((text) => make("span", { textContent: text }))),
  );
  keys(["arrows, Page Up, Page Down, Home and End move the marker", "Enter continues"]);
  const scale = new Scale(scaleBox, slider, () => hint(""));
  scale.reset();
  return {
    // The slider moves by itself when it has the focus.
    key: (key, target) => target !== slider && scale.handleKey(key),
    read: () => (scale.score === null ? "Place your answer on the scale first." : { score: scale.score }),
  };
}
