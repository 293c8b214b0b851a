"""Ranks of relevant items in similarity matrices and runs, with ties counted instead of broken.

An item's place among tied ones is unknown, so for each relevant pair the items above it and those tied with it are
counted, and measures are expectations over all orders of ties (McSherry and Najork, ECIR 2008). A constant matrix
therefore scores like guessing.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from vttdata.statistics.arrays import Flags, Floats, Integers

# Bytes of a block of rows that is read at once.
_BLOCK_BYTES = 2**26


@dataclass(frozen=True, slots=True, eq=False)
class RelevantRanks:
    """Places of the relevant items of q queries among n candidates.

    Fields:
        candidates: n.
        query: query of each relevant pair, p numbers in ascending order.
        above: candidates that score higher than the pair's item, p.
        tied: candidates that score the same, the item itself included, p.
        gain: relevance of the pair, p; 1 where it is binary.
        found: whether the item is in the ranking at all, p; items that a run leaves out share the places after it.
    """

    candidates: int
    query: Integers
    above: Integers
    tied: Integers
    gain: Floats
    found: Flags


def rank_rows(similarity: npt.NDArray[np.floating], query: Integers, item: Integers) -> RelevantRanks:
    """Rank the columns of each row of a matrix.

    Args:
        similarity: q x n, also memory-mapped; read once, in blocks of rows.
        query: row of each relevant pair, ascending, p.
        item: column of each relevant pair, p.
    """
    above, tied = np.empty(len(query), dtype=np.int64), np.empty(len(query), dtype=np.int64)
    for block in _row_blocks(similarity):
        pairs = slice(*np.searchsorted(query, [block.start, block.stop]).tolist())
        rows = np.asarray(similarity[block])
        above[pairs], tied[pairs] = _count(rows, query[pairs] - block.start, item[pairs])
    return _full(similarity.shape[1], query, above, tied)


def rank_columns(similarity: npt.NDArray[np.floating], query: Integers, item: Integers) -> RelevantRanks:
    """Rank the rows of each column of a matrix, n x q: `rank_rows` of its transpose, but read by rows where it can."""
    above, tied = np.zeros(len(query), dtype=np.int64), np.zeros(len(query), dtype=np.int64)
    if len(np.unique(query)) == len(query):
        # One relevant item for each column: all columns are counted while the rows pass by.
        scores = similarity[item, query]
        all_columns = len(query) == similarity.shape[1]
        for block in _row_blocks(similarity):
            rows = np.asarray(similarity[block])
            rows = rows if all_columns else rows[:, query]
            above += np.count_nonzero(rows > scores, axis=0)
            tied += np.count_nonzero(rows == scores, axis=0)
    else:
        step = max(1, _BLOCK_BYTES // max(1, similarity.shape[0] * similarity.dtype.itemsize))
        for start in range(0, similarity.shape[1], step):
            pairs = slice(*np.searchsorted(query, [start, start + step]).tolist())
            columns = np.ascontiguousarray(similarity[:, start : start + step].T)
            above[pairs], tied[pairs] = _count(columns, query[pairs] - start, item[pairs])
    return _full(similarity.shape[0], query, above, tied)


def rank_run(
    rankings: Sequence[Mapping[int, float]], candidates: int, query: Integers, item: Integers, gain: Floats
) -> RelevantRanks:
    """Rank the items of rankings that hold only the best ones.

    Args:
        rankings: item -> score for each query, q; items that are left out come after all others.
        candidates: number of all items.
        query: query of each relevant pair, ascending, p.
        item: item of each relevant pair, p.
        gain: relevance of each pair, p.
    """
    above, tied = np.empty(len(query), dtype=np.int64), np.empty(len(query), dtype=np.int64)
    found = np.empty(len(query), dtype=np.bool_)
    previous, scores = -1, np.array([])
    for pair, (number, relevant) in enumerate(zip(query.tolist(), item.tolist(), strict=True)):
        ranking = rankings[number]
        if number != previous:
            previous, scores = number, np.fromiter(ranking.values(), dtype=np.float64, count=len(ranking))
        found[pair] = relevant in ranking
        if found[pair]:
            score = ranking[relevant]
            above[pair], tied[pair] = (scores > score).sum(), (scores == score).sum()
        else:
            above[pair], tied[pair] = len(scores), candidates - len(scores)
    return RelevantRanks(candidates, query, above, tied, gain, found)


def _full(candidates: int, query: Integers, above: Integers, tied: Integers) -> RelevantRanks:
    """Return ranks in a matrix, where every pair is found and equally relevant."""
    return RelevantRanks(candidates, query, above, tied, np.ones(len(query)), np.ones(len(query), dtype=np.bool_))


def _row_blocks(similarity: npt.NDArray[np.floating]) -> Iterator[slice]:
    step = max(1, _BLOCK_BYTES // max(1, similarity.shape[1] * similarity.dtype.itemsize))
    for start in range(0, similarity.shape[0], step):
        yield slice(start, min(similarity.shape[0], start + step))


def _count(rows: npt.NDArray[np.floating], row: Integers, column: Integers) -> tuple[Integers, Integers]:
    """Count the values of a row that are above, and those that equal, the value at (row, column)."""
    scores = rows[row, column]
    number, first = np.unique(row, return_index=True)
    if len(number) == len(row):
        selected = rows if len(row) == len(rows) else rows[row]
        return (selected > scores[:, None]).sum(axis=1), (selected == scores[:, None]).sum(axis=1)
    above, tied = np.empty(len(row), dtype=np.int64), np.empty(len(row), dtype=np.int64)
    for index, start, end in zip(number, first, [*first[1:], len(row)], strict=True):
        ordered = np.sort(rows[index])
        right = np.searchsorted(ordered, scores[start:end], "right")
        above[start:end] = len(ordered) - right
        tied[start:end] = right - np.searchsorted(ordered, scores[start:end], "left")
    return above, tied


class BestRanks:
    """Place of the best relevant item of each query, and the measures that look at it alone.

    Every query must have a relevant item. Values are expectations over the orders of tied items, one for each query.
    """

    def __init__(self, ranks: RelevantRanks) -> None:
        # What a run leaves out has more above it than what it lists.
        order = np.lexsort((ranks.above, ranks.query))
        query = ranks.query[order]
        starts = np.flatnonzero(np.concatenate([[True], query[1:] != query[:-1]]))
        best = order[starts]
        self._above, self._tied, self._found = ranks.above[best], ranks.tied[best], ranks.found[best]
        group = np.repeat(np.arange(len(starts)), np.diff([*starts, len(query)]))
        same = ranks.above[order] == self._above[group]
        # Relevant items that are tied with the best one.
        self._relevant = np.bincount(group[same], minlength=len(starts))

    def count_ties(self) -> int:
        """Return the number of queries whose best relevant item is tied with others that are not relevant."""
        return int(np.count_nonzero((self._tied > self._relevant) & self._found))

    def rank(self) -> Floats:
        """Return the rank of the best relevant item, from 1."""
        ranks: Floats = self._above + (self._tied + 1) / (self._relevant + 1)
        return ranks

    def hit(self, k: int) -> Floats:
        """Return whether a relevant item is among the first `k` (R@k, or S@k of Hodosh et al.), 0..1."""
        free = np.clip(k - self._above, 0, self._tied)
        missed = np.ones(len(free))
        for drawn in range(int(self._relevant.max(initial=0))):
            left = np.clip(self._tied - free - drawn, 0, None) / np.maximum(self._tied - drawn, 1)
            missed *= np.where(drawn < self._relevant, left, 1.0)
        hits: Floats = (1 - missed) * self._found
        return hits

    def reciprocal(self, k: int | None = None) -> Floats:
        """Return the reciprocal rank; 0 behind the first `k` places, and where a run leaves all relevant items out."""
        places = int((self._above + self._tied).max(initial=0))
        cut = places if k is None else min(k, places)
        harmonic = np.concatenate([[0.0], np.cumsum(1 / np.arange(1, places + 1))])
        first, last = np.minimum(self._above, cut), np.minimum(self._above + self._tied, cut)
        values = (harmonic[last] - harmonic[first]) / self._tied
        for index in np.flatnonzero(self._relevant > 1):
            above, tied, relevant = (int(column[index]) for column in (self._above, self._tied, self._relevant))
            chance, value = 1.0, 0.0
            for rank_in_tie in range(1, min(tied - relevant + 1, cut - above) + 1):
                # Of the places that are left, the share of relevant ones is the chance that the first is here.
                here = relevant / (tied - rank_in_tie + 1)
                value += chance * here / (above + rank_in_tie)
                chance *= 1 - here
            values[index] = value
        reciprocals: Floats = values * self._found
        return reciprocals


def ndcg(ranks: RelevantRanks, k: int | None = None) -> Floats:
    """Return the normalised discounted cumulative gain of each query, 0..1, with gains as they are.

    The first `k` places count, all by default. Each query must have a relevant item.
    """
    places = ranks.candidates if k is None else k
    discounts = np.concatenate([[0.0], np.cumsum(1 / np.log2(np.arange(2, places + 2)))])
    first, last = np.minimum(ranks.above, places), np.minimum(ranks.above + ranks.tied, places)
    gained = ranks.gain * ranks.found * (discounts[last] - discounts[first]) / ranks.tied
    order = np.lexsort((-ranks.gain, ranks.query))
    query = ranks.query[order]
    starts = np.flatnonzero(np.concatenate([[True], query[1:] != query[:-1]]))
    rank = np.minimum(np.arange(len(query)) - np.repeat(starts, np.diff([*starts, len(query)])), places)
    ideal = ranks.gain[order] * np.diff(np.concatenate([discounts, discounts[-1:]]))[rank]
    number = np.cumsum(np.concatenate([[0], query[1:] != query[:-1]]))
    values: Floats = np.bincount(number, gained[order]) / np.bincount(number, ideal)
    return values


def r_precision(ranks: RelevantRanks) -> Floats:
    """Return for each query the share of relevant items among its first r, where r is their number (Hodosh et al.)."""
    _, number, count = np.unique(ranks.query, return_inverse=True, return_counts=True)
    inside = np.clip((count[number] - ranks.above) / ranks.tied, 0, 1) * ranks.found
    values: Floats = np.bincount(number, inside) / count
    return values
