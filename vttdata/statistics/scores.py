"""Scores of items, and the corpus score of every sample of them from statistics that are summed by source.

A source is what is drawn whole, since its items are not independent: a video from which several clips come.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from vttdata.statistics.arrays import Flags, Floats, Integers, row_blocks

Formula = Callable[[Floats, Floats], Floats]


def mean_of_sums(sums: Floats, count: Floats) -> Floats:
    """Return the means of items from their sums, ``(..., 1)``, and their numbers, ``(...,)``; NaN of no items."""
    with np.errstate(invalid="ignore"):
        means: Floats = sums[..., 0] / count
    return means


@dataclass(frozen=True, eq=False)
class ColumnScores:
    """Scores of n items in one column, from which the corpus score of every sample of the items follows.

    Fields:
        items: score of each item, ``(n,)``.
        statistics: what is added over items before the corpus score is computed, ``(n, k)``: for a mean the scores
            themselves, for BLEU counts of n-grams and lengths.
        formula: corpus scores from summed statistics ``(..., k)`` and numbers of items ``(...,)``.
    """

    items: Floats
    statistics: Floats
    formula: Formula = mean_of_sums

    @classmethod
    def from_means(cls, items: Floats) -> ColumnScores:
        """Return the scores of a column whose corpus score is the mean of its items."""
        return cls(items, items[:, np.newaxis])

    @classmethod
    def average(cls, columns: Sequence[ColumnScores]) -> ColumnScores:
        """Return the scores of the same items with the mean of their values, and of their statistics."""
        items, statistics = ([getattr(column, name) for column in columns] for name in ("items", "statistics"))
        return cls(np.mean(items, axis=0), np.mean(statistics, axis=0), columns[0].formula)

    def select(self, rows: Integers | Flags) -> ColumnScores:
        """Return the scores of some of the items."""
        return ColumnScores(self.items[rows], self.statistics[rows], self.formula)

    def corpus(self, sums: ArrayLike, count: ArrayLike) -> Floats:
        """Return corpus scores of samples of items.

        For a bootstrap with ``draws`` (samples x n, how often each item is drawn), ``sums`` is ``draws @ statistics``,
        ``(..., k)``, and ``count`` is ``draws.sum(axis=1)``, ``(...,)``.

        Returns:
            Scores, ``(...,)``; NaN for samples without items.
        """
        count = np.asarray(count, dtype=np.float64)
        return np.where(count > 0, self.formula(np.asarray(sums, dtype=np.float64), count), np.nan)

    @property
    def score(self) -> float:
        """Corpus score of all items."""
        return float(self.corpus(self.statistics.sum(axis=0), np.asarray(len(self.items))))


@dataclass(frozen=True, slots=True, eq=False)
class MedianScores:
    """Scores of n items whose corpus score is their median, such as ranks."""

    items: Floats


Scores = ColumnScores | MedianScores


@dataclass(frozen=True, slots=True, eq=False)
class ScoredRows:
    """Scores of selected rows, and the number of the source of each; r rows."""

    scores: Scores
    sources: Integers

    @classmethod
    def of_rows(cls, scores: Scores, sources: Integers, rows: Flags | None = None) -> ScoredRows:
        """Select rows by flags, all by default."""
        if rows is None:
            return cls(scores, sources)
        if isinstance(scores, MedianScores):
            return cls(MedianScores(scores.items[rows]), sources[rows])
        return cls(scores.select(rows), sources[rows])

    @property
    def bounds(self) -> tuple[float, float]:
        """Least and greatest value that the corpus score can have: 0 and 1 of rows from 0 to 1."""
        low, high = float(self.scores.items.min(initial=0)), float(self.scores.items.max(initial=0))
        return (0.0 if low >= 0 else -math.inf), (1.0 if low >= 0 and high <= 1 else math.inf)

    def sum_by_source(self, number: int) -> Floats:
        """Return the summed statistics and the number of rows of each source, `number` x (k + 1); medians have none."""
        if isinstance(self.scores, MedianScores):
            return np.empty((number, 0))
        columns = [np.bincount(self.sources, column, number) for column in self.scores.statistics.T]
        return np.stack([*columns, np.bincount(self.sources, minlength=number)], axis=1).astype(np.float64)

    def score(self, weights: Floats, totals: Floats) -> Floats:
        """Return the corpus score of each draw; `totals` is `weights` (draws x sources) times `sum_by_source`."""
        if not isinstance(self.scores, MedianScores):
            return self.scores.corpus(totals[:, :-1], totals[:, -1])
        order = np.argsort(self.scores.items, kind="stable")
        values, sources = self.scores.items[order], self.sources[order]
        medians = np.full(len(weights), np.nan)
        for block in row_blocks(len(weights), len(values)) if len(values) else ():
            cumulated = np.cumsum(weights[block][:, sources], axis=1)
            half = cumulated[:, -1:] / 2
            # The two middle values of a list in which each value occurs as often as its weight says.
            lower, upper = (cumulated < half).sum(axis=1), (cumulated <= half).sum(axis=1)
            drawn = half[:, 0] > 0
            medians[block][drawn] = (values[lower[drawn]] + values[upper[drawn]]) / 2
        return medians
