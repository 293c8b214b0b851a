"""Frames of a source that lie in a span, found by decoding only around it where the container's times allow that.

Keeps small copies of the pictures at both ends with their neighbours, to compare a clip with.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

import av
import numpy as np
import numpy.typing as npt

from vttdata.errors import MediaError
from vttdata.media.decode import Frame, Video, check_memory, open_video
from vttdata.media.pictures import turn_upright

Thumbnail = npt.NDArray[np.float32]

# Seconds within which a frame's time equals a limit of a span: the resolution of start times.
TIME_TOLERANCE = 1e-6

TIMED_CONTAINERS = ("mov,mp4,m4a,3gp,3g2,mj2", "matroska,webm", "mpegts", "flv", "asf", "nut", "ivf")
"""Containers that store the time of every packet, so that times are the same wherever decoding begins."""

# Seconds before the span; the second covers a GOP of 250 frames, x264's default, at 24 frames a second.
SEEK_MARGINS = (0.5, 12.0)
_THUMBNAIL_SIZE = 32
# Grey levels, measured on the middle thirds of 33 real videos: at 240 lines and CRF 23 a clip's end frames differ by at
# most 2.7 from the source's, at CRF 40 by 14.1, and are never more than 0.2 closer to a neighbour. A shift of one frame
# would show at 98 of 132 neighbours; the others look alike, and there the times and the number of frames decide.
_MAX_DIFFERENCE = 24.0
_NEIGHBOUR_TOLERANCE = 0.5


@dataclass(frozen=True, slots=True)
class ReferenceFrame:
    """Frame of the source and its neighbours in time, each 32 x 32, grey, float32, 0..255, as displayed."""

    frame: Thumbnail
    neighbours: tuple[Thumbnail, ...]

    def is_shown_by(self, thumbnail: Thumbnail) -> bool:
        """Return whether a thumbnail is this frame after encoding: similar, and not clearly closer to a neighbour.

        Clearly means by more than half of the difference between frame and neighbour, and by half a grey level.
        """
        difference = _difference(thumbnail, self.frame)
        return difference <= _MAX_DIFFERENCE and all(
            difference - _difference(thumbnail, neighbour)
            <= max(_difference(self.frame, neighbour) / 2, _NEIGHBOUR_TOLERANCE)
            for neighbour in self.neighbours
        )


@dataclass(frozen=True, slots=True)
class SpanFrames:
    """Frames of a source whose time lies in a span.

    Attributes:
        pts: their presentation times, in the stream's time base.
        time_base: unit of `pts` and `end_pts`, in seconds.
        end_pts: end of the last frame.
        first, last: the frames at both ends.
        decoded_from: seconds since time zero at which decoding began; None for the start of the file.
        all_decoded: whether every frame was decoded; otherwise those at both ends were, and packets tell the others.
    """

    pts: tuple[int, ...]
    time_base: Fraction
    end_pts: int
    first: ReferenceFrame
    last: ReferenceFrame
    decoded_from: float | None
    all_decoded: bool = True

    @property
    def seconds(self) -> float:
        """Return the seconds from the start of the first frame to the end of the last."""
        return float((self.end_pts - self.pts[0]) * self.time_base)


def read_span(source: Path, start: float, end: float, deadline: float, *, from_start: bool = False) -> SpanFrames:
    """Decode a source around the span [start, end) and collect the frames in it.

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
    margins = [] if from_start else [margin for margin in SEEK_MARGINS if start > margin]
    for begin in [*(start - margin for margin in margins), None]:
        with open_video(source) as video:
            span = _Collector(start, end, begin).collect(video, deadline)
        if span is not None:
            return span
    raise MediaError("cut_failed", f"no frame of the source lies between {start:.3f} and {end:.3f} s.")


