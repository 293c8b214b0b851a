"""Experiments on drawn data whose truth is known: how often intervals hold it, and tests reject what is true.

`tests/null` runs each of them a few times, `benchmarks/null.py` many times. An experiment is a function of a generator
and a number of sources that draws data once and says for each quantity whether its interval held the truth, or its test
rejected it. To add one, write such a function and name it in `EXPERIMENTS`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from vttdata.conditions import SINGLE_FRAMES
from vttdata.evaluate.columns import ScoreColumn
from vttdata.evaluate.conditions import estimate_gains, find_needing
from vttdata.evaluate.estimates import Estimator
from vttdata.evaluate.items import Items
from vttdata.evaluate.meta.agreement import Draws, measure_agreement
from vttdata.evaluate.meta.comparison import compare_correlations
from vttdata.evaluate.meta.drift import measure_quality_drift
from vttdata.evaluate.meta.fusion import ScoredSet, Transfer, fuse_metrics
from vttdata.evaluate.meta.judgments import JudgmentTable
from vttdata.evaluate.pooling import estimate_missed
from vttdata.evaluate.preferences import find_preferences
from vttdata.evaluate.report import Estimate
from vttdata.statistics.arrays import Flags, Floats, Integers
from vttdata.statistics.bootstrap import draw_sources, share_intervals
from vttdata.statistics.corrected_means import LEAST_RATINGS, correct_means, selection_shift
from vttdata.statistics.randomisation import randomise_systems
from vttdata.statistics.scores import ColumnScores, MedianScores, ScoredRows

BOOTSTRAP_DRAWS = 500

Outcome = Mapping[str, bool]
"""Quantity -> whether its interval held the truth, or its test rejected what is true."""


class Experiment(NamedTuple):
    """An experiment: whether it says how often intervals ``hold`` or tests ``reject``, and numbers of sources."""

    run: Callable[[np.random.Generator, int], Outcome]
    says: str
    sources: Sequence[int] = (5, 10, 15, 30, 60, 200)


def draw_rows(rng: np.random.Generator, number: int, *, unequal: bool = False) -> Integers:
    """Return the source of each row: five of each source, or numbers of a log-normal distribution."""
    sizes = np.ceil(np.exp(rng.normal(1, 1, number))).astype(np.int64) if unequal else np.full(number, 5)
    return np.repeat(np.arange(number), sizes)


def draw_hits(rng: np.random.Generator, sources: Integers, share: float) -> Floats:
    """Return hits, right in a share that differs from source to source, 0 to 1."""
    number = int(sources.max()) + 1
    return (rng.random(len(sources)) < rng.beta(4 * share, 4 * (1 - share), number)[sources]).astype(np.float64)


def draw_scores(rng: np.random.Generator, sources: Integers) -> Floats:
    """Return scores of captions with a long tail, whose mean is 1."""
    number = int(sources.max()) + 1
    return (rng.gamma(2, 0.5, number)[sources] + rng.exponential(1, len(sources))) / 2


def make_items(sources: Integers) -> Items:
    names = [f"s{number}" for number in range(int(sources.max()) + 1)]
    ids = [str(row) for row in range(len(sources))]
    return Items(
        dataset="drawn",
        version="1",
        config="questions",
        split="test",
        ids=ids,
        sources=sources,
        source_ids=names,
    )


def column(values: Floats) -> ScoreColumn:
    return ScoreColumn(ColumnScores.from_means(values), np.arange(len(values)))


def holds(found: Estimate, truth: float) -> bool:
    return found.low <= truth <= found.high


def scores(rng: np.random.Generator, number: int) -> Outcome:
    """Means of hits and of captions' scores, with equal and unequal numbers of items, and medians of ranks."""
    outcome = {}
    for unequal in (False, True):
        sources = draw_rows(rng, number, unequal=unequal)
        columns = {"hits": column(draw_hits(rng, sources, 0.6)), "scores": column(draw_scores(rng, sources))}
        found = Estimator(make_items(sources), draws=BOOTSTRAP_DRAWS).estimate(columns)
        name = "unequal" if unequal else "equal"
        outcome[f"share of hits, {name} sources"] = holds(found["hits"], 0.6)
        outcome[f"mean score, {name} sources"] = holds(found["scores"], 1.0)
    ranks = rng.normal(20, 3, number * 5) + rng.normal(0, 3, number)[np.repeat(np.arange(number), 5)]
    median = ScoreColumn(MedianScores(ranks), np.arange(number * 5), lower_is_better=True)
    sources = np.repeat(np.arange(number), 5)
    found = Estimator(make_items(sources), draws=BOOTSTRAP_DRAWS).estimate({"median": median})
    outcome["median"] = holds(found["median"], 20)
    return outcome


