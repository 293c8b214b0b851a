"""Intervals hold a known truth as often as they say, and tests reject what is true as rarely as they say."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.stats

from tests.helpers.null_experiments import EXPERIMENTS, Judged, needing_video, repeat
from vttdata.evaluate.conditions import find_needing
from vttdata.statistics.agreement import fleiss_kappa, krippendorff_alpha, pair_agreement
from vttdata.statistics.corrected_means import selection_shift

TIMES, FEW_TIMES = 150, 50
RATES = {"hold": (0.93, 0.97), "reject": (0.03, 0.07)}
"""Rates that are as they should be; of so few draws, counts are compared that these make likely."""


# Numbers of sources are few enough that normal quantiles and plain percentiles would be too short.
@pytest.mark.parametrize(
    ("name", "sources"),
    [
        ("scores", 5),
        ("scores", 15),
        ("audited shares", 10),
        ("two systems", 5),
        ("two systems", 30),
        ("two systems, tested", 15),
        ("leaks", 10),
        ("leaks", 30),
        ("gains", 15),
        ("gains", 30),
        ("preferred options", 30),
        ("preferred options", 200),
        ("correlations", 10),
        ("correlations, tested", 10),
        ("correlations, tested", 60),
        ("fusions", 30),
        ("judge", 60),
        ("judge, tested", 60),
        ("unjudged pairs", 200),
    ],
)
def test_rates_are_what_they_are_said_to_be(name: str, sources: int) -> None:
    low, high = RATES[EXPERIMENTS[name].says]
    times = FEW_TIMES if name in ("audited shares", "correlations", "fusions") else TIMES
    for quantity, (yes, tried) in repeat(name, sources, times).items():
        least, most = scipy.stats.binom.ppf(0.001, tried, low), scipy.stats.binom.ppf(0.999, tried, high)
        assert least <= yes <= most, f"{quantity}: {yes} of {tried}"


def test_fusion_with_metrics_that_say_nothing_is_no_gain() -> None:
    ((yes, tried),) = repeat("fusions, tested", 30, FEW_TIMES).values()
    assert yes <= scipy.stats.binom.ppf(0.999, tried, 0.05)


def test_no_item_needs_the_video_where_models_guess() -> None:
    rng = np.random.default_rng(56)
    for models in (1, 3, 8):
        named = [
            find_needing(rng.random((models, 1_484)) < 0.6, [rng.random((models, 1_484)) < 0.6]).items.any()
            for _ in range(40)
        ]
        assert sum(named) <= scipy.stats.binom.ppf(0.999, 40, 0.05)


def test_items_that_are_said_to_need_the_video_are_so_but_for_one_in_twenty() -> None:
    listed = np.array([needing_video(np.random.default_rng(seed), 1_000) for seed in range(30)])
    assert listed[:, 0].min() > 150
    assert (listed[:, 1] / listed[:, 0]).mean() < 0.05


def test_judge_that_knows_what_people_rated_is_found() -> None:
    drawn = Judged.draw(np.random.default_rng(3), 1_000)
    rated, one = ~np.isnan(drawn.people), drawn.groups == 0
    for added, is_found in ((0.0, False), (1.5, True)):
        judge = np.where(rated, drawn.judge, drawn.judge + added)
        assert (selection_shift(judge[one], rated[one], drawn.sources[one]).p < 1e-6) == is_found


def test_raters_who_draw_their_ratings_agree_by_chance() -> None:
    rng = np.random.default_rng(8)
    found = []
    for _ in range(40):
        ratings = {str(item): {str(rater): int(rng.integers(5)) for rater in range(3)} for item in range(60)}
        pairs = pair_agreement(ratings)
        found.append(
            (krippendorff_alpha(ratings, "interval"), fleiss_kappa(ratings), pairs.cohen, pairs.pearson, pairs.kendall)
        )
    # Of the mean of 40 sets, the standard error is below .01.
    assert np.abs(np.mean(found, axis=0)).max() < 0.03
