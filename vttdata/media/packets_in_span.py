"""Frames of a source that lie in a span, by the times of its packets; only the frames at both ends are decoded.

A clip whose times are those of the packets shows that the frames between the ends can be decoded, and are no others.
"""

from __future__ import annotations

import math
import time
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import pairwise
from pathlib import Path
from typing import Any

import av

from vttdata.errors import MediaError
from vttdata.media.decode import RECENT_INTERVALS, Video, check_memory, open_video
from vttdata.media.frames_in_span import SEEK_MARGINS, TIME_TOLERANCE, SpanFrames, end_of_span, reference_frame
from vttdata.media.shots.fast.packets import UnsupportedStreamError

# Codecs of which a packet is a frame in common containers; of these two, frames that no other refers to are skipped.
_SKIPPABLE = ("h264", "hevc")
_CODECS = (*_SKIPPABLE, "vp9", "av1")
# Transport streams are seeked by decoding time, and often enter after the keyframe that was meant.
_SEEK_MARGIN_SECONDS = 1.0


def read_span_from_packets(source: Path, start: float, end: float, deadline: float) -> SpanFrames | None:
    """Collect the frames in the span [start, end) of a source that stores times; see `read_span`.

    Returns:
        What `read_span` returns for a file without damage; None where packets tell too little.

    Raises:
        MediaError: ``timeout``, or what `open_video` raises.
    """
    with open_video(source) as video:
        if video.stream.codec_context.codec.canonical_name not in _CODECS:
            return None
        for begin in (*(start - margin for margin in SEEK_MARGINS if start > margin), None):
            try:
                packets = _read_packets(video, begin, start - TIME_TOLERANCE, end - TIME_TOLERANCE, deadline)
                if packets is not None:
                    return _decode_ends(video, packets, begin)
            except av.error.FFmpegError as error:
                check_memory(error)
                return None
            except UnsupportedStreamError:
                return None
            except MediaError as error:
                # Packets are read a little further than frames are decoded.
                if error.reason == "timeout":
                    raise
                return None
    return None


@dataclass(slots=True)
class _Packets:
    """Presentation times from a keyframe before a span to the frame after it: in it, beside it, and of keyframes."""

    end: float
    inside: list[int] = field(default_factory=list)
    before: int | None = None
    after: int | None = None
    keyframes: list[int] = field(default_factory=list)
    last_intervals: list[int] = field(default_factory=list)


def _read_packets(video: Video, begin: float | None, start: float, end: float, deadline: float) -> _Packets | None:
    """Read packets from the keyframe at or before `begin`; None where none is found or no frame lies in the span."""
    video.seek(begin or 0.0)
    times: list[int] = []
    packets = _Packets(end)
    for packet in _packets_from_keyframe(video, math.inf if begin is None else start):
        if time.monotonic() > deadline:
            raise MediaError("timeout", "reading the source exceeded the time limit for a cut.")
        times.append(packet.pts)
        if packet.is_keyframe:
            packets.keyframes.append(packet.pts)
        # Decoding times ascend, and no frame is shown before it is decoded.
        if packets.after is not None and packet.dts is not None and packet.dts > packets.after:
            break
        if video.seconds_of(packet.pts) >= end:
            packets.after = packet.pts if packets.after is None else min(packet.pts, packets.after)
    # Leading frames of an open GOP are shown before its keyframe, and cannot be decoded without the GOP before it.
    shown = sorted(pts for pts in times if pts >= times[0] and (packets.after is None or pts < packets.after))
    intervals = [later - earlier for earlier, later in pairwise(shown)]
    if 0 in intervals:
        raise UnsupportedStreamError
    packets.last_intervals = intervals[-RECENT_INTERVALS:]
    packets.inside = [pts for pts in shown if video.seconds_of(pts) >= start]
    packets.before = max((pts for pts in shown if video.seconds_of(pts) < start), default=None)
    return packets if packets.inside else None


def _packets_from_keyframe(video: Video, latest: float) -> Iterator[Any]:
    """Yield packets from the first keyframe on; none where one is shown after `latest` seconds before it."""
    at_keyframe = False
    for packet in video.packets():
        if not packet.size:
            continue
        if packet.pts is None or packet.is_discard or packet.is_corrupt:
            raise UnsupportedStreamError
        if not at_keyframe and video.seconds_of(packet.pts) > latest:
            return
        at_keyframe = at_keyframe or packet.is_keyframe
        if at_keyframe:
            yield packet


def _decode_ends(video: Video, packets: _Packets, begin: float | None) -> SpanFrames:
    """Decode the frames at both ends of a span with those beside them."""
    sequence = [pts for pts in (packets.before, *packets.inside, packets.after) if pts is not None]
    first, last = sequence.index(packets.inside[0]), sequence.index(packets.inside[-1])
    head, tail = sequence[max(first - 1, 0) : first + 2], sequence[max(last - 1, 0) : last + 2]
    pictures = decode_ends(video, packets.keyframes, head, tail)
    last_ticks = video.frame_ticks(pictures[packets.inside[-1]].duration, packets.last_intervals)
    return SpanFrames(
        pts=tuple(packets.inside),
        time_base=Fraction(video.stream.time_base),
        end_pts=end_of_span(video, packets.inside, packets.end, packets.after, video.seconds_in(last_ticks)),
        first=reference_frame([pictures[pts] for pts in head], head.index(packets.inside[0])),
        last=reference_frame([pictures[pts] for pts in tail], tail.index(packets.inside[-1])),
        decoded_from=begin,
        all_decoded=False,
    )


def decode_ends(video: Video, keyframes: Sequence[int], head: Sequence[int], tail: Sequence[int]) -> dict[int, Any]:
    """Decode the pictures at both ends of a part of a video; of others only what they are predicted from.

    Args:
        video: at any position.
        keyframes: presentation times of the part's keyframes, in the stream's time base; the first is not after `head`.
        head: presentation times of the pictures at the start, ascending.
        tail: presentation times of the pictures at the end, ascending.

    Returns:
        Pictures (`av.VideoFrame`) by presentation time.

    Raises:
        UnsupportedStreamError: unless every picture is given out, in order and without errors.
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
                raise UnsupportedStreamError
            shown = picture.pts
            if shown in wanted:
                pictures[shown] = picture
        if len(pictures) == len(wanted):
            return pictures
    raise UnsupportedStreamError
