"""Coefficients in draws of sources equal those that SciPy computes of the drawn captions."""

from __future__ import annotations

import math
import subprocess
import sys

import numpy as np
import pytest
from scipy import stats

from vttdata.statistics.correlation import (
    COEFFICIENTS,
    average_systems,
    correlate,
    correlate_draws,
    correlate_groups,
    correlate_systems,
    mean_of_groups,
    pair_accuracy,
    pair_rows,
)
from vttdata.statistics.scores import ColumnScores

VIDEOS = 25


def scipy_coefficients(x: np.ndarray, y: np.ndarray) -> list[float]:
    tau = [stats.kendalltau(x, y, variant=variant).statistic for variant in "bc"]
    return [stats.pearsonr(x, y).statistic, stats.spearmanr(x, y).statistic, *tau]


@pytest.fixture(scope="module")
def captions() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Scores with ties, other scores, and videos of 300 captions in no order."""
    random = np.random.default_rng(3)
    x = random.integers(0, 9, 300) / 7
    return x, np.round(x + random.normal(size=300), 1), random.integers(0, VIDEOS, 300)


@pytest.fixture(scope="module")
def weights() -> np.ndarray:
    """Every video once, then six draws."""
    random = np.random.default_rng(4)
    return np.vstack([np.ones(VIDEOS), random.multinomial(VIDEOS, np.ones(VIDEOS) / VIDEOS, 6)]).astype(float)


def test_each_draw_has_the_coefficients_of_the_drawn_captions(captions: tuple, weights: np.ndarray) -> None:
    x, y, videos = captions
    [values] = correlate_draws([x, y], [(0, 1)], videos, weights)
    for draw, times in enumerate(weights):
        rows = np.repeat(np.arange(len(x)), times[videos].astype(int))
        assert [values[name][draw] for name in COEFFICIENTS] == pytest.approx(
            scipy_coefficients(x[rows], y[rows]), abs=1e-12
        )


def test_each_pair_of_columns_has_its_own_coefficients(captions: tuple, weights: np.ndarray) -> None:
    x, y, videos = captions
    columns, pairs = [x, y, -(x**2)], [(0, 1), (2, 1), (0, 0)]
    values = correlate_draws(columns, pairs, videos, weights)
    rows = np.repeat(np.arange(len(x)), weights[3][videos].astype(int))
    for of_pair, (first, second) in zip(values, pairs, strict=True):
        expected = scipy_coefficients(columns[first][rows], columns[second][rows])
        assert [of_pair[name][3] for name in COEFFICIENTS] == pytest.approx(expected, abs=1e-12)


def test_coefficients_of_many_captions_do_not_depend_on_blocks() -> None:
    random = np.random.default_rng(5)
    x, videos = random.normal(size=1500), np.sort(random.integers(0, 400, 1500))
    y = x + random.normal(size=1500)
    [values] = correlate_draws([x, y], [(0, 1)], videos, np.ones((1, 400)))
    assert [values[name][0] for name in COEFFICIENTS] == pytest.approx(scipy_coefficients(x, y), abs=1e-12)


def test_groups_have_the_coefficients_of_their_captions(captions: tuple, weights: np.ndarray) -> None:
    x, y, videos = captions
    values = correlate_groups(x, y, videos, VIDEOS, pair_rows(videos))
    for video in range(VIDEOS):
        chosen = videos == video
        expected = scipy_coefficients(x[chosen], y[chosen])
        assert [values[name][video] for name in COEFFICIENTS] == pytest.approx(expected, abs=1e-12)
    mean = mean_of_groups(np.where(np.arange(VIDEOS) == 2, math.nan, values["pearson"]), np.arange(VIDEOS), weights)
    others = np.delete(np.arange(VIDEOS), 2)
    expected = np.average(values["pearson"][others], weights=weights[3][others])
    assert mean[3] == pytest.approx(expected, abs=1e-12)


def test_systems_have_the_coefficients_of_their_means(captions: tuple, weights: np.ndarray) -> None:
    x, y, videos = captions
    systems = np.arange(300) % 6
    means = [average_systems(ColumnScores.from_means(side), systems, 6, videos, weights) for side in (x, y)]
    rows = np.repeat(np.arange(300), weights[2][videos].astype(int))
    drawn = [[side[rows][systems[rows] == system].mean() for system in range(6)] for side in (x, y)]
    assert [means[0][2].tolist(), means[1][2].tolist()] == [pytest.approx(drawn[0]), pytest.approx(drawn[1])]
    values = correlate_systems(*means)
    expected = scipy_coefficients(*map(np.array, drawn))
    assert [values[name][2] for name in COEFFICIENTS] == pytest.approx(expected, abs=1e-12)


def test_constant_scores_have_no_coefficients() -> None:
    x, y, videos = np.full(5, 0.1), np.arange(5.0), np.arange(5)
    [of_pair] = correlate_draws([x, y], [(0, 1)], videos, np.ones((1, 5)))
    assert all(np.isnan(values).all() for values in of_pair.values())
    groups = np.zeros(5, dtype=np.int64)
    assert all(np.isnan(values).all() for values in correlate_groups(x, y, groups, 1, pair_rows(groups)).values())


def test_accuracy_on_pairs_credits_ties_of_both_sides() -> None:
    # Pairs of video 0: people a > b, a = c, b < c; the metric a > b, a > c by little, b < c. Video 1: people tie.
    people = np.array([2.0, 1.0, 2.0, 5.0, 5.0])
    metric = np.array([0.9, 0.3, 0.8, 0.5, 0.5])
    videos = np.array([0, 0, 0, 1, 1])
    accuracy = pair_accuracy(metric, people, pair_rows(videos), videos, np.array([[1.0, 1.0], [1.0, 3.0]]))
    assert (accuracy.pairs, accuracy.human_ties, accuracy.metric_ties) == (4, 2, 1)
    assert accuracy.values.tolist() == [3 / 4, 5 / 6]
    assert accuracy.epsilon == pytest.approx(0.1)
    assert accuracy.calibrated.tolist() == [1, 1]


def test_calibrated_accuracy_is_the_best_over_all_thresholds(captions: tuple) -> None:
    x, y, videos = captions
    people, pairs = np.round(y), pair_rows(videos)
    found = pair_accuracy(x, people, pairs, videos, np.ones((1, VIDEOS)))
    differences, wanted = x[pairs.first] - x[pairs.second], np.sign(people[pairs.first] - people[pairs.second])

    def share(epsilon: float) -> float:
        return float((np.where(np.abs(differences) <= epsilon, 0, np.sign(differences)) == wanted).mean())

    assert found.values[0] == share(0)
    assert found.calibrated[0] == share(found.epsilon) == max(map(share, [0, *np.abs(differences)]))


def test_correlations_of_constants_are_undefined() -> None:
    assert correlate([1, 2, 3], [2, 4, 6]).pearson == pytest.approx(1)
    for constant in (correlate([1, 1], [1, 2]), correlate([1], [1]), correlate([], [])):
        assert constant.pearson != constant.pearson
    with pytest.raises(ValueError, match="3 scores"):
        correlate([1, 2, 3], [1, 2])


def test_error_without_scipy_names_the_extra() -> None:
    code = (
        "import sys; sys.modules['scipy'] = None; from vttdata.statistics.correlation import correlate\n"
        "from vttdata.errors import VttdataError\n"
        "try: correlate([1, 2], [2, 1])\nexcept VttdataError as error: print(error)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "pip install 'vttdata[assess]'" in done.stdout
