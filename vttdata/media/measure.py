"""Decodes a whole video once, to count what is really there and to score how it looks. Judges nothing.

The scores come from about two pictures a second, each weighted by the time it is shown, so that the frame rate makes
no difference; memory stays flat however long the video is.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from vttdata.errors import MediaError
from vttdata.media.decode import Frame, Video, open_video
from vttdata.media.filters import luma as quality
from vttdata.records import Measure

SAMPLE_SECONDS = 0.5
_BLACK_SHARE = 0.98  # ffmpeg's `blackdetect` too calls a picture black from here
_MISSING_SHARE = 0.1
_MILLISECOND = 0.001
_FULL_RANGE = 2  # AVCOL_RANGE_JPEG
_PLANAR_LUMA = re.compile(r"(?:yuvj?a?4\d\dp|gray)(?:(9|10|12|14|16)le)?|nv12|nv21")
_TO_LIMITED = np.rint(np.arange(256) * (219 / 255) + 16).astype(np.uint8)


def measure(path: Path, *, threads: int = 1, watch: Callable[[float, Any], None] | None = None) -> Measure:
    """Decode every frame of a video and measure it.

    Args:
        path: a local file.
        threads: decoder threads; 1 costs least CPU in all, 0 lets the decoder choose.
        watch: is shown each picture (`av.VideoFrame`) with its time in seconds, for what else one decode can serve.

    Returns:
        A `Measure`: `seconds` is the end of the last frame, counted from time zero. `dark` is the share of the time
        that shows a nearly black picture, `frozen` the share in which the picture is the one of half a second before,
        `blur` and `blocky` are means over the time that is not black (see `vttdata.media.filters.luma`).
        `frames` counts what players show; edit lists let a container's own count be larger.

    Raises:
        MediaError: ``damaged`` when packets or pictures cannot be decoded without errors, ``frames_missing`` when
            more than a tenth of the packets to be shown gives no frame (or as many too much), ``no_video`` when
            nothing is shown, and what `open_video` and `Video.frames` raise.
    """
    timing, scores = _Timing(), _Scores()
    with open_video(path, threads=threads) as video:
        held: Frame | None = None
        corrupt = 0
        for frame in video.frames():
            if held:
                scores.add(held, until=frame.time)
            timing.add(frame)
            if watch:
                watch(frame.time, frame.picture)
            corrupt += frame.picture.is_corrupt
            held = frame
        _check(video, timing.frames, corrupt)
        assert held is not None
        end = held.time + (held.seconds or timing.last_interval or _nominal_interval(video))
        scores.add(held, until=end)
        return Measure(
            frames=timing.frames,
            seconds=end,
            first_frame_time=timing.first,
            variable_frame_rate=timing.varies(float(video.stream.time_base)),
            dark=scores.dark,
            frozen=scores.frozen,
            blur=scores.blur,
            blocky=scores.blocky,
        )


def luma_of(picture: Any) -> quality.Luma:
    """The luma of a decoded frame (`av.VideoFrame`) of any format: uint8, height x width, limited range.

    Pictures are as coded: not rotated. The array may share memory with the frame.
    """
    if not _PLANAR_LUMA.fullmatch(picture.format.name):
        picture = picture.reformat(format="yuv420p", dst_color_range="MPEG")
    match = _PLANAR_LUMA.fullmatch(picture.format.name)
    bits = int(match.group(1) or 8) if match else 8
    plane, sample = picture.planes[0], np.dtype("<u2" if bits > 8 else "u1")
    rows: npt.NDArray[Any] = np.frombuffer(plane, sample).reshape(-1, plane.line_size // sample.itemsize)
    luma = rows[: picture.height, : picture.width]
    luma = (luma >> (bits - 8)).astype(np.uint8) if bits > 8 else luma
    return _TO_LIMITED[luma] if _full_range(picture) else luma


def _full_range(picture: Any) -> bool:
    return bool(picture.color_range == _FULL_RANGE or picture.format.name.startswith(("gray", "yuvj")))


def _check(video: Video, frames: int, corrupt: int) -> None:
    tally = video.tally
    if tally.undecodable:
        what = f"{tally.undecodable} of {tally.packets} video packets cannot be decoded"
        raise MediaError("damaged", f"{what} (first error: {tally.first_error.rstrip('.')}).")
    if not frames:
        raise MediaError("no_video", "the video stream holds no frame that is shown.")
    if corrupt:
        raise MediaError("damaged", f"{corrupt} of {frames} frames are decoded with errors in the picture.")
    if abs(frames - tally.packets) > _MISSING_SHARE * tally.packets:
        raise MediaError("frames_missing", f"{frames} frames come out of {tally.packets} video packets to be shown.")


def _nominal_interval(video: Video) -> float:
    rate = video.stream.average_rate
    return float(1 / rate) if rate else 0.0


@dataclass(slots=True)
class _Timing:
    frames: int = 0
    first: float = 0.0
    last: float = 0.0
    last_interval: float = 0.0
    shortest: float = math.inf
    longest: float = 0.0

    def add(self, frame: Frame) -> None:
        if self.frames == 0:
            self.first = frame.time
        else:
            self.last_interval = frame.time - self.last
            self.shortest = min(self.shortest, self.last_interval)
            self.longest = max(self.longest, self.last_interval)
        self.last = frame.time
        self.frames += 1

    def varies(self, tick: float) -> bool:
        """Whether intervals differ by more than rounding each of two times, twice, to `tick` or milliseconds does.

        A video that once went through Matroska or WebM keeps its rounding to milliseconds in any other container.
        """
        return self.longest - self.shortest > 2 * max(tick, _MILLISECOND) * 1.001


@dataclass(slots=True)
class _Scores:
    """Folds the pictures at every half second, from the first frame on, into running sums."""

    samples: int = 0
    black: int = 0
    still: int = 0
    blur_sum: float = 0.0
    blocky_sum: float = 0.0
    start: float | None = None
    cells: npt.NDArray[np.float32] | None = field(default=None, repr=False)

    def add(self, frame: Frame, until: float) -> None:
        """Count `frame` for each sampling time at which it is shown; later ones find the picture unchanged."""
        if self.start is None:
            self.start = frame.time
        times = max(math.ceil((until - self.start) / SAMPLE_SECONDS - 1e-6), 1) - self.samples
        if times > 0:
            self._sample(luma_of(frame.picture), times)

    def _sample(self, luma: quality.Luma, times: int) -> None:
        cells = quality.cells(luma)
        self.samples += times
        self.still += times - 1
        if self.cells is not None:
            self.still += quality.stands_still(self.cells, cells)
        self.cells = cells
        if quality.darkness(luma) >= _BLACK_SHARE:
            self.black += times
        else:
            self.blur_sum += times * quality.blur(luma)
            self.blocky_sum += times * quality.blockiness(luma)

    @property
    def dark(self) -> float:
        return self.black / self.samples

    @property
    def frozen(self) -> float:
        return self.still / (self.samples - 1) if self.samples > 1 else 0.0

    @property
    def blur(self) -> float:
        return self.blur_sum / max(self.samples - self.black, 1)

    @property
    def blocky(self) -> float:
        return self.blocky_sum / max(self.samples - self.black, 1)
