"""Intervals from bootstrap draws of whole sources, since items of one source are not independent.

Scores of a corpus are resampled through statistics that are summed by source, so that a draw costs a matrix product.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Hashable, Iterator, Mapping
from dataclasses import dataclass
from statistics import harmonic_mean
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from vttdata.statistics.arrays import Floats, Integers, row_blocks
from vttdata.statistics.intervals import bootstrap_interval
from vttdata.statistics.scores import ScoredRows

K = TypeVar("K", bound=Hashable)

DRAWS = 2_000


@dataclass(frozen=True, slots=True, eq=False)
class Resampled:
    """Score of some rows, and its values in bootstrap draws of their sources; NaN where there are no rows.

    Fields:
        score: of all rows.
        draws: score of each draw, ``(draws,)``.
        rows: number of rows.
        sources: effective number of their sources, see `effective_number`.
        bounds: least and greatest value that the score can have.
    """

    score: float
    draws: Floats
    rows: int
    sources: float
    bounds: tuple[float, float] = (-math.inf, math.inf)

    def minus(self, other: Resampled) -> Resampled:
        """Return the difference of two scores in the same draws, with the number of rows of the first.

        Its effective number of sources is the harmonic mean of both. Where scores are of different sources, this was
        measured beside the smaller number, which gives wide intervals, and Welch's degrees of freedom, which give
        narrow ones where a score has three or four sources (`benchmarks/null.py`).
        """
        sources = harmonic_mean((self.sources, other.sources))
        bounds = self.bounds[0] - other.bounds[1], self.bounds[1] - other.bounds[0]
        return Resampled(self.score - other.score, self.draws - other.draws, self.rows, sources, bounds)

    def interval(self, tails: tuple[float, float] = (0.025, 0.025)) -> tuple[float, float]:
        """Return the interval, 95 % by default, see `bootstrap_interval`; NaN where there are no draws."""
        return bootstrap_interval(self.score, self.draws, self.sources, self.bounds, tails)


def effective_number(rows: npt.ArrayLike) -> float:
    """Return the number of equally large sources that tell as much as these (Kish, Survey Sampling, 1965, 11.7).

    `rows` are the numbers of rows of the sources, ``(sources,)``, some of which may be 0; 0 without any rows.
    """
    rows = np.asarray(rows, dtype=np.float64)
    squares = float((rows**2).sum())
    return float(rows.sum()) ** 2 / squares if squares else 0.0


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
        key: Resampled(
            float(point[0]),
            np.concatenate([*values, np.empty(0)]),
            len(selection.sources),
            effective_number(np.bincount(selection.sources)),
            selection.bounds,
        )
        for (key, selection), point, values in zip(selections.items(), points, drawn, strict=True)
    }


def draw_sources(number: int, *, seed: int = 0, draws: int = DRAWS) -> Iterator[Floats]:
    """Yield how often each source is drawn in bootstrap draws, blocks of draws x `number`; nothing for one source."""
    generator = np.random.Generator(np.random.PCG64([seed, 1]))
    for chosen in draw_indices(number, generator, draws=draws) if number > 1 else ():
        size = len(chosen)
        cells = chosen + np.arange(size)[:, None] * number
        yield np.bincount(cells.ravel(), minlength=size * number).reshape(size, number).astype(np.float64)


def draw_indices(number: int, generator: np.random.Generator, *, draws: int) -> Iterator[Integers]:
    """Yield the sources of bootstrap draws with replacement, blocks of draws x `number`.

    The draws depend on the state of the generator and on `number`, and not on how they are cut into blocks.
    """
    for block in row_blocks(draws, number):
        yield generator.integers(0, number, (block.stop - block.start, number))


def resample_ratios(sums: Floats, counts: Floats, generator: np.random.Generator, *, draws: int) -> Floats:
    """Return the ratios of sums to counts in bootstrap draws of sources, ratios x draws.

    The values of drawn sources are added one by one instead of by a matrix product, so that equal sources give equal
    ratios to the last digit.

    Args:
        sums: sum of each source in each ratio, ratios x sources.
        counts: number of items of each source, ``(sources,)``, at least 1.
        generator: source of the draws.
        draws: number of draws.
    """
    ratios = np.empty((len(sums), draws))
    drawn = itertools.chain.from_iterable(draw_indices(len(counts), generator, draws=draws))
    for draw, sources in enumerate(drawn):
        ratios[:, draw] = sums[:, sources].sum(axis=1) / counts[sources].sum()
    return ratios


def share_intervals(right: npt.ArrayLike, sources: npt.ArrayLike) -> list[tuple[float, float]]:
    """Return 95 % intervals of shares of items, from 1,000 draws of sources, see `bootstrap_interval`.

    Args:
        right: whether each item is right, 0 to 1, in each share: shares x items, or ``(items,)`` for a single one.
        sources: number of each item's source, from 0; every number up to the largest occurs.
    """
    right, sources = np.atleast_2d(np.asarray(right, dtype=float)), np.asarray(sources)
    number = int(sources.max()) + 1
    sums = np.array([np.bincount(sources, row, minlength=number) for row in right])
    counts = np.bincount(sources, minlength=number).astype(float)
    draws = resample_ratios(sums, counts, np.random.default_rng(0), draws=1_000)
    return [
        bootstrap_interval(float(row.mean()), drawn, effective_number(counts), (0.0, 1.0))
        for row, drawn in zip(right, draws, strict=True)
    ]
