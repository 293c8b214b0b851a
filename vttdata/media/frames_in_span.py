"""Frames of a source that lie in a span, found by decoding only around it where the container's times allow that.

Where the times of packets tell enough, only the frames at both ends are decoded: a clip whose times are those of the
packets shows that the frames between the ends can be decoded, and are no others. Keeps small copies of the pictures at
both ends with their neighbours, to compare a clip with.
"""

from __future__ import annotations

import math
import time
from collections import deque
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from pathlib import Path
from typing import Any

import av
import numpy as np
import numpy.typing as npt

from vttdata.errors import MediaError
from vttdata.media.decode import RECENT_INTERVALS, Frame, Video, check_memory, open_video
from vttdata.media.pictures import turn_upright

Thumbnail = npt.NDArray[np.float32]

# Seconds within which a frame's time equals a limit of a span: the resolution of start times.
_TIME_TOLERANCE = 1e-6

TIMED_CONTAINERS = ("mov,mp4,m4a,3gp,3g2,mj2", "matroska,webm", "mpegts", "flv", "asf", "nut", "ivf")
"""Containers that store the time of every packet, so that times are the same wherever decoding begins."""

# Seconds before the span; the second covers a GOP of 250 frames, x264's default, at 24 frames a second.
_SEEK_MARGINS = (0.5, 12.0)
_THUMBNAIL_SIZE = 32
# Grey levels, measured on the middle thirds of 33 real videos: at 240 lines and CRF 23 a clip's end frames differ by at
# most 2.7 from the source's, at CRF 40 by 14.1, and are never more than 0.2 closer to a neighbour. A shift of one frame
# would show at 98 of 132 neighbours; the others look alike, and there the times and the number of frames decide.
_MAX_DIFFERENCE = 24.0
_NEIGHBOUR_TOLERANCE = 0.5
# Codecs of which a packet is a frame in common containers; of these two, frames that no other refers to are skipped.
_SKIPPABLE = ("h264", "hevc")
_CODECS = (*_SKIPPABLE, "vp9", "av1")
# Transport streams are seeked by decoding time, and often enter after the keyframe that was meant.
_SEEK_MARGIN_SECONDS = 1.0


