"""Scores of a log in which each item was answered several times: the mean over epochs, with its variance.

As in inspect_ai, whose default reduces the epochs of a sample to their mean before a metric is computed; of a score
that is no mean over items, such as CIDEr-D, it is the mean of the scores of the epochs.
"""

from __future__ import annotations

import dataclasses
import json
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from vttdata.evaluate.columns import ScoreColumn
from vttdata.evaluate.harness_logs import split_epochs
from vttdata.evaluate.task import EvaluationTask, Scored, Scoring
from vttdata.statistics.arrays import Floats
from vttdata.statistics.scores import ColumnScores


def score_file(task: EvaluationTask[Any], path: Path, scoring: Scoring[Any]) -> Scored:
    """Score a file of predictions; those of several epochs by `average_epochs`.

    Raises:
        VttdataError: if it cannot be read, or the predictions, of any epoch, do not match the items.
    """
    epochs = split_epochs(path)
    if not epochs:
        return task.score(task.read_predictions(path, scoring), scoring)
    scored = []
    with tempfile.TemporaryDirectory() as folder:
        for number, rows in enumerate(epochs, 1):
            file = Path(folder) / f"{path.stem} epoch {number}.jsonl"
            file.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8", newline="\n")
            scored.append(task.score(task.read_predictions(file, scoring), scoring))
    return average_epochs(scored)


def average_epochs(epochs: Sequence[Scored]) -> Scored:
    """Return the mean of each column that all epochs have of the same rows, and a sentence on its variance.

    The variance is that of the scores of the epochs, with their number less one.
    """
    first = epochs[0]
    columns, variances = {}, []
    for name, column in first.columns.items():
        others = [scored.columns[name] for scored in epochs[1:] if name in scored.columns]
        if len(others) < len(epochs) - 1 or any(not np.array_equal(column.items, each.items) for each in others):
            continue
        if averaged := _average([column, *others]):
            columns[name] = averaged
            scores = [each.scores.score for each in (column, *others) if isinstance(each.scores, ColumnScores)]
            variances.append(f"{name} {np.var(scores, ddof=1):.3g}")
    note = f"Scores are means over {len(epochs)} epochs; the variance between epochs is {', '.join(variances)}."
    return dataclasses.replace(first, columns=columns, findings=[note, *first.findings])


def _average(columns: Sequence[ScoreColumn]) -> ScoreColumn | None:
    """Return the mean of columns; None of medians."""
    scores = [column.scores for column in columns if isinstance(column.scores, ColumnScores)]
    if len(scores) < len(columns):
        return None
    width = scores[0].statistics.shape[1]

    def formula(sums: Floats, count: Floats) -> Floats:
        parts = [
            each.formula(sums[..., width * place : width * (place + 1)], count) for place, each in enumerate(scores)
        ]
        means: Floats = np.mean(parts, axis=0)
        return means

    items = np.mean([each.items for each in scores], axis=0)
    averaged = ColumnScores(items, np.hstack([each.statistics for each in scores]), formula)
    return dataclasses.replace(columns[0], scores=averaged, binary=False)
