"""Functions of a task of questions or pairs for lmms-eval; ``utils.py`` of an export gets them from here."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from vttdata.evaluate.harness.scoring import log_answer, score_logged
from vttdata.export.documents import HarnessTask, load_exported_task
from vttdata.export.lmms_eval_utils import load_shown

Document = dict[str, Any]


class TaskFunctions:
    """Functions of the task in a folder.

    Fields:
        columns: of scores, each of which is a metric of lmms-eval.
    """

    def __init__(self, folder: Path, columns: Sequence[str]) -> None:
        self.columns = columns
        self._folder = folder
        self._scored: tuple[Sequence[Mapping[str, str]], dict[str, float]] | None = None

    @cached_property
    def task(self) -> HarnessTask:
        """What is asked."""
        return load_exported_task(self._folder)

    @cached_property
    def documents(self) -> dict[str, Document]:
        """Document of each id."""
        rows = (
            row for path in sorted((self._folder / "documents").iterdir()) for row in pq.read_table(path).to_pylist()
        )
        return {row[self.task.documents.id_column]: row for row in rows}

    def doc_to_visual(self, doc: Document, lmms_eval_specific_kwargs: Mapping[str, Any] | None = None) -> list[Any]:  # noqa: ARG002
        """Return the path of the video, or what the condition of the export shows of it.

        Raises:
            FileNotFoundError: if there is none.
        """
        return load_shown(doc, self._folder)

    def doc_to_text(self, doc: Document, lmms_eval_specific_kwargs: Mapping[str, Any] | None = None) -> str:
        """Return the prompt."""
        around = lmms_eval_specific_kwargs or {}
        return f"{around.get('pre_prompt', '')}{doc['prompt']}{around.get('post_prompt', '')}"

    def doc_to_target(self, doc: Document) -> str:
        """Return the text of the right option."""
        return str(doc["options"][doc["answer"]])

    def process_results(self, doc: Document, results: Sequence[str]) -> dict[str, dict[str, str]]:
        """Return, for each column, the id of a document and its answer."""
        return dict.fromkeys(self.columns, log_answer(self.task, doc, results[0] if results else ""))

    def column(self, name: str) -> Callable[[Sequence[Mapping[str, str]]], float]:
        """Return the function that computes a column from the results of all documents."""

        def aggregate(results: Sequence[Mapping[str, str]]) -> float:
            if self._scored is None or self._scored[0] != results:
                column = self.task.documents.id_column
                documents = [self.documents[row[column]] for row in results]
                self._scored = (list(results), score_logged(self.task, documents, results))
            return self._scored[1].get(name, math.nan)

        return aggregate