class _UnclearPacketsError(Exception):
    """Packets that do not say reliably what the frames of a span are, so that these have to be decoded."""


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

    Seconds are those since the container's start time, and the deadline is a value of ``time.monotonic()``. With
    `from_start` it never seeks; for containers that do not store times, see `TIMED_CONTAINERS`.

    Raises:
        MediaError: ``cut_failed`` when no frame lies in the span, ``damaged``, ``timestamps`` or ``timeout``.
    """
    margins = [] if from_start else [margin for margin in _SEEK_MARGINS if start > margin]
    for begin in [*(start - margin for margin in margins), None]:
        with open_video(source) as video:
            span = _decode_span(video, start - _TIME_TOLERANCE, end - _TIME_TOLERANCE, begin, deadline)
        if span is not None:
            return span
    raise MediaError("cut_failed", f"no frame of the source lies between {start:.3f} and {end:.3f} s.")


def _decode_span(video: Video, start: float, end: float, begin: float | None, deadline: float) -> SpanFrames | None:
    """Return the frames of a span; None when there are none or decoding began after the first of them."""
    inside: list[int] = []
    head: list[Frame] = []
    tail: deque[Frame] = deque(maxlen=3)
    before = after = None
    undecodable_before = 0
    for frame in _frames_from_keyframe(video, begin, start):
        if time.monotonic() > deadline:
            raise MediaError("timeout", "decoding the source exceeded the time limit for a cut.")
        if frame.time < start - 1:
            undecodable_before = video.tally.undecodable
        if frame.time < start:
            before = frame
            head, tail = [frame], deque([frame], maxlen=3)
            continue
        head = [*head, frame][:3]
        tail.append(frame)
        if frame.time >= end:
            after = frame
            break
        inside.append(frame.pts)
    if not inside:
        return None
    if video.tally.undecodable > undecodable_before:
        raise MediaError("damaged", f"part of the span cannot be decoded: {video.tally.first_error}")
    last = -2 if after else -1
    return SpanFrames(
        pts=tuple(inside),
        time_base=video.time_base,
        end_pts=end_of_span(video, inside, end, after.pts if after else None, tail[last].seconds),
        first=reference_frame([frame.picture for frame in head], 1 if before else 0),
        last=reference_frame([frame.picture for frame in tail], len(tail) + last),
        decoded_from=begin,
    )


def _frames_from_keyframe(video: Video, begin: float | None, start: float) -> Iterator[Frame]:
    """Yield all frames from the start of the file, or, after seeking, from a keyframe before the span."""
    if begin is None:
        yield from video.frames()
        return
    try:
        video.seek(begin)
    except av.error.FFmpegError as error:
        check_memory(error)
        return
    frames = video.frames()
    for frame in frames:
        # Times that are not stored can depend on where decoding began.
        if frame.time > start or frame.picture.pts is None:
            return
        if frame.picture.key_frame:
            yield frame
            yield from frames


def read_span_from_packets(source: Path, start: float, end: float, deadline: float) -> SpanFrames | None:
    """Collect the frames in the span [start, end) of a source that stores times; see `read_span`.

    The result is that of `read_span` for a file without damage; None where packets tell too little.

    Raises:
        MediaError: ``timeout``, or what `open_video` raises.
    """
    with open_video(source) as video:
        if video.stream.codec_context.codec.canonical_name not in _CODECS:
            return None
        for begin in (*(start - margin for margin in _SEEK_MARGINS if start > margin), None):
            try:
                span = _read_packets(video, begin, start - _TIME_TOLERANCE, end - _TIME_TOLERANCE, deadline)
                if span is not None:
                    return span
            except av.error.FFmpegError as error:
                check_memory(error)
                return None
            except _UnclearPacketsError:
                return None
            except MediaError as error:
                # Packets are read a little further than frames are decoded.
                if error.reason == "timeout":
                    raise
                return None
    return None


def _read_packets(video: Video, begin: float | None, start: float, end: float, deadline: float) -> SpanFrames | None:
    """Read packets from the keyframe at or before `begin`, and decode the frames at both ends with those beside them.

    None where no keyframe is found or no frame lies in the span.
    """
    video.seek(begin or 0.0)
    times: list[int] = []
    keyframes: list[int] = []
    after: int | None = None
    for packet in _packets_from_keyframe(video, math.inf if begin is None else start):
        if time.monotonic() > deadline:
            raise MediaError("timeout", "reading the source exceeded the time limit for a cut.")
        times.append(packet.pts)
        if packet.is_keyframe:
            keyframes.append(packet.pts)
        # Decoding times ascend, and no frame is shown before it is decoded.
        if after is not None and packet.dts is not None and packet.dts > after:
            break
        if video.seconds_of(packet.pts) >= end:
            after = packet.pts if after is None else min(packet.pts, after)
    # Leading frames of an open GOP are shown before its keyframe, and cannot be decoded without the GOP before it.
    shown = sorted(pts for pts in times if pts >= times[0] and (after is None or pts < after))
    intervals = [later - earlier for earlier, later in pairwise(shown)]
    if 0 in intervals:
        raise _UnclearPacketsError
    inside = [pts for pts in shown if video.seconds_of(pts) >= start]
    if not inside:
        return None
    sequence = [*shown[-len(inside) - 1 :], *([] if after is None else [after])]
    first, last = sequence.index(inside[0]), sequence.index(inside[-1])
    head, tail = sequence[max(first - 1, 0) : first + 2], sequence[max(last - 1, 0) : last + 2]
    pictures = _decode_ends(video, keyframes, head, tail)
    last_ticks = video.frame_ticks(pictures[inside[-1]].duration, intervals[-RECENT_INTERVALS:])
    return SpanFrames(
        pts=tuple(inside),
        time_base=video.time_base,
        end_pts=end_of_span(video, inside, end, after, video.seconds_in(last_ticks)),
        first=reference_frame([pictures[pts] for pts in head], head.index(inside[0])),
        last=reference_frame([pictures[pts] for pts in tail], tail.index(inside[-1])),
        decoded_from=begin,
        all_decoded=False,
    )


def _packets_from_keyframe(video: Video, latest: float) -> Iterator[Any]:
    """Yield packets from the first keyframe on; none where one is shown after `latest` seconds before it."""
    at_keyframe = False
    for packet in video.packets():
        if not packet.size:
            continue
        if packet.pts is None or packet.is_discard or packet.is_corrupt:
            raise _UnclearPacketsError
        if not at_keyframe and video.seconds_of(packet.pts) > latest:
            return
        at_keyframe = at_keyframe or packet.is_keyframe
        if at_keyframe:
            yield packet


def _decode_ends(video: Video, keyframes: Sequence[int], head: Sequence[int], tail: Sequence[int]) -> dict[int, Any]:
    """Decode the pictures at both ends of a part of a video; of others only what they are predicted from.

    `head` and `tail` are the presentation times of the pictures at the start and at the end, ascending, and `keyframes`
    those of the part's keyframes, the first of which is not after `head`.

    Returns:
        Pictures (`av.VideoFrame`) by presentation time.

    Raises:
        _UnclearPacketsError: unless every picture is given out, in order and without errors.
        av.error.FFmpegError: when a packet cannot be decoded.
    """
    tail_keyframe = max(pts for pts in keyframes if pts <= tail[0])
    if tail_keyframe <= head[-1]:
        return _decode_pictures(video, keyframes[0], {*head, *tail})
    return _decode_pictures(video, keyframes[0], head) | _decode_pictures(video, tail_keyframe, tail)


def _decode_pictures(video: Video, keyframe: int, wanted: Collection[int]) -> dict[int, Any]:
    context = video.stream.codec_context
    may_skip = context.codec.canonical_name in _SKIPPABLE
    pictures: dict[int, Any] = {}
    at_keyframe, shown = False, keyframe - 1
    video.seek(video.seconds_of(keyframe) - _SEEK_MARGIN_SECONDS)
    for packet in video.packets():
        at_keyframe = at_keyframe or packet.pts == keyframe
        if not at_keyframe:
            continue
        context.skip_frame = "NONREF" if may_skip and packet.pts not in wanted else "DEFAULT"
        for picture in packet.decode():
            if picture.pts is None or picture.pts <= shown or picture.is_corrupt:
                raise _UnclearPacketsError
            shown = picture.pts
            if shown in wanted:
                pictures[shown] = picture
        if len(pictures) == len(wanted):
            return pictures
    raise _UnclearPacketsError


def end_of_span(video: Video, pts: Sequence[int], end: float, pts_after: int | None, seconds: float) -> int:
    """Return the end of a span's last frame: the next frame's start, or the span's end where the frame lasts long.

    `end` is that of the span in seconds, less `_TIME_TOLERANCE`; `seconds` is the duration of the last of the span's
    frames, which counts where there is none after it.
    """
    time_base = video.time_base
    mean_interval = (pts[-1] - pts[0]) // max(len(pts) - 1, 1)
    duration = round(seconds / time_base) if pts_after is None else pts_after - pts[-1]
    until_span_ends = round((end + _TIME_TOLERANCE - video.seconds_of(pts[-1])) / time_base)
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
