"""Task for inspect_ai over the documents of an export; its ``task.py`` calls `make_task`."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
from inspect_ai import Epochs, Task
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.model import ChatMessageUser, ContentImage, ContentText, ContentVideo
from inspect_ai.scorer import (
    Metric,
    SampleScore,
    Score,
    Scorer,
    ScoreReducer,
    Target,
    mean_score,
    metric,
    score_reducer,
    scorer,
)
from inspect_ai.solver import TaskState, generate

from vttdata.evaluate.harness.scoring import find_exported_task, log_answer, score_logged
from vttdata.export.documents import HarnessTask, load_documents, load_exported_task
from vttdata.export.exported_functions import find_shown, is_pictures
from vttdata.json_types import JsonObject

# What inspect_ai calls the formats of videos; others are given to a model as MP4, which reads what is inside.
_FORMATS = {".mp4": "mp4", ".mov": "mov", ".mpeg": "mpeg", ".mpg": "mpeg"}


def make_task(folder: Path) -> Task:
    """Return the task of an export.

    Raises:
        VttdataError: if a file of the export is missing.
        FileNotFoundError: if a video is.
    """
    task, documents = load_exported_task(folder), load_documents(folder)
    samples = [_sample(task, document, find_shown(document, folder)) for document in documents]
    return Task(
        dataset=MemoryDataset(samples, name=task.name),
        solver=generate(),
        scorer=vttdata_scorer(str(folder)),
        metrics=[vttdata_scores(str(folder))],
        epochs=Epochs(1, vttdata_epochs()),
        name=task.name,
    )


def _sample(task: HarnessTask, document: JsonObject, shown: list[str]) -> Sample:
    content: list[Any] = [
        ContentImage(image=path)
        if is_pictures([path])
        else ContentVideo(video=path, format=_FORMATS.get(Path(path).suffix.lower(), "mp4"))
        for path in shown
    ]
    content.append(ContentText(text=document["prompt"]))
    options = document.get("options")
    return Sample(
        input=[ChatMessageUser(content=content)],
        target=document["captions"] if options is None else document["labels"][document["answer"]],
        choices=None if options is None else list(options),
        id=str(document[task.documents.id_column]),
    )


@score_reducer  # type: ignore[untyped-decorator] # inspect_ai need not be installed
def vttdata_epochs() -> ScoreReducer:
    """Reduce the epochs of a sample to their mean, and keep the answer of each, of which the metrics are computed."""
    mean = mean_score()

    def reduce(scores: list[Score]) -> Score:
        return mean(scores).model_copy(update={"metadata": {"epochs": [score.metadata for score in scores]}})

    return reduce


@metric  # type: ignore[untyped-decorator] # inspect_ai need not be installed
def vttdata_scores(folder: str) -> Metric:
    """Compute the scores that `vttdata evaluate` gives to the answers of all samples.

    Of several epochs it is the mean of their scores, and the variance between them is a score of its own.
    """
    task, documents = load_exported_task(Path(folder)), _by_id(folder)
    headline = find_exported_task(task).sample_column

    def compute(scores: list[SampleScore]) -> dict[str, float]:
        answers = [(each.score.metadata or {}).get("epochs", [each.score.metadata]) for each in scores]
        epochs = []
        # While a run is under way, some samples have been answered less often than others.
        for number in range(max(map(len, answers))):
            logged = [each[number] for each in answers if len(each) > number]
            asked = [documents[row[task.documents.id_column]] for row in logged]
            epochs.append(score_logged(task, asked, logged))
        common = [name for name in epochs[0] if all(name in epoch for epoch in epochs)]
        means = {name: float(np.mean([epoch[name] for epoch in epochs])) for name in common}
        if len(epochs) > 1 and headline in means:
            means[f"{headline}-variance"] = float(np.var([epoch[headline] for epoch in epochs], ddof=1))
        return means

    return compute


@scorer(metrics=[])  # type: ignore[untyped-decorator] # inspect_ai need not be installed
def vttdata_scorer(folder: str) -> Scorer:
    """Score the answer of a sample, and log it for `vttdata evaluate`.

    A sample's value is whether its answer is right; of captions ROUGE-L, which a single caption has.
    """
    task, documents = load_exported_task(Path(folder)), _by_id(folder)
    column = find_exported_task(task).sample_column

    async def score(state: TaskState, target: Target) -> Score:  # noqa: ARG001
        document = documents[str(state.sample_id)]
        logged = log_answer(task, document, state.output.completion)
        value = score_logged(task, [document], [logged]).get(column, math.nan)
        return Score(value=value, answer=state.output.completion, metadata=logged)

    return score


def _by_id(folder: str) -> dict[str, JsonObject]:
    column = load_exported_task(Path(folder)).documents.id_column
    documents = load_documents(Path(folder))
    return {str(document[column]): document for document in documents}
