"""Sets scores beside each other: two runs of one evaluation, or automatic metrics and people, from files to tables.

The statistics are those of `vttdata.evaluate.meta.correlation`.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, get_args

from vttdata.assess.answers.intake import cell, number
from vttdata.assess.scores import system_scores
from vttdata.assess.tables import Table, correlation_table
from vttdata.errors import VttdataError
from vttdata.evaluate.meta.correlation import Level, compare_metrics, metric_agreement, replication
from vttdata.files.csv_safety import unguarded
from vttdata.files.tables import read_table
from vttdata.records import CaptionScore

Metric = Mapping[tuple[str, str], float]
"""(system, video_id) -> score."""


def read_caption_scores(file: Path) -> list[CaptionScore]:
    """Read ``captions.csv`` of ``vttdata hits score``: `video_id`, `system`, `raw`, `z`, `assessments`.

    Raises:
        VttdataError: when it cannot be read, a score is no number, or a caption stands twice.
    """
    rows = _rows(file, ("raw", "z", "assessments"))
    return [CaptionScore(video, system, raw, z, int(times)) for (system, video), (raw, z, times) in rows]


def read_metric(file: Path) -> dict[tuple[str, str], float]:
    """Read a metric's scores: a CSV, TSV or JSONL table with `video_id`, `system` and `score`.

    Raises:
        VttdataError: when it cannot be read, a score is no number, or a caption stands twice.
    """
    return {key: score for key, (score,) in _rows(file, ("score",))}


def _rows(file: Path, columns: Sequence[str]) -> Iterator[tuple[tuple[str, str], list[float]]]:
    seen: set[tuple[str, str]] = set()
    for line, row in read_table(file):
        system, video = (unguarded(cell(file, line, row, name)) for name in ("system", "video_id"))
        if (system, video) in seen:
            raise VttdataError(f"{file}:{line}: the caption of {video!a} by {system!a} stands twice.")
        seen.add((system, video))
        yield (system, video), [_finite(file, line, row, name) for name in columns]
    if not seen:
        raise VttdataError(f"{file}: holds no scores.")


def _finite(file: Path, line: int, row: Mapping[str, Any], name: str) -> float:
    text = cell(file, line, row, name)
    value = number(text)
    if not math.isfinite(value):
        raise VttdataError(f"{file}:{line}: '{name}' is {text[:40]!a}, which is no number.")
    return value


def replication_table(
    first: Sequence[CaptionScore], second: Sequence[CaptionScore], leave_out: Collection[str] = ()
) -> Table:
    """How far two runs agree on the systems that both have, but for those left out; see `replication`."""
    raw, z = replication(system_scores(first), system_scores(second), leave_out=leave_out)
    return correlation_table({"raw": raw, "z": z})


def agreement_table(metrics: Mapping[str, Metric], scores: Sequence[CaptionScore]) -> Table:
    """How far each metric agrees with people's z scores, by systems and by captions; see `metric_agreement`."""
    found = {name: metric_agreement(metric, scores) for name, metric in metrics.items()}
    lines = {f"{name}, by {level}": getattr(own, level) for name, own in found.items() for level in get_args(Level)}
    return correlation_table(lines)


def williams_table(metrics: Mapping[str, Metric], scores: Sequence[CaptionScore], level: Level) -> Table:
    """p-values of the row's metric agreeing better with people than the column's; see `compare_metrics`."""
    tests = compare_metrics(metrics, scores, level)
    rows = [[name, *(tests[name, other].p if other != name else None for other in metrics)] for name in metrics]
    return [[f"by {level}", *metrics], *rows]
