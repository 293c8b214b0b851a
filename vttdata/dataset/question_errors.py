"""Errors that the questions of a dataset show by themselves, as a table that an evaluation can apply.

An error is what nobody can answer as the set counts it, or what counts by chance of notation; nothing is said of what
the makers meant.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import astuple, dataclass, fields
from pathlib import Path

from vttdata.dataset.front_matter import read_layout
from vttdata.dataset.parquet import read_parquet_rows
from vttdata.dataset.questions import StoredQuestion
from vttdata.errors import VttdataError, list_choices
from vttdata.files.csv_safety import unescape_formula
from vttdata.files.output_file import write_whole
from vttdata.files.table_formats import as_csv
from vttdata.files.tables import Columns, read_table
from vttdata.text.questions import fold_text

ERRORS: Mapping[str, str] = {
    "doubled_options": "two wrong options are the same text",
    "two_keys": "a further option is the text of the right one",
    "two_answers": "the same question about the same span has another answer elsewhere, which is an option here",
    "span_after_video": "the span ends more than a second after the video",
}
"""Error of a question -> what it means."""

# Durations are often whole seconds.
_TOLERANCE = 1.0
_WORD = re.compile(r"[^\W\d_]{3}")
_COLUMNS = ("question_id", "video_id", "kind", "question", "options", "labels", "answer", "start", "end")


@dataclass(frozen=True, slots=True)
class QuestionError:
    """Error of a question: its kind, one of `ERRORS`, and the options or the other question that show it."""

    question_id: str
    error: str
    detail: str


def find_question_errors(folder: Path) -> list[QuestionError]:
    """Return the errors of the questions of a dataset, all splits, in its order."""
    files = read_layout(folder, needs=None).files
    clips = [path for paths in files.get("clips", {}).values() for path in paths]
    seconds = {
        row["video_id"]: row["end"] - row["start"]
        for row in read_parquet_rows(clips, ("video_id", "start", "end"))
        if row["end"] is not None and row["end"] > row["start"]
    }
    asked = [path for paths in files.get("questions", {}).values() for path in paths]
    questions = [StoredQuestion.of_row(row) for row in read_parquet_rows(asked, _COLUMNS)]
    same: dict[Hashable, list[StoredQuestion]] = defaultdict(list)
    for each in questions:
        same[_key(each)].append(each)
    return [error for each in questions for error in _errors_of(each, same[_key(each)], seconds.get(each.video_id))]


def _key(question: StoredQuestion) -> Hashable:
    return question.video_id, _fold(question.question), question.start, question.end


def _errors_of(
    question: StoredQuestion, others: Sequence[StoredQuestion], seconds: float | None
) -> Iterator[QuestionError]:
    options = [_fold(option) for option in question.options]
    copies = [name for name, count in Counter(options).items() if count > 1]
    for text in copies:
        error = "two_keys" if text == options[question.answer] else "doubled_options"
        named = " = ".join(label for label, option in zip(question.labels, options, strict=True) if option == text)
        yield QuestionError(question.question_id, error, named)
    for other in others:
        theirs = [_fold(option) for option in other.options]
        key, other_key = options[question.answer], theirs[other.answer]
        if key != other_key and key in theirs and other_key in options:
            yield QuestionError(question.question_id, "two_answers", other.question_id)
    if seconds is not None and question.end is not None and question.end > seconds + _TOLERANCE:
        detail = f"{question.end:.3f} s of {seconds:.3f} s"
        yield QuestionError(question.question_id, "span_after_video", detail)


def _fold(text: str) -> str:
    """Return a text as it is compared: without case where it has a word, since letters of formulas differ by it."""
    return fold_text(text) if _WORD.search(text) else " ".join(text.split()).removesuffix(".").rstrip()


def write_question_errors(path: Path, errors: Sequence[QuestionError]) -> None:
    """Write errors as a table (CSV) that `read_question_errors` reads."""
    names = [each.name for each in fields(QuestionError)]
    write_whole(path, as_csv([names, *map(astuple, errors)]))


def read_question_errors(path: Path) -> dict[str, list[str]]:
    """Return the errors of each question in a table with the columns ``question_id`` and ``error``.

    Raises:
        VttdataError: when it cannot be read, or an error is none of `ERRORS`.
    """
    found: dict[str, list[str]] = defaultdict(list)
    for line, row in read_table(path, Columns(("question_id", "error"), (("question_id",), ("error",)))):
        error = str(row["error"])
        if error not in ERRORS or row["question_id"] is None:
            raise VttdataError(
                f"{path}:{line}: the error {error[:60]!a} is none of {list_choices(error, list(ERRORS))}."
            )
        found[unescape_formula(str(row["question_id"]))].append(error)
    return dict(found)
