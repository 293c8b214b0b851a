"""Intervals and tests that resample whole sources, since clips of one source are not independent.

A measure is resampled through statistics that are summed by source, so that a draw costs a matrix product; a median is
computed again for each draw.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from vttdata.evaluate.metric import ColumnScores

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]

K = TypeVar("K", bound=Hashable)

DRAWS = 2_000
SWAPS = 10_000
# Differences of scores below this come from rounding.
_TOLERANCE = 1e-10
# Elements of the largest temporary array, 64 MiB of float64.
_MAX_ELEMENTS = 2**23


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
        return cls(ColumnScores(scores.items[rows], scores.statistics[rows], scores.formula), sources[rows])

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
        for block in _blocks(len(weights), len(values)) if len(values) else ():
            cumulated = np.cumsum(weights[block][:, sources], axis=1)
            half = cumulated[:, -1:] / 2
            # The two middle values of a list in which each value occurs as often as its weight says.
            lower, upper = (cumulated < half).sum(axis=1), (cumulated <= half).sum(axis=1)
            drawn = half[:, 0] > 0
            medians[block][drawn] = (values[lower[drawn]] + values[upper[drawn]]) / 2
        return medians


@dataclass(frozen=True, slots=True, eq=False)
class Resampled:
    """Score of some rows, their number, and the score's values in bootstrap draws; NaN where there are no rows."""

    score: float
    draws: Floats
    rows: int

    def minus(self, other: Resampled) -> Resampled:
        """Return the difference of two scores in the same draws, with the number of rows of the first."""
        return Resampled(self.score - other.score, self.draws - other.draws, self.rows)

    def interval(self) -> tuple[float, float]:
        """Return the 95 % percentile interval; NaN where there are no draws."""
        finite = self.draws[np.isfinite(self.draws)]
        if not len(finite):
            return math.nan, math.nan
        low, high = np.quantile(finite, [0.025, 0.975])
        return float(low), float(high)


def resample_scores(
    selections: Mapping[K, ScoredRows], number: int, *, seed: int = 0, draws: int = DRAWS
) -> dict[K, Resampled]:
    """Score selections of rows, and score them again in draws of sources with replacement.

    All selections are scored on the same draws, which depend on the `number` of sources, `seed` and `draws` alone. With
    only one source there are no draws.
    """
    if not selections:
        return {}
    sums = [selection.sum_by_source(number) for selection in selections.values()]
    ends = np.cumsum([array.shape[1] for array in sums])
    stacked = np.concatenate(sums, axis=1)

    def score_all(weights: Floats) -> list[Floats]:
        totals = np.split(weights @ stacked, ends[:-1], axis=1)
        return [selection.score(weights, part) for selection, part in zip(selections.values(), totals, strict=True)]

    drawn: list[list[Floats]] = [[] for _ in selections]
    for weights in draw_sources(number, seed=seed, draws=draws):
        for values, scores in zip(drawn, score_all(weights), strict=True):
            values.append(scores)
    points = score_all(np.ones((1, number)))
    return {
        key: Resampled(float(point[0]), np.concatenate([*values, np.empty(0)]), len(selection.sources))
        for (key, selection), point, values in zip(selections.items(), points, drawn, strict=True)
    }


def draw_sources(number: int, *, seed: int = 0, draws: int = DRAWS) -> Iterator[Floats]:
    """Yield how often each source is drawn in bootstrap draws, blocks of draws x `number`; nothing for one source."""
    generator = np.random.Generator(np.random.PCG64([seed, 1]))
    for block in _blocks(draws, number) if number > 1 else ():
        size = block.stop - block.start
        chosen = generator.integers(0, number, (size, number)) + np.arange(size)[:, None] * number
        yield np.bincount(chosen.ravel(), minlength=size * number).reshape(size, number).astype(np.float64)


