// Elements of a page.

export const $ = (id) => document.getElementById(id);

export function make(tag, properties, ...children) {
  const element = Object.assign(document.createElement(tag), properties);
  element.append(...children);
  return element;
}

export function setParagraphs(box, texts) {
  box.replaceChildren(...texts.map((text) => make("p", { textContent: text })));
}
