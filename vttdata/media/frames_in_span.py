"""Frames of a measured source that are on screen in a span, and the one function that reads them again for a clip.

Which frames those are, and when each is shown, is what decoding the whole source found: a reading that finds others, or
lacks some, does not count. Small copies of the pictures at both ends, with their neighbours, are kept to compare a clip
with.
"""

from __future__ import annotations

import math
import time
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

import av
import numpy as np
import numpy.typing as npt
from av.video.frame import PictureType

from vttdata.errors import MediaError
from vttdata.media.decode import Video, check_memory, momentary_error, open_video
from vttdata.media.pictures import turn_upright
from vttdata.media.pyav import decode_packet
from vttdata.media.tone_mapping import HDR_CODE_POINTS, grey_of
from vttdata.records import Probe

Thumbnail = npt.NDArray[np.float32]

# Seconds within which a frame's time equals a limit of a span: the resolution of start times.
_TIME_TOLERANCE = 1e-6
# Seconds. A picture that is on screen for less than this before a span's first frame, or after the span's end, is not
# divided: the span then begins and ends with whole frames. At 10 frames a second and more no frame is divided.
_DIVIDED_SECONDS = 0.1
# Seconds within which the limits of a divided picture are kept.
_RESOLUTION = Fraction(1, 1000)

# Containers that store the time of every packet, so that times are the same wherever decoding begins.
_TIMED_CONTAINERS = ("mov,mp4,m4a,3gp,3g2,mj2", "matroska,webm", "mpegts", "flv", "asf", "nut", "ivf")

# Seconds before the span; the second covers a GOP of 250 frames, x264's default, at 24 frames a second.
_SEEK_MARGINS = (0.5, 12.0)
_THUMBNAIL_SIZE = 32
# Pixels on a side of the cell of which the mean is taken.
_MAPPED_PIXELS = 8
# Grey levels, measured on the middle thirds of 33 real videos: at 240 lines and CRF 23 a clip's end frames differ by at
# most 2.7 from the source's, at CRF 40 by 14.1, and are never more than 0.2 closer to a neighbour. A shift of one frame
# would show at 98 of 132 neighbours; the others look alike, and there the times and the number of frames decide.
_MAX_DIFFERENCE = 24.0
_NEIGHBOUR_TOLERANCE = 0.5
# Codecs of which the frames that no other refers to can be left out.
_SKIPPABLE = ("h264", "hevc")
# Transport streams are seeked by decoding time, and often enter after the keyframe that was meant.
_SEEK_MARGIN_SECONDS = 1.0


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
class MeasuredSpan:
    """Frames of a source that a span shows.

    Attributes:
        times: (n + 1,) seconds since time zero: when each frame of the source starts, and when the last one ends.
        first, last: numbers of the frames that are shown, both included.
        begin: seconds at which the clip begins: when its first frame starts, or later where that one is divided.
        end: seconds at which the clip ends: when its last frame ends, or earlier where that one is divided.
    """

    times: npt.NDArray[np.float64]
    first: int
    last: int
    begin: float
    end: float

    @property
    def is_divided(self) -> bool:
        """Return whether a picture is on screen before the clip begins or after it ends."""
        return bool(self.begin != self.times[self.first] or self.end != self.times[self.last + 1])


@dataclass(frozen=True, slots=True)
class Way:
    """Way to read the frames of a span.

    Attributes:
        begin: seconds since time zero at which decoding begins; None for the start of the file.
        ends_only: whether packets tell the times and the frames at both ends alone are decoded.
    """

    begin: float | None
    ends_only: bool


