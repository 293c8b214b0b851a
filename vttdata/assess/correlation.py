"""Measure the agreement of two sets of scores: two runs of an evaluation, or an automatic metric and human scores.

Correlations are Pearson's r, Spearman's rho and Kendall's tau-b. Williams' test decides whether a metric agrees
significantly better with people than another one (Graham and Baldwin, EMNLP 2014).
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np

from vttdata.assess.scores import SystemScore
from vttdata.assess.worker_tests import scipy_stats
from vttdata.errors import VttdataError

Freedom = Literal["n-3", "n-2"]
"""Degrees of freedom of Williams' test: ``n-3`` in Williams and in Graham and Baldwin; ``n-2`` gives the numbers that
the R code of nlp-williams prints."""


@dataclass(frozen=True, slots=True)
class Correlation:
    """Correlations of `n` pairs of scores, -1..1; NaN if one side is constant or there are fewer than two pairs."""

    n: int
    pearson: float
    spearman: float
    kendall: float


class WilliamsTest(NamedTuple):
    """Statistic and one-sided p-value of Williams' test."""

    t: float
    p: float


def correlate(x: Sequence[float], y: Sequence[float]) -> Correlation:
    """Return the correlations of two lists of scores whose elements belong together.

    Raises:
        ValueError: if the lists are of different lengths.
        VttdataError: if SciPy is not installed.
    """
    if len(x) != len(y):
        raise ValueError(f"{len(x)} scores cannot be correlated with {len(y)}")
    nan = float("nan")
    if len(x) < 2 or min(x) == max(x) or min(y) == max(y) or not np.isfinite([*x, *y]).all():
        return Correlation(len(x), nan, nan, nan)
    stats = scipy_stats()
    # SciPy would warn about constant scores, which are excluded above.
    tests = (stats.pearsonr, stats.spearmanr, stats.kendalltau)
    return Correlation(len(x), *(float(test(x, y).statistic) for test in tests))


def cohen_kappa(first: Sequence[Hashable], second: Sequence[Hashable]) -> float:
    """Return Cohen's kappa of two lists of nominal values, such as yes or no, at most 1; 0 is agreement by chance.

    A metric's scores and people's become yes or no by a threshold each (Hodosh et al., JAIR 2013, section 4.2.2).

    Returns:
        NaN if there are no items, or both lists say the same of all.

    Raises:
        ValueError: if the lists are of different lengths.
    """
    if len(first) != len(second):
        raise ValueError(f"there are {len(first)} values and {len(second)} to compare them with")
    n, both = len(first), sum(x == y for x, y in zip(first, second, strict=True))
    in_second = Counter(second)
    # In whole numbers, times n squared.
    by_chance = sum(number * in_second[value] for value, number in Counter(first).items())
    return (n * both - by_chance) / (n * n - by_chance) if n * n > by_chance else float("nan")


def replication(
    first: Iterable[SystemScore], second: Iterable[SystemScore], *, leave_out: Collection[str] = ()
) -> tuple[Correlation, Correlation]:
    """Return the agreement of two runs on their common systems, by mean raw scores and by mean z-scores.

    Args:
        first: systems of one run.
        second: systems of the other run.
        leave_out: systems that do not count, such as human captions, which any two runs rank first.

    Raises:
        VttdataError: if the runs have fewer than two common systems.
    """
    second_scores = {score.system: score for score in second}
    pairs = [
        (score, second_scores[score.system])
        for score in first
        if score.system in second_scores and score.system not in leave_out
    ]
    if len(pairs) < 2:
        raise VttdataError(f"The two runs share {len(pairs)} systems; at least 2 are needed to compare them.")
    raw = correlate([x.raw for x, _ in pairs], [y.raw for _, y in pairs])
    return raw, correlate([x.z for x, _ in pairs], [y.z for _, y in pairs])


def williams(r12: float, r13: float, r23: float, n: int, freedom: Freedom = "n-3") -> WilliamsTest:
    """Test whether metric 2 correlates better with people (1) than metric 3 does; one-sided.

    Args:
        r12: correlation of metric 2 with people; unless it is the higher one, p is 0.5 or more.
        r13: correlation of metric 3 with people.
        r23: correlation of the two metrics.
        n: number of systems or captions, at least 4.
        freedom: degrees of freedom, see `Freedom`.

    Raises:
        ValueError: if n is too small, or a correlation is not in -1..1.
        VttdataError: if SciPy is not installed.
    """
    if n < 4 or not all(-1 <= r <= 1 for r in (r12, r13, r23)):
        raise ValueError("Williams' test takes three correlations of -1..1, of at least 4 scores")
    k = 1 - r12**2 - r13**2 - r23**2 + 2 * r12 * r13 * r23
    spread = 2 * k * (n - 1) / (n - 3) + (r12 + r13) ** 2 / 4 * (1 - r23) ** 3
    # The variance vanishes if the metrics' scores are linearly dependent.
    if spread <= 0:
        return WilliamsTest(float("nan"), float("nan"))
    t = (r12 - r13) * math.sqrt((n - 1) * (1 + r23) / spread)
    return WilliamsTest(t, float(scipy_stats().t.sf(t, n - 3 if freedom == "n-3" else n - 2)))
