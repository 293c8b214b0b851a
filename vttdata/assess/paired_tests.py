"""The three tests under which workers are judged, on two samples of equal length whose elements belong together."""

from __future__ import annotations

import importlib.util
from typing import Any, Literal

import numpy as np

from vttdata.assess.scores import Floats
from vttdata.errors import VttdataError

PairedTest = Literal["paired_t", "wilcoxon", "mann_whitney"]
Side = Literal["less", "greater", "two-sided"]
"""The alternative: what the first sample is, compared with the second."""

_EXACT_UP_TO = 100
"""Pairs up to which the signed-rank test is exact; 100 pairs take about 1 ms, and the normal approximation is then
right to three digits."""


def paired_p_values(x: Floats, y: Floats, side: Side) -> tuple[float, float, float]:
    """The p-values of the paired t-test, the Wilcoxon signed-rank test and the Mann-Whitney U test.

    A p-value is NaN where the test has none: for scores that are not finite, for one pair, and for differences that are
    all 0. The Mann-Whitney test ignores which elements belong together and is here for comparison.

    Args:
        x: scores, the first of each pair.
        y: scores, the second of each pair.
        side: the alternative.

    Raises:
        VttdataError: when SciPy is not installed.
    """
    nan = float("nan")
    stats = scipy_stats()
    if not (np.isfinite(x).all() and np.isfinite(y).all()) or not len(x):
        return nan, nan, nan
    unpaired = float(stats.mannwhitneyu(x, y, alternative=side).pvalue)
    return _paired_t(x - y, side), signed_rank_p(x - y, side), unpaired


def _paired_t(differences: Floats, side: Side) -> float:
    """Student's test of the mean of differences against 0, n - 1 degrees of freedom."""
    n = len(differences)
    if n < 2 or not differences.any():
        return float("nan")
    error = differences.std(ddof=1) / np.sqrt(n)
    with np.errstate(divide="ignore"):
        t = differences.mean() / error
    tail = scipy_stats().distributions.t
    p = {"less": tail.cdf(t, n - 1), "greater": tail.sf(t, n - 1), "two-sided": 2 * tail.sf(abs(t), n - 1)}[side]
    return float(p)


def signed_rank_p(differences: Floats, side: Side) -> float:
    """Wilcoxon's signed-rank test: differences of 0 are left out, equal ones share the mean of their ranks.

    The distribution is exact for up to `_EXACT_UP_TO` pairs, ties included; for more it is SciPy's approximation.
    """
    left = differences[differences != 0]
    if not len(left):
        return float("nan")
    if len(left) > _EXACT_UP_TO:
        return float(scipy_stats().wilcoxon(left, alternative=side).pvalue)
    doubled = np.rint(2 * scipy_stats().rankdata(np.abs(left))).astype(np.int64)  # ranks may end in one half
    ways = np.ones(1)
    for rank in doubled:
        with_it = np.concatenate([np.zeros(rank), ways])
        ways = (np.concatenate([ways, np.zeros(rank)]) + with_it) / 2
    sum_of_positive = int(doubled[left > 0].sum())
    lower, upper = float(ways[: sum_of_positive + 1].sum()), float(ways[sum_of_positive:].sum())
    return min({"less": lower, "greater": upper, "two-sided": 2 * min(lower, upper)}[side], 1.0)


def scipy_stats() -> Any:
    """The module `scipy.stats`.

    Raises:
        VttdataError: when SciPy is not installed; the sentence names the extra that brings it.
    """
    try:
        import scipy.stats
    except ModuleNotFoundError as error:
        raise VttdataError(f"Statistical tests need SciPy: pip install 'vttdata[assess]' ({error}).") from error
    return scipy.stats


def check_foil_libraries() -> None:
    """See that foils can be chosen and tried, before minutes are spent on mining them.

    Raises:
        VttdataError: when SciPy or scikit-learn is not installed; the sentence names the extra that brings them.
    """
    missing = [name for name in ("scipy", "sklearn") if importlib.util.find_spec(name) is None]
    if missing:
        raise VttdataError(f"Foils need {' and '.join(missing)}: pip install 'vttdata[foil]'.")
