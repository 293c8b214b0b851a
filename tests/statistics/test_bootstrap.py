"""Intervals that resample sources."""

from __future__ import annotations

import math

import numpy as np
import pytest
import scipy.stats

from vttdata.statistics import arrays
from vttdata.statistics.bootstrap import effective_number, resample_ratios, resample_scores, share_intervals
from vttdata.statistics.randomisation import randomise_systems
from vttdata.statistics.scores import ColumnScores, MedianScores, ScoredRows


def means(values: np.ndarray) -> ColumnScores:
    return ColumnScores.from_means(np.asarray(values, dtype=np.float64))


def test_interval_of_a_mean_agrees_with_scipy_where_every_source_has_one_item() -> None:
    values = np.random.default_rng(3).gamma(2.0, size=80)
    own = resample_scores({"mean": ScoredRows(means(values), np.arange(80))}, 80, draws=20_000)["mean"]
    theirs = scipy.stats.bootstrap(
        (values,), np.mean, n_resamples=20_000, method="percentile", random_state=1
    ).confidence_interval
    assert own.score == pytest.approx(values.mean())
    # Of 80 sources, ends lie farther from the mean by the bias of draws and by Student's quantile over the normal one.
    wider = math.sqrt(80 / 79) * scipy.stats.t.ppf(0.975, 79) / scipy.stats.norm.ppf(0.975)
    expected = [values.mean() + wider * (end - values.mean()) for end in (theirs.low, theirs.high)]
    assert own.interval() == pytest.approx(expected, abs=0.01)


def test_number_of_sources_counts_as_many_as_are_equally_large() -> None:
    assert effective_number([5, 5, 0, 5]) == pytest.approx(3)
    # Kish (1965): (4 + 1 + 1)^2 / (16 + 1 + 1).
    assert effective_number([4, 1, 1]) == pytest.approx(2)
    assert effective_number([]) == 0


def test_items_of_one_source_are_drawn_together() -> None:
    values = np.repeat([0.0, 1.0, 1.0, 0.0], 25)
    sources = np.repeat(np.arange(4), 25)
    drawn = resample_scores({"mean": ScoredRows(means(values), sources)}, 4, draws=500)["mean"].draws
    assert set(drawn.tolist()) <= {0.0, 0.25, 0.5, 0.75, 1.0}


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
    monkeypatch.setattr(arrays, "MAX_ELEMENTS", 5)
    assert results() == whole


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


def test_ratio_of_a_draw_is_that_of_the_drawn_sources() -> None:
    sums, counts = np.array([[1.0, 4.0, 0.0], [2.0, 2.0, 9.0]]), np.array([1.0, 4.0, 3.0])
    ratios = resample_ratios(sums, counts, np.random.default_rng(5), draws=40)
    drawn = np.random.default_rng(5).integers(0, 3, (40, 3))
    assert ratios.tolist() == (sums[:, drawn].sum(axis=2) / counts[drawn].sum(axis=1)).tolist()


def test_interval_of_a_share_counts_sources_where_all_items_are_alike() -> None:
    sources = np.repeat(np.arange(20), 5)
    (alike, mixed) = share_intervals([np.ones(100), np.arange(100) % 2], sources)
    assert alike == pytest.approx((0.8389, 1.0), abs=5e-5)
    assert mixed[0] < 0.5 < mixed[1] < alike[1]
