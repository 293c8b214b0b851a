"""Test hypotheses: paired and rank-sum tests, Williams' test of correlations, McNemar's test, and Holm's correction.

Most of them need SciPy, which ``vttdata[assess]`` installs.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Mapping, Sequence
from typing import Any, Literal, NamedTuple

import numpy as np

from vttdata.errors import VttdataError
from vttdata.statistics.arrays import Floats

PairedTest = Literal["paired_t", "wilcoxon", "mann_whitney"]
Alternative = Literal["less", "greater", "two-sided"]
"""Alternative hypothesis: how the first sample compares with the second."""

Freedom = Literal["n-3", "n-2"]
"""Degrees of freedom of Williams' test: ``n-3`` in Williams and in Graham and Baldwin; ``n-2`` gives the numbers that
the R code of nlp-williams prints."""

# The exact distribution takes about 1 ms for 100 pairs; above, the normal approximation is right to three digits.
_MAX_EXACT_PAIRS = 100


class WilliamsTest(NamedTuple):
    """Statistic and one-sided p-value of Williams' test."""

    t: float
    p: float


def paired_p_values(x: Floats, y: Floats, alternative: Alternative) -> tuple[float, float, float]:
    """Return the p-values of the paired t-test, the Wilcoxon signed-rank test and the Mann-Whitney U test.

    The Mann-Whitney test ignores the pairing and serves for comparison. A p-value is NaN where the test is
    undefined: if a score is not finite, if all differences are 0 (paired tests), or for a single pair (t-test).

    Args:
        x: first score of each pair, shape (n,).
        y: second score of each pair, shape (n,).
        alternative: how `x` compares with `y` under the alternative hypothesis.

    Raises:
        VttdataError: if SciPy is not installed.
    """
    stats = scipy_stats()
    if not len(x) or not np.isfinite([x, y]).all():
        return float("nan"), float("nan"), float("nan")
    with warnings.catch_warnings():
        # SciPy warns if all differences are equal, where its p-value is right: 0 or 1, or NaN if they are 0.
        warnings.simplefilter("ignore", RuntimeWarning)
        paired_t = stats.ttest_rel(x, y, alternative=alternative).pvalue
    unpaired = stats.mannwhitneyu(x, y, alternative=alternative).pvalue
    return float(paired_t), signed_rank_p(x - y, alternative), float(unpaired)


def signed_rank_p(differences: Floats, alternative: Alternative) -> float:
    """Return the p-value of Wilcoxon's signed-rank test; NaN if all differences are 0.

    Differences of 0 are left out, and equal ones share the mean of their ranks. The distribution is exact for up to
    100 remaining pairs, including ties, for which SciPy has only an approximation; above, SciPy's is used.

    Args:
        differences: differences of the pairs, shape (n,).
        alternative: whether differences are negative, positive, or either under the alternative hypothesis.

    Raises:
        VttdataError: if SciPy is not installed.
    """
    stats = scipy_stats()
    nonzero = differences[differences != 0]
    if not len(nonzero):
        return float("nan")
    if len(nonzero) > _MAX_EXACT_PAIRS:
        return float(stats.wilcoxon(nonzero, alternative=alternative).pvalue)
    # Tied ranks may end in one half, so ranks are doubled to count in integers.
    doubled_ranks = np.rint(2 * stats.rankdata(np.abs(nonzero))).astype(np.int64)
    # Element k becomes the probability that the doubled ranks with a positive sign sum to k, all signs equally likely.
    probabilities = np.ones(1)
    for rank in doubled_ranks:
        negative = np.concatenate([probabilities, np.zeros(rank)])
        positive = np.concatenate([np.zeros(rank), probabilities])
        probabilities = (negative + positive) / 2
    rank_sum = int(doubled_ranks[nonzero > 0].sum())
    lower, upper = float(probabilities[: rank_sum + 1].sum()), float(probabilities[rank_sum:].sum())
    return min({"less": lower, "greater": upper, "two-sided": 2 * min(lower, upper)}[alternative], 1.0)


def williams(r12: float, r13: float, r23: float, n: int, freedom: Freedom = "n-3") -> WilliamsTest:
    """Test whether metric 2 correlates better with people (1) than metric 3 does; one-sided.

    See Graham and Baldwin (EMNLP 2014).

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


def poisson_binomial_p(hits: int, chances: Sequence[float]) -> float:
    """Return the exact probability of so many hits or more in trials of these chances; of equal ones the binomial."""
    of_hits = np.ones(1)
    for chance in chances:
        of_hits = np.convolve(of_hits, [1 - chance, chance])
    return min(1.0, math.fsum(of_hits[hits:]))


def holm(p: Mapping[str, float]) -> dict[str, float]:
    """Return p-values corrected for their number (Holm, 1979)."""
    corrected: dict[str, float] = {}
    largest = 0.0
    for rank, name in enumerate(sorted(p, key=p.__getitem__)):
        largest = max(largest, min(1.0, (len(p) - rank) * p[name]))
        corrected[name] = largest
    return {name: corrected[name] for name in p}


def rank_sum_p_values(x: Floats, y: Floats) -> tuple[float, float]:
    """Return the one-sided p-values of the Wilcoxon rank-sum test: of `x` being greater, and of its being less.

    The normal approximation of U is corrected for ties and continuity, as R and SciPy do. With the correction for
    continuity, the two p-values do not add up to 1.

    Raises:
        VttdataError: if SciPy is not installed.
    """
    test = scipy_stats().mannwhitneyu
    greater, less = (test(x, y, alternative=side, method="asymptotic").pvalue for side in ("greater", "less"))
    return float(greater), float(less)


def scipy_stats() -> Any:
    """Import and return `scipy.stats`.

    Raises:
        VttdataError: if SciPy is not installed; the message names the extra that installs it.
    """
    try:
        import scipy.stats
    except ModuleNotFoundError as error:
        raise VttdataError("Statistical tests need SciPy: pip install 'vttdata[assess]'.") from error
    return scipy.stats
