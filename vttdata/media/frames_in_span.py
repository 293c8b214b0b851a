"""Finds the frames of a source that lie in a span, decoding only around it where the container's times allow that.

It also keeps the pictures at both ends with their neighbours, small, so that a clip can be held against them.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import cast

import av
import numpy as np
import numpy.typing as npt

from vttdata.errors import MediaError
from vttdata.media.decode import Frame, Video, open_video

Thumbnail = npt.NDArray[np.float32]

SAME_TIME = 1e-6
"""Seconds within which a frame's time and a span's border are one and the same: the resolution of start times."""

TIMED_CONTAINERS = ("mov,mp4,m4a,3gp,3g2,mj2", "matroska,webm", "mpegts", "flv", "asf", "nut", "ivf")
"""Containers that give every packet its time, so that times are the same wherever decoding begins."""

_MARGINS = (0.5, 12.0)  # the second covers an x264 keyframe interval of 250 frames at 24 fps
_THUMBNAIL = 32
_PICTURE_LIMIT = 24.0
_PICTURE_SLACK = 0.5
# Grey levels, measured on the middle thirds of 33 real videos: at 240 lines and CRF 23 a clip's end frames are at most
# 2.7 off the source's, at CRF 40 14.1, and never more than 0.2 nearer to a neighbour. A slip of one frame would show at
# 98 of 132 neighbours; the others look alike, and there the times and the number of frames decide.


@dataclass(frozen=True, slots=True)
class Moment:
    """A frame and its neighbours in time, each 32 x 32, grey, float32, 0..255, as displayed."""

    frame: Thumbnail
    neighbours: tuple[Thumbnail, ...]

    def shown_by(self, other: Thumbnail) -> bool:
        """Whether `other` is this frame, coded again: like it, and not clearly more like a neighbour.

        Clearly is more than half of what separates the two, and more than half a grey level: neighbours may look alike.
        """
        own = _difference(other, self.frame)
        return own <= _PICTURE_LIMIT and all(
            own - _difference(other, near) <= max(_difference(self.frame, near) / 2, _PICTURE_SLACK)
            for near in self.neighbours
        )


@dataclass(frozen=True, slots=True)
class SpanFrames:
    """The frames of a source whose time lies in a span.

    `ticks` are their timestamps in units of `tick` seconds, as the container counts; the last one is shown until tick
    `until`. `decoded_from` is where decoding began (seconds since time zero), None for the start of the file.
    """

    ticks: tuple[int, ...]
    tick: Fraction
    until: int
    first: Moment
    last: Moment
    decoded_from: float | None

    @property
    def seconds(self) -> float:
        """From the first frame's time to the end of the last."""
        return float((self.until - self.ticks[0]) * self.tick)


def read_span(source: Path, start: float, end: float, deadline: float, *, from_start: bool = False) -> SpanFrames:
    """Decode a source around the span [start, end) and note the frames in it.

    Reads from a keyframe that lies before `start`, or from the start of the file where there is none to be found.

    Args:
        source: a local video file.
        start: seconds since the container's start time.
        end: seconds, above `start`.
        deadline: value of ``time.monotonic()`` after which decoding is given up.
        from_start: never seek; for containers that do not store times, see `TIMED_CONTAINERS`.

    Raises:
        MediaError: ``cut_failed`` when no frame lies in the span, ``damaged``, ``timestamps`` or ``timeout``.
    """
    margins = [] if from_start else [margin for margin in _MARGINS if start > margin]
    for begin in [*(start - margin for margin in margins), None]:
        with open_video(source) as video:
            found = _Collector(start, end, begin).collect(video, deadline)
        if found is not None:
            return found
    raise MediaError("cut_failed", f"no frame of the source lies between {start:.3f} and {end:.3f} s.")