def audited_shares(rng: np.random.Generator, number: int) -> Outcome:
    """The accuracy of an audit, whose intervals are `share_intervals`."""
    sources = draw_rows(rng, number, unequal=True)
    ((low, high),) = share_intervals(draw_hits(rng, sources, 0.4), sources)
    return {"share of an audit": low <= 0.4 <= high}


def two_systems(rng: np.random.Generator, number: int) -> Outcome:
    """The difference of two systems that are equally good."""
    sources = draw_rows(rng, number, unequal=True)
    ease = draw_scores(rng, sources)
    systems = [column(ease + rng.exponential(1, len(sources))) for _ in range(2)]
    every = {"": np.ones(len(sources), np.bool_)}
    found = Estimator(make_items(sources), draws=BOOTSTRAP_DRAWS).differences({"": (systems[0], systems[1:])}, every)
    return {"difference of --against": holds(found[""][""], 0)}


def two_systems_tested(rng: np.random.Generator, number: int) -> Outcome:
    """The randomisation test of two systems that are equally good."""
    sources = draw_rows(rng, number, unequal=True)
    ease = draw_scores(rng, sources)
    first, second = (
        {"": ScoredRows(ColumnScores.from_means(ease + rng.exponential(1, len(sources))), sources)} for _ in range(2)
    )
    p = randomise_systems(first, second, number, seed=int(rng.integers(2**31)), swaps=999)
    return {"p of --against": p[""] < 0.05}


def preferred_options(rng: np.random.Generator, number: int) -> Outcome:
    """Answers to questions with two and with four options, no more often right with one of them, which videos have."""
    outcome = {}
    for options in (2, 4):
        sources = draw_rows(rng, number, unequal=True)
        leanings = rng.dirichlet(np.full(options, 2.0), number).cumsum(axis=1)
        places = (rng.random(len(sources))[:, None] > leanings[sources]).sum(axis=1)
        right = {index: ("drawn", "ABCDE"[place]) for index, place in enumerate(places.tolist())}
        found, compared = find_preferences(draw_hits(rng, sources, 0.6), right, sources, draws=BOOTSTRAP_DRAWS)
        if compared:
            outcome[f"preferred option of {options}"] = bool(found)
    return outcome


def leaks(rng: np.random.Generator, number: int) -> Outcome:
    """The gap of leaked and clean items, where 30 % of sources leak."""
    sources = draw_rows(rng, number)
    leaked: Flags = (rng.random(number) < 0.3)[sources]
    if leaked.all() or not leaked.any():
        return {}
    values = {"score": column(draw_scores(rng, sources) + 0.5 * leaked)}
    estimator = Estimator(make_items(sources), draws=BOOTSTRAP_DRAWS)
    gain = estimator.score_columns(values, {"leaked": leaked, "clean": ~leaked})["score"].gain
    assert gain is not None
    return {"gap of leaked and clean items": holds(gain, 0.5)}


def gains(rng: np.random.Generator, number: int) -> Outcome:
    """Gains by condition where all single frames are equally good, and where one is better."""
    outcome = {}
    for name, worse in (("equal frames", 0.0), ("one better frame", 0.1)):
        sources = np.repeat(np.arange(number), 3)
        ease = rng.choice((-0.15, 0.15), number)[sources]
        shares = {"text": 0.4, "all": 0.6} | {
            frame: 0.5 - (worse if place else 0) for place, frame in enumerate(SINGLE_FRAMES)
        }
        columns = {
            condition: column((rng.random(len(sources)) < share + ease).astype(np.float64))
            for condition, share in shares.items()
        }
        found = estimate_gains(Estimator(make_items(sources), draws=BOOTSTRAP_DRAWS), columns).gains
        outcome[f"temporal gain, {name}"] = holds(found["temporal"], 0.1)
        outcome["visual gain"] = holds(found["visual"], 0.2)
    return outcome


