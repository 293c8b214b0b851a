"""Agreement of annotators equals published figures, and those of another implementation."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from random import Random

import pytest

from tests.helpers.needs import library
from vttdata.statistics.agreement import cohen_kappa, fleiss_kappa, krippendorff_alpha, pair_agreement

nan = math.nan
# Wikipedia's example of Fleiss' kappa: ten items, 14 raters, five categories.
FLEISS = (
    *("0 0 0 0 14", "0 2 6 4 2", "0 0 3 5 6", "0 3 9 2 0", "2 2 8 1 1"),
    *("7 7 0 0 0", "3 2 6 3 0", "2 5 3 2 2", "6 5 2 1 0", "0 2 2 3 7"),
)


def by_worker(ratings: Sequence[Sequence[float]]) -> Mapping[str, Mapping[str, float]]:
    return {
        str(item): {str(worker): value for worker, value in enumerate(values) if not math.isnan(value)}
        for item, values in enumerate(ratings)
    }


def test_alpha_equals_published_figures() -> None:
    # Krippendorff, Computing Krippendorff's Alpha-Reliability (2011): four observers and twelve units.
    observers = [
        [1, 2, 3, 3, 2, 1, 4, 1, 2, nan, nan, nan],
        [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, nan, 3],
        [nan, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, nan],
        [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, nan],
    ]
    ratings = by_worker([list(unit) for unit in zip(*observers, strict=True)])
    for level, published in (("nominal", 0.743), ("ordinal", 0.815), ("interval", 0.849)):
        assert krippendorff_alpha(ratings, level) == pytest.approx(published, abs=5e-4)


def test_alpha_equals_the_package_krippendorff() -> None:
    ratings = [[4, nan, 1, 5], [3, nan, 4, 2], [nan, 2, 3, nan], [4, nan, 2, 2], [nan, 3, 3, 6]]
    ratings += [[nan, 4, 4, 2], [nan, 3, 2, 5], [2, nan, nan, 6], [nan, 3, 5, 4]]
    # By krippendorff 0.9.0 of PyPI.
    figures = [-0.07755102040816331, -0.31577156743620893, -0.31627056672760534]
    computed = [krippendorff_alpha(by_worker(ratings), level) for level in ("nominal", "ordinal", "interval")]
    assert computed == pytest.approx(figures, abs=1e-12)
    assert math.isnan(krippendorff_alpha(by_worker([[1, 1], [1, nan]]), "interval"))


def test_fleiss_kappa_is_the_published_one() -> None:
    ratings: dict[str, dict[str, int]] = {}
    for item, line in enumerate(FLEISS):
        values = [category for category, count in enumerate(line.split()) for _ in range(int(count))]
        ratings[str(item)] = {str(n): value for n, value in enumerate(values)}
    assert fleiss_kappa(ratings) == pytest.approx(0.210, abs=5e-4)


def test_agreement_is_perfect_undefined_or_chance() -> None:
    same = {str(n): {"a": n % 3, "b": n % 3} for n in range(9)}
    assert krippendorff_alpha(same, "nominal") == fleiss_kappa(same) == 1
    assert pair_agreement(same) == pytest.approx((1, 1, 1, 1, 1))
    for empty in ({}, {"i": {"a": 1}}, {"i": {"a": 1, "b": 1}}):
        assert math.isnan(krippendorff_alpha(empty, "interval"))
        assert math.isnan(fleiss_kappa(empty))
    draw = Random(2)
    random = {str(n): {name: draw.choice("xyz") for name in "abc"} for n in range(3000)}
    assert abs(krippendorff_alpha(random, "nominal")) < 0.03
    assert abs(fleiss_kappa(random)) < 0.03
    assert abs(pair_agreement(random).cohen) < 0.03
    assert math.isnan(pair_agreement(random).kendall), "letters have no order"


def test_three_raters_with_a_stated_noise_agree_like_those_of_vatex_eval() -> None:
    # Items of five true grades, raters who are off by a normal error of .65: EMScore prints .568 and .628.
    draw = Random(11)
    ratings = {}
    for n in range(2000):
        truth = draw.gauss(3.6, 1.0)
        ratings[str(n)] = {name: min(5, max(1, round(truth + draw.gauss(0, 0.65)))) for name in "abc"}
    agreed = pair_agreement(ratings)
    assert (agreed.kendall, agreed.spearman) == pytest.approx((0.568, 0.628), abs=0.02)


def test_kappa_is_that_of_a_peer() -> None:
    metrics = library("sklearn.metrics")
    draw = Random(2)
    for agreement in (0.1, 0.5, 0.95):
        first = [draw.random() < 0.3 for _ in range(200)]
        second = [yes if draw.random() < agreement else draw.random() < 0.6 for yes in first]
        assert cohen_kappa(first, second) == pytest.approx(metrics.cohen_kappa_score(first, second), abs=1e-12)


def test_kappa_of_one_answer_to_all_is_undefined() -> None:
    for answers in ([], [True, True], [False]):
        assert math.isnan(cohen_kappa(answers, answers))
    assert cohen_kappa([True, True], [False, False]) == 0
    with pytest.raises(ValueError, match="there are 2 values and 1 to compare them with"):
        cohen_kappa([True, False], [True])
