"""Test the paired tests against SciPy and against enumerations."""

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

from vttdata.assess.worker_tests import paired_p_values, signed_rank_p


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
