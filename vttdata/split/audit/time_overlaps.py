"""Overlaps in time among spans, counted by one sweep over their ends and never by comparing all pairs.

Two spans overlap when they share time: each starts before the other ends. Spans that only touch do not, nor does a
span that is unknown or has no length.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator

import numpy as np

from vttdata.split.audit.clip_table import ClipTable, Flags, Floats, Integers

# Pairs that are looked at for examples, at most; all are counted.
_MAX_COMPARED_PAIRS = 200_000


def has_span(start: Floats, end: Floats) -> Flags:
    """Return which spans are known and have a length."""
    known: Flags = np.isfinite(start) & np.isfinite(end) & (end > start)
    return known


def count_overlaps(group: Integers, start: Floats, end: Floats) -> Integers:
    """Count for each span the other spans of its group that it overlaps with.

    Args:
        group: n numbers.
        start: n times in seconds.
        end: n times in seconds; spans without `has_span` overlap with nothing.

    Returns:
        n counts. Half their sum is the number of overlapping pairs. Takes n log n time.
    """
    counts = np.zeros(len(group), dtype=np.int64)
    known = np.flatnonzero(has_span(start, end))
    number = len(known)
    group, times = np.tile(group[known], 2), np.concatenate([end[known], start[known]])
    is_start = np.repeat([False, True], number)
    # At one moment ends come first, since spans are half-open.
    order = np.lexsort((is_start, times, group))
    rank = np.empty(2 * number, dtype=np.int64)
    rank[order] = np.arange(2 * number)
    # Spans of earlier groups count in both sums, and cancel out.
    started_before_end = np.cumsum(is_start[order])[rank[:number]]
    ended_before_start = np.cumsum(~is_start[order])[rank[number:]]
    counts[known] = started_before_end - ended_before_start - 1
    return counts


def longest_overlaps(clips: ClipTable, selected: Flags, number: int) -> list[tuple[float, int, int]]:
    """Return the longest overlaps in time between clips of one source and different splits.

    Args:
        clips: all clips.
        selected: rows that take part in such an overlap.
        number: of overlaps to return at most. They are the longest of the first 200,000 pairs that may be among them.

    Returns:
        (seconds, row, row), the longest first.
    """
    # The smallest of the overlaps so far is on top; rows are negated, so that of equal ones the first rows stay.
    heap: list[tuple[float, int, int]] = []

    def overlapping_pairs() -> Iterator[tuple[float, int, int]]:
        rows = np.flatnonzero(selected)
        rows = rows[np.lexsort((rows, clips.start[rows], clips.source[rows]))]
        source, start, end = (column[rows].tolist() for column in (clips.source, clips.start, clips.end))
        for first in range(len(rows)):
            for second in range(first + 1, len(rows)):
                seconds = end[first] - start[second]
                # Later clips start later, so no overlap of theirs with the first clip is longer than this.
                is_too_short = len(heap) == number and seconds < heap[0][0]
                if source[second] != source[first] or seconds <= 0 or is_too_short:
                    break
                yield min(end[first], end[second]) - start[second], int(rows[first]), int(rows[second])

    for _, (seconds, row_a, row_b) in zip(range(_MAX_COMPARED_PAIRS), overlapping_pairs(), strict=False):
        if clips.split[row_a] != clips.split[row_b]:
            add = heapq.heappush if len(heap) < number else heapq.heappushpop
            add(heap, (seconds, -row_a, -row_b))
    return [(seconds, -row_a, -row_b) for seconds, row_a, row_b in sorted(heap, reverse=True)]
