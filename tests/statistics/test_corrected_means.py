"""Means of people's ratings that a judge's scores of all items correct."""

from __future__ import annotations

import math

import numpy as np
import pytest

from vttdata.statistics.corrected_means import CorrectedMeans, Target, correct_means


def draw(seed: int, items: int = 400, rated: int = 100, r: float = 0.7) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return a judge's scores, people's with NaN for unrated items, and people's of all items."""
    random = np.random.default_rng(seed)
    people = random.normal(3, 2, items)
    judge = 10 + 5 * (r * (people - 3) / 2 + math.sqrt(1 - r * r) * random.normal(size=items))
    known = np.full(items, math.nan)
    chosen = random.choice(items, rated, replace=False)
    known[chosen] = people[chosen]
    return judge, known, people


def one_group(judge: np.ndarray, people: np.ndarray, **others: object) -> CorrectedMeans:
    return correct_means(judge, people, np.zeros(len(people), np.int64), np.arange(len(people)), **others)  # type: ignore[arg-type]


def test_estimate_is_that_of_the_published_formula() -> None:
    # Angelopoulos, Duchi and Zrnic (arXiv:2311.01453): the mean over labelled and unlabelled items, example 6.1.
    judge, people, _ = draw(1)
    labelled = ~np.isnan(people)
    n, unlabelled = int(labelled.sum()), int((~labelled).sum())
    covariance = sum(
        (y - people[labelled].mean()) * (f - judge[labelled].mean())
        for y, f in zip(people[labelled], judge[labelled], strict=True)
    ) / (n - 1)
    power = covariance / ((1 + n / unlabelled) * judge.var(ddof=1))
    estimate = people[labelled].mean() + power * (judge[~labelled].mean() - judge[labelled].mean())
    variance = (people[labelled] - power * judge[labelled]).var() / n + power**2 * judge[~labelled].var() / unlabelled
    (mean,) = one_group(judge, people).means
    assert mean.corrected.value == pytest.approx(estimate, rel=1e-12)
    # Written for all items instead of the unlabelled ones.
    assert mean.power[0] == pytest.approx(covariance / judge.var(ddof=1), rel=1e-12)
    assert mean.corrected.error == pytest.approx(math.sqrt(variance), rel=0.02)
    assert (mean.items, mean.rated) == (400, 100)
    assert mean.judge == pytest.approx(judge.mean())


def test_without_power_it_is_the_mean_of_people() -> None:
    judge, people, _ = draw(2)
    rated = people[~np.isnan(people)]
    (mean,) = one_group(judge, people, power=np.zeros(1)).means
    assert mean.corrected.value == mean.people.value == pytest.approx(rated.mean())
    assert mean.people.error == pytest.approx(rated.std(ddof=1) / 10)
    # Student's t of 99 degrees of freedom: 1.98422.
    assert mean.people.high - mean.people.value == pytest.approx(1.98422 * mean.people.error, rel=1e-5)


def test_scale_of_the_judge_does_not_matter() -> None:
    judge, people, _ = draw(3)
    first, second = (one_group(scores, people).means[0] for scores in (judge, 100 - 0.01 * judge))
    assert first.corrected.value == pytest.approx(second.corrected.value, rel=1e-12)
    assert first.corrected.error == pytest.approx(second.corrected.error, rel=1e-9)
    assert first.correlation == pytest.approx(-second.correlation)


@pytest.mark.parametrize("target", ["population", "items"])
@pytest.mark.parametrize(("r", "share"), [(0.7, 0.51), (0.0, 1.0)])
def test_intervals_cover_and_are_as_short_as_the_judge_allows(target: Target, r: float, share: float) -> None:
    # Of a population only a quarter of the items are rated, of which the judge's part of the variance stays.
    expected = share + (1 - share) * 0.25 if target == "population" else share
    covered = total = 0.0
    for seed in range(400):
        judge, people, everything = draw(seed, r=r)
        (mean,) = one_group(judge, people, target=target).means
        covered += mean.corrected.low <= (3 if target == "population" else everything.mean()) <= mean.corrected.high
        total += mean.share
    # Three standard errors of a share of 400 around .95.
    assert 0.917 <= covered / 400 <= 0.983
    assert total / 400 == pytest.approx(expected, abs=0.03)


