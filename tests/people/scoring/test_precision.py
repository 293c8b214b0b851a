"""Intervals of a plan cover the truth as often as they say."""

from __future__ import annotations

import math
from random import Random

import numpy as np
import pytest

from vttdata.people.scoring.precision import items_with_judge, precision
from vttdata.statistics.corrected_means import correct_means


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


def test_planned_number_of_items_gives_the_interval_of_all() -> None:
    needed = items_with_judge(400, 2, sd=0.5, spread=1, r=0.7, judged=4000)
    # By hand: workers' r with the truth is 1 / sqrt(1.25), so .49 of one worker's variance is .6125 of the truth's.
    explained = 0.49 * 1.25 / 1.125
    assert needed == math.ceil((1 - explained) / (1 / 400 - explained / 4000))
    random = np.random.default_rng(2)
    ratios = []
    for _ in range(100):
        truth = random.normal(size=4000)
        judge = math.sqrt(0.6125) * truth + math.sqrt(1 - 0.6125) * random.normal(size=4000)
        people = truth + 0.5 / math.sqrt(2) * random.normal(size=4000)
        known = np.where(np.arange(4000) < needed, people, math.nan)
        result = correct_means(judge, known, np.zeros(4000, np.int64), np.arange(4000)).means[0]
        ratios.append(result.corrected.error / (math.sqrt(1.125) / math.sqrt(400)))
    assert np.mean(ratios) == pytest.approx(1, abs=0.02)
    assert items_with_judge(400, 2, sd=0.5, spread=1, r=0, judged=4000) == 400
    assert items_with_judge(400, 2, sd=0.5, spread=1, r=0.7, judged=400) == 400
    with pytest.raises(ValueError, match="no judge correlates so highly"):
        items_with_judge(400, 2, sd=1, spread=1, r=0.8, judged=4000)
