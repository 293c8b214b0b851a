"""Decoding of the frames that others are predicted from, and interpolation of those that a decoder may skip.

For codecs whose packets are one frame each and say whether others refer to it. No error can add up, since no decoded
frame is predicted from a skipped one. Knows nothing of shots.
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
from vttdata.media.shots.fast.bitstream import FrameReference, hevc_nal_length_size, hevc_reference, mpeg_reference
from vttdata.media.shots.fast.gop_decode import interpolate_gaps
from vttdata.media.shots.fast.packets import Indices, UnsupportedStreamError, Watch, frame_times
from vttdata.media.shots.histogram import Descriptions, concatenate, describe
from vttdata.media.shots.signals import Flags, Floats

_SKIP_NON_REFERENCES = {"skip_frame": "noref"}
# Frames before a gap by which a cut in it is judged.
_CONTEXT = 8


@dataclass(frozen=True, slots=True)
class FrameOrder:
    """Presentation order of the n frames of a video.

    Attributes:
        pts: (n,) presentation times in the stream's time base, ascending.
        keyframes: 0-based indices of the keyframes; the first is 0.
        times: (n + 1,) seconds: when each frame starts, and when the last one ends.
        is_referenced: (n,) frames that others are predicted from.
    """

    pts: Indices
    keyframes: Indices
    times: Floats
    is_referenced: Flags


def read_frame_order(video: Video) -> FrameOrder:
    """Read all packets of a stream without decoding it.

    Args:
        video: at its start.

    Raises:
        UnsupportedStreamError: unless no referenced frame can be predicted from an unreferenced one, each packet has a
            time of its own, and a keyframe is shown first.
    """
    if not video.is_timed:
        raise UnsupportedStreamError
    reference_of = _reference_reader(video.stream.codec_context)
    packet_pts, keyframe_pts, durations, referenced, layers = (array(code) for code in "qqqbb")
    for packet in video.packets():
        if packet.size:
            reference = reference_of(memoryview(packet))
            if packet.pts is None or packet.is_discard or packet.is_corrupt or reference is None:
                raise UnsupportedStreamError
            packet_pts.append(packet.pts)
            durations.append(packet.duration or 0)
            referenced.append(reference.is_referenced)
            layers.append(reference.temporal_layer)
            if packet.is_keyframe:
                keyframe_pts.append(packet.pts)
    order = np.argsort(np.array(packet_pts), kind="stable")
    pts, flags, layer = (np.array(column)[order] for column in (packet_pts, referenced, layers))
    is_referenced = flags.astype(bool)
    if not len(keyframe_pts) or keyframe_pts[0] != pts[0] or not np.all(np.diff(pts) > 0):
        raise UnsupportedStreamError
    # Frames of a higher temporal layer may refer to frames that are no references within their own layer.
    if not is_referenced[0] or layer[is_referenced].max() > layer[~is_referenced].min(initial=layer.max()):
        raise UnsupportedStreamError
    keyframes = np.searchsorted(pts, np.sort(np.array(keyframe_pts)))
    return FrameOrder(pts, keyframes, frame_times(video, pts, durations[int(order[-1])]), is_referenced)


def _reference_reader(context: Any) -> Callable[[memoryview], FrameReference | None]:
    """Return the function that reads from a packet whether others refer to its frame."""
    codec = context.codec.canonical_name
    if codec == "hevc":
        return partial(hevc_reference, length_size=hevc_nal_length_size(bytes(context.extradata or b"")))
    if codec in ("mpeg1video", "mpeg2video"):
        return mpeg_reference
    raise UnsupportedStreamError


def describe_reference_frames(video: Video, order: FrameOrder, watch: Watch | None = None) -> Iterator[Descriptions]:
    """Describe all frames of a video, unreferenced ones by interpolation.

    Args:
        video: at its start.
        order: its frames.
        watch: called with each decoded frame's time in seconds and picture.

    Raises:
        UnsupportedStreamError: when the decoder fails, gives other frames than the referenced ones, or interlaced ones.
    """
    video.stream.codec_context.options = _SKIP_NON_REFERENCES
    positions = np.flatnonzero(order.is_referenced)
    run: Descriptions | None = None
    seen = 0
    for batch in describe(_decode_pictures(video, order.pts[positions], watch)):
        first_new = 0 if run is None else len(run) - 1
        run = batch if run is None else concatenate(run, batch)
        seen += len(batch)
        run_positions = positions[seen - len(run) : seen]
        filled = interpolate_gaps(run, run_positions - run_positions[0])
        yield filled[run_positions[first_new] - run_positions[0] + (first_new > 0) :]
        run = run[-_CONTEXT:]
    missing = len(order.pts) - 1 - int(positions[-1])
    if run is not None and missing:
        yield run[-1:].repeat(missing)


def _decode_pictures(video: Video, expected: Indices, watch: Watch | None) -> Iterator[av.VideoFrame]:
    """Yield the decoded pictures, which must be those of the expected times."""
    remaining = iter(expected.tolist())
    try:
        for packet in video.packets():
            for picture in packet.decode():
                # The two fields of a picture can show two shots, and such a cut looks like motion across a gap.
                if picture.pts is None or picture.pts != next(remaining, None) or picture.interlaced_frame:
                    raise UnsupportedStreamError
                if watch:
                    watch(video.seconds_of(picture.pts), picture)
                yield picture
    except av.error.FFmpegError as error:
        raise UnsupportedStreamError from error
    if next(remaining, None) is not None:
        raise UnsupportedStreamError
