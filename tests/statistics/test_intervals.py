"""Intervals of shares and of draws."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from vttdata.statistics.intervals import percentile_interval, wilson_interval


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
    assert percentile_interval(draws) == (2.5, 97.5)
    assert percentile_interval(draws, (0.25, 0.75)) == (25, 75)
    assert all(map(math.isnan, percentile_interval(np.array([math.nan]))))
