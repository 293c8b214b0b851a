"""One reading of a source for all that later stages decide by: its measure, its fingerprint and its shot features.

The exact method decodes every frame once; the fast method decodes the frames that can show a shot boundary, and takes
quality scores and fingerprint from these and the times from the packets.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from vttdata.media.decode import all_keyframes, open_video
from vttdata.media.fingerprint import Fingerprinter
from vttdata.media.measure import Measurement, PictureScores, Timing, check_end
from vttdata.media.shots.detect import Method, read_features_fast
from vttdata.media.shots.fast.packets import Watch
from vttdata.media.shots.features import ShotFeatures
from vttdata.media.shots.histogram import describe
from vttdata.media.shots.signals import measure_signals
from vttdata.records import Fingerprint, Measure

# Two renderings of a test pattern of 1 s were taken for copies by the frames that the fast method decodes, and their
# scores were off by up to .03; of longer videos by a third of that.
_SHORT_SECONDS = 8.0


@dataclass(frozen=True, slots=True)
class SourceAnalysis:
    """Results of one reading of a source."""

    measure: Measure
    fingerprint: Fingerprint
    features: ShotFeatures


def analyse_source(path: Path, method: Method) -> SourceAnalysis:
    """Read a video file once.

    Args:
        path: a local file.
        method: ``exact`` decodes every frame; ``fast`` those that can show a shot boundary, and every frame of videos
            below 8 s, and of streams whose packets say too little or are damaged.

    Raises:
        MediaError, HaltError: see `vttdata.media.measure.measure`.
    """
    analysis = None if method == "exact" or all_keyframes(path) else _analyse_part(path)
    return analysis or _analyse_all_frames(path)


def _analyse_all_frames(path: Path) -> SourceAnalysis:
    fingerprinter = Fingerprinter()
    times: list[float] = []
    with open_video(path) as video:
        measurement = Measurement(path, video)

        def pictures() -> Iterator[Any]:
            for frame in measurement.frames():
                times.append(frame.time)
                fingerprinter.add(frame.time, frame.picture)
                yield frame.picture

        stated_rate = video.frame_rate
        signals = measure_signals(describe(pictures()), stated_rate)
        measure = measurement.result()
    features = ShotFeatures(signals, np.array([*times, measure.seconds]), stated_rate)
    return SourceAnalysis(measure, fingerprinter.finish(measure.seconds), features)


class _Samplers:
    """Quality scores and fingerprint of the frames that the fast method decodes.

    What lies between two decoded frames is taken for the nearer one.
    """

    def __init__(self) -> None:
        self.scores, self.fingerprinter = PictureScores(), Fingerprinter()
        self._last: float | None = None
        self._frame_seconds = math.inf

    def add(self, time: float, picture: Any) -> None:
        """Show a frame to both."""
        shown_from = time
        if self._last is not None:
            gap = time - self._last
            self._frame_seconds = min(self._frame_seconds, gap)
            shown_from -= (gap - self._frame_seconds) / 2
        self._last = time
        self.scores.add(shown_from, picture)
        self.fingerprinter.add(shown_from, picture)


def _analyse_part(path: Path) -> SourceAnalysis | None:
    """Decode as little as shot detection needs; return None where every frame has to be decoded."""
    samplers = _Samplers()

    def start() -> Watch:
        nonlocal samplers
        samplers = _Samplers()
        return samplers.add

    features = read_features_fast(path, new_watch=start)
    if features is None or features.times[-1] < _SHORT_SECONDS:
        return None
    timing, end = Timing(), float(features.times[-1])
    for time in features.times[:-1].tolist():
        timing.add(time)
    with open_video(path) as video:
        check_end(path, video, end, timing)
        measure = timing.measure(end, video, samplers.scores)
    return SourceAnalysis(measure, samplers.fingerprinter.finish(end), features)
