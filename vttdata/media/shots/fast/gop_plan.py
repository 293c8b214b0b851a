"""Judges by the sizes of packets where a shot can change: the fast mode's evidence.

A picture in which something new begins cannot be predicted and takes many bytes; an encoder that notices sets a
keyframe there. What lies between is passed over where the pictures on either side explain it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from vttdata.media.shots.fast.packets import Indices, Packets
from vttdata.media.shots.signals import Flags, Floats

# All measured on the shot benchmark, drawn with nine seeds of both halves.
_SURPRISE = 1.5  # size of an anchor over that of those on both sides: most cuts between keyframes
_STEP, _LEAST = 3.0, 0.3  # over that of those on one side and on the other: what begins is livelier, or calmer
_NEIGHBOURS = 3  # anchors to either side: the largest counts, for a weaker suspicion the second largest
_BUSY = 0.6  # size of larger B pictures that others refer to, over that of an anchor: left out, they lead others astray
_EARLY = 0.9  # of the longest group; shorter groups were ended by what the encoder saw
_DEFAULT = 250  # frames: x264's and ffmpeg's longest group, unless told otherwise
_CALM = 1.8  # the most bytes of half a second over the least, of half of the groups without a change, a tenth of others
_SMOOTH = 12  # frames: half a second
_MOST_OF_IT = (0.05, 0.95)  # quantiles of the rates of a stream
_TELLING = 4.0  # the higher over the lower; a constant rate, where the quality changes instead, tells nothing: 2.0
_HELD_BACK = 3  # anchors after which a decoder has given out those before


@dataclass(frozen=True, slots=True)
class Group:
    """A group of pictures, as places of packets in decoding order.

    Attributes:
        start: its keyframe's place.
        head: place after the last packet that must be decoded; `start` + 1 where nothing but the keyframe must.
        after: place after its last packet.
        cut_short: the encoder ended it early, as it does when a new scene begins.
        calm: its rest takes about as many bytes all the time, as where nothing begins, and is long enough to tell.
    """

    start: int
    head: int
    after: int
    cut_short: bool
    calm: bool


@dataclass(frozen=True, slots=True)
class Plan:
    """What to decode of n packets.

    Attributes:
        groups: all groups, in order.
        wanted: (n,) which packets are decoded where their part of the group is.
        sudden: (n,) the frames, in presentation order, at which a hard cut is to be expected: where sizes give rise to
            suspicion, anywhere in groups without gaps, and at a keyframe, if the encoder saw a reason for it or the
            pictures before are as they should be. Across a gap motion adds up, and left-out references show as an
            error that grows until the next keyframe.
    """

    groups: list[Group]
    wanted: Flags
    sudden: Flags


def plan_decoding(packets: Packets) -> Plan:
    """Find the pictures at which something new may begin, and what must be decoded to know it."""
    anchors = np.flatnonzero(packets.kind == 0)
    surprising, suspicious = _suspicions(packets, anchors)
    ends = np.r_[anchors[1:], len(packets)]
    wanted: Flags = packets.kind == 0
    sudden = np.zeros(len(packets), bool)
    for anchor, end in zip(anchors[suspicious], ends[suspicious], strict=True):
        wanted[anchor:end] = True
        sudden[packets.frame[anchor:end]] = True
    groups = _groups(packets, anchors, anchors[surprising])
    for group in groups:
        own = slice(group.start, group.after)
        references = packets.kind[own] == 1
        if _is_busy(packets.size[own], packets.kind[own]):
            wanted[own] |= references
        if wanted[own].all():
            sudden[packets.frame[own]] = True
        if group.after < len(packets) and (group.cut_short or wanted[own][references].all()):
            sudden[packets.frame[group.after]] = True
    return Plan(groups, wanted, sudden)


def _suspicions(packets: Packets, anchors: Indices) -> tuple[Flags, Flags]:
    """Which anchors (I and P pictures) are out of proportion to those around them, keyframes left aside.

    The second of the two holds also where another one nearby is as large.
    """
    size = np.where(np.isin(anchors, packets.keys), 0, packets.size[anchors])
    windows = np.sort(np.lib.stride_tricks.sliding_window_view(np.pad(size, _NEIGHBOURS), _NEIGHBOURS))
    before, later = windows[: len(size)], windows[_NEIGHBOURS + 1 :]

    def ratios(rank: int) -> Floats:
        return np.sort(size / np.maximum((before[:, -rank], later[:, -rank]), 1), 0)

    less, more = ratios(1)
    surprising = (size > 0) & ((less > _SURPRISE) | ((more > _STEP) & (less > _LEAST)))
    return surprising, surprising | ((size > 0) & (ratios(2)[0] > _SURPRISE))


def _groups(packets: Packets, anchors: Indices, surprises: Indices) -> list[Group]:
    starts = packets.keys.tolist()
    afters = [*starts[1:], len(packets)]
    lengths = np.diff([*starts, len(packets)])
    regular = _regular(lengths)
    rates = _rates(packets)
    low, high = np.quantile(rates, _MOST_OF_IT)
    telling = bool(high > _TELLING * low)
    groups = []
    for start, after in zip(starts, afters, strict=True):
        last = np.searchsorted(surprises, after) - 1
        cut_short = after - start not in regular
        head = start + 1
        if after == len(packets):
            head = after
        elif last >= 0 and surprises[last] > start:
            place = np.searchsorted(anchors, surprises[last]) + 1 + _HELD_BACK
            head = min(int(anchors[place]) if place < len(anchors) else after, after)
        groups.append(Group(start, head, after, cut_short, telling and _is_calm(rates[head:after])))
    return groups


def _regular(lengths: Indices) -> set[int]:
    """The lengths of groups that no scene's end explains: about the longest, and so usual that it is met again."""
    values, counts = np.unique(lengths, return_counts=True)
    usual = (counts > 1) | (values == _DEFAULT)
    return set(values[usual & (values >= _EARLY * values[-1])].tolist())


def _rates(packets: Packets) -> Floats:
    """Bytes of each frame and those that follow it, `_SMOOTH` in all; keyframes count nothing."""
    shown = np.zeros(len(packets))
    shown[packets.frame] = packets.size
    shown[packets.keys] = 0
    return np.convolve(shown, np.ones(_SMOOTH), "full")[_SMOOTH - 1 :]


def _is_calm(rates: Floats) -> bool:
    """Whether frames take about as many bytes all the time, and are enough to tell."""
    whole = rates[: 1 - _SMOOTH]
    return len(whole) > _SMOOTH and bool(whole.max() <= _CALM * whole.min())


def _is_busy(sizes: Floats, kinds: Indices) -> bool:
    """Whether the B pictures of a group to which others refer carry so much that these cannot do without them."""
    references, anchors = sizes[kinds == 1], sizes[kinds == 0]
    return bool(len(references) and np.quantile(references, 0.9) > _BUSY * np.median(anchors))
