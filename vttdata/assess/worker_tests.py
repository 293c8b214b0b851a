"""Run the tests by which workers are judged: the paired t-test, the signed-rank test and the rank-sum test."""

from __future__ import annotations

import warnings
from typing import Any, Literal

import numpy as np

from vttdata.assess.scores import Floats
from vttdata.errors import VttdataError

PairedTest = Literal["paired_t", "wilcoxon", "mann_whitney"]
Alternative = Literal["less", "greater", "two-sided"]
"""Alternative hypothesis: how the first sample compares with the second."""

# The exact distribution takes about 1 ms for 100 pairs; above, the normal approximation is right to three digits.
_MAX_EXACT_PAIRS = 100


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
