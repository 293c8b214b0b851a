"""People who know nothing, and systems that do not differ: the tests reject as often as they say."""

from __future__ import annotations

import random

import numpy as np
import pytest

from tests.helpers.needs import library

library("scipy")

from scipy.stats import kstest

from vttdata.people import judge_workers, significance
from vttdata.people.scoring.significance import system_differences
from vttdata.people.scoring.workers import WorkerReport
from vttdata.records import CaptionScore, Judgment, JudgmentKind


def judge_drawn(workers: int, pairs: int, draw: random.Random) -> list[WorkerReport]:
    """Judge workers whose scores have nothing to do with what they rate; each has a level and a spread of their own."""
    judgments = []
    for number in range(workers):
        level, spread = draw.uniform(20, 80), draw.uniform(5, 30)
        kinds: tuple[JudgmentKind, ...] = ("human", "degraded")
        for pair in range(pairs):
            for kind in kinds:
                score = min(max(draw.gauss(level, spread), 0), 100)
                judgments.append(Judgment("h", f"w{number}", f"{kind}{pair}", f"v{pair}", "human", kind, score))
    return judge_workers(judgments)


@pytest.mark.parametrize("pairs", [10, 40])
def test_p_values_of_workers_who_know_nothing_are_uniform(pairs: int) -> None:
    reports = judge_drawn(600, pairs, random.Random(pairs))
    for name, lowest in (("paired_t", 0.028), ("wilcoxon", 0.028), ("mann_whitney", 0.02)):
        p = [getattr(report.degraded, name) for report in reports]
        assert lowest <= np.mean(np.array(p) < 0.05) <= 0.072, name
    # The paired t-test has a continuous p-value, which is uniform where there is nothing.
    assert kstest([report.p for report in reports], "uniform").pvalue > 0.001
    assert np.mean([report.verdict == "reliable" for report in reports]) <= 0.07


def test_systems_that_do_not_differ_are_rarely_told_apart() -> None:
    draw = np.random.default_rng(5)
    wins = []
    for _ in range(150):
        # The same captions' scores, skewed as real ones are, under names of systems that are dealt anew.
        z = draw.gamma(2.0, 1.0, 200) - 2.0
        names = draw.permutation(np.repeat([f"s{n}" for n in range(4)], 50))
        scores = [
            CaptionScore(f"v{n}", name, 0.0, value, 1) for n, (name, value) in enumerate(zip(names, z, strict=True))
        ]
        tested = significance(scores)
        wins += [tested.wins(row, column) for row in range(4) for column in range(4) if row != column]
    # 1,800 ordered pairs; p-values of a pair of systems depend on each other.
    assert 0.03 <= np.mean(wins) <= 0.07


def test_ratings_of_systems_that_do_not_differ_are_rarely_told_apart() -> None:
    """Each video has a level of its own, which both systems share; its ratings are dealt to them."""
    draw = np.random.default_rng(6)
    p, corrected = [], []
    for _ in range(250):
        levels = draw.uniform(1, 5, 30)
        scores = [
            CaptionScore(f"v{n}", system, level + draw.normal(0, 0.7), 0.0, 3)
            for n, level in enumerate(levels)
            for system in "abc"
        ]
        found = system_differences(scores)
        p += [one.p for one in found]
        corrected.append(min(one.p_holm for one in found))
        assert all(one.p_holm >= one.p for one in found)
    # 750 pairs, three of a campaign; corrected p-values tell any of three apart in 5 of 100 campaigns.
    assert 0.025 <= np.mean(np.array(p) < 0.05) <= 0.08
    assert np.mean(np.array(corrected) < 0.05) <= 0.085
