"""Intervals of shares and of draws."""

from __future__ import annotations

import math

import numpy as np
import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st

from vttdata.statistics.intervals import bootstrap_interval, wilson_interval


def test_wilson_interval_equals_the_textbook() -> None:
    # Newcombe (Statistics in Medicine 1998), table I, method 3.
    for wins, pairs, low, high in ((81, 263, 0.2553, 0.3662), (15, 148, 0.0624, 0.1605), (0, 20, 0.0, 0.1611)):
        assert wilson_interval(wins, pairs) == pytest.approx((low, high), abs=5e-5)


@given(st.integers(1, 500), st.floats(0, 1))
def test_interval_contains_its_share(pairs: int, share: float) -> None:
    low, high = wilson_interval(share * pairs, pairs)
    assert 0 <= low <= share + 1e-12
    assert share - 1e-12 <= high <= 1


def test_draws_that_are_not_finite_do_not_count() -> None:
    draws = np.array([math.nan, *range(101), math.inf])
    # Of so many sources, Student's distribution is the normal one.
    assert bootstrap_interval(50, draws, 1e9) == pytest.approx((2.5, 97.5), abs=1e-5)
    assert bootstrap_interval(50, draws, 1e9, tails=(0.25, 0.1)) == pytest.approx((25, 90), abs=1e-5)
    assert all(map(math.isnan, bootstrap_interval(0, np.array([math.nan]), 9)))


@pytest.mark.parametrize("tail", [0.025, 0.05 / 3])
@pytest.mark.parametrize("sources", [3, 4.5, 8, 31, 400])
def test_draws_of_a_normal_mean_give_the_t_interval(sources: float, tail: float) -> None:
    quantiles = scipy.stats.norm.ppf((np.arange(200_000) + 0.5) / 200_000)
    # Draws vary by the standard deviation that divides by n.
    low, high = bootstrap_interval(7, 7 + quantiles * math.sqrt((sources - 1) / sources), sources, tails=(tail, tail))
    reach = scipy.stats.t.ppf(1 - tail, sources - 1)
    assert (7 - low, high - 7) == pytest.approx((reach, reach), rel=0.02)


def test_ends_stay_within_bounds() -> None:
    draws = np.repeat([0.8, 0.9, 1.0], 20)
    assert bootstrap_interval(0.9, draws, 4)[1] > 1
    assert bootstrap_interval(0.9, draws, 4, (0, 1))[1] == 1


def test_equal_draws_leave_room_for_sources_that_differ() -> None:
    # Wilson's upper limit of 0 of 20 is .1611 (Newcombe, 1998).
    assert bootstrap_interval(1, np.ones(9), 20, (0, 1)) == pytest.approx((1 - 0.1611, 1), abs=5e-5)
    assert bootstrap_interval(0, np.zeros(9), 20, (-1, 1)) == pytest.approx((-0.1611, 0.1611), abs=5e-5)
    assert bootstrap_interval(3, np.full(9, 3.0), 20) == (3, 3)
