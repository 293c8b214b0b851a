"""Reads what a video stream says of its frames without decoding them, its keyframes apart: order, sizes, kinds, times.

Says too whether a stream is regular enough for its packets to stand for its frames. Decides nothing about shots.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import av
import numpy as np
from numpy.typing import NDArray

from vttdata.media.decode import Video
from vttdata.media.shots.fast.bitstream import picture_kind, unit_length_bytes
from vttdata.media.shots.histogram import Descriptions, describe, joined
from vttdata.media.shots.signals import Floats

Indices = NDArray[np.int64]

WITHOUT_DEBLOCKING = {"skip_loop_filter": "all"}
"""Decoder options: the filter smooths edges of blocks at a quarter of the cost; colours hardly notice."""

WITH_SOUND_REFERENCES = {"skip_loop_filter": "noref"}
"""The same, for pictures to which no other refers."""

_CODEC = "h264"
_ENOUGH = 250  # packets by which a stream shows how it is coded
_MOST_KEYS = 0.1  # of the packets: with more keyframes, passing over the others saves little
_LONGEST_GROUP = 1000  # frames; in longer groups errors of what is passed over would add up


class EvidenceError(Exception):
    """A stream's packets are no sure evidence of its frames."""


@dataclass(frozen=True, slots=True)
class Packets:
    """The packets of a stream of n frames, in decoding order, each a frame.

    Attributes:
        pts: (n,) presentation times in the stream's time base.
        frame: (n,) 0-based index of each packet's frame in presentation order.
        size: (n,) bytes.
        kind: (n,) as in `slices.Kind`.
        keys: (k,) places of the keyframes among the packets, the first being 0.
        times: (n + 1,) seconds: when each frame starts, in presentation order, and when the last one ends.
        key_pictures: the k keyframes.
    """

    pts: Indices
    frame: Indices
    size: Floats
    kind: Indices
    keys: Indices
    times: Floats
    key_pictures: Descriptions

    def __len__(self) -> int:
        return len(self.pts)


@dataclass(slots=True)
class _Columns:
    pts: array[int] = field(default_factory=lambda: array("q"))
    size: array[int] = field(default_factory=lambda: array("q"))
    kind: array[int] = field(default_factory=lambda: array("b"))
    key: array[int] = field(default_factory=lambda: array("b"))
    seconds: array[int] = field(default_factory=lambda: array("q"))

    def add(self, packet: Any, kind: int | None) -> None:
        started = bool(self.pts) or packet.is_keyframe
        if packet.pts is None or packet.is_discard or packet.is_corrupt or kind is None or not started:
            raise EvidenceError
        self.pts.append(packet.pts)
        self.size.append(packet.size)
        self.kind.append(kind)
        self.key.append(packet.is_keyframe)
        self.seconds.append(packet.duration or 0)
        if len(self.pts) == _ENOUGH:
            self.check()

    def check(self) -> None:
        if not self.pts or sum(self.key) > max(_MOST_KEYS * len(self.key), 1):
            raise EvidenceError


def read_packets(video: Video, usual_interval: float) -> Packets:
    """Read through a stream, decoding its keyframes alone.

    Args:
        video: at its start.
        usual_interval: seconds of the last frame, where the container gives none.

    Raises:
        EvidenceError: unless the stream is H.264 in closed groups of pictures, each packet with a time of its own.
            Most other streams show within `_ENOUGH` packets that they are not.
    """
    if video.stream.codec_context.codec.canonical_name != _CODEC:
        raise EvidenceError
    columns = _Columns()
    batches = list(describe(_key_pictures(video, columns)))
    columns.check()
    pts = np.array(columns.pts)
    order = np.argsort(pts, kind="stable")
    frame = np.empty_like(order)
    frame[order] = np.arange(len(order))
    keys = np.flatnonzero(np.array(columns.key))
    key_pictures = joined(*batches)
    _check_order(pts[order], frame, keys, len(key_pictures))
    last = float(columns.seconds[int(order[-1])] * video.stream.time_base) or usual_interval
    times = [video.seconds_of(int(one)) for one in pts[order]]
    return Packets(
        pts=pts,
        frame=frame,
        size=np.array(columns.size, float),
        kind=np.array(columns.kind, np.int64),
        keys=keys,
        times=np.array([*times, times[-1] + last]),
        key_pictures=key_pictures,
    )


def _key_pictures(video: Video, columns: _Columns) -> Iterator[Any]:
    context = video.stream.codec_context
    context.options = WITHOUT_DEBLOCKING
    length_bytes = unit_length_bytes(bytes(context.extradata or b""))
    try:
        for packet in video.packets():
            if packet.size:
                columns.add(packet, picture_kind(memoryview(packet), length_bytes))
                if packet.is_keyframe:  # drained each time: keyframes that do not reset the order come out of turn
                    yield from [*context.decode(packet), *context.decode(None)]
                    context.flush_buffers()
    except av.error.FFmpegError as error:
        raise EvidenceError from error


def _check_order(ascending: Indices, frame: Indices, keys: Indices, key_pictures: int) -> None:
    """Every frame has its own time, and every group shows its keyframe first and ends before the next."""
    ends = np.r_[keys[1:], len(frame)]
    closed = all(frame[start:end].min() == frame[start] == start for start, end in zip(keys, ends, strict=True))
    short = (ends - keys).max() <= _LONGEST_GROUP
    if not (closed and short and np.all(np.diff(ascending) > 0) and key_pictures == len(keys)):
        raise EvidenceError
