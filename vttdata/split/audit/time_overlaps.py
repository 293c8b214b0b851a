"""Counts overlaps in time among spans by one sweep over their ends, never by comparing all pairs.

Two spans overlap when they share time: each starts before the other ends. Spans that only touch do not, nor does a
span that is unknown or has no length.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator

import numpy as np

from vttdata.split.audit.clip_table import Entries, Flags, Floats, Integers

_MOST_COMPARED = 200_000
"""So many pairs are looked at for examples at most; all are counted."""


def has_span(start: Floats, end: Floats) -> Flags:
    """Which spans are known and have a length."""
    known: Flags = np.isfinite(start) & np.isfinite(end) & (end > start)
    return known


def overlapping(group: Integers, start: Floats, end: Floats) -> Integers:
    """With how many other spans of its group each span overlaps.

    Args:
        group: n numbers.
        start: n times, in seconds.
        end: the same; spans without `has_span` overlap with nothing.

    Returns:
        n numbers. Half their sum is the number of overlapping pairs. Costs n log n.
    """
    partners = np.zeros(len(group), dtype=np.int64)
    known = np.flatnonzero(has_span(start, end))
    number = len(known)
    group, times = np.tile(group[known], 2), np.concatenate([end[known], start[known]])
    is_start = np.repeat([False, True], number)
    order = np.lexsort((is_start, times, group))  # at one moment ends come first, since spans are half-open
    started = np.cumsum(is_start[order])
    place = np.empty(2 * number, dtype=np.int64)
    place[order] = np.arange(2 * number)
    before_end = started[place[:number]]  # every end of an earlier group is matched by a start of it
    ended = np.cumsum(~is_start[order])
    before_start = ended[place[number:]]
    partners[known] = before_end - before_start - 1
    return partners


def worst_overlaps(entries: Entries, chosen: Flags, number: int) -> list[tuple[float, int, int]]:
    """The longest overlaps in time between entries of one source and different splits.

    Args:
        entries: all entries.
        chosen: those that take part in such an overlap.
        number: how many to find. They are the longest of the first 200,000 pairs that may be among them.

    Returns:
        (seconds, entry, entry), the longest first.
    """
    heap: list[tuple[float, int, int]] = []
    for _, (seconds, one, other) in zip(range(_MOST_COMPARED), _pairs(entries, chosen, heap, number), strict=False):
        if entries.split[one] != entries.split[other]:
            keep = heapq.heappush if len(heap) < number else heapq.heappushpop
            keep(heap, (seconds, -one, -other))
    return [(seconds, -one, -other) for seconds, one, other in sorted(heap, reverse=True)]


def _pairs(
    entries: Entries, chosen: Flags, heap: list[tuple[float, int, int]], number: int
) -> Iterator[tuple[float, int, int]]:
    """Overlapping pairs of one source, leaving out those that cannot be longer than what is in the full heap."""
    places = np.flatnonzero(chosen)
    order = places[np.lexsort((places, entries.start[places], entries.source[places]))]
    columns = (entries.source[order], entries.start[order], entries.end[order])
    source, start, end = (column.tolist() for column in columns)
    for one in range(len(order)):
        for other in range(one + 1, len(order)):
            longest = end[one] - start[other]
            if source[other] != source[one] or longest <= 0 or (len(heap) == number and longest < heap[0][0]):
                break
            yield min(end[one], end[other]) - start[other], int(order[one]), int(order[other])