def randomise_systems(
    first: Mapping[K, ScoredRows], second: Mapping[K, ScoredRows], number: int, *, seed: int = 0, swaps: int = SWAPS
) -> dict[K, float]:
    """Return two-sided p-values of paired randomisation: all items of a source are swapped together.

    Both systems are scored on the same items; `number` is that of their sources. With `swaps` random assignments the
    smallest p-value is 1 / (`swaps` + 1) (Phipson and Smyth, 2010).
    """
    pairs = [(first[key], second[key]) for key in first]
    sums = [[selection.sum_by_source(number) for selection in pair] for pair in pairs]
    ends = np.cumsum([one.shape[1] for one, _ in sums])
    ones, others = (np.concatenate(side, axis=1) for side in zip(*sums, strict=True))

    def differences(swapped: Flags) -> list[Floats]:
        weights = swapped.astype(np.float64)
        taken = ones.sum(axis=0) + weights @ (others - ones)
        left = ones.sum(axis=0) + others.sum(axis=0) - taken
        parts = zip(pairs, np.split(taken, ends[:-1], axis=1), np.split(left, ends[:-1], axis=1), strict=True)
        return [
            _swapped_medians(*pair, swapped)
            if isinstance(pair[0].scores, MedianScores)
            else pair[0].score(weights, mine) - pair[1].score(weights, theirs)
            for pair, mine, theirs in parts
        ]

    observed = [abs(float(values[0])) for values in differences(np.zeros((1, number), dtype=np.bool_))]
    generator = np.random.Generator(np.random.PCG64([seed, 2]))
    as_large = np.zeros(len(pairs), dtype=np.int64)
    for block in _blocks(swaps, max(number, *(len(one.sources) for one, _ in pairs))):
        swapped = generator.random((block.stop - block.start, number)) < 0.5
        for index, values in enumerate(differences(swapped)):
            # Sums in another order differ in their last digits.
            as_large[index] += int((np.abs(values) >= observed[index] - _TOLERANCE).sum())
    return {key: float((count + 1) / (swaps + 1)) for key, count in zip(first, as_large, strict=True)}


def _swapped_medians(first: ScoredRows, second: ScoredRows, swapped: Flags) -> Floats:
    """Return the difference of two systems' medians for each assignment."""
    swap = swapped[:, first.sources]
    pair = first.scores.items, second.scores.items
    ours: Floats = np.median(np.where(swap, pair[1], pair[0]), axis=1)
    theirs: Floats = np.median(np.where(swap, pair[0], pair[1]), axis=1)
    return ours - theirs


def mcnemar_p(first: Sequence[bool], second: Sequence[bool]) -> float:
    """Return the two-sided p-value of the exact McNemar test of two systems' hits on the same items.

    Items are taken as independent, as in Hodosh et al. (JAIR 2013); `randomise_systems` respects sources.
    """
    only_first = sum(a and not b for a, b in zip(first, second, strict=True))
    only_second = sum(b and not a for a, b in zip(first, second, strict=True))
    discordant = only_first + only_second
    # Binomial coefficients of thousands of items have no float, but their logarithms have.
    logs = [
        math.lgamma(discordant + 1) - math.lgamma(hits + 1) - math.lgamma(discordant - hits + 1)
        for hits in range(min(only_first, only_second) + 1)
    ]
    return min(1.0, 2 * math.fsum(math.exp(value - discordant * math.log(2)) for value in logs))


def holm(p: Mapping[str, float]) -> dict[str, float]:
    """Return p-values corrected for their number (Holm, 1979)."""
    corrected: dict[str, float] = {}
    largest = 0.0
    for rank, name in enumerate(sorted(p, key=p.__getitem__)):
        largest = max(largest, min(1.0, (len(p) - rank) * p[name]))
        corrected[name] = largest
    return {name: corrected[name] for name in p}


def _blocks(rows: int, width: int) -> Iterator[slice]:
    """Yield slices of rows whose arrays of `width` columns stay small."""
    step = max(1, _MAX_ELEMENTS // width)
    for start in range(0, rows, step):
        yield slice(start, min(rows, start + step))
