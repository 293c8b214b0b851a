"""How well two sets of scores agree: two runs of one evaluation, or an automatic metric and people.

Correlations are Pearson's r, Spearman's rho and Kendall's tau-b; Williams' test says whether one metric agrees
significantly better with people than another (Graham and Baldwin, EMNLP 2014).
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np

from vttdata.assess.paired_tests import scipy_stats
from vttdata.assess.scores import SystemScore, system_scores
from vttdata.errors import VttdataError
from vttdata.records import CaptionScore

Level = Literal["system", "caption"]
Freedom = Literal["n-3", "n-2"]
"""The degrees of freedom of Williams' test: ``n-3`` in Williams and in Graham and Baldwin; ``n-2`` gives the numbers
that the R code of nlp-williams prints."""


@dataclass(frozen=True, slots=True)
class Correlation:
    """Agreement of `n` pairs of scores, -1..1; NaN where one side does not vary or there are fewer than two pairs."""

    n: int
    pearson: float
    spearman: float
    kendall: float


class WilliamsTest(NamedTuple):
    """The statistic and the one-sided p-value."""

    t: float
    p: float


@dataclass(frozen=True, slots=True)
class MetricAgreement:
    """How a metric agrees with people, by systems' means and by captions; `unscored` captions lack a metric score."""

    system: Correlation
    caption: Correlation
    unscored: int


def correlate(x: Sequence[float], y: Sequence[float]) -> Correlation:
    """The three correlations of two lists of scores, element i of both about the same thing.

    Raises:
        ValueError: when the lists are of different lengths.
        VttdataError: when SciPy is not installed.
    """
    if len(x) != len(y):
        raise ValueError(f"{len(x)} scores cannot be correlated with {len(y)}")
    nan = float("nan")
    if len(x) < 2 or min(x) == max(x) or min(y) == max(y) or not np.isfinite([*x, *y]).all():
        return Correlation(len(x), nan, nan, nan)
    stats = scipy_stats()
    tests = (stats.pearsonr, stats.spearmanr, stats.kendalltau)
    return Correlation(len(x), *(float(test(x, y).statistic) for test in tests))


def replication(
    first: Iterable[SystemScore], second: Iterable[SystemScore], *, leave_out: Collection[str] = ()
) -> tuple[Correlation, Correlation]:
    """The agreement of two runs on the systems that both have: of mean raw scores, and of mean z scores.

    Args:
        first: the systems of one run.
        second: those of the other.
        leave_out: systems that do not count, such as human captions, which any two runs rank first.

    Raises:
        VttdataError: when the runs share fewer than two systems.
    """
    other = {score.system: score for score in second}
    both = [(own, other[own.system]) for own in first if own.system in other and own.system not in leave_out]
    if len(both) < 2:
        raise VttdataError(f"The two runs share {len(both)} systems; at least 2 are needed to compare them.")
    raw = correlate([own.raw for own, _ in both], [twin.raw for _, twin in both])
    return raw, correlate([own.z for own, _ in both], [twin.z for _, twin in both])


def metric_agreement(metric: Mapping[tuple[str, str], float], scores: Iterable[CaptionScore]) -> MetricAgreement:
    """How a metric's scores agree with people's z scores.

    Args:
        metric: (system, video_id) -> the metric's score of this caption.
        scores: of captions by people; those without a metric score are left out and counted.
    """
    scores = list(scores)
    there = [score for score in scores if (score.system, score.video_id) in metric]
    by_metric = [metric[score.system, score.video_id] for score in there]
    systems = system_scores(there)
    means: dict[str, list[float]] = {}
    for score, value in zip(there, by_metric, strict=True):
        means.setdefault(score.system, []).append(value)
    own = [sum(means[system.system]) / len(means[system.system]) for system in systems]
    return MetricAgreement(
        correlate([system.z for system in systems], own),
        correlate([score.z for score in there], by_metric),
        len(scores) - len(there),
    )


def williams(r12: float, r13: float, r23: float, n: int, freedom: Freedom = "n-3") -> WilliamsTest:
    """Whether metric 2 correlates better with people (1) than metric 3 does; one-sided.

    Args:
        r12: correlation of metric 2 with people; it should be the higher one, else p is 0.5 or more.
        r13: correlation of metric 3 with people.
        r23: correlation of the metrics with each other.
        n: number of systems or captions, 4 or more.
        freedom: see `Freedom`.

    Raises:
        ValueError: when n is too small, or a correlation is none.
        VttdataError: when SciPy is not installed.
    """
    if n < 4 or not all(-1 <= r <= 1 for r in (r12, r13, r23)):
        raise ValueError("Williams' test takes three correlations of -1..1, of at least 4 scores")
    k = 1 - r12**2 - r13**2 - r23**2 + 2 * r12 * r13 * r23
    spread = 2 * k * (n - 1) / (n - 3) + (r12 + r13) ** 2 / 4 * (1 - r23) ** 3
    if spread <= 0:
        return WilliamsTest(float("nan"), float("nan"))
    t = (r12 - r13) * math.sqrt((n - 1) * (1 + r23) / spread)
    return WilliamsTest(t, float(scipy_stats().t.sf(t, n - 3 if freedom == "n-3" else n - 2)))


def compare_metrics(
    metrics: Mapping[str, Mapping[tuple[str, str], float]],
    scores: Iterable[CaptionScore],
    level: Level = "system",
    freedom: Freedom = "n-3",
) -> dict[tuple[str, str], WilliamsTest]:
    """Williams' test of every ordered pair of metrics, on Pearson's r with people.

    Args:
        metrics: name -> (system, video_id) -> score. Only captions that all metrics score count.
        scores: of captions by people.
        level: whether systems' means or captions are correlated.
        freedom: see `Freedom`.

    Returns:
        (metric, other) -> is the metric significantly better than the other.

    Raises:
        VttdataError: when there are fewer than four systems or captions.
    """
    there = [own for own in scores if all((own.system, own.video_id) in metric for metric in metrics.values())]
    columns = {name: [metric[own.system, own.video_id] for own in there] for name, metric in metrics.items()}
    people = [own.z for own in there]
    if level == "system":
        systems = sorted({own.system for own in there})
        rows = {system: [index for index, own in enumerate(there) if own.system == system] for system in systems}
        people = [float(np.mean([people[index] for index in own])) for own in rows.values()]
        columns = {
            name: [float(np.mean([values[index] for index in own])) for own in rows.values()]
            for name, values in columns.items()
        }
    if len(people) < 4:
        raise VttdataError(f"Williams' test needs at least 4 {level}s that all metrics score; there are {len(people)}.")
    human = {name: correlate(people, values).pearson for name, values in columns.items()}
    tests: dict[tuple[str, str], WilliamsTest] = {}
    for first in columns:
        for second in (name for name in columns if name != first):
            between = correlate(columns[first], columns[second]).pearson
            known = not any(map(math.isnan, (human[first], human[second], between)))
            nan = WilliamsTest(float("nan"), float("nan"))
            tests[first, second] = (
                williams(human[first], human[second], between, len(people), freedom) if known else nan
            )
    return tests
