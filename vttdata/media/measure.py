"""Decode a whole video once, to count its frames and to score them by all picture filters.

The scores come from about two pictures a second, each weighted by the time it is shown, so that the frame rate makes
no difference; memory stays flat however long the video is. Nothing is judged here.
"""

from __future__ import annotations

import contextlib
import dataclasses
import math
import sys
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from vttdata.errors import HaltError, MediaError
from vttdata.media.base_filter import PictureFilter, SampledPicture
from vttdata.media.decode import Frame, Video, count_packets, momentary_error, open_video, stated_seconds
from vttdata.media.filters import PICTURE_FILTERS
from vttdata.media.luma import luma_of
from vttdata.records import Measure, Probe

SAMPLE_SECONDS = 0.5
_MAX_MISSING_SHARE = 0.1
_MILLISECOND = 0.001
# Formats that store a duration; of the others libavformat derives it from the packets or guesses it by the bit rate.
# AVI stores a number of frames, which is made up where it was written to a pipe.
_STATING_DURATIONS = frozenset({"mov,mp4,m4a,3gp,3g2,mj2", "matroska,webm", "flv", "asf"})
# Writers round durations to seconds, and frame rates such as 29.97 to 30.
_END_TOLERANCE_SECONDS = 1.0
_END_TOLERANCE_SHARE = 0.01
# Stated rates are rounded, the last frame's duration is an estimate, and a stream may have gaps.
_RATE_TOLERANCE = 0.05
# The sound of many files is a little longer than their pictures.
_PLAUSIBLE_SHORTFALL_SECONDS = 0.25


def measure(path: Path, *, threads: int = 1, watch: Callable[[float, Any], None] | None = None) -> Measure:
    """Decode every frame of a video and measure it.

    Args:
        path: a local file.
        threads: decoder threads; 1 costs least CPU in all, 0 lets the decoder choose.
        watch: called with each frame's time in seconds and picture (`av.VideoFrame`), to share the one decode.

    Returns:
        Facts and scores: `seconds` is the end of the last frame, counted from time zero; `frames` counts what players
        show (edit lists let a container's count be larger); `scores` are those of `vttdata.media.filters`.

    Raises:
        MediaError: ``damaged`` when packets or pictures cannot be decoded without errors, ``frames_missing`` when
            the number of frames differs from that of the packets to be shown by more than a tenth, ``truncated`` when
            they end before the duration that the container states, ``no_video`` when no frame is shown, and what
            `open_video` and `Video.frames` raise.
        HaltError: when a filter raises an error or its score is not between 0 and 1; names the filter's file.
    """
    with open_video(path, threads=threads) as video:
        measurement = Measurement(path, video)
        for frame in measurement.frames():
            if watch:
                watch(frame.time, frame.picture)
        return measurement.result()


def correct_probe(probe: Probe, measured: Measure) -> Probe:
    """Return a container's facts with the mean frame rate of the decoded frames, and a note, where another is stated.

    Raw streams state none, and AVI files often that of their unit of time.
    """
    shown = measured.seconds - measured.first_frame_time
    rate = round(measured.frames / shown, 3) if shown > 0 else 0.0
    if not rate or abs(rate - probe.frame_rate) <= _RATE_TOLERANCE * rate:
        return probe
    note = f"the frame rate is measured, where the container states {probe.frame_rate:g} frames a second"
    return dataclasses.replace(probe, frame_rate=rate, note="; ".join(filter(None, (probe.note, note))))


def frame_times(path: Path) -> npt.NDArray[np.float64]:
    """Decode every frame of a video for its times.

    Returns:
        (n + 1,) seconds since time zero: when each of n frames starts, and when the last one ends.

    Raises:
        MediaError, HaltError: see `measure`.
    """
    times: list[float] = []
    measured = measure(path, watch=lambda time, _: times.append(time))
    return np.array([*times, measured.seconds])


class Measurement:
    """Measurement of a video while all its frames are decoded, so that others can share them."""

    def __init__(self, path: Path, video: Video) -> None:
        self._path, self._video = path, video
        self._timing = Timing()
        self._scores = PictureScores()
        self._end = 0.0

    def frames(self) -> Iterator[Frame]:
        """Yield every frame of the video, which must be at its start, once it is measured.

        Raises:
            MediaError, HaltError: see `measure`.
        """
        corrupt = 0
        for frame in self._video.frames():
            self._timing.add(frame.time)
            self._scores.add(frame.time, frame.picture)
            corrupt += frame.picture.is_corrupt
            self._end = frame.time + frame.seconds
            yield frame
        check_decoding(self._video, self._timing.frames, corrupt)
        check_end(self._path, self._video, self._end, self._timing)

    def result(self) -> Measure:
        """Return the facts and scores, after the last frame."""
        return self._timing.measure(self._end, self._video, self._scores)


