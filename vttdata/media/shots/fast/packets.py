"""Packets of an H.264 stream: order, sizes, frame types and times, and the pictures of its keyframes.

Refuses streams whose packets do not stand for their frames. Decides nothing about shots.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import av
import numpy as np
from numpy.typing import NDArray

from vttdata.media.decode import RECENT_INTERVALS, Video
from vttdata.media.shots.fast.bitstream import FrameType, h264_frame_type, h264_nal_length_size, has_whole_units
from vttdata.media.shots.histogram import Descriptions, concatenate, describe
from vttdata.media.shots.signals import Floats

Indices = NDArray[np.int64]
Watch = Callable[[float, Any], None]

# The deblocking filter takes a quarter of the decoding time, and colour histograms hardly change without it.
NO_DEBLOCKING = {"skip_loop_filter": "all"}
# Keeps reference frames exact, so that errors do not add up along a GOP.
DEBLOCK_REFERENCES_ONLY = {"skip_loop_filter": "noref"}

# Packets after which a stream with too many keyframes is given up.
_CHECK_AFTER = 250
# Share of packets; with more keyframes, skipping the others saves little.
_MAX_KEYFRAME_SHARE = 0.1
# Frames; in longer GOPs errors from skipped references would add up.
_MAX_GOP_LENGTH = 1000


class UnsupportedStreamError(Exception):
    """Stream whose packets do not say reliably what its frames are; it has to be decoded in full."""


@dataclass(frozen=True, slots=True)
class Packets:
    """Packets of a stream of n frames, in decoding order, each of them one frame.

    Attributes:
        pts: (n,) presentation times in the stream's time base.
        frame_index: (n,) 0-based index of each packet's frame in presentation order.
        size: (n,) bytes.
        frame_type: (n,) values of `FrameType`.
        keyframes: (k,) positions of the keyframes among the packets, the first being 0.
        times: (n + 1,) seconds: when each frame starts, in presentation order, and when the last one ends.
        keyframe_descriptions: the k keyframes.
    """

    pts: Indices
    frame_index: Indices
    size: Floats
    frame_type: Indices
    keyframes: Indices
    times: Floats
    keyframe_descriptions: Descriptions

    def __len__(self) -> int:
        return len(self.pts)


@dataclass(slots=True)
class PacketTable:
    """Columns of packet facts, in decoding order."""

    pts: array[int] = field(default_factory=lambda: array("q"))
    size: array[int] = field(default_factory=lambda: array("q"))
    frame_type: array[int] = field(default_factory=lambda: array("b"))
    is_keyframe: array[int] = field(default_factory=lambda: array("b"))
    duration: array[int] = field(default_factory=lambda: array("q"))

    def add(self, packet: Any, frame_type: FrameType | None) -> None:
        """Add a packet; raise UnsupportedStreamError for one without a time, damaged, or before any keyframe."""
        begins_with_keyframe = bool(self.pts) or packet.is_keyframe
        usable = packet.pts is not None and not packet.is_discard and not packet.is_corrupt
        if not begins_with_keyframe or not usable or frame_type is None:
            raise UnsupportedStreamError
        self.pts.append(packet.pts)
        self.size.append(packet.size)
        self.frame_type.append(frame_type)
        self.is_keyframe.append(packet.is_keyframe)
        self.duration.append(packet.duration or 0)
        if len(self.pts) == _CHECK_AFTER:
            self.check_keyframes()

    def check_keyframes(self) -> None:
        """Refuse streams with no packet or too many keyframes."""
        if not self.pts or sum(self.is_keyframe) > max(_MAX_KEYFRAME_SHARE * len(self.is_keyframe), 1):
            raise UnsupportedStreamError


def read_packets(video: Video) -> Packets:
    """Read all packets of a stream, decoding its keyframes alone.

    Args:
        video: at its start.

    Raises:
        UnsupportedStreamError: unless the stream is H.264 in closed GOPs, each packet with a time of its own. Most
            unsuitable streams are recognised within `_CHECK_AFTER` packets.
    """
    if video.stream.codec_context.codec.canonical_name != "h264" or not video.is_timed:
        raise UnsupportedStreamError
    table = PacketTable()
    batches = list(describe(decode_keyframes(video, table)))
    table.check_keyframes()
    pts = np.array(table.pts)
    order = np.argsort(pts, kind="stable")
    frame_index = np.empty_like(order)
    frame_index[order] = np.arange(len(order))
    keyframes = np.flatnonzero(np.array(table.is_keyframe))
    keyframe_descriptions = concatenate(*batches)
    if len(keyframe_descriptions) != len(keyframes) or not np.all(np.diff(pts[order]) > 0):
        raise UnsupportedStreamError
    check_gops(frame_index, keyframes)
    return Packets(
        pts=pts,
        frame_index=frame_index,
        size=np.array(table.size, float),
        frame_type=np.array(table.frame_type, np.int64),
        keyframes=keyframes,
        times=frame_times(video, pts[order], table.duration[int(order[-1])]),
        keyframe_descriptions=keyframe_descriptions,
    )


def frame_times(video: Video, pts: Indices, last_duration: int) -> Floats:
    """Return (n + 1,) seconds: when each of n frames starts and when the last one ends.

    Args:
        video: of the frames.
        pts: (n,) ascending, in the stream's time base.
        last_duration: of the last frame, as the container gives it, in the stream's time base.
    """
    last_ticks = video.frame_ticks(last_duration, np.diff(pts)[-RECENT_INTERVALS:].tolist())
    times = [video.seconds_of(timestamp) for timestamp in pts.tolist()]
    return np.array([*times, times[-1] + video.seconds_in(last_ticks)])


def decode_keyframes(video: Video, table: PacketTable) -> Iterator[Any]:
    """Yield the pictures of the keyframes, and note every packet in the table."""
    context = video.stream.codec_context
    context.options = NO_DEBLOCKING
    length_size = h264_nal_length_size(bytes(context.extradata or b""))
    try:
        for packet in video.packets():
            if packet.size:
                data = memoryview(packet)
                is_whole = has_whole_units(data, length_size)
                table.add(packet, h264_frame_type(data, length_size) if is_whole else None)
                if packet.is_keyframe:
                    # Drained each time: keyframes that are no IDR do not reset the output order, and would be given
                    # out late and in another order.
                    yield from [*context.decode(packet), *context.decode(None)]
                    context.flush_buffers()
    except av.error.FFmpegError as error:
        raise UnsupportedStreamError from error


def check_gops(frame_index: Indices, keyframes: Indices) -> None:
    """Refuse open GOPs, whose keyframe is not shown first or which show frames after the next keyframe."""
    ends = np.r_[keyframes[1:], len(frame_index)]
    closed = all(
        frame_index[start:end].min() == frame_index[start] == start for start, end in zip(keyframes, ends, strict=True)
    )
    if not closed or (ends - keyframes).max() > _MAX_GOP_LENGTH:
        raise UnsupportedStreamError
