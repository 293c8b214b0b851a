// The 0-100 scale. It has no marker and no answer until it is moved, so that no number is suggested.

class Scale {
  constructor(box, slider, moved) {
    this.box = box;
    this.slider = slider;
    this.moved = moved;
    this.touched = false;
    this.pointer = null;
    slider.addEventListener("input", () => this.set(Number(slider.value)));
    box.addEventListener("pointerdown", (event) => this.grasp(event));
    box.addEventListener("pointermove", (event) => this.drag(event));
    box.addEventListener("pointerup", () => (this.pointer = null));
    box.addEventListener("pointercancel", (event) => this.release(event));
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
    this.pointer = event.pointerId;
    this.box.setPointerCapture(event.pointerId);
    this.slider.focus({ preventScroll: true });
    this.follow(event);
    event.preventDefault();
  }

  drag(event) {
    if (event.pointerId === this.pointer) this.follow(event);
  }

  // The finger turned out to scroll the page: what it did here on its way is taken back.
  release(event) {
    if (event.pointerId !== this.pointer) return;
    this.pointer = null;
    if (this.before !== null) return this.set(this.before);
    this.reset();
    this.moved();
  }

  follow(event) {
    const box = this.box.getBoundingClientRect();
    const margin = parseFloat(getComputedStyle(this.box).getPropertyValue("--thumb")) / 2;
    this.set(Math.round((100 * (event.clientX - box.left - margin)) / (box.width - 2 * margin)));
  }

  // A key pressed where it means nothing else; says whether it was one of the scale's.
  key(name) {
    const steps = { ArrowLeft: -1, ArrowDown: -1, ArrowRight: 1, ArrowUp: 1, PageDown: -10, PageUp: 10 };
    const score = Number(this.slider.value);
    if (name in steps) this.set(score + steps[name]);
    else if (name === "Home") this.set(0);
    else if (name === "End") this.set(100);
    else return false;
    this.slider.focus({ preventScroll: true });
    return true;
  }
}
