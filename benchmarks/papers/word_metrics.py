"""Metrics of words against people on TRECVID's judgments, by the functions of ``vttdata metric test``."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, TypedDict

import numpy as np

from vttdata.evaluate.evaluation import load_metrics
from vttdata.evaluate.meta.agreement import Draws, system_means
from vttdata.evaluate.meta.comparison import score_metrics
from vttdata.evaluate.meta.drift import measure_quality_drift
from vttdata.evaluate.meta.inputs import read_inputs
from vttdata.evaluate.meta.judgments import JudgmentTable
from vttdata.evaluate.metric import MetricInputs
from vttdata.statistics.arrays import Floats
from vttdata.statistics.hypothesis_tests import williams
from vttdata.statistics.scores import ColumnScores

METRICS = ("bleu", "rouge-l", "cider-d")
COLUMNS = ("bleu4", "sentence-bleu", "rouge-l", "cider-d", "meteor", "spice")


class OnSet(TypedDict):
    """A metric on a set of judgments.

    Fields:
        caption: Pearson's r with z-scores over captions of systems.
        next_line: the same where each score is given to the caption a line below the one that was judged.
        system: Pearson's r of systems' corpus scores with their mean z-scores.
        sentences: the same of the means of systems' sentence scores.
        by_system: system -> corpus score, mean z-score, and mean sentence score.
        drift: Kendall's tau-b with raw scores on five sets of drifting quality, the lowest first.
    """

    caption: float
    next_line: float
    system: float
    sentences: float
    by_system: dict[str, tuple[float, float, float]]
    drift: list[float]


def read_tables(dataset: str) -> dict[str, JudgmentTable]:
    """Return the judged captions of systems by set, ``2016-single`` and others."""
    judged = (table.without((), people=True) for table in read_inputs([dataset]).judgments)
    return {table.name.split()[-1]: table for table in judged}


def measure(table: JudgmentTable, metrics: Sequence[str], cache: Path) -> dict[str, OnSet]:
    """Return each column of metrics on a set.

    Raises:
        VttdataError: if a metric cannot be computed.
    """
    if not set(metrics) <= set(METRICS):
        # Most captions of systems are not judged, and a Java program takes its time for each.
        table = table.select(table.judged)
    unavailable: dict[str, str] = {}
    families = load_metrics(metrics, "ptb-3.4.1", cache, MetricInputs(), unavailable)
    columns = score_metrics(table, families, unavailable)
    if unavailable:
        raise RuntimeError(f"{unavailable}")
    if "bleu4" in columns:
        counts = columns["bleu4"].statistics
        columns["sentence-bleu"] = ColumnScores.from_means(sentence_bleu(counts))
    columns = {name: columns[name] for name in COLUMNS if name in columns}
    drift = measure_quality_drift(table, columns, (0, 100), Draws.of(table, draws=0), 0)
    return {
        name: OnSet(
            caption=pearson(scores.items, table.z),
            next_line=pearson(scores.items, moved_down(table)),
            system=float(r[0, 1]),
            sentences=float(r[2, 1]),
            by_system=means,
            drift=[drift[name][number].score for number in sorted(drift[name])],
        )
        for name, scores in columns.items()
        for means in [means_by_system(table, scores)]
        for r in [np.corrcoef(list(means.values()), rowvar=False)]
    }


def means_by_system(table: JudgmentTable, scores: ColumnScores) -> dict[str, tuple[float, float, float]]:
    """Return system -> corpus score, mean z-score, and mean sentence score."""
    sentences = system_means(table, ColumnScores.from_means(scores.items), table.z)
    return {name: (*of, sentences[name][0]) for name, of in system_means(table, scores, table.z).items()}


def pearson(scores: Floats, people: Floats) -> float:
    """Return Pearson's r over the captions that have both scores."""
    both = np.isfinite(scores) & np.isfinite(people)
    return float(np.corrcoef(scores[both], people[both])[0, 1])


def moved_down(table: JudgmentTable) -> Floats:
    """Return people's z-scores, each moved to the system's caption of the next video of the official order."""
    number = {video: place for place, video in enumerate(table.items)}
    rows = {(system, number[video]): row for row, (system, video) in enumerate(_captions(table))}
    moved = np.full(len(table.z), math.nan)
    for (system, place), row in rows.items():
        below = rows.get((system, place + 1))
        if below is not None:
            moved[below] = table.z[row]
    return moved


def _captions(table: JudgmentTable) -> Iterator[tuple[str, str]]:
    yield from zip(table.systems, table.video_ids, strict=True)


def sentence_bleu(statistics: Floats) -> Floats:
    """Return BLEU-4 of each sentence, smoothed as NIST's mteval does: the k-th order without a match has 1 / 2**k.

    Orders that a sentence is too short for do not count.

    Args:
        statistics: of `vttdata.evaluate.metrics.bleu.bleu_scores`, ``(n, 10)``.
    """
    matches, numbers = statistics[:, :4], statistics[:, 4:8]
    halvings = np.cumsum((matches == 0) & (numbers > 0), axis=1)
    smoothed = np.where(matches > 0, matches, 0.5**halvings)
    logs = np.log(np.divide(smoothed, numbers, out=np.ones_like(smoothed), where=numbers > 0))
    mean = logs.sum(axis=1) / np.maximum((numbers > 0).sum(axis=1), 1)
    length, closest = np.maximum(statistics[:, 8], 1), statistics[:, 9]
    scores: Floats = np.where(statistics[:, 8] > 0, np.exp(mean + np.minimum(0, 1 - closest / length)), 0.0)
    return scores


def williams_p(better: Mapping[str, Any], worse: Mapping[str, Any], column: int = 2) -> float:
    """Return the p-value of Williams' test of one metric agreeing better with people, by a column of `by_system`."""
    systems = sorted(set(better["by_system"]) & set(worse["by_system"]))
    first, second = ([of["by_system"][system][column] for system in systems] for of in (better, worse))
    people = [better["by_system"][system][1] for system in systems]
    r = np.corrcoef([people, first, second])
    return williams(r[0, 1], r[0, 2], r[1, 2], len(systems)).p