@dataclass(frozen=True, slots=True)
class SpanFrames:
    """Frames of a span as they were read from a source.

    Attributes:
        pts: when each is shown, in units of `time_base`; the first may have been on screen before.
        first_pts: start of the first frame, at or before ``pts[0]``.
        end_pts: when the last one is no longer shown.
        time_base: unit of the times, in seconds; the stream's, or a part of it where a frame is divided.
        first, last: the frames at both ends.
        is_interlaced: whether one of these or of their neighbours is marked as interlaced.
        way: how they were read.
    """

    pts: tuple[int, ...]
    first_pts: int
    end_pts: int
    time_base: Fraction
    first: ReferenceFrame
    last: ReferenceFrame
    is_interlaced: bool
    way: Way

    @property
    def seconds(self) -> float:
        """Return the seconds from the start of the first frame to the end of the last."""
        return float((self.end_pts - self.pts[0]) * self.time_base)


def frames_shown(times: npt.NDArray[np.float64], start: float, end: float) -> MeasuredSpan:
    """Return the frames that a player shows from `start` to `end`.

    Those are the frames that start in [start, end), each as long as it is shown, and the picture that is on screen at
    `start` if it stays there for a tenth of a second or longer; it is shown from `start` on. The last one is shown
    until `end` if it stays for a tenth of a second or longer after it.

    Args:
        times: (n + 1,) seconds of the source's n frames; see `MeasuredSpan`.
        start: seconds since the container's start time.
        end: seconds; what lies after the source's last frame is ignored.

    Raises:
        MediaError: ``cut_failed`` when no frame is shown, or none for the first tenth of a second.
    """
    first, stop = (int(np.searchsorted(times[:-1], limit - _TIME_TOLERANCE)) for limit in (start, end))
    begin = float(times[first])
    if first and start < end and begin - start >= _DIVIDED_SECONDS:
        first, begin = first - 1, start
    if first >= stop:
        raise MediaError("cut_failed", f"no frame of the source lies between {start:.3f} and {end:.3f} s.")
    if begin - start >= _DIVIDED_SECONDS:
        raise MediaError("cut_failed", f"the source shows its first picture at {begin:.3f} s, not at {start:.3f} s.")
    leaves = float(times[stop])
    return MeasuredSpan(times, first, stop - 1, begin, end if leaves - end >= _DIVIDED_SECONDS else leaves)


def ways_to_read(probe: Probe, span: MeasuredSpan) -> tuple[Way, ...]:
    """Return the ways to read a span, cheapest first; the last one decodes all from the start of the file.

    Each further one is for when the frames that were measured are not found by those before, or the clip that was cut
    by them differs: seeking can lead behind a span's first keyframe, and packets need not be frames.
    """
    from_start = Way(None, ends_only=False)
    if probe.container not in _TIMED_CONTAINERS:
        return (from_start,)
    first = float(span.times[span.first])
    begins = [first - margin for margin in _SEEK_MARGINS if first > margin]
    ends: list[float | None] = [*begins, None] if len(begins) < len(_SEEK_MARGINS) else [*begins]
    return (*(Way(begin, True) for begin in ends), *(Way(begin, False) for begin in begins), from_start)


def read_span(source: Path, span: MeasuredSpan, way: Way, deadline: float) -> SpanFrames | None:
    """Read the frames of a span; None where this way does not lead to all of them at the times that were measured.

    The deadline is a value of ``time.monotonic()``.

    Raises:
        MediaError: ``timeout``; in the last of the `ways_to_read` also ``damaged`` when a frame cannot be decoded, and
            what `Video.frames` raises.
        UnavailableError: when frames that were measured are not found from the start of the file.
    """
    with open_video(source) as video:
        frames = len(span.times) - 1
        before, after = max(span.first - 1, 0), min(span.last + 2, frames)
        pts = [video.pts_of(float(seconds)) for seconds in span.times[before:after]]
        first, last = span.first - before, span.last - before
        head, tail = pts[max(first - 1, 0) : first + 2], pts[max(last - 1, 0) : last + 2]
        is_last = way.begin is None and not way.ends_only
        read = _decode_ends if way.ends_only else _decode_all
        try:
            pictures = read(video, way.begin, pts, {*head, *tail}, deadline)
        except av.error.FFmpegError as error:
            check_memory(error)
            pictures = None
        except MediaError as error:
            # Another way may lead around what is damaged.
            if is_last or error.reason == "timeout":
                raise
            pictures = None
        if pictures is None:
            if is_last:
                raise momentary_error()
            return None
        # A coarse time base may have no tick near the time at which a picture is divided.
        parts = math.ceil(video.time_base / _RESOLUTION) if span.is_divided else 1
        begin, end = (video.pts_of(seconds, parts) for seconds in (span.begin, span.end))
        return SpanFrames(
            pts=(begin, *(parts * ticks for ticks in pts[first + 1 : last + 1])),
            first_pts=parts * pts[first],
            end_pts=max(end, parts * pts[last] + 1, begin + 1),
            time_base=video.time_base / parts,
            first=reference_frame([pictures[ticks] for ticks in head], head.index(pts[first])),
            last=reference_frame([pictures[ticks] for ticks in tail], tail.index(pts[last])),
            is_interlaced=any(picture.interlaced_frame for picture in pictures.values()),
            way=way,
        )


