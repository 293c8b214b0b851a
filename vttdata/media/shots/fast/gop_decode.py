"""Decoding of a plan in one pass over a video, and interpolation of the frames that are skipped.

Knows nothing of shots; `vttdata.media.shots.fast.gop_plan` decides which packets may matter.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import av
import numpy as np

from vttdata.media.decode import Video
from vttdata.media.shots.fast.bitstream import FrameType
from vttdata.media.shots.fast.gop_plan import DecodingPlan, Gop
from vttdata.media.shots.fast.packets import (
    DEBLOCK_REFERENCES_ONLY,
    NO_DEBLOCKING,
    Indices,
    Packets,
    UnsupportedStreamError,
    Watch,
)
from vttdata.media.shots.histogram import Descriptions, concatenate, describe
from vttdata.media.shots.signals import Flags, Floats, colour_distance, consecutive_distances

# Colour distances, measured on the shot benchmark, drawn with nine seeds of both halves.
# Closer frames may show one shot, if no surprising packet lies between them; in steady GOPs the second limit holds.
_SAME_SHOT, _SAME_SHOT_IF_STEADY = 0.05, 0.07
# Frames further apart show two shots, if the packets between them are steady and the encoder ended the GOP early.
_NEW_SHOT = 0.1
# Change across a gap over that of one frame around it: cuts began at 6.8, fades ended at 4.2.
_CUT_RATIO, _NOISE = 5.0, 0.005
# Frames to either side of the gap that are compared.
_WINDOW = 6
# Change across a gap over that across the gaps beside it; a fade of eight frames went on at two thirds of the speed.
_ISOLATED_RATIO = 1.8
# Frames of a GOP above which errors of references without deblocking become visible: black was not black at 720.
_MAX_UNFILTERED_GOP = 300


def describe_planned_gops(
    video: Video, packets: Packets, plan: DecodingPlan, is_decoded: Flags, watch: Watch | None = None
) -> Iterator[Descriptions]:
    """Describe all frames of a video GOP by GOP, skipped ones by interpolation between decoded ones.

    Args:
        video: at its start.
        packets: its packets.
        plan: packets to decode.
        is_decoded: (n,) false at first; set here for the frames that were decoded.
        watch: called with each decoded frame's time in seconds and picture; all referenced
            frames are decoded for it, and deblocked.

    Raises:
        UnsupportedStreamError: when the decoder fails or gives other frames than the packets promise.
    """
    reader = _Reader(video, packets, plan, watch)
    for number, gop in enumerate(plan.gops):
        next_keyframe = packets.keyframe_descriptions[number + 1 : number + 2]
        decoded, positions = packets.keyframe_descriptions[number : number + 1], np.array([0])
        if gop.head_end == gop.start + 1 and _may_skip_tail(gop, decoded, next_keyframe):
            reader.skip_whole(gop)
        else:
            decoded, positions = reader.decode(gop, next_keyframe)
        is_decoded[gop.start + positions] = True
        if _begins_new_shot(gop, decoded[-1:], next_keyframe):
            # The new shot begins with the next keyframe and not in the gap before it.
            is_decoded[gop.end - 1] = True
        yield _fill_gop(decoded, positions, gop.end - gop.start, next_keyframe)


def _may_skip_tail(gop: Gop, last_of_head: Descriptions, next_keyframe: Descriptions) -> bool:
    """Return whether the last frame of a GOP's head and the next keyframe show what happens between them."""
    if gop.ended_early:
        return _begins_new_shot(gop, last_of_head, next_keyframe)
    limit = _SAME_SHOT_IF_STEADY if gop.is_steady else _SAME_SHOT
    return len(next_keyframe) > 0 and colour_distance(last_of_head, next_keyframe) <= limit


def _begins_new_shot(gop: Gop, last_decoded: Descriptions, next_keyframe: Descriptions) -> bool:
    """Return whether a new shot begins with the next keyframe, by what the encoder saw and by its colours."""
    if not gop.ended_early or not gop.is_steady or not len(next_keyframe):
        return False
    return colour_distance(last_decoded, next_keyframe) >= _NEW_SHOT


def _fill_gop(decoded: Descriptions, positions: Indices, frame_count: int, next_keyframe: Descriptions) -> Descriptions:
    """Return all frames of a GOP; those after the last decoded one lead over to the next keyframe if it is similar."""
    missing = frame_count - 1 - int(positions[-1])
    filled = interpolate_gaps(decoded, positions)
    if missing == 0:
        return filled
    last = decoded[-1:]
    if len(next_keyframe) and colour_distance(last, next_keyframe) <= _SAME_SHOT_IF_STEADY:
        bridge = interpolate_gaps(concatenate(last, next_keyframe), np.array([0, missing + 1]))
        return concatenate(filled, bridge[1:-1])
    return concatenate(filled, last.repeat(missing))


def interpolate_gaps(decoded: Descriptions, positions: Indices) -> Descriptions:
    """Interpolate linearly between decoded frames.

    Where two of them differ too much for the motion around them, the first is repeated until the second, since a
    mixture would make a cut look like motion.

    Args:
        decoded: n frames.
        positions: (n,) ascending from 0, where they stand in the result.

    Returns:
        Frames from 0 to the last position.
    """
    frames = np.arange(int(positions[-1]) + 1)
    after = np.searchsorted(positions, frames)
    before = np.maximum(after - (positions[after] != frames), 0)
    gap = np.maximum(positions[after] - positions[before], 1)
    weight_after = ((frames - positions[before]) / gap).astype(np.float32)
    weight_after[np.r_[False, find_cuts_in_gaps(decoded, positions)][after]] = 0

    def mix(values: Any) -> Any:
        weight = weight_after.reshape(-1, *(1,) * (values.ndim - 1))
        return np.rint(values[before] * (1 - weight) + values[after] * weight).astype(values.dtype)

    return Descriptions(mix(decoded.histograms), mix(decoded.cells), decoded.luma[before])