class PictureScores:
    """Scores of one video by all picture filters, computed from its pictures in order; memory stays flat.

    The filters see what is shown at every half second from the first picture on.
    """

    def __init__(self) -> None:
        self._filters = [filter_class() for filter_class in PICTURE_FILTERS]
        self._previous: Any = None
        self._first = 0.0
        self._sampled = 0

    def add(self, time: float, picture: Any) -> None:
        """Add the picture (`av.VideoFrame`) that is shown from `time` on, in seconds since time zero.

        Raises:
            HaltError: when a filter raises an error.
        """
        if self._previous is None:
            self._first = time
        else:
            self._sample(until=time)
        self._previous = picture

    def finish(self, seconds: float) -> dict[str, float]:
        """End the video at `seconds`; return the scores by the filters' names.

        Raises:
            HaltError: when a filter raises an error or its score is not between 0 and 1.
        """
        self._sample(until=seconds)
        self._previous = None
        scores = {}
        for picture_filter in self._filters:
            with _blaming(picture_filter):
                scores[picture_filter.name] = score = float(picture_filter.score())
            if not 0.0 <= score <= 1.0:
                path = sys.modules[type(picture_filter).__module__].__file__
                wrong = f"scored {score:g}, which is not between 0 and 1"
                raise HaltError(f"{path}: filter '{picture_filter.name}' {wrong}.")
        return scores

    def _sample(self, until: float) -> None:
        """Show the previous picture to the filters if it is shown at a half second that has no sample yet."""
        periods = max(math.ceil((until - self._first) / SAMPLE_SECONDS - 1e-6), 1) - self._sampled
        if periods <= 0:
            return
        self._sampled += periods
        picture = SampledPicture.from_luma(luma_of(self._previous), periods)
        for picture_filter in self._filters:
            with _blaming(picture_filter):
                picture_filter.add(picture)


@contextlib.contextmanager
def _blaming(picture_filter: PictureFilter) -> Iterator[None]:
    """Raise an error of a filter as a HaltError that names the filter's file and line."""
    try:
        yield
    except MemoryError:
        raise
    except Exception as error:
        path = sys.modules[type(picture_filter).__module__].__file__
        lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == path]
        location = f"{path}:{lines[-1]}" if lines else path
        failure = f"filter '{picture_filter.name}' failed ({type(error).__name__}: {error})"
        raise HaltError(f"{location}: {failure}.") from error


def check_decoding(video: Video, frames: int, corrupt: int) -> None:
    """Refuse a video that was not decoded completely.

    Raises:
        MediaError: ``damaged``, ``no_video`` or ``frames_missing``; see `measure`.
    """
    tally = video.tally
    if tally.undecodable:
        facts = f"{tally.undecodable} of {tally.packets} video packets cannot be decoded"
        raise MediaError("damaged", f"{facts} (first error: {tally.first_error.rstrip('.')}).")
    if not frames:
        raise MediaError("no_video", "the video stream holds no frame that is shown.")
    if corrupt:
        raise MediaError("damaged", f"{corrupt} of {frames} frames are decoded with errors in the picture.")
    if abs(frames - tally.packets) > _MAX_MISSING_SHARE * tally.packets:
        raise MediaError("frames_missing", f"{frames} frames come out of {tally.packets} video packets to be shown.")


def check_end(path: Path, video: Video, end: float, timing: Timing) -> None:
    """Refuse a video whose frames end long before the duration that its container states.

    Args:
        path: of the file.
        video: decoded to its end.
        end: of the last frame, in seconds since time zero.
        timing: of the frames.

    Raises:
        MediaError: ``truncated`` with both durations, unless another stream lasts as long as the container states.
        UnavailableError: when another reading finds more packets; at errors of the disk some demuxers end quietly.
    """
    if video.container.format.name not in _STATING_DURATIONS:
        return
    stated = stated_seconds(video.container, video.stream)
    if end >= stated - max(2 * timing.longest, _PLAUSIBLE_SHORTFALL_SECONDS):
        return
    shown, others_end = count_packets(path, video.stream.index)
    if shown > max(video.tally.packets, timing.frames):
        raise momentary_error()
    # How long the last frame is shown is rarely stored; some writers count from the container's zero.
    tolerance = _END_TOLERANCE_SECONDS + _END_TOLERANCE_SHARE * stated + timing.longest + max(video.start_time, 0)
    if max(end, others_end) >= stated - tolerance:
        return
    raise MediaError(
        "truncated",
        f"the container states {stated:.2f} s, and only {end:.2f} s can be decoded ({timing.frames} frames).",
    )


class Timing:
    """Number of frames, and the shortest and longest interval between them."""

    def __init__(self) -> None:
        self.frames = 0
        self.first = self.last = self.longest = 0.0
        self.shortest = math.inf

    def add(self, time: float) -> None:
        """Count the next frame, which is shown from `time` on, in seconds since time zero."""
        if self.frames == 0:
            self.first = time
        else:
            interval = time - self.last
            self.shortest, self.longest = min(self.shortest, interval), max(self.longest, interval)
        self.last = time
        self.frames += 1

    def measure(self, end: float, video: Video, scores: PictureScores) -> Measure:
        """Return the facts and scores of a video whose last frame ends at `end`, in seconds since time zero."""
        return Measure(
            frames=self.frames,
            seconds=end,
            first_frame_time=self.first,
            variable_frame_rate=self.varies(float(video.time_base)),
            scores=scores.finish(end),
        )

    def varies(self, tick: float) -> bool:
        """Return whether intervals differ by more than rounding explains, for a time base of `tick` seconds."""
        # Both ends of both intervals may be rounded. A video that once went through Matroska or WebM keeps their
        # rounding to milliseconds in any other container.
        return self.longest - self.shortest > 2 * max(tick, _MILLISECOND) * 1.001
