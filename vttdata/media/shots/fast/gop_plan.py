"""Choice of the packets that the fast method decodes, by their sizes and types.

A frame in which a new shot begins cannot be predicted and takes many bytes; an encoder that notices sets a keyframe
there. What lies between is skipped where the frames on either side explain it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from vttdata.media.shots.fast.bitstream import FrameType
from vttdata.media.shots.fast.packets import Indices, Packets
from vttdata.media.shots.signals import Flags, Floats

# All measured on the shot benchmark, drawn with nine seeds of both halves.
# Size of a P-frame over the largest neighbour on either side: most cuts between keyframes exceed it.
_SIZE_RATIO = 1.5
# The same over the neighbours of one side, and of the other: a livelier or calmer shot begins.
_ONE_SIDED_RATIO, _OTHER_SIDE_RATIO = 3.0, 0.3
# I- and P-frames to either side that are compared; for a weaker suspicion the second largest of them counts.
_NEIGHBOURS = 3
# Size of the larger referenced B-frames over that of a P-frame, above which frames predicted from them go wrong.
_LARGE_B_RATIO = 0.6
# Share of the longest GOP; shorter GOPs were ended by what the encoder saw.
_REGULAR_LENGTH_SHARE = 0.9
# Longest GOP of x264 and ffmpeg by default, in frames.
_DEFAULT_GOP_LENGTH = 250
# Most bytes of half a second over the least, in half of the GOPs without a boundary and a tenth of the others.
_STEADY_RATIO = 1.8
# Frames over which rates are summed: half a second.
_RATE_WINDOW = 12
# Quantiles of a stream's rates, and how far they must be apart: at a constant bit rate quality changes in place of
# size (ratio 2.0), so that sizes say nothing.
_RATE_QUANTILES = (0.05, 0.95)
_MIN_RATE_SPREAD = 4.0
# Further I- and P-frames that a decoder takes in before it gives out the earlier ones.
_DECODER_DELAY = 3


@dataclass(frozen=True, slots=True)
class Gop:
    """Group of pictures, as positions of packets in decoding order.

    Attributes:
        start: position of its keyframe.
        head_end: position after the last packet that must be decoded; `start` + 1 where only the keyframe must.
        end: position after its last packet.
        ended_early: whether the encoder ended it before its usual length, as it does when a new shot begins.
        is_steady: whether the packets after the head take about as many bytes all the time, as within a shot, and are
            enough to tell.
    """

    start: int
    head_end: int
    end: int
    ended_early: bool
    is_steady: bool


@dataclass(frozen=True, slots=True)
class DecodingPlan:
    """Which of n packets to decode.

    Attributes:
        gops: all GOPs, in order.
        needed: (n,) packets that are decoded where their part of the GOP is.
        cut_expected: (n,) frames, in presentation order, at which a hard cut is plausible: around packets of suspicious
            size, anywhere in GOPs without gaps, and at a keyframe, if the encoder saw a reason for it or the frames
            before it were decoded with all their references. Across a gap motion adds up, and skipped references show
            as an error that grows until the next keyframe.
    """

    gops: list[Gop]
    needed: Flags
    cut_expected: Flags


def plan_decoding(packets: Packets) -> DecodingPlan:
    """Find the frames at which a new shot may begin, and the packets that must be decoded to know."""
    anchors = np.flatnonzero(packets.frame_type == FrameType.I_OR_P)
    surprising, suspicious = find_large_anchors(packets, anchors)
    ends = np.r_[anchors[1:], len(packets)]
    needed: Flags = packets.frame_type == FrameType.I_OR_P
    cut_expected = np.zeros(len(packets), bool)
    for anchor, end in zip(anchors[suspicious], ends[suspicious], strict=True):
        needed[anchor:end] = True
        cut_expected[packets.frame_index[anchor:end]] = True
    gops = divide_into_gops(packets, anchors, anchors[surprising])
    for gop in gops:
        members = slice(gop.start, gop.end)
        is_referenced_b = packets.frame_type[members] == FrameType.REFERENCED_B
        if has_large_b_frames(packets.size[members], packets.frame_type[members]):
            needed[members] |= is_referenced_b
        if needed[members].all():
            cut_expected[packets.frame_index[members]] = True
        if gop.end < len(packets) and (gop.ended_early or needed[members][is_referenced_b].all()):
            cut_expected[packets.frame_index[gop.end]] = True
    return DecodingPlan(gops, needed, cut_expected)


def find_large_anchors(packets: Packets, anchors: Indices) -> tuple[Flags, Flags]:
    """Return which anchors (I- and P-frames) are surprisingly large beside their neighbours, keyframes left aside.

    Returns:
        Surprising ones, and suspicious ones: those and ones near which another anchor is as large.
    """
    size = np.where(np.isin(anchors, packets.keyframes), 0, packets.size[anchors])
    windows = np.sort(np.lib.stride_tricks.sliding_window_view(np.pad(size, _NEIGHBOURS), _NEIGHBOURS))
    before, after = windows[: len(size)], windows[_NEIGHBOURS + 1 :]

    def size_ratios(rank: int) -> Floats:
        """Return the lower and the higher of the ratios to the neighbours of that rank on both sides."""
        return np.sort(size / np.maximum((before[:, -rank], after[:, -rank]), 1), 0)

    lower, higher = size_ratios(1)
    surprising = (size > 0) & ((lower > _SIZE_RATIO) | ((higher > _ONE_SIDED_RATIO) & (lower > _OTHER_SIDE_RATIO)))
    return surprising, surprising | ((size > 0) & (size_ratios(2)[0] > _SIZE_RATIO))


def divide_into_gops(packets: Packets, anchors: Indices, surprising: Indices) -> list[Gop]:
    """Return the GOPs of a stream, the head of each ending after its last surprising anchor."""
    starts = packets.keyframes.tolist()
    ends = [*starts[1:], len(packets)]
    regular_lengths = find_regular_lengths(np.diff([*starts, len(packets)]))
    rates = window_rates(packets)
    low, high = np.quantile(rates, _RATE_QUANTILES)
    rates_tell = bool(high > _MIN_RATE_SPREAD * low)
    gops = []
    for start, end in zip(starts, ends, strict=True):
        last_surprise = np.searchsorted(surprising, end) - 1
        head_end = start + 1
        if end == len(packets):
            head_end = end
        elif last_surprise >= 0 and surprising[last_surprise] > start:
            following = np.searchsorted(anchors, surprising[last_surprise]) + 1 + _DECODER_DELAY
            head_end = min(int(anchors[following]) if following < len(anchors) else end, end)
        is_steady = rates_tell and _is_steady(rates[head_end:end])
        gops.append(Gop(start, head_end, end, end - start not in regular_lengths, is_steady))
    return gops


def find_regular_lengths(lengths: Indices) -> set[int]:
    """Return the lengths of GOPs that the encoder's settings explain: nearly the longest, and met more than once."""
    values, counts = np.unique(lengths, return_counts=True)
    usual = (counts > 1) | (values == _DEFAULT_GOP_LENGTH)
    return set(values[usual & (values >= _REGULAR_LENGTH_SHARE * values[-1])].tolist())


def window_rates(packets: Packets) -> Floats:
    """Return the bytes of each frame and those that follow it, `_RATE_WINDOW` in all, without keyframes."""
    sizes = np.zeros(len(packets))
    sizes[packets.frame_index] = packets.size
    sizes[packets.keyframes] = 0
    return np.convolve(sizes, np.ones(_RATE_WINDOW), "full")[_RATE_WINDOW - 1 :]


def _is_steady(rates: Floats) -> bool:
    full_windows = rates[: 1 - _RATE_WINDOW]
    return len(full_windows) > _RATE_WINDOW and bool(full_windows.max() <= _STEADY_RATIO * full_windows.min())


def has_large_b_frames(sizes: Floats, frame_types: Indices) -> bool:
    """Return whether referenced B-frames carry so much that frames predicted from them cannot do without them."""
    b_sizes, anchor_sizes = sizes[frame_types == FrameType.REFERENCED_B], sizes[frame_types == FrameType.I_OR_P]
    return bool(len(b_sizes) and np.quantile(b_sizes, 0.9) > _LARGE_B_RATIO * np.median(anchor_sizes))
