"""Decodes the parts of a video in which a shot can change, in one reading, and fills in what lies between.

Knows nothing of shots; which packets may matter is decided elsewhere.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import av
import numpy as np

from vttdata.media.decode import Video
from vttdata.media.shots.fast.gop_plan import Group, Plan
from vttdata.media.shots.fast.packets import WITH_SOUND_REFERENCES, WITHOUT_DEBLOCKING, EvidenceError, Indices, Packets
from vttdata.media.shots.histogram import Descriptions, describe, joined
from vttdata.media.shots.signals import Flags, Floats, picture_distance, steps_between

# Colour distances, measured on the shot benchmark, drawn with nine seeds of both halves.
_SAME, _SAME_IF_CALM = 0.05, 0.07  # pictures closer than this may show one shot, if no surprise lies between them
_NEW = 0.1  # pictures further apart show two, if all is calm between them and the encoder saw the second begin
_JUMP, _NOISE = 5.0, 0.005  # change across a gap over that of a frame around it: cuts began at 6.8, fades ended at 4.2
_AROUND = 6  # frames to either side of the gap
_ALONE = 1.8  # over the speed on either side: a fade of eight frames went on into the next gap at two thirds
_LONG = 300  # frames of a group in which unfiltered references add up to what is seen: black was no longer black at 720


def describe_planned(video: Video, packets: Packets, plan: Plan, known: Flags) -> Iterator[Descriptions]:
    """Descriptions of all frames of a video, group by group, of those passed over by what is known around them.

    Args:
        video: at its start.
        packets: its packets.
        plan: what to decode of them.
        known: (n,) false at first; set here for the frames that were decoded.

    Raises:
        EvidenceError: when the decoder gives other frames than those it got, or fails.
    """
    reader = _Reader(video, packets, plan)
    for index, group in enumerate(plan.groups):
        following = packets.key_pictures[index + 1 : index + 2]
        own, places = packets.key_pictures[index : index + 1], np.array([0])
        if group.head == group.start + 1 and _tells_enough(group, own, following):
            reader.skip(group.start, group.after)
        else:
            own, places = reader.decode(group, following)
        known[group.start + places] = True
        if _is_new(group, own[-1:], following):
            known[group.after - 1] = True  # what comes next begins with it, and not in the gap before
        yield _filled(own, places, group.after - group.start, following)


def _tells_enough(group: Group, last: Descriptions, following: Descriptions) -> bool:
    """Whether a picture at a group's head and the keyframe that follows show what happens between them."""
    if group.cut_short:
        return _is_new(group, last, following)
    return len(following) > 0 and picture_distance(last, following) <= (_SAME_IF_CALM if group.calm else _SAME)


def _is_new(group: Group, last: Descriptions, following: Descriptions) -> bool:
    """Whether a new scene begins with the keyframe that follows a group, by what the encoder saw and how it looks."""
    return group.cut_short and group.calm and len(following) > 0 and picture_distance(last, following) >= _NEW


def _filled(known: Descriptions, places: Indices, count: int, following: Descriptions) -> Descriptions:
    """All `count` frames of a group: mixtures between known ones; after the last, what comes next if it is alike."""
    missing = count - 1 - int(places[-1])
    filled = interpolated(known, places)
    if missing == 0:
        return filled
    last = known[-1:]
    if len(following) and picture_distance(last, following) <= _SAME_IF_CALM:
        return joined(filled, interpolated(joined(last, following), np.array([0, missing + 1]))[1:-1])
    return joined(filled, last.repeated(missing))


def interpolated(known: Descriptions, places: Indices) -> Descriptions:
    """A run with known descriptions at `places` (ascending, from 0) and mixtures of the nearest two between them.

    Where these two differ too much for what moves around them, something new begins between them: the first goes on
    until the second, since a mixture would make the change look like motion.
    """
    all_places = np.arange(int(places[-1]) + 1)
    after = np.searchsorted(places, all_places)
    before = np.maximum(after - (places[after] != all_places), 0)
    gap = np.maximum(places[after] - places[before], 1)
    share = ((all_places - places[before]) / gap).astype(np.float32)
    share[np.r_[False, _jumps(known, places)][after]] = 0

    def mix(values: Any) -> Any:
        weight = share.reshape(-1, *(1,) * (values.ndim - 1))
        mixed = values[before] * (1 - weight) + values[after] * weight
        return np.rint(mixed).astype(values.dtype)

    return Descriptions(mix(known.histograms), mix(known.cells))


def _jumps(known: Descriptions, places: Indices) -> Flags:
    """Between which known descriptions and the next something new begins at once."""
    steps = steps_between(known)
    so_far = np.r_[0, steps.cumsum()]
    first, last = places[:-1], places[1:]
    before, after = np.maximum(first - _AROUND, places[0]), np.minimum(last + _AROUND, places[-1])

    def change(start: Indices, stop: Indices) -> Floats:
        return np.asarray(np.interp(stop, places, so_far) - np.interp(start, places, so_far))

    rate = (change(before, first) + change(last, after)) / np.maximum(first - before + after - last, 1)
    speed = np.r_[0, steps / (last - first), 0]
    alone = speed[1:-1] > _ALONE * np.maximum(speed[:-2], speed[2:])
    return np.asarray(alone & (after - before > last - first) & (steps > _JUMP * (rate + _NOISE)))


@dataclass(slots=True)
class _Reader:
    """Reads a video's packets once, from first to last, and decodes those that are asked for."""

    video: Video
    packets: Packets
    plan: Plan
    _rest: Iterator[Any] = field(init=False)

    def __post_init__(self) -> None:
        longest = max(group.after - group.start for group in self.plan.groups)
        self.video.stream.codec_context.options = WITHOUT_DEBLOCKING if longest <= _LONG else WITH_SOUND_REFERENCES
        self._rest = (packet for packet in self.video.packets() if packet.size)

    def skip(self, start: int, stop: int) -> None:
        """Read past the packets of these places."""
        for place in range(start, stop):
            self._next(place)

    def decode(self, group: Group, following: Descriptions) -> tuple[Descriptions, Indices]:
        """Decode a group's head, and its tail if that must be; what was decoded, and where in the group it is shown."""
        fed: list[int] = []
        shown: list[int] = []
        batches = list(describe(self._pictures(group, following, fed, shown)))
        places = np.sort(self.packets.frame[fed])
        if not batches or shown != sorted(self.packets.pts[fed].tolist()):
            raise EvidenceError
        return joined(*batches), places - group.start

    def _pictures(self, group: Group, following: Descriptions, fed: list[int], shown: list[int]) -> Iterator[Any]:
        """Pictures as they come; notes the places of the packets fed and the times of the pictures shown."""
        context = self.video.stream.codec_context
        last = None
        try:
            for place in range(group.start, group.after):
                if place == group.head and last and _tells_enough(group, next(describe([last])), following):
                    self.skip(place, group.after)
                    break
                packet = self._next(place)
                if self.plan.wanted[place]:
                    fed.append(place)
                    for last in context.decode(packet):
                        shown.append(last.pts)
                        yield last
            for picture in context.decode(None):
                shown.append(picture.pts)
                yield picture
            context.flush_buffers()
        except av.error.FFmpegError as error:
            raise EvidenceError from error

    def _next(self, place: int) -> Any:
        packet = next(self._rest, None)
        if packet is None or packet.pts != self.packets.pts[place]:
            raise EvidenceError
        return packet
