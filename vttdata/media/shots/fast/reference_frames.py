"""Sees the pictures of a video that others are predicted from, and fills in those that a decoder may leave out.

For codecs whose packets are frames, one each, and say whether others refer to them. No error can add up, since nothing
decoded is predicted from what is left out. Knows nothing of shots.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import av
import numpy as np

from vttdata.media.decode import Video
from vttdata.media.shots.fast.bitstream import hevc_reference, hevc_unit_length_bytes, mpeg_reference
from vttdata.media.shots.fast.gop_decode import interpolated
from vttdata.media.shots.fast.packets import EvidenceError, Indices
from vttdata.media.shots.histogram import Descriptions, describe, joined
from vttdata.media.shots.signals import Flags, Floats

_MPEG = frozenset({"mpeg1video", "mpeg2video"})
_REFERENCED_ONLY = {"skip_frame": "noref"}
_CONTEXT = 8  # pictures before a gap by which a jump across it is judged


@dataclass(frozen=True, slots=True)
class Order:
    """When the n frames of a video are shown.

    Attributes:
        pts: (n,) presentation times in the stream's time base, ascending.
        keys: the keyframes, as 0-based indices of frames; the first is 0.
        times: (n + 1,) seconds: when each frame starts, and when the last one ends.
        referenced: (n,) which frames others are predicted from.
    """

    pts: Indices
    keys: Indices
    times: Floats
    referenced: Flags


def read_order(video: Video, usual_interval: float) -> Order:
    """Read through a stream without decoding it.

    Args:
        video: at its start.
        usual_interval: seconds of the last frame, where the container gives none.

    Raises:
        EvidenceError: unless its decoder can leave out pictures to which nothing that is kept refers, each packet has
            a time of its own, and a keyframe is shown first.
    """
    reference = _reading(video.stream.codec_context)
    times, keys, lengths, kept, layers = (array(code) for code in "qqqbb")
    for packet in video.packets():
        if packet.size:
            told = reference(memoryview(packet))
            if packet.pts is None or packet.is_discard or packet.is_corrupt or told is None:
                raise EvidenceError
            times.append(packet.pts)
            lengths.append(packet.duration or 0)
            kept.append(told[0])
            layers.append(told[1])
            if packet.is_keyframe:
                keys.append(packet.pts)
    shown = np.argsort(np.array(times), kind="stable")
    pts, referenced, layer = (np.array(column)[shown] for column in (times, kept, layers))
    referenced = referenced.astype(bool)
    if not len(keys) or keys[0] != pts[0] or not np.all(np.diff(pts) > 0) or not _may_leave_out(referenced, layer):
        raise EvidenceError
    last = float(lengths[int(shown[-1])] * video.stream.time_base) or usual_interval
    seconds = [video.seconds_of(int(one)) for one in pts]
    ordered_keys = np.searchsorted(pts, np.sort(np.array(keys)))
    return Order(pts, ordered_keys, np.array([*seconds, seconds[-1] + last]), referenced)


def _reading(context: Any) -> Callable[[memoryview], tuple[bool, int] | None]:
    """How a packet of a codec tells whether others refer to it."""
    name = context.codec.canonical_name
    if name == "hevc":
        return partial(hevc_reference, length_bytes=hevc_unit_length_bytes(bytes(context.extradata or b"")))
    if name in _MPEG:
        return mpeg_reference
    raise EvidenceError


def _may_leave_out(referenced: Flags, layer: Indices) -> bool:
    """Whether nothing kept may refer to what is left out, as higher layers may."""
    return bool(referenced[0] and layer[referenced].max() <= layer[~referenced].min(initial=layer.max()))


def describe_referenced(video: Video, order: Order) -> Iterator[Descriptions]:
    """Descriptions of all frames of a video, those that no other refers to filled in by what is seen around them.

    Args:
        video: at its start.
        order: its frames.

    Raises:
        EvidenceError: when the decoder fails, gives other frames than those that others refer to, or interlaced ones.
    """
    video.stream.codec_context.options = _REFERENCED_ONLY
    places = np.flatnonzero(order.referenced)
    run: Descriptions | None = None
    seen = 0
    for batch in describe(_pictures(video, order.pts[places])):
        fresh = 0 if run is None else len(run) - 1
        run = batch if run is None else joined(run, batch)
        seen += len(batch)
        own = places[seen - len(run) : seen]
        filled = interpolated(run, own - own[0])
        yield filled[own[fresh] - own[0] + (fresh > 0) :]
        run = run[-_CONTEXT:]
    missing = len(order.pts) - 1 - int(places[-1])
    if run is not None and missing:
        yield run[-1:].repeated(missing)


def _pictures(video: Video, expected: Indices) -> Iterator[av.VideoFrame]:
    """The pictures that are decoded, which must be those of the expected times."""
    remaining = iter(expected.tolist())
    try:
        for packet in video.packets():
            for picture in packet.decode():
                # Of two fields a picture can show two shots, and a cut through it looks like motion across a gap.
                if picture.pts is None or picture.pts != next(remaining, None) or picture.interlaced_frame:
                    raise EvidenceError
                yield picture
    except av.error.FFmpegError as error:
        raise EvidenceError from error
    if next(remaining, None) is not None:
        raise EvidenceError
