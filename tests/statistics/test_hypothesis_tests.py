"""Test the tests against SciPy, published values and enumerations."""

from __future__ import annotations

import math
import operator
import warnings
from itertools import product

import numpy as np
import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st

from vttdata.statistics.hypothesis_tests import (
    holm,
    mcnemar_p,
    paired_p_values,
    rank_sum_p_values,
    signed_rank_p,
    williams,
)


def test_paired_t_test_equals_the_formula_of_student() -> None:
    x, y = np.array([61.0, 72, 35, 80, 44]), np.array([50.0, 70, 40, 65, 41])
    differences = x - y
    t = differences.mean() / (differences.std(ddof=1) / math.sqrt(5))
    assert paired_p_values(x, y, "greater")[0] == pytest.approx(scipy.stats.t.sf(t, 4), rel=1e-12)
    assert paired_p_values(x, y, "less")[0] == pytest.approx(scipy.stats.t.cdf(t, 4), rel=1e-12)
    assert paired_p_values(x, y, "two-sided")[0] == pytest.approx(2 * scipy.stats.t.sf(t, 4), rel=1e-12)


def test_equal_differences_give_extreme_or_undefined_p_values_without_warnings() -> None:
    high, low = np.full(10, 90.0), np.full(10, 10.0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert paired_p_values(high, low, "greater")[0] == 0
        assert paired_p_values(high, low, "less")[0] == 1
        assert math.isnan(paired_p_values(high, high, "less")[0])
        assert math.isnan(paired_p_values(high[:1], low[:1], "less")[0])
        assert all(math.isnan(p) for p in paired_p_values(np.array([math.nan]), low[:1], "less"))
        assert all(math.isnan(p) for p in paired_p_values(high[:0], low[:0], "less"))


@given(st.lists(st.integers(-100, 100), min_size=1, max_size=9), st.sampled_from(["less", "greater", "two-sided"]))
def test_signed_rank_p_is_exact_with_ties(differences: list[int], side: str) -> None:
    p = signed_rank_p(np.array(differences, float), side)  # type: ignore[arg-type]
    nonzero = [difference for difference in differences if difference]
    if not nonzero:
        assert math.isnan(p)
        return
    ranks = scipy.stats.rankdata(np.abs(nonzero))
    sums = [
        sum(rank for rank, up in zip(ranks, signs, strict=True) if up) for signs in product((0, 1), repeat=len(ranks))
    ]
    observed = sum(rank for rank, difference in zip(ranks, nonzero, strict=True) if difference > 0)
    lower, upper = (np.mean([test(total, observed) for total in sums]) for test in (operator.le, operator.ge))
    expected = {"less": lower, "greater": upper, "two-sided": min(2 * lower, 2 * upper, 1)}[side]
    assert p == pytest.approx(expected, abs=1e-12)


def test_signed_rank_p_equals_scipy_without_ties() -> None:
    differences = np.array([(-1) ** i * (i + 1) for i in range(40)], float)
    for side in ("less", "greater", "two-sided"):
        exact = scipy.stats.wilcoxon(differences, alternative=side, method="exact").pvalue
        assert signed_rank_p(differences, side) == pytest.approx(exact, abs=1e-12)  # type: ignore[arg-type]


def test_williams_test_gives_published_values() -> None:
    assert williams(0.65, 0.55, 0.3, 50) == pytest.approx((0.8160782, 0.2092862), abs=5e-8)
    assert williams(0.65, 0.55, 0.3, 50, "n-2").p == pytest.approx(0.209243482964009, abs=1e-13)
    assert williams(0.55, 0.65, 0.3, 50).p == pytest.approx(1 - 0.2092862, abs=5e-8)
    with pytest.raises(ValueError, match="at least 4"):
        williams(0.65, 0.55, 0.3, 3)


@pytest.mark.parametrize(("first", "second"), [(0, 0), (1, 0), (3, 9), (25, 40), (1_200, 1_090)])
def test_mcnemar_is_the_binomial_test_of_discordant_items(first: int, second: int) -> None:
    hits = [[True] * first + [False] * second + [True] * 7, [False] * first + [True] * second + [True] * 7]
    expected = scipy.stats.binomtest(first, first + second).pvalue if first + second else 1.0
    assert mcnemar_p(*hits) == pytest.approx(expected, rel=1e-9)


def test_holm_steps_down() -> None:
    # Worked by hand: 3 * .01, then max(.03, 2 * .03), then max(.06, .04).
    assert holm({"a": 0.04, "b": 0.01, "c": 0.03}) == pytest.approx({"a": 0.06, "b": 0.03, "c": 0.06})


def test_rank_sum_test_of_both_sides_equals_scipy_on_tied_samples() -> None:
    x, y = np.array([3.0, 1, 4, 4, 9]), np.array([1.0, 1, 2, 4, 3, 0])
    expected = [scipy.stats.mannwhitneyu(x, y, alternative=side, method="asymptotic") for side in ("greater", "less")]
    assert rank_sum_p_values(x, y) == tuple(test.pvalue for test in expected)
