"""Intervals of a plan cover the truth as often as they say."""

from __future__ import annotations

import math
from random import Random

import pytest

from vttdata.people.scoring.precision import precision


def test_interval_of_the_mean_covers_the_truth_as_often_as_it_says() -> None:
    plan = precision(200, 3, sd=0.9, spread=0.7, seconds=20, hourly=12, controls=0.1)
    assert plan.hours == pytest.approx(200 * 3 * 1.1 * 20 / 3600)
    assert plan.cost == pytest.approx(12 * plan.hours)
    draw = Random(3)
    covered = items = 0
    for _ in range(400):
        total = 0.0
        for _ in range(200):
            truth = draw.gauss(0, 0.7)
            mean = sum(truth + draw.gauss(0, 0.9) for _ in range(3)) / 3
            total += mean / 200
        covered += abs(total) <= plan.mean
    # An item's interval knows its true spread; with that of three ratings it would vary.
    for _ in range(2000):
        items += abs(sum(draw.gauss(0, 0.9) for _ in range(3)) / 3) <= plan.item
    assert covered / 400 == pytest.approx(0.95, abs=0.03)
    assert items / 2000 >= 0.95
    assert math.isnan(precision(5, 1, sd=1, spread=1, seconds=1, hourly=1).item)