class _Collector:
    """Collection of the frames of one span while a source is decoded; see `read_span`."""

    def __init__(self, start: float, end: float, begin: float | None) -> None:
        self.start, self.end, self.begin = start - TIME_TOLERANCE, end - TIME_TOLERANCE, begin
        self.before: Frame | None = None
        self.inside: list[int] = []
        self.head: list[Frame] = []
        self.tail: deque[Frame] = deque(maxlen=3)
        self.after: Frame | None = None

    def collect(self, video: Video, deadline: float) -> SpanFrames | None:
        """Return the span's frames, or None when there are none or decoding began after the first of them."""
        undecodable_before = 0
        for frame in self._frames_from_keyframe(video):
            if time.monotonic() > deadline:
                raise MediaError("timeout", "decoding the source exceeded the time limit for a cut.")
            if frame.time < self.start - 1:
                undecodable_before = video.tally.undecodable
            if not self._add(frame):
                break
        if not self.inside:
            return None
        if video.tally.undecodable > undecodable_before:
            raise MediaError("damaged", f"part of the span cannot be decoded: {video.tally.first_error}")
        return self._result(video)

    def _frames_from_keyframe(self, video: Video) -> Iterator[Frame]:
        """Yield all frames from the start of the file, or, after seeking, from a keyframe before the span."""
        if self.begin is None:
            yield from video.frames()
            return
        try:
            video.seek(self.begin)
        except av.error.FFmpegError as error:
            check_memory(error)
            return
        frames = video.frames()
        for frame in frames:
            # Times that are not stored can depend on where decoding began.
            if frame.time > self.start or frame.picture.pts is None:
                return
            if frame.picture.key_frame:
                yield frame
                yield from frames

    def _add(self, frame: Frame) -> bool:
        if frame.time < self.start:
            self.before = frame
            return True
        if not self.head and self.before:
            self._keep_for_ends(self.before)
        self._keep_for_ends(frame)
        if frame.time >= self.end:
            self.after = frame
            return False
        self.inside.append(frame.pts)
        return True

    def _keep_for_ends(self, frame: Frame) -> None:
        self.tail.append(frame)
        if len(self.head) < 3:
            self.head.append(frame)

    def _result(self, video: Video) -> SpanFrames:
        last = -2 if self.after else -1
        ends_at = self.after.pts if self.after else None
        return SpanFrames(
            pts=tuple(self.inside),
            time_base=Fraction(video.stream.time_base),
            end_pts=end_of_span(video, self.inside, self.end, ends_at, self.tail[last].seconds),
            first=reference_frame([frame.picture for frame in self.head], 1 if self.before else 0),
            last=reference_frame([frame.picture for frame in self.tail], len(self.tail) + last),
            decoded_from=self.begin,
        )


def end_of_span(video: Video, pts: Sequence[int], end: float, pts_after: int | None, seconds: float) -> int:
    """Return the end of a span's last frame: the next frame's start, or the span's end where the frame lasts long.

    Args:
        video: of the frames.
        pts: of the span's frames, ascending.
        end: of the span, in seconds since time zero, less `TIME_TOLERANCE`.
        pts_after: of the frame after them, if there is one.
        seconds: duration of the last frame, where there is none after it.
    """
    time_base = Fraction(video.stream.time_base)
    mean_interval = (pts[-1] - pts[0]) // max(len(pts) - 1, 1)
    duration = round(seconds / time_base) if pts_after is None else pts_after - pts[-1]
    until_span_ends = round((end + TIME_TOLERANCE - video.seconds_of(pts[-1])) / time_base)
    return pts[-1] + max(min(duration, max(mean_interval, until_span_ends)), 1)


def reference_frame(pictures: Sequence[av.VideoFrame], position: int) -> ReferenceFrame:
    """Return the picture at a position of consecutive ones, with those beside it."""
    thumbnails = [thumbnail(picture) for picture in pictures]
    return ReferenceFrame(thumbnails[position], tuple(thumbnails[:position][-1:] + thumbnails[position + 1 :][:1]))


def thumbnail(picture: av.VideoFrame) -> Thumbnail:
    """Scale a picture to 32 x 32 grey levels (0..255), rotated and mirrored as players show it."""
    small = (
        picture.reformat(_THUMBNAIL_SIZE, _THUMBNAIL_SIZE, "gray", interpolation="AREA").to_ndarray().astype(np.float32)
    )
    return turn_upright(small, picture)


def _difference(thumbnail_a: Thumbnail, thumbnail_b: Thumbnail) -> float:
    return float(np.abs(thumbnail_a - thumbnail_b).mean())