def _decode_all(
    video: Video, begin: float | None, expected: Sequence[int], wanted: Collection[int], deadline: float
) -> dict[int, av.VideoFrame] | None:
    """Decode every frame from `begin` to the last expected one; see `_decode_ends`.

    Raises:
        MediaError: ``timeout``, ``damaged`` or ``timestamps``.
    """
    pictures: dict[int, av.VideoFrame] = {}
    found: list[int] = []
    undecodable_before = 0
    is_at_keyframe = begin is None
    if begin is not None:
        video.seek(begin)
    for frame in video.frames():
        _check_time(deadline)
        is_at_keyframe = is_at_keyframe or _is_entry(frame.picture)
        # Times that are not stored can depend on where decoding began.
        if begin is not None and (frame.picture.pts is None or (not found and frame.pts > expected[0])):
            return None
        if frame.pts < expected[0] or not is_at_keyframe:
            undecodable_before = video.tally.undecodable
            continue
        if frame.picture.is_corrupt:
            raise MediaError("damaged", f"the picture at {frame.time:.3f} s is decoded with errors.")
        found.append(frame.pts)
        if frame.pts in wanted:
            pictures[frame.pts] = frame.picture
        if frame.pts >= expected[-1]:
            break
    is_complete = found == list(expected)
    if video.tally.undecodable > (undecodable_before if is_complete else 0):
        raise MediaError("damaged", f"part of the span cannot be decoded: {video.tally.first_error}")
    return pictures if is_complete else None


def _decode_ends(
    video: Video, begin: float | None, expected: Sequence[int], wanted: Collection[int], deadline: float
) -> dict[int, av.VideoFrame] | None:
    """Read packets from the keyframe at or before `begin`, and decode the wanted pictures.

    Args:
        video: a container that stores times, just opened.
        begin: seconds since time zero, before the first expected frame; None for the start of the file.
        expected: presentation times of consecutive frames, ascending.
        wanted: those of the first and the last of them, at most three each.
        deadline: a value of ``time.monotonic()``.

    Returns:
        Pictures by presentation time; None where the expected frames are not found, each once and without errors.

    Raises:
        MediaError: ``timeout``.
        av.error.FFmpegError: when a packet cannot be decoded.
    """
    keyframes = _read_keyframes(video, begin, expected, deadline)
    head = [pts for pts in expected[:3] if pts in wanted]
    tail = [pts for pts in expected[-3:] if pts in wanted]
    if not keyframes:
        return None
    head_keyframe, tail_keyframe = (max(pts for pts in keyframes if pts <= end[0]) for end in (head, tail))
    if tail_keyframe <= head[-1]:
        return _decode_pictures(video, head_keyframe, wanted)
    at_head = _decode_pictures(video, head_keyframe, head)
    at_tail = _decode_pictures(video, tail_keyframe, tail) if at_head else None
    return at_head | at_tail if at_head and at_tail else None