def draw_table(
    rng: np.random.Generator, number: int, systems: int = 4, *, related: bool = True
) -> tuple[JudgmentTable, dict[str, Floats]]:
    """Return ratings of captions and two metrics that agree with them equally well, or not at all.

    What is right in ratings and metrics has something in common in captions of one video; r is 1 / 3 where related.
    """
    videos = np.repeat(np.arange(number), systems)
    rows = len(videos)

    def noise() -> Floats:
        return math.sqrt(0.5) * (rng.normal(size=number)[videos] + rng.normal(size=rows))

    truth = noise()
    people = truth + math.sqrt(2) * noise() if related else noise()
    metrics = {name: truth + math.sqrt(2) * noise() for name in ("first", "second")}
    table = JudgmentTable(
        "drawn",
        [f"v{video}" for video in videos],
        [f"system {row % systems}" for row in range(rows)],
        [f"caption {row}" for row in range(rows)],
        [()] * rows,
        people,
        np.full(rows, math.nan),
        np.ones(rows, np.int64),
        np.zeros(rows, np.bool_),
        videos,
    )
    return table, metrics


def correlations(rng: np.random.Generator, number: int) -> Outcome:
    """Agreement of a metric with people: r, rho and tau over captions, and within videos where there is none."""
    outcome = {}
    table, metrics = draw_table(rng, number)
    draws = Draws.of(table, seed=int(rng.integers(2**31)), draws=BOOTSTRAP_DRAWS)
    found = measure_agreement(table, {"": ColumnScores.from_means(metrics["first"])}, draws)[""].human["raw"]
    # Those of two normal variables (Kendall and Gibbons, 1990).
    truths = {
        "pearson": 1 / 3,
        "spearman": 6 / math.pi * math.asin(1 / 6),
        "kendall_b": 2 / math.pi * math.asin(1 / 3),
    }
    for name, truth in truths.items():
        outcome[f"agreement over captions, {name}"] = holds(found["caption"][name], truth)
    table, metrics = draw_table(rng, number, related=False)
    found = measure_agreement(table, {"": ColumnScores.from_means(metrics["first"])}, draws)[""].human["raw"]
    outcome["no agreement within videos, tau-b"] = holds(found["within-video"]["kendall_b"], 0)
    outcome["no agreement within systems, r"] = holds(found["within-system"]["pearson"], 0)
    drift = measure_quality_drift(
        table, {"": ColumnScores.from_means(metrics["first"])}, (table.raw.min(), table.raw.max()), draws, 0
    )
    outcome["no agreement in a drifting set, tau-b"] = holds(drift[""][3], 0)
    return outcome


def correlations_tested(rng: np.random.Generator, number: int) -> Outcome:
    """Tests of two metrics that agree with people equally well."""
    table, metrics = draw_table(rng, number, 8)
    draws = Draws.of(table, seed=int(rng.integers(2**31)), draws=BOOTSTRAP_DRAWS)
    columns = {name: ColumnScores.from_means(values) for name, values in metrics.items()}
    found = compare_correlations(table, columns, table.raw, draws.weights)
    return {f"p of metric test, by {level}": tests["first"]["second"] < 0.05 for level, tests in found.items()}


def fuse(rng: np.random.Generator, number: int, worths: Sequence[float]) -> tuple[Transfer, float]:
    """Fuse three metrics in one year and try them in another; return the result and the true gain of the fusion.

    People's scores are the sum of the metrics, each times its worth, and noise.
    """
    worth = np.array(worths)
    sets = []
    for year in ("2016", "2017"):
        videos = np.repeat(np.arange(number), 4)
        metrics, noise = (
            rng.normal(size=(len(videos), width)) + rng.normal(size=(number, width))[videos] for width in (3, 1)
        )
        weights = np.concatenate([np.ones((1, number)), *draw_sources(number, draws=BOOTSTRAP_DRAWS)])
        sets.append(ScoredSet(year, metrics, metrics @ worth + noise[:, 0], videos, weights))
    fusion = fuse_metrics(sets, ["one", "two", "three"])
    fitted = np.array([one.score for one in fusion.coefficients["2016"]])
    scale = math.sqrt(worth @ worth + 1)
    true = float(fitted @ worth / np.linalg.norm(fitted) - worth.max()) / scale
    return next(one for one in fusion.settings if one.trained == "2016"), true


def fusions(rng: np.random.Generator, number: int) -> Outcome:
    """The gain of a fusion over the best of three metrics that are equally good."""
    transfer, true = fuse(rng, number, (1, 1, 1))
    return {"gain of a fusion": holds(transfer.gain, true)}