def test_judge_with_few_values_does_not_fit_the_rated_items() -> None:
    # As BLEU-4 of single captions: 2 % of the scores are not 0.
    covered, ratio = 0, 0.0
    for seed in range(400):
        random = np.random.default_rng(seed)
        everything = random.normal(size=1000)
        judge = np.where(random.random(1000) < 0.02, random.random(1000), 0.0)
        people = np.where(np.arange(1000) < 100, everything, math.nan)
        (mean,) = one_group(judge, people, target="items").means
        covered += mean.corrected.low <= everything.mean() <= mean.corrected.high
        ratio += (mean.corrected.high - mean.corrected.low) / (mean.people.high - mean.people.low)
    assert 0.917 <= covered / 400 <= 0.983
    assert 0.98 <= ratio / 400 <= 1.02


def test_two_judges_correct_more_than_one() -> None:
    random = np.random.default_rng(5)
    parts = random.normal(size=(3, 4000))
    everything = parts.sum(axis=0)
    people = np.where(np.arange(4000) < 1000, everything, math.nan)
    alone = one_group(parts[0], people, target="items").means[0]
    (both,) = one_group(parts[:2].T, people, target="items").means
    # A third of the variance is explained by one part, two thirds by two.
    assert alone.share == pytest.approx(2 / 3, abs=0.06)
    assert both.share == pytest.approx(1 / 3, abs=0.06)
    assert both.power == pytest.approx((1, 1), abs=0.15)
    assert both.correlation == pytest.approx(math.sqrt(2 / 3), abs=0.03)


def test_differences_are_paired_by_source() -> None:
    random = np.random.default_rng(6)
    hardness = random.normal(0, 3, 300)
    people = np.concatenate([hardness + random.normal(0, 0.1, 300), hardness + 0.5 + random.normal(0, 0.1, 300)])
    groups, sources = np.repeat([0, 1], 300), np.tile(np.arange(300), 2)
    result = correct_means(random.normal(size=600), people, groups, sources)
    difference = result.difference(1, 0)
    expected = people[300:] - people[:300]
    assert difference.value == pytest.approx(expected.mean())
    assert difference.error == pytest.approx(expected.std(ddof=1) / math.sqrt(300), rel=0.01)
    assert difference.p < 1e-9
    assert result.means[0].people.error > 10 * difference.error
    assert result.difference(0, 1, judge=False).value == pytest.approx(-difference.value)


def test_sources_with_many_items_count_as_one() -> None:
    random = np.random.default_rng(7)
    values = random.normal(size=50)
    people = np.repeat(values, 8)
    result = correct_means(np.zeros(400), people, np.zeros(400, np.int64), np.repeat(np.arange(50), 8))
    assert result.means[0].people.error == pytest.approx(values.std(ddof=1) / math.sqrt(50))


def test_too_few_ratings_give_no_interval() -> None:
    judge, people, _ = draw(8, rated=19)
    (mean,) = one_group(judge, people).means
    assert math.isfinite(mean.corrected.value)
    assert all(math.isnan(value) for value in (mean.corrected.low, mean.corrected.p, mean.people.high, mean.share))
    judge, people, _ = draw(8, rated=20)
    assert math.isfinite(one_group(judge, people).means[0].corrected.low)


def test_everything_rated_needs_no_judge() -> None:
    judge, _, people = draw(9)
    (mean,) = one_group(judge, people, target="items").means
    assert mean.corrected.value == mean.corrected.low == mean.corrected.high == pytest.approx(people.mean())
    assert mean.power == (0.0,)


def test_bad_scores_are_refused() -> None:
    with pytest.raises(ValueError, match="finite"):
        one_group(np.array([1.0, math.nan]), np.array([1.0, 2.0]))
    with pytest.raises(ValueError, match="group 1 has no rated item"):
        correct_means(np.zeros(2), np.array([1.0, math.nan]), np.array([0, 1]), np.array([0, 1]))
