"""Sets of drifting quality hold what the paper says, and their tau is SciPy's."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from vttdata.evaluate.meta.agreement import Draws
from vttdata.evaluate.meta.drift import draw_drift_set, measure_quality_drift, quality_levels
from vttdata.evaluate.meta.judgments import JudgmentTable
from vttdata.statistics.scores import ColumnScores


def make_table(raw: list[float]) -> JudgmentTable:
    number = len(raw)
    return JudgmentTable(
        "set",
        [f"v{row}" for row in range(number)],
        ["a"] * number,
        ["text"] * number,
        [()] * number,
        np.array(raw),
        np.full(number, np.nan),
        np.ones(number, dtype=np.int64),
        np.zeros(number, dtype=np.bool_),
        np.arange(number),
    )


def test_quality_is_the_rounded_mean_and_other_scales_are_stretched() -> None:
    means = [1.0, 4 / 3, 1.5, 2.49, 2.5, 4.66, 5.0, float("nan")]
    assert quality_levels(make_table(means), (1, 5)).tolist() == [1, 1, 2, 2, 3, 5, 5, 0]
    assert quality_levels(make_table([0.0, 12.0, 13.0, 50.0, 88.0, 100.0]), (0, 100)).tolist() == [1, 1, 2, 3, 5, 5]


@pytest.mark.parametrize("number", [1, 3, 5])
def test_captions_are_drawn_by_the_distance_of_their_quality(number: int) -> None:
    table = make_table([float(1 + row % 5) for row in range(20_000)])
    levels = quality_levels(table, (1, 5))
    chosen = draw_drift_set(table, levels, number, seed=7)
    for quality in range(1, 6):
        share = chosen[levels == quality].mean()
        # Five standard deviations of a share of 4,000 are .04 at most.
        assert share == pytest.approx(1 / (abs(number - quality) + 1), abs=0.04)
    assert chosen[levels == number].all()


def test_tau_of_a_set_is_that_of_scipy_on_its_captions() -> None:
    draw = np.random.default_rng(5)
    table = make_table((draw.integers(3, 16, 400) / 3).tolist())
    scores = table.raw + draw.normal(0, 1, 400)
    scores[::50] = np.nan
    drift = measure_quality_drift(
        table, {"m": ColumnScores.from_means(scores)}, (1, 5), Draws.of(table, draws=30), seed=1
    )
    levels = quality_levels(table, (1, 5))
    for number, estimate in drift["m"].items():
        rows = draw_drift_set(table, levels, number, 1) & np.isfinite(scores)
        assert estimate.items == rows.sum()
        assert estimate.score == pytest.approx(stats.kendalltau(scores[rows], table.raw[rows]).statistic, abs=1e-12)
        assert estimate.low < estimate.score < estimate.high
