// The 0-100 scale. It has no marker and no answer until it is moved, so that no number is suggested.

class Scale {
  constructor(box, slider, moved) {
    this.box = box;
    this.slider = slider;
    this.moved = moved;
    this.touched = false;
    slider.addEventListener("input", () => this.set(Number(slider.value)));
    box.addEventListener("pointerdown", (event) => this.grasp(event));
    box.addEventListener("pointermove", (event) => this.drag(event));
    box.addEventListener("pointercancel", () => this.release());
  }

  get score() {
    return this.touched ? Number(this.slider.value) : null;
  }

  reset() {
    this.slider.value = 50;
    this.touched = false;
    this.show();
  }

  set(score) {
    this.slider.value = Math.min(100, Math.max(0, score));
    this.touched = true;
    this.show();
    this.moved();
  }

  show() {
    this.box.classList.toggle("untouched", !this.touched);
    this.box.style.setProperty("--score", this.slider.value);
    this.slider.setAttribute("aria-valuetext", this.touched ? `${this.slider.value} of 100` : "not answered yet");
  }

  // Pointers are followed on the whole box and not on the native slider, whose track cannot be tapped everywhere.
  grasp(event) {
    if (event.button !== 0 || !event.isPrimary) return;
    this.before = this.score;
    this.box.setPointerCapture(event.pointerId);
    this.slider.focus({ preventScroll: true });
    this.follow(event);
    event.preventDefault();
  }

  drag(event) {
    if (this.box.hasPointerCapture(event.pointerId)) this.follow(event);
  }

  // The finger turned out to scroll the page: what it did here on its way is taken back.
  release() {
    if (this.before === null) this.reset();
    else this.set(this.before);
    this.moved();
  }

  follow(event) {
    const box = this.box.getBoundingClientRect();
    const margin = parseFloat(getComputedStyle(this.box).getPropertyValue("--thumb")) / 2;
    this.set(Math.round((100 * (event.clientX - box.left - margin)) / (box.width - 2 * margin)));
  }

  // A key pressed where it means nothing else; says whether it was one of the scale's.
  key(name, shift) {
    const step = shift ? 10 : 1;
    const steps = { ArrowLeft: -step, ArrowDown: -step, ArrowRight: step, ArrowUp: step, PageDown: -10, PageUp: 10 };
    const score = Number(this.slider.value);
    if (name in steps) this.set(score + steps[name]);
    else if (name === "Home") this.set(0);
    else if (name === "End") this.set(100);
    else return false;
    this.slider.focus({ preventScroll: true });
    return true;
  }
}
