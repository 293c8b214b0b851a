"""Open answers: a text for each question without options, compared with the right one, or judged.

Accuracy is the share of answers that equal the right one letter by letter, as in the programs of MSRVTT-QA and MSVD-QA
(Xu et al., ACM MM 2017) and ActivityNet-QA (Yu et al., AAAI 2019), which normalise nothing. The prior is the most
frequent right answer to questions of the same type about other sources: what is reached without question and video.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Sequence
from pathlib import Path

import numpy as np

from vttdata.errors import VttdataError
from vttdata.evaluate.columns import ScoreColumn
from vttdata.evaluate.meta.verdicts import read_judges
from vttdata.evaluate.predictions import OUTPUT_COLUMNS, Matched, NamedColumns, match_predictions
from vttdata.evaluate.task import EvaluationTask, Scored, Scoring
from vttdata.evaluate.tasks.questions import TABLE, QuestionItems, read_question_items
from vttdata.export.reader import DatasetReader
from vttdata.files.tables import Columns, read_table
from vttdata.statistics.arrays import Floats
from vttdata.statistics.scores import ColumnScores
from vttdata.text.questions import OPEN

_IDS, _ANSWERS = ("question_id", "id", "item"), (*OUTPUT_COLUMNS, "answer")
_COLUMNS = Columns((*_IDS, *_ANSWERS, "judge"), (_IDS, _ANSWERS), pairs=("question_id", "answer"))
_LEFT_OUT = re.compile(r"\b(?:a|an|the)\b|[^\w\s]")


class OpenAnswersTask(EvaluationTask[QuestionItems]):
    """Answers to questions without options."""

    default_config = TABLE
    options: Collection[str] = ("train_split",)
    columns: Sequence[str] = ("question_id", "prediction")
    headline = "accuracy"

    def fits(self, dataset: Path, predictions: Path | None) -> bool:  # noqa: ARG002
        """Return whether a question of the dataset has no options."""
        if not (dataset / TABLE).is_dir():
            return False
        reader = DatasetReader(dataset)
        return any(row["kind"] == OPEN for split in reader.splits(TABLE) for row in reader.rows(TABLE, split, ["kind"]))

    def read_items(self, dataset: Path, *, config: str, split: str | None) -> QuestionItems:
        """Read the questions of a split; those that have options are asked without them."""
        return read_question_items(dataset, config=config, split=split, with_open=True)

    def read_predictions(self, path: Path, scoring: Scoring[QuestionItems]) -> Matched:
        """Read answers, each with the verdict of a judge where the file has those; see `read_open_answers`."""
        answers, judge = read_open_answers(path, scoring.columns)
        matched = match_predictions(str(path), answers, scoring.items.ids, scoring.rule, noun="answer")
        return matched._replace(notes=[f"The judge is {judge}."] if judge else [])

    def score(self, predictions: Matched, scoring: Scoring[QuestionItems]) -> Scored:
        """Score answers; a missing one is wrong.

        Returns:
            ``accuracy``; ``accuracy-folded`` without case, articles and punctuation; ``prior``; ``gain-over-prior``,
            the accuracy minus it; ``judged``, the mean verdict of a judge on the answers that have one.
        """
        items = scoring.items
        truths = [asked.options[asked.answer] for asked in items.questions]
        given = [("", None) if each is None else each for each in predictions.values]
        right = _equal([text for text, _ in given], truths)
        prior = _equal(guess_by_type(items, truths), truths)
        columns = {
            "accuracy": right,
            "accuracy-folded": _equal([fold_answer(text) for text, _ in given], [fold_answer(text) for text in truths]),
            "prior": prior,
            "gain-over-prior": right - prior,
        }
        every = np.arange(len(truths))
        scored = {
            name: ScoreColumn(ColumnScores.from_means(values), every, binary=bool((values >= 0).all()))
            for name, values in columns.items()
        }
        judged = np.array([index for index, (_, verdict) in enumerate(given) if verdict is not None], dtype=np.int64)
        settings = {"rules": "exact-1"}
        if len(judged):
            verdicts = np.array([given[index][1] for index in judged.tolist()], dtype=np.float64)
            scored["judged"] = ScoreColumn(ColumnScores.from_means(verdicts), judged)
            settings["judged"] = f"{len(judged)}"
        return Scored(
            scored, predictions.counts, predictions.notes, settings=settings, texts=[[text] for text, _ in given]
        )


def read_open_answers(path: Path, columns: NamedColumns) -> tuple[list[tuple[str, tuple[str, float | None]]], str]:
    """Return the id of each question with its answer and a judge's verdict, None without one, and who the judge is.

    Args:
        path: table with ``question_id`` (or ``id``, ``item``) and an answer. With a column ``judge`` it is also a table
            of verdicts, see `vttdata.evaluate.meta.verdicts.read_judges`, whose ``item`` is the question and whose
            ``score`` is from 0, wrong, to 1, right.
        columns: other names of ``question_id`` and ``prediction``.

    Raises:
        VttdataError: if it cannot be read, several judges gave verdicts, or a score is not from 0 to 1.
    """
    rows = list(read_table(path, columns.of(_COLUMNS)))
    verdicts: dict[str, float] = {}
    judge = ""
    if rows and "judge" in rows[0][1]:
        judges = read_judges(path)
        if len(judges) > 1:
            raise VttdataError(f"{path}: has verdicts of {len(judges)} judges; keep one a file, and compare --against.")
        judge = f"{judges[0].name}, prompt {judges[0].prompt}, {' to '.join(dict.fromkeys(judges[0].dates))}"
        verdicts = {item: score for (_, item), score in judges[0].scores().items()}
        beyond = next((item for item, score in verdicts.items() if not 0 <= score <= 1), None)
        if beyond is not None:
            raise VttdataError(f"{path}: the score of {beyond[:80]!a} is {verdicts[beyond]:g}, not from 0 to 1.")
    answers = []
    for _, row in rows:
        name = str(next(row[column] for column in _IDS if column in row))
        text = next((row[column] for column in _ANSWERS if column in row and row[column] is not None), "")
        answers.append((name, (str(text), verdicts.get(name))))
    return answers, judge


def fold_answer(text: str) -> str:
    """Return an answer in lower case without articles, punctuation and spaces around words."""
    return " ".join(_LEFT_OUT.sub(" ", text.casefold()).split())


def guess_by_type(items: QuestionItems, truths: Sequence[str]) -> list[str]:
    """Return the most frequent right answer to questions of the type of each one about other sources; n.

    The type is that of the dataset, or else the first word of the question. Of equally frequent answers the first in
    alphabetical order is taken, and of a type that no other source has, none.
    """
    types = [each.type or (each.question.casefold().split() or [""])[0] for each in items.questions]
    total: defaultdict[str, Counter[str]] = defaultdict(Counter)
    of_source: defaultdict[tuple[str, int], Counter[str]] = defaultdict(Counter)
    sources = items.sources.tolist()
    for kind, source, truth in zip(types, sources, truths, strict=True):
        total[kind][truth] += 1
        of_source[kind, source][truth] += 1
    ranked = {
        kind: [text for _, text in sorted((-count, text) for text, count in counts.items())]
        for kind, counts in total.items()
    }
    guesses = {}
    for kind, source in of_source:
        own, counts = of_source[kind, source], total[kind]
        # Only the source's own answers lose counts, so the best of the others is the first of them in the ranking.
        others = next((text for text in ranked[kind] if text not in own), "")
        best = min([others, *own], key=lambda text: (own[text] - counts[text], text))
        guesses[kind, source] = best if counts[best] > own[best] else ""
    return [guesses[kind, source] for kind, source in zip(types, sources, strict=True)]


def _equal(texts: Sequence[str], others: Sequence[str]) -> Floats:
    return np.array([text == other for text, other in zip(texts, others, strict=True)], dtype=np.float64)


TASK = OpenAnswersTask()