def _read_keyframes(video: Video, begin: float | None, expected: Sequence[int], deadline: float) -> list[int] | None:
    """Return the times of the keyframes before and in a span; None unless the packets are those of the frames in it."""
    keyframes: list[int] = []
    found: list[int] = []
    if begin is not None:
        video.seek(begin)
    for packet in video.packets():
        _check_time(deadline)
        if not packet.size:
            continue
        if packet.pts is None or packet.is_discard or packet.is_corrupt:
            return None
        if not keyframes and packet.pts > expected[0]:
            return None
        if packet.is_keyframe:
            keyframes.append(packet.pts)
        if keyframes and expected[0] <= packet.pts <= expected[-1]:
            found.append(packet.pts)
        # Decoding times ascend, and no frame is shown before it is decoded.
        if packet.dts is not None and packet.dts > expected[-1]:
            break
    return keyframes if sorted(found) == list(expected) else None


def _decode_pictures(video: Video, keyframe: int, wanted: Collection[int]) -> dict[int, av.VideoFrame] | None:
    """Decode the wanted pictures that follow a keyframe; of others only what they are predicted from."""
    context = video.stream.codec_context
    may_skip = context.codec.canonical_name in _SKIPPABLE
    pictures: dict[int, av.VideoFrame] = {}
    is_at_keyframe, shown = False, None
    video.seek(video.seconds_of(keyframe) - _SEEK_MARGIN_SECONDS)
    for packet in video.packets():
        is_at_keyframe = is_at_keyframe or packet.pts == keyframe
        if packet.size:
            if packet.pts is None or (packet.pts > keyframe and not is_at_keyframe):
                return None
            # Leading frames of an open GOP are shown before its keyframe, and predicted from the GOP before it.
            if packet.pts < keyframe:
                continue
        context.skip_frame = "NONREF" if may_skip and packet.pts not in wanted else "DEFAULT"
        for picture in decode_packet(packet):
            if shown is None and (picture.pts != keyframe or not _is_entry(picture)):
                return None
            if picture.pts is None or picture.is_corrupt or (shown is not None and picture.pts <= shown):
                return None
            shown = picture.pts
            if shown in wanted:
                pictures[shown] = picture
        if len(pictures) == len(wanted):
            return pictures
    return None


def _is_entry(picture: av.VideoFrame) -> bool:
    """Return whether a picture and those after it need none before it, unlike where intra refresh begins."""
    return bool(picture.key_frame) and picture.pict_type == PictureType.I


def _check_time(deadline: float) -> None:
    if time.monotonic() > deadline:
        raise MediaError("timeout", "reading the source exceeded the time limit for a cut.")


def reference_frame(pictures: Sequence[av.VideoFrame], position: int) -> ReferenceFrame:
    """Return the picture at a position of consecutive ones, with those beside it."""
    thumbnails = [thumbnail(picture) for picture in pictures]
    return ReferenceFrame(thumbnails[position], tuple(thumbnails[:position][-1:] + thumbnails[position + 1 :][:1]))


def thumbnail(picture: av.VideoFrame) -> Thumbnail:
    """Scale a picture to 32 x 32 grey levels (0..255), tone-mapped from HDR, turned and mirrored as players show it."""
    if picture.color_trc in HDR_CODE_POINTS:
        # Light is not additive in these signals, so that small pictures are mapped before they are averaged.
        side = _THUMBNAIL_SIZE * _MAPPED_PIXELS
        rgb = np.asarray(picture.reformat(side, side, "rgb48le", interpolation="AREA").to_ndarray(), np.uint16)
        grey = grey_of(rgb, picture.color_trc, picture.color_primaries)
        cells = grey.reshape(_THUMBNAIL_SIZE, _MAPPED_PIXELS, _THUMBNAIL_SIZE, _MAPPED_PIXELS)
        return turn_upright(cells.mean(axis=(1, 3)), picture)
    small = (
        picture.reformat(_THUMBNAIL_SIZE, _THUMBNAIL_SIZE, "gray", interpolation="AREA").to_ndarray().astype(np.float32)
    )
    return turn_upright(small, picture)


def _difference(thumbnail_a: Thumbnail, thumbnail_b: Thumbnail) -> float:
    return float(np.abs(thumbnail_a - thumbnail_b).mean())
