"""Compare two runs of an evaluation, or automatic metrics with human scores: read the files of scores, and make tables.

The statistics are those of `vttdata.assess.correlation`.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import get_args

from vttdata.assess.correlation import Correlation, Level, compare_metrics, metric_agreement, replication
from vttdata.assess.manifest import number_or_nan, required_text
from vttdata.assess.scores import system_scores
from vttdata.assess.tables import Table
from vttdata.errors import VttdataError
from vttdata.files.csv_safety import unescape_formula
from vttdata.files.tables import Columns, read_table
from vttdata.records import CaptionScore

Metric = Mapping[tuple[str, str], float]
"""(system, video_id) -> score."""


def read_caption_scores(file: Path) -> list[CaptionScore]:
    """Read ``captions.csv`` of ``vttdata hits score``: `video_id`, `system`, `raw`, `z`, `assessments`.

    Raises:
        VttdataError: if it cannot be read, a score is not a finite number, or a caption is duplicated.
    """
    rows = _rows(file, ("raw", "z", "assessments"))
    return [CaptionScore(video, system, raw, z, int(number)) for (system, video), (raw, z, number) in rows]


def read_metric(file: Path) -> dict[tuple[str, str], float]:
    """Read a metric's scores: a CSV, TSV or JSON table with `video_id`, `system` and `score`.

    Raises:
        VttdataError: if it cannot be read, a score is not a finite number, or a caption is duplicated.
    """
    return {key: score for key, (score,) in _rows(file, ("score",))}


def _rows(file: Path, columns: Sequence[str]) -> Iterator[tuple[tuple[str, str], list[float]]]:
    seen: set[tuple[str, str]] = set()
    names = ("system", "video_id", *columns)
    for line, row in read_table(file, Columns(names, [(name,) for name in names], columns)):
        # Tables by `vttdata hits score` have escaped formulas.
        system, video = (unescape_formula(required_text(file, line, row, name)) for name in ("system", "video_id"))
        if (system, video) in seen:
            raise VttdataError(f"{file}:{line}: the caption of {video!a} by {system!a} is duplicated.")
        seen.add((system, video))
        values = []
        for name in columns:
            text = required_text(file, line, row, name)
            values.append(number_or_nan(text))
            if not math.isfinite(values[-1]):
                raise VttdataError(f"{file}:{line}: '{name}' is {text[:40]!a}, which is not a finite number.")
        yield (system, video), values
    if not seen:
        raise VttdataError(f"{file}: contains no scores.")


def correlation_table(correlations: Mapping[str, Correlation]) -> Table:
    """Return a row per named correlation."""
    rows = [[name, c.n, c.pearson, c.spearman, c.kendall] for name, c in correlations.items()]
    return [["", "n", "pearson", "spearman", "kendall"], *rows]


def replication_table(
    first: Sequence[CaptionScore], second: Sequence[CaptionScore], leave_out: Collection[str] = ()
) -> Table:
    """Return the agreement of two runs on their common systems; see `replication`."""
    raw, z = replication(system_scores(first), system_scores(second), leave_out=leave_out)
    return correlation_table({"raw": raw, "z": z})


def agreement_table(metrics: Mapping[str, Metric], scores: Sequence[CaptionScore]) -> Table:
    """Return each metric's agreement with people's z-scores, by systems and by captions; see `metric_agreement`."""
    agreements = {name: metric_agreement(metric, scores) for name, metric in metrics.items()}
    return correlation_table(
        {
            f"{name}, by {level}": getattr(agreement, level)
            for name, agreement in agreements.items()
            for level in get_args(Level)
        }
    )


def williams_table(metrics: Mapping[str, Metric], scores: Sequence[CaptionScore], level: Level) -> Table:
    """Return p-values of the row's metric agreeing better with people than the column's; see `compare_metrics`."""
    tests = compare_metrics(metrics, scores, level)
    rows = [[first, *(None if first == second else tests[first, second].p for second in metrics)] for first in metrics]
    return [[f"by {level}", *metrics], *rows]
