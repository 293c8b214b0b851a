"""Paired randomisation of sources."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.stats

from vttdata.statistics.randomisation import randomise_systems
from vttdata.statistics.scores import ColumnScores, MedianScores, ScoredRows


def means(values: np.ndarray) -> ColumnScores:
    return ColumnScores.from_means(np.asarray(values, dtype=np.float64))


def test_randomisation_agrees_with_an_exact_test_of_few_sources() -> None:
    first = np.array([0.9, 0.7, 0.8, 0.4, 0.9, 0.95])
    second = np.array([0.5, 0.6, 0.9, 0.3, 0.2, 0.6])
    exact = scipy.stats.permutation_test(
        (first, second), lambda a, b: np.mean(a) - np.mean(b), permutation_type="samples", n_resamples=np.inf
    ).pvalue
    every = np.arange(6)
    p = randomise_systems(
        {"m": ScoredRows(means(first), every)}, {"m": ScoredRows(means(second), every)}, 6, swaps=20_000
    )
    assert p["m"] == pytest.approx(exact, abs=0.015)


def test_randomisation_of_medians_agrees_with_an_exact_test() -> None:
    first, second = np.array([1.0, 2.0, 3.0, 4.0, 9.0]), np.array([5.0, 6.0, 2.0, 9.0, 8.0])
    exact = scipy.stats.permutation_test(
        (first, second), lambda a, b: np.median(a) - np.median(b), permutation_type="samples", n_resamples=np.inf
    ).pvalue
    rows = [{"m": ScoredRows(MedianScores(values), np.arange(5))} for values in (first, second)]
    assert randomise_systems(*rows, number=5, swaps=20_000)["m"] == pytest.approx(exact, abs=0.015)


def test_smallest_p_value_counts_the_observed_assignment() -> None:
    rows = [{"m": ScoredRows(means(np.full(40, value)), np.arange(40))} for value in (0.0, 1.0)]
    assert randomise_systems(*rows, number=40, swaps=99)["m"] == 0.01


def test_identical_systems_do_not_differ() -> None:
    values = np.random.default_rng(2).random(500) ** 7
    rows = {"m": ScoredRows(means(values), np.arange(500))}
    assert randomise_systems(rows, rows, 500, swaps=500)["m"] == 1.0


def test_one_in_twenty_equal_systems_differs_at_the_level_of_five_percent() -> None:
    generator = np.random.default_rng(11)
    simulations, sources = 1_000, np.repeat(np.arange(30), 4)
    # Items of a source are alike, so that a test by items would reject far too often.
    systems = []
    for _ in range(2):
        by_source = generator.normal(size=(simulations, 30)).repeat(4, axis=1)
        values = by_source + 0.3 * generator.normal(size=(simulations, 120))
        systems.append({number: ScoredRows(means(row), sources) for number, row in enumerate(values)})
    p = np.array(list(randomise_systems(*systems, number=30, swaps=999).values()))
    # 99.9 % of binomial counts of 1,000 draws at .05 are within .023 of it.
    assert abs((p < 0.05).mean() - 0.05) < 0.023
    assert abs((p < 0.5).mean() - 0.5) < 0.053
