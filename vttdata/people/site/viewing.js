// Measures how much of a video was shown: the time between frames that the browser presented one after the other, in a
// visible page and at twice the speed at most. What was sought over or played in a hidden tab was not shown.

const FASTEST = 2;
const SLACK_SECONDS = 0.25; // between two reports of the same browser

export class Viewing {
  // `changed` is called whenever more was shown.
  constructor(video, changed) {
    this.video = video;
    this.changed = changed;
    this.restart();
    const interrupt = () => (this.last = null);
    for (const name of ["seeking", "emptied"]) video.addEventListener(name, interrupt);
    document.addEventListener("visibilitychange", interrupt);
    video.addEventListener("ended", () => this.present(performance.now(), video.duration));
    if (video.requestVideoFrameCallback === undefined) {
      video.addEventListener("timeupdate", () => this.present(performance.now(), video.currentTime));
      return;
    }
    const onFrame = (now, frame) => {
      this.present(now, frame.mediaTime);
      video.requestVideoFrameCallback(onFrame);
    };
    video.requestVideoFrameCallback(onFrame);
  }

  restart() {
    this.spans = []; // sorted and disjoint, [start, end] in seconds
    this.last = null;
  }

  // Notes that the frame of a time is on the screen, and with it that the one before was until now.
  present(now, time) {
    if (document.hidden || this.video.seeking) return;
    const before = this.last;
    this.last = { now, time };
    if (before === null || time <= before.time) return;
    if (time - before.time > FASTEST * (now - before.now) / 1000 + SLACK_SECONDS) return;
    this.add(before.time, time);
    this.changed();
  }

  add(start, end) {
    const apart = this.spans.filter((span) => span[1] < start || span[0] > end);
    const joined = this.spans.filter((span) => span[1] >= start && span[0] <= end);
    const span = [Math.min(start, ...joined.map((each) => each[0])), Math.max(end, ...joined.map((each) => each[1]))];
    this.spans = [...apart, span].sort((one, other) => one[0] - other[0]);
  }

  // Share of the video's length, 0 to 1.
  get share() {
    const { duration } = this.video;
    if (!Number.isFinite(duration) || duration <= 0) return 0;
    const seconds = this.spans.reduce((sum, [start, end]) => sum + Math.min(end, duration) - Math.min(start, duration), 0);
    return Math.min(seconds / duration, 1);
  }
}
