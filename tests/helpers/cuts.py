"""Cuts of files that are measured first, as in a build."""

from __future__ import annotations

import functools
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from vttdata.media.cut import MediaSettings, cut
from vttdata.media.frames_in_span import SpanFrames, frames_shown, read_span, ways_to_read
from vttdata.media.measure import frame_times
from vttdata.media.probe import probe
from vttdata.records import ClipMedia

Times = npt.NDArray[np.float64]


def times_of(source: Path) -> Times:
    """Return the frame times of a file, which is decoded once in each state."""
    return _times_of(source, source.stat().st_mtime_ns)


@functools.lru_cache(maxsize=256)
def _times_of(source: Path, modified: int) -> Times:
    return frame_times(source)


def cut_file(source: Path, start: float, end: float, target: Path, **changed: Any) -> ClipMedia:
    """Cut a span with the default settings but for those given."""
    return cut(source, probe(source), times_of(source), start, end, target, MediaSettings(**changed))


def read_shown(source: Path, start: float, end: float) -> SpanFrames:
    """Read a span by the cheapest way that finds its frames."""
    span = frames_shown(times_of(source), start, end)
    readings = (read_span(source, span, way, float("inf")) for way in ways_to_read(probe(source), span))
    return next(reading for reading in readings if reading is not None)