def find_cuts_in_gaps(decoded: Descriptions, positions: Indices) -> Flags:
    """Return between which decoded frames and the next the colours jump, beside the frames around the gap."""
    distances = consecutive_distances(decoded)
    cumulated = np.r_[0, distances.cumsum()]
    first, last = positions[:-1], positions[1:]
    window_start, window_end = np.maximum(first - _WINDOW, positions[0]), np.minimum(last + _WINDOW, positions[-1])

    def change(start: Indices, stop: Indices) -> Floats:
        return np.asarray(np.interp(stop, positions, cumulated) - np.interp(start, positions, cumulated))

    frames_around = np.maximum(first - window_start + window_end - last, 1)
    change_around = (change(window_start, first) + change(last, window_end)) / frames_around
    speed = np.r_[0, distances / (last - first), 0]
    is_isolated = speed[1:-1] > _ISOLATED_RATIO * np.maximum(speed[:-2], speed[2:])
    has_surroundings = window_end - window_start > last - first
    return np.asarray(is_isolated & has_surroundings & (distances > _CUT_RATIO * (change_around + _NOISE)))


class _Reader:
    """Single pass over a video's packets that decodes those of the plan."""

    def __init__(self, video: Video, packets: Packets, plan: DecodingPlan, watch: Watch | None) -> None:
        self._video = video
        self._watch = watch
        self._context = video.stream.codec_context
        # Lists: items of arrays are slower to read one by one.
        self._pts, self._needed = packets.pts.tolist(), plan.needed.tolist()
        self._frame_index = packets.frame_index
        # Without all frames that others refer to, errors add up in those that are watched.
        self._watched = ((packets.frame_type != FrameType.UNREFERENCED_B) & (watch is not None)).tolist()
        longest = max(gop.end - gop.start for gop in plan.gops)
        self._context.options = (
            NO_DEBLOCKING if longest <= _MAX_UNFILTERED_GOP and not watch else DEBLOCK_REFERENCES_ONLY
        )
        self._remaining = (packet for packet in video.packets() if packet.size)

    def skip(self, gop: Gop, start: int) -> Iterator[Any]:
        """Read past the packets of a GOP from a position on; decode referenced frames among them to be watched.

        Yields:
            Pictures that the decoder gives out meanwhile.
        """
        for position in range(start, gop.end):
            packet = self._next_packet(position)
            if self._watched[position]:
                yield from self._context.decode(packet)

    def skip_whole(self, gop: Gop) -> None:
        """Read past a GOP whose keyframe is known."""
        try:
            for picture in self.skip(gop, gop.start):
                self._show(picture)
            if self._watch:
                for picture in self._context.decode(None):
                    self._show(picture)
            self._context.flush_buffers()
        except av.error.FFmpegError as error:
            raise UnsupportedStreamError from error

    def _show(self, picture: Any) -> None:
        if self._watch:
            if picture.pts is None or picture.is_corrupt:
                raise UnsupportedStreamError
            self._watch(self._video.seconds_of(picture.pts), picture)

    def decode(self, gop: Gop, next_keyframe: Descriptions) -> tuple[Descriptions, Indices]:
        """Decode a GOP's head, and its tail where it cannot be skipped.

        Returns:
            Descriptions of the decoded frames, and their positions in the GOP.
        """
        sent: list[int] = []
        received: list[int] = []
        batches = list(describe(self._decode_pictures(gop, next_keyframe, sent, received)))
        positions = np.sort(self._frame_index[sent])
        if not batches or received != sorted(self._pts[position] for position in sent):
            raise UnsupportedStreamError
        return concatenate(*batches), positions - gop.start

    def _decode_pictures(
        self, gop: Gop, next_keyframe: Descriptions, sent: list[int], received: list[int]
    ) -> Iterator[Any]:
        """Yield pictures; note the positions of the packets sent and the times of the pictures received."""
        sent_pts: set[int] = set()
        try:
            for picture in self._decode_gop(gop, next_keyframe, sent, sent_pts):
                self._show(picture)
                if picture.pts in sent_pts:
                    received.append(picture.pts)
                    yield picture
            self._context.flush_buffers()
        except av.error.FFmpegError as error:
            raise UnsupportedStreamError from error

    def _decode_gop(self, gop: Gop, next_keyframe: Descriptions, sent: list[int], sent_pts: set[int]) -> Iterator[Any]:
        """Yield all pictures that are decoded, those of a skipped tail that are only watched among them."""
        picture = None
        for position in range(gop.start, gop.end):
            if position == gop.head_end and picture:
                last_of_head = next(describe([picture]))
                if _may_skip_tail(gop, last_of_head, next_keyframe):
                    yield from self.skip(gop, position)
                    break
            packet = self._next_packet(position)
            if self._needed[position]:
                sent.append(position)
                sent_pts.add(packet.pts)
                for picture in self._context.decode(packet):
                    yield picture
            elif self._watched[position]:
                yield from self._context.decode(packet)
        yield from self._context.decode(None)

    def _next_packet(self, position: int) -> Any:
        packet = next(self._remaining, None)
        if packet is None or packet.pts != self._pts[position]:
            raise UnsupportedStreamError
        return packet
