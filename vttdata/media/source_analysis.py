"""One reading of a source for all that later stages decide by: its measure, its fingerprint and its shot features.

Every frame is decoded once. What the readings say about a source is decided elsewhere.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from vttdata.media.decode import open_video
from vttdata.media.fingerprint import Fingerprinter
from vttdata.media.measure import Measurement
from vttdata.media.shots.features import ShotFeatures
from vttdata.media.shots.histogram import describe
from vttdata.media.shots.signals import measure_signals
from vttdata.records import Fingerprint, Measure


@dataclass(frozen=True, slots=True)
class SourceAnalysis:
    """Results of one reading of a source."""

    measure: Measure
    fingerprint: Fingerprint
    features: ShotFeatures


def analyse_source(path: Path) -> SourceAnalysis:
    """Read a local video file once.

    Raises:
        MediaError, HaltError: see `vttdata.media.measure.measure`.
    """
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
