"""Division of ratings among systems, and what several looks cost."""

from __future__ import annotations

import math

import numpy as np
import pytest

from vttdata.statistics.assignment import assign_evenly, assign_ratings, level_of_round
from vttdata.statistics.corrected_means import MeanEstimate, correct_means, pool_rounds


def difference(value: float, error: float) -> MeanEstimate:
    return MeanEstimate(value, value - 2 * error, value + 2 * error, 0.5, error)


def test_levels_of_all_rounds_sum_to_five_percent() -> None:
    assert level_of_round(1) == 0.025
    assert sum(level_of_round(number) for number in range(1, 100_000)) == pytest.approx(0.05, rel=1e-4)


def test_ratings_go_to_undecided_systems_by_the_square_of_error_over_difference() -> None:
    # Needs of 4, 4 and 1 share 90 % of 900 ratings; 90 are spread over five systems.
    counts = assign_ratings([(0, 1, difference(1, 2)), (1, 3, difference(-1, 1))], 5, 900)
    assert counts.tolist() == [18 + 360, 18 + 360, 18, 18 + 90, 18]
    equal = assign_ratings([(0, 1, difference(0, 0.3)), (2, 3, difference(1, 0.1))], 4, 400)
    assert equal.sum() == 400
    # Nobody needs more than ten times what another one needs; ten of each are the even share.
    assert equal[0] == equal[1]
    assert equal[0] - 10 == pytest.approx(10 * (equal[2] - 10), abs=10)
    assert assign_ratings([], 3, 11).tolist() == assign_evenly(3, 11).tolist() == [4, 4, 3]


@pytest.mark.parametrize("ratings", [2, 3, 7, 50, 301])
def test_no_rating_is_lost_by_rounding(ratings: int) -> None:
    draws = np.random.default_rng(ratings)
    for systems in (2, 3, 8):
        pairs = [(a, b) for a in range(systems) for b in range(a + 1, systems) if draws.random() < 0.5]
        undecided = [(a, b, difference(draws.normal(), draws.random())) for a, b in pairs]
        counts = assign_ratings(undecided, systems, ratings)
        assert counts.sum() == ratings
        assert counts.min() >= (ratings >= systems)


def test_differences_are_within_rounds_that_count_by_their_ratings() -> None:
    draws = np.random.default_rng(5)
    people, judge = draws.normal(size=600), draws.normal(size=600)
    groups, sources = np.repeat([0, 1], 300), np.tile(np.arange(300), 2)
    numbers = [(40, 40), (25, 160)]
    rounds, chosen = [], []
    for first, second in numbers:
        rated = np.full(600, math.nan)
        rows = [draws.choice(300, first, replace=False), 300 + draws.choice(300, second, replace=False)]
        for drawn in rows:
            rated[drawn] = people[drawn]
        chosen.append(rows)
        rounds.append(correct_means(judge, rated, groups, sources, power=np.array([0.3])))
    pooled = pool_rounds(rounds)
    # Least squares over single ratings: a column for each group, and one that is the second round's.
    design, values = [], []
    for number, rows in enumerate(chosen):
        for group, drawn in enumerate(rows):
            design += [[group == 0, group == 1, number]] * len(drawn)
            values += (people[drawn] - 0.3 * judge[drawn] + 0.3 * judge[groups == group].mean()).tolist()
    first, second, added = np.linalg.lstsq(np.array(design, dtype=float), np.array(values), rcond=None)[0]
    # Rounds add nothing over all ratings, of which the second round has 185 of 265.
    expected = [value + added * 185 / 265 for value in (first, second)]
    for group in (0, 1):
        assert pooled.means[group].corrected.value == pytest.approx(expected[group], rel=1e-9)
        assert pooled.means[group].rated == sum(pair[group] for pair in numbers)
    difference = pooled.difference(0, 1)
    assert difference.value == pytest.approx(first - second, rel=1e-9)
    assert difference.error < min(one.difference(0, 1).error for one in rounds)


def test_what_a_round_adds_to_all_groups_moves_no_difference() -> None:
    draws = np.random.default_rng(6)
    people, judge = draws.normal(size=600), draws.normal(size=600)
    groups, sources = np.repeat([0, 1], 300), np.tile(np.arange(300), 2)
    drawn = [np.r_[0:40, 300:340], np.r_[40:65, 340:500]]
    found = []
    for milder in (0, 5):
        rounds = []
        for number, rows in enumerate(drawn):
            rated = np.full(600, math.nan)
            rated[rows] = people[rows] + milder * number
            rounds.append(correct_means(judge, rated, groups, sources, power=np.array([0.3])))
        found.append(pool_rounds(rounds).difference(0, 1))
    assert found[1].value == pytest.approx(found[0].value, abs=1e-9)
    assert found[1].error == pytest.approx(found[0].error, rel=1e-9)


@pytest.mark.long
def test_many_small_rounds_do_not_make_intervals_too_short() -> None:
    """A decided system gets three ratings a round; intervals of its pooled mean hold the truth in 95 % of draws."""
    draws = np.random.default_rng(8)
    covered, plain = 0, []
    for _ in range(400):
        people = draws.normal(size=3000)
        judge = people + draws.normal(size=3000)
        groups, sources = np.zeros(3000, np.int64), np.arange(3000)
        rounds, powers = [], None
        for number in (30, *[3] * 30):
            rated = np.full(3000, math.nan)
            chosen = draws.choice(3000, number, replace=False)
            rated[chosen] = people[chosen]
            rounds.append(correct_means(judge, rated, groups, sources, target="items", power=powers))
            powers = np.array([mean.power for mean in rounds[0].means])
        (mean,) = pool_rounds(rounds).means
        covered += mean.corrected.low <= people.mean() <= mean.corrected.high
        plain.append(mean.people.error)
    assert 0.93 <= covered / 400 <= 0.97
    # 120 ratings of standard deviation 1.
    assert np.mean(plain) == pytest.approx(1 / math.sqrt(120), rel=0.03)


def test_a_round_of_one_rating_gives_no_interval() -> None:
    people, judge = np.full(100, math.nan), np.arange(100.0)
    people[:40] = np.arange(40) % 3
    alone = np.full(100, math.nan)
    alone[50] = 1.0
    groups, sources = np.zeros(100, np.int64), np.arange(100)
    first = correct_means(judge, people, groups, sources)
    second = correct_means(judge, alone, groups, sources, power=np.array([[0.1]]))
    assert math.isnan(pool_rounds([first, second]).means[0].corrected.low)
    # Another group has one.
    groups, judge = np.repeat([0, 1], 100), np.tile(judge, 2)
    rounds = [
        correct_means(judge, np.append(rated, people), groups, np.arange(200), power=np.array([[0.1], [0.1]]))
        for rated in (people, alone)
    ]
    pooled = pool_rounds(rounds)
    assert math.isnan(pooled.means[0].corrected.low)
    assert pooled.means[1].corrected.low < pooled.means[1].corrected.value