class _Collector:
    """Notes the frames of one span while a source is decoded; see `read_span`."""

    def __init__(self, start: float, end: float, begin: float | None) -> None:
        self.start, self.end, self.begin = start - SAME_TIME, end - SAME_TIME, begin
        self.before: Frame | None = None
        self.inside: list[int] = []
        self.head: list[Frame] = []
        self.tail: deque[Frame] = deque(maxlen=3)
        self.after: Frame | None = None

    def collect(self, video: Video, deadline: float) -> SpanFrames | None:
        """The span's frames, or None when there are none or decoding did not begin before the first of them."""
        bad = 0
        for frame in self._trusted(video):
            if time.monotonic() > deadline:
                raise MediaError("timeout", "decoding the source took longer than the limit for a cut.")
            if frame.time < self.start - 1:
                bad = video.tally.undecodable
            if not self._take(frame):
                break
        if not self.inside:
            return None
        if video.tally.undecodable > bad:
            raise MediaError("damaged", f"a part of the span cannot be decoded: {video.tally.first_error}")
        return self._result(video)

    def _trusted(self, video: Video) -> Iterator[Frame]:
        """All frames from the start of the file; after seeking, those from a keyframe that lies before the span."""
        if self.begin is None:
            yield from video.frames()
            return
        try:
            video.seek(self.begin)
        except av.error.FFmpegError:
            return
        frames = video.frames()
        for frame in frames:
            if frame.time > self.start:
                return
            if frame.picture.key_frame:
                yield frame
                yield from frames

    def _take(self, frame: Frame) -> bool:
        if frame.time < self.start:
            self.before = frame
            return True
        if not self.head and self.before:
            self._keep(self.before)
        self._keep(frame)
        if frame.time >= self.end:
            self.after = frame
            return False
        self.inside.append(_ticks(frame))
        return True

    def _keep(self, frame: Frame) -> None:
        self.tail.append(frame)
        if len(self.head) < 3:
            self.head.append(frame)

    def _result(self, video: Video) -> SpanFrames:
        last = -2 if self.after else -1
        return SpanFrames(
            ticks=tuple(self.inside),
            tick=Fraction(video.stream.time_base),
            until=self._until(video, self.tail[last]),
            first=_moment(self.head, 1 if self.before else 0),
            last=_moment(list(self.tail), len(self.tail) + last),
            decoded_from=self.begin,
        )

    def _until(self, video: Video, last: Frame) -> int:
        """Up to the next frame; a picture that stands still for long ends with the span."""
        tick = Fraction(video.stream.time_base)
        usual = (self.inside[-1] - self.inside[0]) // max(len(self.inside) - 1, 1)
        shown = _ticks(self.after) - self.inside[-1] if self.after else round(last.seconds / tick) or usual
        rest = round((self.end + SAME_TIME - last.time) / tick)
        return self.inside[-1] + max(min(shown, max(usual, rest)), 1)


def _ticks(frame: Frame) -> int:
    return int(frame.picture.pts or 0)


def _moment(frames: list[Frame], position: int) -> Moment:
    small = [thumbnail(frame.picture) for frame in frames]
    return Moment(small[position], tuple(small[:position][-1:] + small[position + 1 :][:1]))


def thumbnail(picture: av.VideoFrame) -> Thumbnail:
    """A picture as a player shows it, turned and mirrored as the file says, in 32 x 32 grey levels of 0..255."""
    small = picture.reformat(_THUMBNAIL, _THUMBNAIL, "gray", interpolation="AREA").to_ndarray().astype(np.float32)
    turned = np.rot90(small, picture.rotation // 90)
    if not _mirrored(picture):
        return turned
    return np.flip(turned, 1 if picture.rotation % 180 else 0)


def _mirrored(picture: av.VideoFrame) -> bool:
    data = picture.side_data.get("DISPLAYMATRIX")
    if data is None:
        return False
    matrix = np.frombuffer(cast(bytes, data), np.int32).astype(np.float64)
    return bool(matrix[0] * matrix[4] < matrix[1] * matrix[3])


def _difference(one: Thumbnail, other: Thumbnail) -> float:
    return float(np.abs(one - other).mean())