def fusions_tested(rng: np.random.Generator, number: int) -> Outcome:
    """The test of a fusion with metrics that say nothing, which is no better than the one that does."""
    return {"p of a fusion without gain": fuse(rng, number, (1, 0, 0))[0].p < 0.05}


class Judged(NamedTuple):
    """Two equal systems with a caption of each video, scored by a judge, a part of them by people."""

    judge: Floats
    people: Floats
    groups: Integers
    sources: Integers

    @classmethod
    def draw(cls, rng: np.random.Generator, number: int) -> Judged:
        quality = (rng.normal(size=number) + rng.normal(size=(2, number))).ravel()
        rated = np.tile(rng.permutation(number) < max(LEAST_RATINGS, number // 5), 2)
        people = np.where(rated, quality + rng.normal(size=2 * number), np.nan)
        groups, sources = np.repeat(np.arange(2), number), np.tile(np.arange(number), 2)
        return cls(quality + rng.normal(size=2 * number), people, groups, sources)


def judged_means(rng: np.random.Generator, number: int) -> Outcome:
    """A judge corrected by people: the mean of a system, and the difference of two."""
    means = correct_means(*Judged.draw(rng, number))
    mean, difference = means.means[0].corrected, means.difference(0, 1)
    return {
        "corrected mean of a judge": mean.low <= 0 <= mean.high,
        "corrected difference": difference.low <= 0 <= difference.high,
    }


def judged_tested(rng: np.random.Generator, number: int) -> Outcome:
    """The order of two equal systems by a judge, and whether it knew what people rated."""
    drawn = Judged.draw(rng, number)
    one = drawn.groups == 0
    return {
        "p of metric judge": correct_means(*drawn).difference(0, 1).p < 0.05,
        "p of a judge that knew nothing": selection_shift(
            drawn.judge[one], ~np.isnan(drawn.people[one]), drawn.sources[one]
        ).p
        < 0.05,
    }


def unjudged_pairs(rng: np.random.Generator, number: int) -> Outcome:
    """Relevant pairs that nobody judged, from a sample of `number` of 10,000."""
    found = estimate_missed(int(rng.hypergeometric(1_500, 8_500, number)), number, 10_000)
    return {"relevant pairs that are missed": found.low <= 1_500 <= found.high}


def needing_video(rng: np.random.Generator, number: int) -> tuple[int, int]:
    """Return how many of `number` items, of which four in ten need the video, are listed, and how many falsely."""
    models, need = 6, rng.random(number) < 0.4
    ease = np.where(rng.random(number) < 0.5, 0.9, 0.6)
    shown = rng.random((models, number)) < np.where(need, 0.9, ease)
    text = rng.random((models, number)) < np.where(need, 0.25, ease)
    listed = find_needing(shown, [text]).items
    return int(listed.sum()), int((listed & ~need).sum())


EXPERIMENTS: Mapping[str, Experiment] = {
    "scores": Experiment(scores, "hold"),
    "audited shares": Experiment(audited_shares, "hold"),
    "two systems": Experiment(two_systems, "hold"),
    "two systems, tested": Experiment(two_systems_tested, "reject", (10, 15, 30, 60, 200)),
    "leaks": Experiment(leaks, "hold"),
    "gains": Experiment(gains, "hold"),
    "preferred options": Experiment(preferred_options, "reject", (10, 15, 30, 60, 200)),
    "correlations": Experiment(correlations, "hold", (10, 15, 30, 60, 200)),
    "correlations, tested": Experiment(correlations_tested, "reject", (10, 15, 30, 60, 200)),
    "fusions": Experiment(fusions, "hold", (10, 15, 30, 60, 200)),
    "fusions, tested": Experiment(fusions_tested, "reject", (10, 15, 30, 60, 200)),
    "judge": Experiment(judged_means, "hold", (60, 200)),
    "judge, tested": Experiment(judged_tested, "reject", (60, 200)),
    "unjudged pairs": Experiment(unjudged_pairs, "hold", (60, 200)),
}


def repeat(name: str, number: int, times: int) -> dict[str, tuple[int, int]]:
    """Return quantity -> how often its interval held or its test rejected, and how often there was one."""
    counts: dict[str, tuple[int, int]] = {}
    for time in range(times):
        rng = np.random.default_rng([number, time, *name.encode()])
        for quantity, outcome in EXPERIMENTS[name].run(rng, number).items():
            yes, all_of = counts.get(quantity, (0, 0))
            counts[quantity] = yes + bool(outcome), all_of + 1
    return counts
