// Scale from 0 to 100. It shows no marker and has no score until it is moved, so that no number is suggested.

export class Scale {
  constructor(box, slider, onChange) {
    this.box = box;
    this.slider = slider;
    this.onChange = onChange;
    this.isAnswered = false;
    this.pointerId = null;
    slider.addEventListener("input", () => this.setScore(Number(slider.value)));
    box.addEventListener("pointerdown", (event) => this.startDrag(event));
    box.addEventListener("pointermove", (event) => this.drag(event));
    box.addEventListener("pointerup", () => (this.pointerId = null));
    box.addEventListener("pointercancel", (event) => this.cancelDrag(event));
  }

  get score() {
    return this.isAnswered ? Number(this.slider.value) : null;
  }

  reset() {
    this.slider.value = 50;
    this.isAnswered = false;
    this.update();
  }

  setScore(score) {
    this.slider.value = Math.min(100, Math.max(0, score));
    this.isAnswered = true;
    this.update();
    this.onChange();
  }

  update() {
    this.box.classList.toggle("unanswered", !this.isAnswered);
    this.box.style.setProperty("--score", this.slider.value);
    this.slider.setAttribute("aria-valuetext", this.isAnswered ? `${this.slider.value} of 100` : "not answered yet");
  }

  // Pointers are tracked on the whole box, since the track of the native slider cannot be tapped everywhere.
  startDrag(event) {
    if (event.button !== 0 || !event.isPrimary) return;
    this.scoreBeforeDrag = this.score;
    this.pointerId = event.pointerId;
    this.box.setPointerCapture(event.pointerId);
    this.slider.focus({ preventScroll: true });
    this.moveTo(event);
    event.preventDefault();
  }

  drag(event) {
    if (event.pointerId === this.pointerId) this.moveTo(event);
  }

  // The pointer is cancelled when a finger scrolls the page: the score that it passed over is undone.
  cancelDrag(event) {
    if (event.pointerId !== this.pointerId) return;
    this.pointerId = null;
    if (this.scoreBeforeDrag !== null) return this.setScore(this.scoreBeforeDrag);
    this.reset();
    this.onChange();
  }

  moveTo(event) {
    const box = this.box.getBoundingClientRect();
    const margin = parseFloat(getComputedStyle(this.box).getPropertyValue("--thumb")) / 2;
    this.setScore(Math.round((100 * (event.clientX - box.left - margin)) / (box.width - 2 * margin)));
  }

  // Handles a key; returns whether it is one of the scale's keys.
  handleKey(key) {
    const steps = { ArrowLeft: -1, ArrowDown: -1, ArrowRight: 1, ArrowUp: 1, PageDown: -10, PageUp: 10 };
    const score = Number(this.slider.value);
    if (key in steps) this.setScore(score + steps[key]);
    else if (key === "Home") this.setScore(0);
    else if (key === "End") this.setScore(100);
    else return false;
    this.slider.focus({ preventScroll: true });
    return true;
  }
}
