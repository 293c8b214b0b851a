"""Score answers to the documents of an exported task with the functions that `vttdata evaluate` uses."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from vttdata.errors import VttdataError
from vttdata.evaluate.baseline import Setting
from vttdata.evaluate.evaluation import choose_tokenizer, load_metrics
from vttdata.evaluate.metric import MetricInputs
from vttdata.evaluate.predictions import REFUSE, ItemCounts, Matched
from vttdata.evaluate.task import ExportedTask, Scoring, load_evaluation_task
from vttdata.export.documents import HarnessTask
from vttdata.json_types import JsonObject


def find_exported_task(task: HarnessTask) -> ExportedTask[Any]:
    """Return the evaluation task that an exported one is of."""
    loaded = load_evaluation_task(task.kind)
    assert isinstance(loaded, ExportedTask)
    return loaded


def log_answer(task: HarnessTask, document: JsonObject, answer: str) -> dict[str, str]:
    """Return the row that a harness logs for an answer, and that `vttdata evaluate` reads."""
    column = task.documents.id_column
    return {column: str(document[column])} | find_exported_task(task).log_answer(document, answer)


def score_logged(
    task: HarnessTask, documents: Sequence[JsonObject], logged: Sequence[Mapping[str, str]]
) -> dict[str, float]:
    """Score logged answers.

    Args:
        task: what was asked.
        documents: n, as exported.
        logged: n, from `log_answer`.

    Returns:
        Column -> score, as `vttdata evaluate` has them.

    Raises:
        VttdataError: if there are no answers, or no metric can be computed.
    """
    if not documents:
        raise VttdataError(f"{task.name}: no answers, so nothing can be scored.")
    loaded, ids = find_exported_task(task), [str(document[task.documents.id_column]) for document in documents]
    # Each is of a source of its own, since no interval is computed.
    items = loaded.exported_items(
        {
            "dataset": task.dataset,
            "version": task.version,
            "config": task.config,
            "split": task.split,
            "ids": ids,
            "sources": np.arange(len(ids)),
            "source_ids": ids,
        },
        documents,
    )
    tokenizer = choose_tokenizer(task.languages)
    with tempfile.TemporaryDirectory() as folder:
        cache, names = Path(folder), loaded.default_metrics
        metrics = load_metrics(names, tokenizer, cache, MetricInputs(), {}) if names else []
        setting = Setting(items, cache)
        scoring = Scoring(task.kind, items, metrics, REFUSE, tokenizer, cache, None, MetricInputs(), setting)
        answers = Matched(loaded.read_logged(items, logged), ItemCounts(len(ids), len(ids)))
        scored = loaded.score(answers, scoring)
    return {name: column.scores.score for name, column in scored.columns.items() if hasattr(column.scores, "score")}
