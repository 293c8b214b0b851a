"""People's scores of several rounds on one scale, where annotators differ and later rounds ask about close systems."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from vttdata.evaluate.meta.rounds import standardise_ratings
from vttdata.statistics.arrays import Floats
from vttdata.statistics.assignment import assign_evenly, assign_ratings, level_of_round
from vttdata.statistics.corrected_means import CorrectedMeans, correct_means, pool_rounds
from vttdata.statistics.hypothesis_tests import holm

WORTH = np.array([-2.0, -2.0, 0.6, 0.9, 1.1])
SYSTEMS, VIDEOS, ROUNDS, NUMBER = len(WORTH), 300, 4, 150
PAIRS = list(itertools.combinations(range(SYSTEMS), 2))
CLOSE = [(0, 1), (2, 3), (2, 4), (3, 4)]


class Campaign:
    """Rounds of ratings; what people say of captions is known, and annotators have means and spreads of their own."""

    def __init__(self, seed: int, each_round: int, *, anew: bool) -> None:
        self.draws = np.random.default_rng(seed)
        self.quality = WORTH[:, np.newaxis] + self.draws.normal(size=(SYSTEMS, VIDEOS))
        self.judge = (20 + 5 * (self.quality + self.draws.normal(size=self.quality.shape))).ravel()
        self.annotators = [number + each_round * done * anew for done in range(ROUNDS) for number in range(each_round)]
        self.level = 50 + 12 * self.draws.normal(size=max(self.annotators) + 1)
        self.spread = 12 * np.exp(0.4 * self.draws.normal(size=len(self.level)))
        self.each_round = each_round

    def run(self, *, standardised: bool) -> list[CorrectedMeans]:
        """Return the pooled means after each round; undecided systems get most ratings of the next one."""
        rated: list[list[tuple[int, int, float]]] = []
        results: list[CorrectedMeans] = []
        counts = assign_evenly(SYSTEMS, NUMBER)
        for done in range(ROUNDS):
            order = self.draws.permutation(VIDEOS)
            rows = [system * VIDEOS + video for system in range(SYSTEMS) for video in order[: counts[system]]]
            people = self.annotators[done * self.each_round :][: self.each_round]
            chosen = self.draws.choice(people, len(rows)).tolist()
            given = self.quality.ravel()[rows] + 0.4 * self.draws.normal(size=len(rows))
            scores = (self.level[chosen] + self.spread[chosen] * given).tolist()
            rated.append(list(zip(rows, chosen, scores, strict=True)))
            results.append(self._pool(rated, standardised=standardised))
            p = holm({str(pair): results[-1].difference(*pair).p for pair in PAIRS})
            undecided = [
                (*pair, results[-1].difference(*pair)) for pair in PAIRS if p[str(pair)] >= level_of_round(done + 1)
            ]
            counts = assign_ratings(undecided, SYSTEMS, NUMBER)
        return results

    def _pool(self, rated: list[list[tuple[int, int, float]]], *, standardised: bool) -> CorrectedMeans:
        every = np.array([rating for of_round in rated for rating in of_round])
        rows, annotators = every[:, 0].astype(np.int64), every[:, 1].astype(np.int64)
        values: Floats | None = every[:, 2]
        if standardised:
            values = standardise_ratings(every[:, 2], np.unique(annotators, return_inverse=True)[1], rows // VIDEOS)
        assert values is not None
        groups, sources = np.repeat(np.arange(SYSTEMS), VIDEOS), np.tile(np.arange(VIDEOS), SYSTEMS)
        rounds: list[CorrectedMeans] = []
        ends = np.cumsum([len(of_round) for of_round in rated])[:-1]
        for chosen, scores in zip(np.split(rows, ends), np.split(values, ends), strict=True):
            people = np.full(SYSTEMS * VIDEOS, math.nan)
            people[chosen] = scores
            power = np.array([mean.power for mean in rounds[0].means]) if rounds else None
            rounds.append(correct_means(self.judge, people, groups, sources, target="items", power=power))
        return pool_rounds(rounds)


@pytest.mark.parametrize(("each_round", "anew"), [(1, False), (5, False), (5, True), (1, True), (20, True)])
@pytest.mark.long
def test_intervals_hold_the_truth_and_far_orders_stay_decided(each_round: int, *, anew: bool) -> None:
    """Annotators rate in all rounds, or others in every one; z of close systems is as far apart as people say."""
    covered = []
    for seed in range(40):
        campaign = Campaign(seed, each_round, anew=anew)
        means = campaign.quality.mean(axis=1)
        # Of a caption of any system; 0.4 is what a person's ratings of a caption differ by.
        unit = math.sqrt(campaign.quality.var(axis=1).mean() + 0.4**2 + means.var())
        results = campaign.run(standardised=True)
        for first, second in CLOSE:
            found = results[-1].difference(first, second)
            covered.append(found.low <= (means[first] - means[second]) / unit <= found.high)
        for result, (first, second) in itertools.product(results, PAIRS):
            if (first, second) not in CLOSE:
                assert result.difference(first, second).high < 0
    # Four pairs of 40 campaigns: a standard error of .017 where they are independent.
    assert np.mean(covered) == pytest.approx(0.95, abs=0.05)


def test_standardised_scores_need_fewer_ratings_where_annotators_differ() -> None:
    errors: dict[bool, list[float]] = {True: [], False: []}
    for seed, standardised in itertools.product(range(20), errors):
        found = Campaign(seed, 5, anew=False).run(standardised=standardised)[-1].difference(0, 2)
        errors[standardised].append(found.error / -found.value)
    assert np.mean(errors[True]) < 0.75 * np.mean(errors[False])


def test_z_does_not_follow_levels_units_and_mixes_of_systems() -> None:
    draws = np.random.default_rng(2)
    annotators = np.repeat([0, 1], 40000)
    # The second annotator has rated one system nine times as often as the other, the first one both alike.
    systems = np.concatenate([draws.random(40000) < 0.5, draws.random(40000) < 0.9]).astype(np.int64)
    plain = 3.0 * systems + draws.normal(size=80000)
    given = np.where(annotators == 0, 20 + 5 * plain, 70 + 15 * plain)
    z = standardise_ratings(given, annotators, systems)
    assert z is not None
    # Of equal parts, the means are 1.5 from the middle, and the variance is 1 + 1.5 squared.
    for annotator, system in itertools.product((0, 1), (0, 1)):
        mean = z[(annotators == annotator) & (systems == system)].mean()
        assert mean == pytest.approx((system - 0.5) * 3 / math.sqrt(3.25), abs=0.03)
    same = standardise_ratings(7 * given + 3, annotators, systems)
    assert same is not None
    np.testing.assert_allclose(same, z, atol=1e-9)


def test_an_annotators_level_is_that_of_the_other_ratings() -> None:
    """Whoever gave one rating is taken for an average annotator, and the rating is not explained by itself."""
    draws = np.random.default_rng(4)
    annotators, systems = np.append(np.repeat(np.arange(40), 100), 40), np.append(np.tile([0, 1], 2000), 0)
    given = np.append(50 + 10 * draws.normal(size=4000) + np.repeat(np.tile([0, 30], 20), 100), 90.0)
    z = standardise_ratings(given, annotators, systems)
    assert z is not None
    mild = annotators[:-1] % 2 == 1
    assert z[:-1][mild].mean() == pytest.approx(z[:-1][~mild].mean(), abs=0.1)
    assert z[-1] == pytest.approx((90 - 65) / 10, abs=0.3)


def test_ratings_that_do_not_vary_have_no_scale() -> None:
    assert standardise_ratings(np.array([3.0, 3, 4]), np.array([0, 0, 0]), np.array([0, 0, 1])) is None
    assert standardise_ratings(np.array([3.0, 4]), np.array([0, 1]), np.array([0, 1])) is None
