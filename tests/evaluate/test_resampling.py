"""Intervals and tests that resample sources."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.stats

from vttdata.evaluate.metric import ColumnScores
from vttdata.evaluate.resampling import (
    MedianScores,
    ScoredRows,
    holm,
    mcnemar_p,
    randomise_systems,
    resample_scores,
)


def means(values: np.ndarray) -> ColumnScores:
    return ColumnScores.from_means(np.asarray(values, dtype=np.float64))


def test_interval_of_a_mean_agrees_with_scipy_where_every_source_has_one_item() -> None:
    values = np.random.default_rng(3).gamma(2.0, size=80)
    own = resample_scores({"mean": ScoredRows(means(values), np.arange(80))}, 80, draws=20_000)["mean"]
    theirs = scipy.stats.bootstrap(
        (values,), np.mean, n_resamples=20_000, method="percentile", random_state=1
    ).confidence_interval
    assert own.score == pytest.approx(values.mean())
    assert own.interval() == pytest.approx((theirs.low, theirs.high), abs=0.01)


def test_items_of_one_source_are_drawn_together() -> None:
    values = np.repeat([0.0, 1.0, 1.0, 0.0], 25)
    sources = np.repeat(np.arange(4), 25)
    drawn = resample_scores({"mean": ScoredRows(means(values), sources)}, 4, draws=500)["mean"].draws
    assert set(drawn.tolist()) <= {0.0, 0.25, 0.5, 0.75, 1.0}


def test_median_of_a_draw_is_that_of_the_repeated_items() -> None:
    values = np.array([3.0, 1.0, 10.0, 4.0, 4.0, 9.0])
    sources = np.array([0, 0, 1, 2, 2, 2])
    selection = ScoredRows(MedianScores(values), sources)
    for weights in ([1, 1, 1], [2, 0, 1], [0, 0, 3], [1, 2, 0]):
        repeated = np.repeat(values, np.array(weights)[sources])
        score = selection.score(np.array([weights], dtype=np.float64), np.empty((1, 0)))
        assert score[0] == np.median(repeated), weights
    nothing = ScoredRows(MedianScores(values[:2]), sources[:2]).score(np.array([[0.0, 1.0, 2.0]]), np.empty((1, 0)))
    assert np.isnan(nothing).all()


def test_statistics_are_summed_before_the_corpus_score() -> None:
    statistics = np.array([[1.0, 2.0], [3.0, 4.0], [0.0, 4.0]])
    ratio = ColumnScores(np.zeros(3), statistics, lambda sums, _: sums[..., 0] / sums[..., 1])
    assert resample_scores({"ratio": ScoredRows(ratio, np.arange(3))}, 3)["ratio"].score == pytest.approx(0.4)


def test_draws_are_the_same_for_all_scores_so_that_differences_are_paired() -> None:
    values = np.random.default_rng(1).normal(size=60)
    rows = {name: ScoredRows(means(values + shift), np.arange(60)) for name, shift in (("a", 0.0), ("b", 0.25))}
    resampled = resample_scores(rows, 60)
    assert resampled["b"].minus(resampled["a"]).interval() == pytest.approx((0.25, 0.25))


def test_single_source_has_no_interval() -> None:
    resampled = resample_scores({"mean": ScoredRows(means(np.arange(5.0)), np.zeros(5, dtype=np.int64))}, 1)["mean"]
    assert resampled.score == 2.0
    assert np.isnan(resampled.interval()).all()


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


def test_draws_are_the_same_in_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    every = np.arange(9)
    systems = [
        {"mean": ScoredRows(means(values), every), "median": ScoredRows(MedianScores(values), every)}
        for values in (np.arange(9.0), np.arange(9.0)[::-1] ** 2)
    ]

    def results() -> tuple[list[list[float]], dict[str, float]]:
        resampled = resample_scores(systems[0], 9, draws=50)
        return [values.draws.tolist() for values in resampled.values()], randomise_systems(*systems, 9, swaps=50)

    whole = results()
    # Less than a row.
    monkeypatch.setattr("vttdata.evaluate.resampling._MAX_ELEMENTS", 5)
    assert results() == whole


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


@pytest.mark.parametrize(("first", "second"), [(0, 0), (1, 0), (3, 9), (25, 40), (1_200, 1_090)])
def test_mcnemar_is_the_binomial_test_of_discordant_items(first: int, second: int) -> None:
    hits = [[True] * first + [False] * second + [True] * 7, [False] * first + [True] * second + [True] * 7]
    expected = scipy.stats.binomtest(first, first + second).pvalue if first + second else 1.0
    assert mcnemar_p(*hits) == pytest.approx(expected, rel=1e-9)


def test_holm_steps_down() -> None:
    # Worked by hand: 3 * .01, then max(.03, 2 * .03), then max(.06, .04).
    assert holm({"a": 0.04, "b": 0.01, "c": 0.03}) == pytest.approx({"a": 0.06, "b": 0.03, "c": 0.06})


def test_interval_of_a_gain_by_leaks_holds_the_planted_gain_in_about_95_of_100_draws() -> None:
    sources = np.repeat(np.arange(150), 3)
    covered = 0
    for seed in range(100):
        generator = np.random.default_rng(seed)
        leaked = (generator.random(150) < 0.3)[sources]
        # Clips of a source share part of their score.
        values = 0.5 + 0.2 * leaked + 0.2 * generator.normal(size=150)[sources] + 0.2 * generator.normal(size=450)
        rows = {
            kind: ScoredRows.of_rows(means(values), sources, flags)
            for kind, flags in (("leaked", leaked), ("clean", ~leaked))
        }
        resampled = resample_scores(rows, 150, seed=seed, draws=400)
        low, high = resampled["leaked"].minus(resampled["clean"]).interval()
        covered += low <= 0.2 <= high
    # 99.8 % of binomial counts of 100 draws at .95 are from 87 to 100.
    assert covered >= 87
