"""Score answers to the documents of an exported task with the functions that `vttdata evaluate` uses."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from vttdata.errors import VttdataError
from vttdata.evaluate.answers import DEFAULT_RULES, FREE_TEXT, Asked, load_rules, read_free_text
from vttdata.evaluate.baseline import Setting
from vttdata.evaluate.evaluation import choose_tokenizer, load_metrics
from vttdata.evaluate.items import Items
from vttdata.evaluate.metric import MetricInputs
from vttdata.evaluate.predictions import REFUSE, ItemCounts, Matched
from vttdata.evaluate.task import Scoring, load_evaluation_task
from vttdata.export.documents import HarnessTask
from vttdata.json_types import JsonObject
from vttdata.text.questions import Choices, letters

ID_COLUMNS: Mapping[str, str] = {"captioning": "video_id", "questions": "question_id", "foils": "foil_id"}
"""Kind of a task -> column of a document that has its id."""

TRUE, FOIL, TIE = "true", "foil", "tie"
_PAIR_SCORES: Mapping[str, tuple[float, float]] = {TRUE: (1.0, 0.0), FOIL: (0.0, 1.0), TIE: (0.0, 0.0)}


def log_answer(task: HarnessTask, document: Mapping[str, Any], answer: str) -> dict[str, str]:
    """Return the row that a harness logs for an answer, and that `vttdata evaluate` reads.

    Of a pair, an answer that names neither text counts as the foil.
    """
    column = ID_COLUMNS[task.kind]
    row = {column: str(document[column])}
    if task.kind == "captioning":
        return row | {"caption": answer}
    if task.kind == "questions":
        return row | {FREE_TEXT: answer}
    options = document["options"]
    asked = Asked(
        row[column], document["video_id"], "", "", Choices(options, letters(len(options))), document["answer"]
    )
    named = read_free_text(answer, asked, load_rules(DEFAULT_RULES)).named
    return row | {"preferred": FOIL if not named else TIE if len(named) > 1 else TRUE if asked.right & named else FOIL}


def score_logged(
    task: HarnessTask, documents: Sequence[Mapping[str, Any]], logged: Sequence[Mapping[str, str]]
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
    items = _items(task, documents)
    loaded, counts = load_evaluation_task(task.kind), ItemCounts(len(documents), len(documents))
    tokenizer = choose_tokenizer(task.languages)
    with tempfile.TemporaryDirectory() as cache:
        metrics = (
            load_metrics(loaded.default_metrics, tokenizer, Path(cache), MetricInputs(), {})
            if (loaded.default_metrics)
            else []
        )
        setting = Setting(items, Path(cache))
        scoring = Scoring(task.kind, items, metrics, REFUSE, tokenizer, Path(cache), None, MetricInputs(), setting)
        scored = loaded.score(Matched(_values(task, items, logged), counts), scoring)
    return {name: column.scores.score for name, column in scored.columns.items() if hasattr(column.scores, "score")}


def _values(task: HarnessTask, items: Items, logged: Sequence[Mapping[str, str]]) -> list[Any]:
    """Return logged answers in the form that the task scores."""
    if task.kind == "captioning":
        return [row["caption"] for row in logged]
    if task.kind == "foils":
        return [_PAIR_SCORES[row["preferred"]] for row in logged]
    read = load_rules(DEFAULT_RULES)
    return [read_free_text(row[FREE_TEXT], asked, read) for row, asked in zip(logged, items.questions, strict=True)]


def _items(task: HarnessTask, documents: Sequence[Mapping[str, Any]]) -> Items:
    """Return documents as items, each of a source of its own, since no interval is computed."""
    ids = [str(document[ID_COLUMNS[task.kind]]) for document in documents]
    facts: JsonObject = {
        "dataset": task.dataset,
        "version": task.version,
        "config": task.config,
        "split": task.split,
        "ids": ids,
        "sources": np.arange(len(ids)),
        "source_ids": ids,
        "categories": [None] * len(ids),
    }
    if task.kind == "captioning":
        references = [document["captions"] for document in documents]
        return Items(**facts, references=references, languages=task.languages)
    if task.kind == "foils":
        return Items(**facts, references=())
    return Items(
        **facts,
        references=(),
        questions=[
            Asked(
                name,
                document["video_id"],
                document["kind"],
                document["question"],
                Choices(document["options"], document["labels"]),
                document["answer"],
            )
            for name, document in zip(ids, documents, strict=True)
        ],
        groupings={"type": [document["type"] for document in documents]},
        blind=[np.nan if document["blind"] is None else document["blind"] for document in documents],
        belongs_to=[document["group"] for document in documents],
    )
