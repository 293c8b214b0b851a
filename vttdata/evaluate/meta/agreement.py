"""Measure how well a metric's scores agree with people's: over all captions, within videos and systems, over systems.

Intervals draw whole videos with replacement. Results are kept by content, since thousands of draws take a while.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from vttdata.evaluate.meta.judgments import JudgmentTable
from vttdata.evaluate.report import Estimate
from vttdata.evaluate.score_cache import keep_arrays, read_arrays
from vttdata.statistics.arrays import Floats, Integers
from vttdata.statistics.bootstrap import Resampled, draw_sources, effective_number
from vttdata.statistics.correlation import (
    COEFFICIENTS,
    PairOrder,
    Pairs,
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

METRIC_DRAWS = 1_000

# Raised when a figure changes, so that older results are not read.
_FORMAT = 2

Levels = Mapping[str, Mapping[str, Estimate]]
"""Level -> coefficient -> its estimate; levels that a set does not have are left out."""


@dataclass(frozen=True, slots=True)
class PeopleAgreement:
    """Agreement of a metric with people on a set of judgments.

    Fields:
        human: ``raw`` or ``z`` -> levels.
        constant: whether the metric gives all captions the same score.
        epsilon: ``raw`` or ``z`` -> difference up to which scores tie in ``accuracy_calibrated``.
        ties: ``raw`` or ``z`` -> pairs of captions of the same video: all, tied by people, tied by the metric.
    """

    human: Mapping[str, Levels]
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
    def of(cls, table: JudgmentTable, *, seed: int = 0, draws: int = METRIC_DRAWS) -> Draws:
        """Draw the videos with judged captions; a table of one video has no draws."""
        number = int(table.sources.max(initial=-1)) + 1
        judged = np.unique(table.sources[table.judged])
        drawn = [np.ones((1, len(judged))), *draw_sources(len(judged), seed=seed, draws=draws)]
        weights = np.zeros((sum(map(len, drawn)), number))
        weights[:, judged] = np.concatenate(drawn)
        return cls(weights, f"seed:{seed}|draws:{draws}")


def measure_agreement(
    table: JudgmentTable, columns: Mapping[str, ColumnScores], draws: Draws, cache: Path | None = None
) -> dict[str, PeopleAgreement]:
    """Return the agreement of metrics with people, by the names of their columns.

    `columns` are scores of the n captions of the table, NaN where a metric has none. Results are kept by content in the
    folder `cache`, if there is one.
    """
    comparisons = {
        (name, human): _Comparison(
            table, scores, people, table.judged & np.isfinite(scores.items) & ~np.isnan(people), draws, human == "raw"
        )
        for name, scores in columns.items()
        for human, people in table.human_scores.items()
    }
    names = {key: f"agreement-{comparison.digest()}" for key, comparison in comparisons.items()}
    results = {key: read_arrays(cache, name, _decode) for key, name in names.items()}
    # Scores of the same rows are ranked once for all comparisons.
    by_rows: dict[bytes, list[tuple[str, str]]] = {}
    for key, result in results.items():
        if result is None:
            by_rows.setdefault(comparisons[key].rows.tobytes(), []).append(key)
    for keys in by_rows.values():
        estimated = _estimate([comparisons[key] for key in keys])
        for key, result in zip(keys, estimated, strict=True):
            keep_arrays(cache, names[key], _encode(*result))
            results[key] = result
    agreements = {}
    for name, scores in columns.items():
        values = scores.items[table.judged & np.isfinite(scores.items)]
        levels: dict[str, Levels] = {}
        epsilon: dict[str, float] = {}
        ties: dict[str, tuple[int, int, int]] = {}
        for human in table.human_scores:
            kept = results[name, human]
            assert kept is not None
            levels[human], epsilon[human], ties[human] = kept
        constant = len(values) > 0 and bool((values == values[0]).all())
        agreements[name] = PeopleAgreement(levels, constant, epsilon, ties)
    return agreements


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


def _estimate(comparisons: Sequence[_Comparison]) -> list[_Result]:
    """Return the results of comparisons on the same rows of a table."""
    table, weights, rows = comparisons[0].table, comparisons[0].draws.weights, comparisons[0].rows
    sources = table.sources[rows]
    compared = _Columns.of([(comparison.scores.items[rows], comparison.people[rows]) for comparison in comparisons])
    number, effective = int(rows.sum()), effective_number(np.bincount(sources))
    levels: list[dict[str, dict[str, Estimate]]] = [
        {"caption": estimate_all(values, number, effective)}
        for values in correlate_draws(compared.columns, compared.pairs, sources, weights)
    ]
    _estimate_ratings(comparisons, levels)
    by_system = _estimate_systems(comparisons, compared)
    videos = number_names([video_id for video_id, kept in zip(table.video_ids, rows, strict=True) if kept])
    pairs = pair_rows(videos)
    results: list[_Result] = []
    for comparison, over_rows, systems in zip(comparisons, levels, by_system, strict=True):
        within, ordered = _estimate_videos(comparison, videos, pairs)
        ties = ordered.pairs, ordered.human_ties, ordered.metric_ties
        results.append((over_rows | within | systems, ordered.epsilon, ties))
    return results


class _Columns(NamedTuple):
    """Columns of scores, each once, and the positions of the two that are compared."""

    columns: list[Floats]
    pairs: list[tuple[int, int]]

    @classmethod
    def of(cls, pairs: Sequence[tuple[Floats, Floats]]) -> _Columns:
        """Number columns by their content."""
        columns: dict[bytes, tuple[int, Floats]] = {}
        numbers = [
            [columns.setdefault(column.tobytes(), (len(columns), column))[0] for column in pair] for pair in pairs
        ]
        return cls([column for _, column in columns.values()], [(first, second) for first, second in numbers])


def _estimate_ratings(comparisons: Sequence[_Comparison], levels: Sequence[dict[str, dict[str, Estimate]]]) -> None:
    """Add the level of single ratings to the levels of those comparisons that have them."""
    table, rows = comparisons[0].table, comparisons[0].rows
    rated = [index for index, comparison in enumerate(comparisons) if comparison.has_ratings]
    if table.ratings is None or not rated:
        return
    ratings = table.ratings[rows]
    known = ~np.isnan(ratings)
    row = np.nonzero(known)[0]
    compared = _Columns.of([(comparisons[index].scores.items[rows][row], ratings[known]) for index in rated])
    estimated = correlate_draws(
        compared.columns, compared.pairs, table.sources[rows][row], comparisons[0].draws.weights
    )
    for index, values in zip(rated, estimated, strict=True):
        effective = effective_number(np.bincount(table.sources[rows][row]))
        levels[index]["rating"] = estimate_all(values, len(row), effective)


def _estimate_videos(
    comparison: _Comparison, videos: Integers, pairs: Pairs
) -> tuple[dict[str, dict[str, Estimate]], PairOrder]:
    """Return the level within videos, if any has two captions, and the order of pairs."""
    rows, weights = comparison.rows, comparison.draws.weights
    x, y, sources = comparison.scores.items[rows], comparison.people[rows], comparison.table.sources[rows]
    number = int(videos.max(initial=-1)) + 1
    source_of_video = np.zeros(number, dtype=np.int64)
    source_of_video[videos] = sources
    effective = effective_number(np.bincount(sources))
    accuracy = pair_accuracy(x, y, pairs, sources, weights)
    if not accuracy.pairs:
        return {}, accuracy
    estimates = {
        name: estimate_draws(
            mean_of_groups(values, source_of_video, weights), int((~np.isnan(values)).sum()), effective
        )
        for name, values in correlate_groups(x, y, videos, number, pairs).items()
    }
    estimates["accuracy"] = estimate_draws(accuracy.values, accuracy.pairs, effective, (0, 1))
    estimates["accuracy_calibrated"] = estimate_draws(accuracy.calibrated, accuracy.pairs, effective, (0, 1))
    return {"within-video": estimates}, accuracy


def _estimate_systems(comparisons: Sequence[_Comparison], compared: _Columns) -> list[dict[str, dict[str, Estimate]]]:
    """Return the levels within and over systems of each comparison; none of a table without two systems."""
    table, weights, kept = comparisons[0].table, comparisons[0].draws.weights, comparisons[0].rows
    sources = table.sources[kept]
    systems = number_names([system for system, used in zip(table.systems, kept, strict=True) if used])
    number, effective = int(systems.max(initial=-1)) + 1, effective_number(np.bincount(sources))
    if number < 2:
        return [{} for _ in comparisons]
    each = []
    for system in range(number):
        rows = systems == system
        columns = [column[rows] for column in compared.columns]
        each.append(correlate_draws(columns, compared.pairs, sources[rows], weights))
    people_means = {
        second: average_systems(ColumnScores.from_means(compared.columns[second]), systems, number, sources, weights)
        for second in {second for _, second in compared.pairs}
    }
    metric_means: dict[int, Floats] = {}
    levels = []
    for index, (comparison, (_, people)) in enumerate(zip(comparisons, compared.pairs, strict=True)):
        within = {}
        for name in COEFFICIENTS:
            values = np.stack([of_system[index][name] for of_system in each])
            known = ~np.isnan(values)
            sums = np.where(known, values, 0).sum(axis=0)
            means = np.where(known.any(axis=0), sums / np.maximum(known.sum(axis=0), 1), math.nan)
            within[name] = estimate_draws(means, int(known[:, 0].sum()), effective)
        means_of_people = people_means[people]
        means_of_metric = metric_means.get(id(comparison.scores))
        if means_of_metric is None:
            scored = ScoredRows.of_rows(comparison.scores, table.sources, kept)
            assert isinstance(scored.scores, ColumnScores)
            means_of_metric = average_systems(scored.scores, systems, number, sources, weights)
            metric_means[id(comparison.scores)] = means_of_metric
        # A draw may have no caption of a system that few were judged of.
        whole = ~(np.isnan(means_of_metric) | np.isnan(means_of_people)).any(axis=1)
        over_systems = correlate_systems(means_of_metric[whole], means_of_people[whole])
        levels.append({"within-system": within, "system": estimate_all(over_systems, number, effective)})
    return levels


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


def estimate_all(values: Mapping[str, Floats], items: int, sources: float) -> dict[str, Estimate]:
    """Return the estimate of each coefficient, see `estimate_draws`."""
    return {name: estimate_draws(column, items, sources) for name, column in values.items()}


def estimate_draws(values: Floats, items: int, sources: float, bounds: tuple[float, float] = (-1, 1)) -> Estimate:
    """Return the first value with the interval of the others, cut off at bounds, see `bootstrap_interval`."""
    if not len(values):
        return Estimate(math.nan, math.nan, math.nan, items)
    # Draws of systems' order may well be equal, of which the rule for equal shares of items would make more.
    low, high = Resampled(float(values[0]), values[1:], items, sources).interval()
    return Estimate(float(values[0]), max(low, bounds[0]), min(high, bounds[1]), items)
