"""Read multiple-choice questions from the tables in which benchmarks publish them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from vttdata.errors import VttdataError
from vttdata.files.tables import fold_name, read_table
from vttdata.generate.foils.blind.questions import MultipleChoice

_OPTIONS = ("options", "candidates", "choices")
# Columns of single options: option_0, option1, a0 (NExT-QA), A.
_OPTION = re.compile(r"(?:option_?|a)(\d)|([a-h])")
_ANSWERS = ("answer", "correct", "label")
_VIDEOS = ("video_id", "video", "source_id")
_MIN_OPTIONS = 2


def read_questions(path: Path) -> list[MultipleChoice] | None:
    """Return the questions of a table; None if it is none of questions.

    Args:
        path: JSON list, JSON lines, CSV or TSV with `question`; `options` (or `candidates`: a list), or a column for
            each option (``option_0`` ..., ``a0`` ..., ``A`` ...); `answer`: the text of an option, its letter, or its
            index from 0; and `video_id` or `video`.

    Raises:
        VttdataError: when a row has no options, or an answer that is none of them; names file and line.
    """
    questions: list[MultipleChoice] = []
    for line, raw in read_table(path):
        row = {fold_name(name): value for name, value in raw.items()}
        if "true" in row and "foil" in row:
            return None
        if not questions and not (row.keys() & {*_OPTIONS, "question"}):
            return None
        options = _options(row)
        if len(options) < _MIN_OPTIONS or not all(isinstance(option, str) and option.strip() for option in options):
            raise VttdataError(f"{path}:{line}: two or more options are expected, as texts; found {str(options)[:80]}.")
        answer = next((row[name] for name in _ANSWERS if row.get(name) is not None), None)
        video = next((row[name] for name in _VIDEOS if row.get(name) is not None), line)
        place = find_answer(answer, options)
        if place is None:
            raise VttdataError(
                f"{path}:{line}: the answer {str(answer)[:60]!a} is no option, by its text, letter or index from 0."
            )
        questions.append(MultipleChoice(str(row.get("question") or ""), tuple(options), place, str(video)))
    return questions or None


def _options(row: Mapping[str, Any]) -> list[Any]:
    for name in _OPTIONS:
        if isinstance(row.get(name), list):
            return list(row[name])
    columns = {name: match for name in row if (match := _OPTION.fullmatch(name))}
    return [row[name] for name in sorted(columns) if row[name] is not None]


def find_answer(answer: object, options: list[str]) -> int | None:
    """Return the index of the option that an answer names by its text, letter or index; None if it names none."""
    if isinstance(answer, str):
        text = answer.strip()
        if options.count(text) == 1:
            return options.index(text)
        letter = text.strip("().").upper()
        if len(letter) == 1 and letter.isalpha():
            index = ord(letter) - ord("A")
            return index if 0 <= index < len(options) else None
        answer = int(text) if text.isdecimal() else None
    if isinstance(answer, int) and not isinstance(answer, bool) and 0 <= answer < len(options):
        return answer
    return None
