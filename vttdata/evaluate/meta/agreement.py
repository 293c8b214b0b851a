"""Measure how well a metric's scores agree with people's: over all captions, within videos and systems, over systems.

Intervals draw whole videos with replacement. Results are kept by content, since thousands of draws take a while.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from vttdata.evaluate.meta.judgments import JudgmentTable
from vttdata.evaluate.report import Estimate
from vttdata.evaluate.score_cache import keep_arrays, read_arrays
from vttdata.statistics.arrays import Floats, Integers
from vttdata.statistics.bootstrap import Resampled, draw_sources
from vttdata.statistics.correlation import (
    COEFFICIENTS,
    average_systems,
    correlate_draws,
    correlate_groups,
    correlate_systems,
    mean_of_groups,
    pair_accuracy,
    pair_rows,
)
from vttdata.statistics.scores import ColumnScores, ScoredRows

LEVELS: Mapping[str, str] = {
    "caption": "over all captions",
    "rating": "over single ratings",
    "within-video": "between captions of a video, mean of videos",
    "within-system": "between captions of a system, mean of systems",
    "system": "between means of systems",
}
"""What is compared at each level."""

DRAWS = 1_000

# Raised when a figure changes, so that older results are not read.
_FORMAT = 1

Levels = Mapping[str, Mapping[str, Estimate]]
"""Level -> coefficient -> its estimate; levels that a set does not have are left out."""


@dataclass(frozen=True, slots=True)
class PeopleAgreement:
    """Agreement of a metric with people on a set of judgments.

    Fields:
        human: ``raw`` or ``z`` -> levels.
        unscored: number of judged captions without a score, which do not count.
        constant: whether the metric gives all captions the same score.
        epsilon: ``raw`` or ``z`` -> difference up to which scores tie in ``accuracy_calibrated``.
        ties: ``raw`` or ``z`` -> pairs of captions of the same video: all, tied by people, tied by the metric.
    """

    human: Mapping[str, Levels]
    unscored: int = 0
    constant: bool = False
    epsilon: Mapping[str, float] = field(default_factory=dict)
    ties: Mapping[str, tuple[int, int, int]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, eq=False)
class Draws:
    """Draws of the videos of a table: how often each video counts, first once, then as drawn.

    `weights` are (1 + draws) x videos; `signature` is what they depend on.
    """

    weights: Floats
    signature: str

    @classmethod
    def of(cls, table: JudgmentTable, *, seed: int = 0, draws: int = DRAWS) -> Draws:
        """Draw the videos with judged captions; a table of one video has no draws."""
        number = int(table.sources.max(initial=-1)) + 1
        judged = np.unique(table.sources[table.judged])
        drawn = [np.ones((1, len(judged))), *draw_sources(len(judged), seed=seed, draws=draws)]
        weights = np.zeros((sum(map(len, drawn)), number))
        weights[:, judged] = np.concatenate(drawn)
        return cls(weights, f"seed:{seed}|draws:{draws}")


def measure_agreement(
    table: JudgmentTable, scores: ColumnScores, draws: Draws, cache: Path | None = None
) -> PeopleAgreement:
    """Return the agreement of a metric with people.

    `scores` are those of the n captions of the table by the metric, NaN where it has none. Results are kept by content
    in the folder `cache`, if there is one.
    """
    scored = table.judged & np.isfinite(scores.items)
    values = scores.items[scored]
    levels: dict[str, Levels] = {}
    epsilon: dict[str, float] = {}
    ties: dict[str, tuple[int, int, int]] = {}
    for human, people in table.human_scores.items():
        rows = scored & ~np.isnan(people)
        comparison = _Comparison(table, scores, people, rows, draws, human == "raw")
        name = f"agreement-{comparison.digest()}"
        kept = read_arrays(cache, name, _decode)
        if kept is None:
            kept = comparison.estimate()
            keep_arrays(cache, name, _encode(*kept))
        levels[human], epsilon[human], ties[human] = kept
    unscored = int((table.judged & ~np.isfinite(scores.items)).sum())
    return PeopleAgreement(levels, unscored, len(values) > 0 and bool((values == values[0]).all()), epsilon, ties)


_Result = tuple[Levels, float, tuple[int, int, int]]


def _encode(levels: Levels, epsilon: float, ties: tuple[int, int, int]) -> dict[str, Floats]:
    arrays = {
        f"{level}/{name}": np.array([estimate.score, estimate.low, estimate.high, estimate.items], dtype=np.float64)
        for level, estimates in levels.items()
        for name, estimate in estimates.items()
    }
    return arrays | {"pairs": np.array([epsilon, *ties], dtype=np.float64)}


def _decode(arrays: Mapping[str, Any]) -> _Result:
    levels: dict[str, dict[str, Estimate]] = {}
    for key, values in arrays.items():
        if key != "pairs":
            level, _, name = key.partition("/")
            score, low, high, items = values.tolist()
            levels.setdefault(level, {})[name] = Estimate(score, low, high, int(items))
    epsilon, pairs, human_ties, metric_ties = arrays["pairs"].tolist()
    return levels, epsilon, (int(pairs), int(human_ties), int(metric_ties))


@dataclass(frozen=True, slots=True, eq=False)
class _Comparison:
    """One score by people and one by a metric, on the rows that have both."""

    table: JudgmentTable
    scores: ColumnScores
    people: Floats
    rows: Any
    draws: Draws
    has_ratings: bool

    def digest(self) -> str:
        content = hashlib.sha256(f"{_FORMAT}|{self.draws.signature}|{self.has_ratings}".encode())
        ratings = self.table.ratings if self.has_ratings and self.table.ratings is not None else np.zeros(0)
        for array in (self.scores.items, self.scores.statistics, self.people, self.rows, self.table.sources, ratings):
            content.update(np.ascontiguousarray(array).tobytes())
        content.update(repr([self.scores.formula.__qualname__, self.table.systems, self.table.video_ids]).encode())
        return content.hexdigest()[:32]

    def estimate(self) -> _Result:
        table, weights = self.table, self.draws.weights
        x, y, sources = self.scores.items[self.rows], self.people[self.rows], table.sources[self.rows]
        levels: dict[str, dict[str, Estimate]] = {
            "caption": estimate_all(correlate_draws(x, y, sources, weights), len(x))
        }
        if self.has_ratings and table.ratings is not None:
            ratings = table.ratings[self.rows]
            rated = ~np.isnan(ratings)
            row = np.nonzero(rated)[0]
            levels["rating"] = estimate_all(
                correlate_draws(x[row], ratings[rated], sources[row], weights), int(rated.sum())
            )
        videos = number_names([video_id for video_id, kept in zip(table.video_ids, self.rows, strict=True) if kept])
        number = int(videos.max(initial=-1)) + 1
        pairs = pair_rows(videos)
        source_of_video = np.zeros(number, dtype=np.int64)
        source_of_video[videos] = sources
        within = correlate_groups(x, y, videos, number, pairs)
        by_video = {
            name: estimate_draws(mean_of_groups(values, source_of_video, weights), int((~np.isnan(values)).sum()))
            for name, values in within.items()
        }
        accuracy = pair_accuracy(x, y, pairs, sources, weights)
        if accuracy.pairs:
            by_video["accuracy"] = estimate_draws(accuracy.values, accuracy.pairs)
            by_video["accuracy_calibrated"] = estimate_draws(accuracy.calibrated, accuracy.pairs)
            levels["within-video"] = by_video
        levels |= self._by_system(x, y, sources)
        return levels, accuracy.epsilon, (accuracy.pairs, accuracy.human_ties, accuracy.metric_ties)

    def _by_system(self, x: Floats, y: Floats, sources: Integers) -> dict[str, dict[str, Estimate]]:
        """Return the levels of a table with at least two systems."""
        names = [system for system, kept in zip(self.table.systems, self.rows, strict=True) if kept]
        systems = number_names(names)
        number = int(systems.max(initial=-1)) + 1
        if number < 2:
            return {}
        weights = self.draws.weights
        each = [
            correlate_draws(x[systems == system], y[systems == system], sources[systems == system], weights)
            for system in range(number)
        ]
        within = {}
        for name in COEFFICIENTS:
            values = np.stack([one[name] for one in each])
            known = ~np.isnan(values)
            sums = np.where(known, values, 0).sum(axis=0)
            means = np.where(known.any(axis=0), sums / np.maximum(known.sum(axis=0), 1), math.nan)
            within[name] = estimate_draws(means, int(known[:, 0].sum()))
        rows = ScoredRows.of_rows(self.scores, self.table.sources, self.rows)
        assert isinstance(rows.scores, ColumnScores)
        means_of_metric = average_systems(rows.scores, systems, number, sources, weights)
        means_of_people = average_systems(ColumnScores.from_means(y), systems, number, sources, weights)
        # A draw may have no caption of a system that few were judged of.
        whole = ~(np.isnan(means_of_metric) | np.isnan(means_of_people)).any(axis=1)
        over_systems = correlate_systems(means_of_metric[whole], means_of_people[whole])
        return {"within-system": within, "system": estimate_all(over_systems, number)}


def system_means(table: JudgmentTable, scores: ColumnScores, people: Floats) -> dict[str, tuple[float, float]]:
    """Return each system's corpus score by a metric and its mean score by people, on captions that have both."""
    rows = table.judged & np.isfinite(scores.items) & ~np.isnan(people)
    means = {}
    names = np.array(table.systems, dtype=object)
    for system in sorted(set(table.systems)):
        chosen = rows & (names == system)
        if chosen.any():
            corpus = scores.corpus(scores.statistics[chosen].sum(axis=0), np.asarray(chosen.sum()))
            means[system] = float(corpus), float(people[chosen].mean())
    return means


def number_names(names: list[str]) -> Integers:
    """Number names by their first occurrence."""
    numbers: dict[str, int] = {}
    return np.array([numbers.setdefault(name, len(numbers)) for name in names], dtype=np.int64)


def estimate_all(values: Mapping[str, Floats], items: int) -> dict[str, Estimate]:
    """Return the estimate of each coefficient, see `estimate_draws`."""
    return {name: estimate_draws(column, items) for name, column in values.items()}


def estimate_draws(values: Floats, items: int) -> Estimate:
    """Return the first value with the interval of the others."""
    if not len(values):
        return Estimate(math.nan, math.nan, math.nan, items)
    return Estimate.of(Resampled(float(values[0]), values[1:], items))
