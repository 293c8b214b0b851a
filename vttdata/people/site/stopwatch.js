// Measures the seconds spent on an item, without the time while the page is hidden.

export class Stopwatch {
  constructor() {
    this.secondsBefore = 0;
    this.startedAt = null;
  }

  start(secondsBefore) {
    this.secondsBefore = secondsBefore;
    this.startedAt = document.hidden ? null : performance.now();
  }

  pause() {
    this.secondsBefore = this.seconds;
    this.startedAt = null;
  }

  get seconds() {
    return this.secondsBefore + (this.startedAt === null ? 0 : (performance.now() - this.startedAt) / 1000);
  }
}
