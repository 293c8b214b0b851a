"""Read tables of questions as people publish them: options in columns, lists or lines, and answers in any notation.

An answer is the text of an option, its letter or label, or its index from 0 or from 1. One notation holds for a whole
file: it is the one that every answer of the file fits. Where two notations fit that name different options, as numbers
from 1 to 3 do beside five options, the file is refused instead of being read by chance.
"""

from __future__ import annotations

import ast
import contextlib
import itertools
import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from string import ascii_uppercase
from typing import NamedTuple

from vttdata.errors import VttdataError
from vttdata.files.tables import Columns, fold_name, read_table
from vttdata.ids import MAX_EXTERNAL_ID_LENGTH, VIDEO_EXTENSIONS, digest, is_safe_id
from vttdata.json_types import Row

MIN_OPTIONS, MAX_OPTIONS = 2, 26
OPEN = "open"
"""Kind of questions without options to choose from; the only one is the right answer."""
YES_NO = ("yes", "no")

COLUMNS: Mapping[str, Sequence[str]] = {
    "question_id": ("question_id", "qid", "id"),
    "video_id": ("video_id", "video", "video_name", "source_id"),
    "source_id": ("source_id",),
    "question": ("question",),
    "options": ("options", "candidates", "choices"),
    "answer": ("answer", "correct", "label"),
    "answer_letter": ("answer_letter",),
    "answer_text": ("answer_text",),
    "answer_index": ("answer_index",),
    "answer_number": ("answer_number",),
    "group": ("group",),
    "type": ("type", "question_type", "task", "category"),
    "kind": ("kind",),
    "split": ("split",),
    "start": ("start",),
    "end": ("end",),
}
"""Column of a table of questions -> the names by which it is found, in this order.

`answer_index` counts from 0 and `answer_number` from 1; both, and `answer_letter` and `answer_text`, say how the answer
is written, so that nothing needs to be decided.
"""

# Texts that blind attackers see, whose spaces may tell the answer.
_ATTACKED = frozenset({"question", "options"})

OPTION_COLUMN = re.compile(
    r"(?P<word>option_?|opt_?|choice_?|a)(?P<number>[0-9]{1,2})|(?:(?:option|opt|choice)_)?(?P<letter>[a-z])"
)
"""Folded names of columns of single options: option_0, option1, a0 (NExT-QA), A, opt_a, choice_a."""
QUESTION_COLUMNS = "question, options (or option_0, option_1, ..., also option_a, a0 or A) and answer"
"""Columns that a table of questions is known by, for messages."""

# A space may be missing after the mark, but not after that of a number, which would be one with decimals.
_OPTION_LINE = re.compile(
    r"\s*\(?(?P<label>(?:(?:option|sentence|caption|choice|answer)\s+)?(?P<mark>[A-Za-z]|[0-9]{1,2}))\)?\s*[.:)](?:\s+|(?<![0-9].))"
    r"(?P<text>\S(?s:.*))",
    re.IGNORECASE,
)
_LETTER = re.compile(r"\(?([A-Za-z])\)?[.):]?")
# Of a number with its zeros after the point.
_MAX_DIGITS = 6
_UNUSABLE = re.compile(r"[^A-Za-z0-9._-]+")
_NUMBER = re.compile(r"[0-9]+(?:\.0+)?")


class LinedOptions(NamedTuple):
    """Question whose options were lines of its text, the options, and their labels in those lines."""

    question: str
    options: tuple[str, ...]
    labels: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Choices:
    """Options of a question, and what they are called in it."""

    options: Sequence[str]
    labels: Sequence[str]

    def copies(self, index: int) -> frozenset[int]:
        """Return the options with the text of one, itself among them."""
        text = fold_text(self.options[index])
        return frozenset(other for other, option in enumerate(self.options) if fold_text(option) == text)


class TableQuestion(NamedTuple):
    """Row of a table of questions.

    Fields:
        location: file and line.
        cells: row under the names of `COLUMNS`, as far as the table has them.
        question: text without options.
        choices: options with their labels.
        answer: index of the right option, from 0.
    """

    location: str
    cells: Row
    question: str
    choices: Choices
    answer: int

    @property
    def video_id(self) -> str | None:
        """Return the name of the video, see `name_video`; None where the row has none."""
        name = self.cells.get("video_id")
        return None if name is None else name_video(str(name))


def name_video(file: str) -> str:
    """Return the id of a video by its file: without the extension of a video, with ``-`` between folders and name."""
    path = PurePosixPath(file)
    named = path.with_suffix("") if path.suffix.lower() in VIDEO_EXTENSIONS else path
    return str(named) if path.is_absolute() or ".." in named.parts else "-".join(named.parts)


def plain_id(name: str) -> str:
    """Return an id for a video whose name can be none: with ``_`` for spaces and the like, and a digest behind it."""
    if is_safe_id(name, MAX_EXTERNAL_ID_LENGTH):
        return name
    plain = _UNUSABLE.sub("_", name).replace("..", "_").lstrip(".")
    return f"{plain[: MAX_EXTERNAL_ID_LENGTH - 9]}-{digest(name)[:8]}"


def group_derived_videos(videos: Iterable[str]) -> dict[str, str]:
    """Return the take of each video: ``ID`` of ``ID_reverse`` and ``ID_concat_0``, where there is a video ``ID``."""
    names = set(videos)
    takes = {}
    for name in names:
        parts = name.split("_")
        stems = ("_".join(parts[:length]) for length in range(1, len(parts)))
        takes[name] = next((stem for stem in stems if stem in names), name)
    return takes


def find_shared_types(groups: Iterable[Sequence[str | None]]) -> list[str]:
    """Return the types of questions by which groups are scored as well, sorted.

    Args:
        groups: the types of the questions of each group.

    Returns:
        All types if there are several and each group has two or more questions of each, else nothing.
    """
    counted = [Counter(types) for types in groups]
    shared = set(counted[0]) if counted else set()
    is_shared = len(shared) > 1 and all(set(types) == shared and min(types.values()) > 1 for types in counted)
    return sorted(name for name in shared if name is not None) if is_shared else []


def letters(number: int) -> tuple[str, ...]:
    """Return the letters of so many options."""
    return tuple(ascii_uppercase[:number])


def least_options(kind: str) -> int:
    """Return the least number of options of a kind of questions."""
    return 1 if kind == OPEN else MIN_OPTIONS


def kind_of(options: Sequence[str]) -> str:
    """Return ``yes_no`` for the options yes and no, else ``multiple_choice``."""
    return "yes_no" if sorted(map(fold_text, options)) == sorted(YES_NO) else "multiple_choice"


def fold_text(text: str) -> str:
    """Return a text in lower case without spaces around it, double ones, or a full stop at its end."""
    return " ".join(text.casefold().split()).removesuffix(".").rstrip()


def split_option_lines(text: str) -> LinedOptions | None:
    """Split a question whose last lines are its options, such as ``A. a dog`` or ``Option 1: a dog``.

    Returns:
        None unless the labels are A, B, ... or 1, 2, ... in order, to the end of the text.
    """
    lines = [line for line in text.splitlines() if line.strip()]
    matches = [_OPTION_LINE.fullmatch(line) for line in lines]
    first = len(lines)
    while first and matches[first - 1]:
        first -= 1
    for start in range(first, len(lines) - MIN_OPTIONS + 1):
        found = [match for match in matches[start:] if match]
        marks = [match["mark"].upper() for match in found]
        if marks in ([*letters(len(found))], [str(number + 1) for number in range(len(found))]):
            options = tuple(match["text"] for match in found)
            return LinedOptions("\n".join(lines[:start]), options, tuple(match["label"].strip() for match in found))
    return None


def without_instruction(question: str) -> str:
    """Return a question without the line that follows its lines of options; other questions as they are."""
    rest = question.rstrip().rpartition("\n")[0]
    return rest if split_option_lines(question) is None and split_option_lines(rest) is not None else question


def find_text(answer: object, choices: Choices) -> int | None:
    """Return the option whose text an answer is, at least but for case, spaces and a full stop; None for none.

    Of several it is the first.
    """
    if answer in choices.options:
        return choices.options.index(str(answer))
    wanted = fold_text(str(answer))
    return next((index for index, option in enumerate(choices.options) if fold_text(option) == wanted), None)


def find_label(answer: object, choices: Choices) -> int | None:
    """Return the option that an answer names by its letter, its label, or its label and its text; else None."""
    if not isinstance(answer, str):
        return None
    text = answer.strip()
    if match := _LETTER.fullmatch(text):
        index = ascii_uppercase.index(match[1].upper())
        return index if index < len(choices.options) else None
    folded = fold_text(text)
    for index, (label, option) in enumerate(zip(choices.labels, choices.options, strict=True)):
        if folded == fold_text(label) and not _NUMBER.fullmatch(folded):
            return index
        line = _OPTION_LINE.fullmatch(text)
        if line and fold_text(line["label"]) in (fold_text(label), ascii_uppercase[index].lower()):
            return index if fold_text(line["text"]) == fold_text(option) else None
    return None


def find_option(answer: object, choices: Choices) -> int | None:
    """Return the option that an answer names by its text or its label; None where these are of two texts."""
    found = [index for index in (find_label(answer, choices), find_text(answer, choices)) if index is not None]
    return found[0] if found and choices.copies(found[0]).issuperset(found) else None


def find_index(answer: object, choices: Choices) -> int | None:
    """Return the option with an index from 0."""
    number = read_count(answer)
    return number if number is not None and number < len(choices.options) else None


def find_number(answer: object, choices: Choices) -> int | None:
    """Return the option with a number from 1."""
    number = read_count(answer)
    return number - 1 if number is not None and 1 <= number <= len(choices.options) else None


def read_count(answer: object) -> int | None:
    """Return an answer that is a number without sign or fraction, also as text, such as ``2`` or ``2.0``."""
    if isinstance(answer, bool) or not isinstance(answer, (int, float, str)):
        return None
    text = str(answer).strip()
    return int(float(text)) if _NUMBER.fullmatch(text) and len(text) <= _MAX_DIGITS else None


_NOTATIONS: Mapping[str, Callable[[object, Choices], int | None]] = {
    "text or letter": find_option,
    "text": find_text,
    "letter": find_label,
    "index from 0": find_index,
    "number from 1": find_number,
}
ANSWER_COLUMNS = {
    "answer_index": "index from 0",
    "answer_number": "number from 1",
    "answer_letter": "letter",
    "answer_text": "text",
}
"""Column that says how its answers are written -> how."""


def decide_answers(answers: Sequence[object], choices: Sequence[Choices], locations: Sequence[str]) -> list[int]:
    """Return the indices of answers, in the one notation that all of them fit.

    Args:
        answers: n, as they are written.
        choices: options of the question of each.
        locations: file and line of each, for messages.

    Raises:
        VttdataError: when no notation fits all answers, or two fit that name different options.
    """
    found = {
        name: [find(answer, options) for answer, options in zip(answers, choices, strict=True)]
        for name, find in _NOTATIONS.items()
    }
    fitting = {name: indices for name, indices in found.items() if None not in indices}
    if not fitting:
        raise VttdataError(_describe_misfit(answers, choices, locations, found))
    (name, indices), *others = fitting.items()
    for other, differing in others:
        pairs = enumerate(zip(choices, indices, differing, strict=True))
        line = next((line for line, (each, one, two) in pairs if two not in each.copies(one or 0)), None)
        if line is not None:
            raise VttdataError(
                f"{locations[line]}: the answer {str(answers[line])[:60]!a} reads as {name} and as {other}, and so "
                "does every answer of the file; name the column answer_index (from 0), answer_number (from 1), "
                "answer_letter or answer_text."
            )
    return [index for index in indices if index is not None]


def _describe_misfit(
    answers: Sequence[object],
    choices: Sequence[Choices],
    locations: Sequence[str],
    found: Mapping[str, Sequence[int | None]],
) -> str:
    """Return a sentence on the first answer that does not fit the notation of most, or on numbers of two kinds."""
    counts = [read_count(answer) for answer in answers]
    if None not in counts:
        zero = next((line for line, number in enumerate(counts) if number == 0), None)
        top = next(
            (line for line, number in enumerate(counts) if number == len(choices[line].options)),
            None,
        )
        if zero is not None and top is not None:
            return (
                f"{locations[zero]}: the answer 0 counts from 0, but that of {locations[top]}, {answers[top]} of "
                f"{len(choices[top].options)} options, from 1."
            )
    best = max(found.values(), key=lambda indices: sum(index is not None for index in indices))
    line = best.index(None)
    options = len(choices[line].options)
    return f"{locations[line]}: the answer {str(answers[line])[:60]!a} is no option, of {options}."


def read_question_table(path: Path, columns: Mapping[str, str] | None = None) -> list[TableQuestion] | None:
    """Return the questions of a table; None if it is none of questions.

    Args:
        path: JSON list, JSON lines, CSV or TSV. Options are a column for each (`OPTION_COLUMN`), a list, lines such as
            ``A. text`` of the question, or yes and no where the answers are; those of the `kind` ``open`` are the right
            answer alone.
        columns: name of `COLUMNS`, or of the column of an option, such as ``option_0`` -> what it is called here.

    Raises:
        VttdataError: when a row has no options, or the answers cannot be decided; see `decide_answers`.
    """
    mapped = {fold_name(name): fold_name(column) for name, column in (columns or {}).items()}
    option_of = {column: name for name, column in mapped.items() if OPTION_COLUMN.fullmatch(name)}
    unknown = next((name for name in mapped if name not in COLUMNS and name not in option_of.values()), None)
    if unknown is not None:
        raise VttdataError(
            f"columns: a table of questions has no column {unknown!a}; it has {', '.join(COLUMNS)}, and option_0, "
            "option_1, ... for single options."
        )
    rows: list[tuple[str, Row, str, Choices]] = []
    for line, raw in read_table(path, Columns(keep_spaces=True)):
        folded = {fold_name(name): value for name, value in raw.items()}
        missing = next((column for column in (columns or {}).values() if fold_name(column) not in folded), None)
        if missing is not None and not rows:
            raise VttdataError(f"{path}:{line}: there is no column {missing!a}; the columns are {', '.join(raw)}.")
        cells = _name_cells(folded, mapped)
        if not rows and not _is_of_questions(folded, cells):
            return None
        location = f"{path}:{line}"
        options = read_options(location, cells.get("options"))
        if options is None:
            # A column that has another meaning is no option, and no others are where options are named.
            single = set(option_of) or folded.keys() - mapped.values()
            named = {option_of.get(name, name): value for name, value in folded.items() if name in single}
            options = lettered_options(location, named)
        answer = cells.get("answer", cells.get("answer_text"))
        if cells.get("kind") == OPEN:
            text = answer if isinstance(answer, str) else _text_of(answer)
            if text is None or not text.strip():
                raise VttdataError(f"{location}: an open question has a text in the column 'answer'.")
            rows.append((location, cells, str(cells.get("question", "")), Choices([text], letters(1))))
            continue
        where = (
            f"; the columns are {', '.join(raw)}, and --columns option_0=COLUMN --columns option_1=COLUMN names yours"
        )
        asked = choose_options(location, str(cells.get("question", "")), options, answer, where)
        rows.append((location, cells, *asked))
    return _decide_rows(rows) if rows else None


def no_questions(path: Path, otherwise: str = "") -> VttdataError:
    """Return the error for a table that `read_question_table` takes for none of questions, nor for what it else may be.

    `otherwise` says what columns it has then, such as ``, or one of foils with true and foil``.
    """
    _, first = next(read_table(path), (0, {}))
    return VttdataError(
        f"{path}: holds no questions; a table of them has the columns {QUESTION_COLUMNS}{otherwise}; the columns are "
        f"{', '.join(first)[:400] or 'none'}. Name yours with --columns question=COLUMN --columns answer=COLUMN, and "
        "options with --columns option_0=COLUMN --columns option_1=COLUMN."
    )


def _is_of_questions(folded: Row, cells: Row) -> bool:
    return not {"true", "foil"} <= folded.keys() and bool({"options", "question"} & cells.keys())


def _name_cells(folded: Row, columns: Mapping[str, str]) -> Row:
    """Return the cells of a row under the names of `COLUMNS`: of columns that are named, else of usual names."""
    cells: Row = {}
    for name, usual in COLUMNS.items():
        names = [columns[name]] if name in columns else usual
        column = next((column for column in names if folded.get(column) is not None), None)
        if column is not None:
            value = folded[column]
            cells[name] = value.strip() if isinstance(value, str) and name not in _ATTACKED else value
    return cells


def choose_options(
    location: str, question: str, options: Sequence[object] | None, answer: object = None, where: str = ""
) -> tuple[str, Choices]:
    """Return the text of a question, and its options.

    Args:
        location: file and line, which begins messages.
        question: its last lines are the options where there are no others.
        options: texts or numbers; labels such as ``A.`` in front of all of them are left out.
        answer: without any options, those of the answer yes or no are yes and no.
        where: what to say where there are none.

    Raises:
        VttdataError: when there are not 2 to 26 options, or one is no text.
    """
    if not options and (lined := split_option_lines(question)) is not None and len(lined.options) <= MAX_OPTIONS:
        return lined.question, Choices(lined.options, lined.labels)
    if not options and fold_text(str(answer)) in YES_NO:
        options = YES_NO
    if not options:
        raise VttdataError(
            f"{location}: there are no options; they are a list 'options', columns such as option_0, option_a, a0 or "
            f"A, or lines of the question such as 'A. text'{where}."
        )
    texts = [option if isinstance(option, str) else _text_of(option) for option in options]
    usable = [text for text in texts if text is not None and text.strip()]
    if len(usable) < len(texts) or not MIN_OPTIONS <= len(usable) <= MAX_OPTIONS:
        raise VttdataError(
            f"{location}: two or more options are expected, at most {MAX_OPTIONS}, as texts; found "
            f"{str(list(options))[:80]}."
        )
    labelled = [_OPTION_LINE.fullmatch(text) for text in usable]
    marks = [match["mark"].upper() for match in labelled if match]
    if marks == [*letters(len(usable))]:
        usable = [match["text"] for match in labelled if match]
    return question, Choices(usable, letters(len(usable)))


def read_options(location: str, value: object) -> list[object] | None:
    """Return the options in one cell: a list or an object, also as JSON or Python writes it, or lines like ``A. text``.

    Returns:
        The options as they are written, in the order of their letters or digits where an object names them so; None
        for an empty cell.

    Raises:
        VttdataError: if the cell is anything else.
    """
    if isinstance(value, str) and value.lstrip().startswith(("[", "{", "(")):
        text = value.strip()
        for parse in (json.loads, ast.literal_eval):
            with contextlib.suppress(ValueError, SyntaxError, TypeError, RecursionError, MemoryError):
                found = parse(text)
                if isinstance(found, (list, tuple, dict)):
                    value = found
                    break
    if isinstance(value, dict):
        named = {fold_name(f"option {name}" if str(name).isdecimal() else str(name)): value[name] for name in value}
        lettered = lettered_options(location, named)
        if not lettered and all(map(OPTION_COLUMN.fullmatch, named)):
            raise VttdataError(
                f"{location}: the options {', '.join(named)} are not numbered or lettered without a gap."
            )
        return lettered or list(value.values())
    if isinstance(value, (list, tuple)):
        return list(value)
    if value is None or not str(value).strip():
        return None
    lined = split_option_lines(value) if isinstance(value, str) else None
    if lined is None:
        raise VttdataError(f"{location}: {str(value)[:60]!a} is no list of options, nor lines such as 'A. text'.")
    return list(lined.options)


def option_columns(names: Iterable[str]) -> tuple[list[str], list[str]]:
    """Return the columns of single options among folded names, such as ``option_0``, in order, and those beyond a gap.

    They are a run of numbers from 0 or 1, or of letters from A, two or more; with both, one run is beyond the other.
    """
    by_word: dict[str, dict[int, str]] = {}
    beyond = []
    for name in names:
        if match := OPTION_COLUMN.fullmatch(name):
            number = ascii_uppercase.index(match["letter"].upper()) if match["letter"] else int(match["number"])
            word = "" if match["letter"] else match["word"].removesuffix("_")
            of_word = by_word.setdefault(word, {})
            beyond += [name] if of_word.setdefault(number, name) != name else []
    runs = []
    for word, of_word in by_word.items():
        first = 0 if 0 in of_word or not word else 1
        run = [of_word[number] for number in itertools.takewhile(of_word.__contains__, itertools.count(first))]
        if word or len(run) >= MIN_OPTIONS:
            runs.append(run)
            beyond += [name for name in of_word.values() if name not in run]
    found, *others = runs or [[]]
    return found, [*beyond, *itertools.chain(*others)]


def lettered_options(location: str, cells: Row) -> list[object]:
    """Return the options in the cells of `option_columns`; empty ones at the end are none, others move the letters."""
    names, beyond = option_columns(cells)
    if beyond:
        raise VttdataError(
            f"{location}: the options are {', '.join(map(repr, names)) or 'none'}, and {beyond[0]!a} is beyond them; "
            "options are numbered or lettered without a gap, so rename it, or the one that is missing."
        )
    filled = [name for name in names if cells[name] is not None and str(cells[name]).strip()]
    options = names[: names.index(filled[-1]) + 1] if filled else []
    empty = next((name for name in options if name not in filled), None)
    if empty is not None:
        raise VttdataError(
            f"{location}: the option {empty!a} is empty, but {filled[-1]!a} after it is not; pandas reads and writes "
            "options such as None and NA as empty cells unless it is told keep_default_na=False."
        )
    return [cells[name] for name in options]


def _text_of(value: object) -> str | None:
    """Return a number as text; None for what is neither."""
    return str(value) if isinstance(value, (int, float)) and not isinstance(value, bool) else None


def _decide_rows(rows: Sequence[tuple[str, Row, str, Choices]]) -> list[TableQuestion]:
    stated = next((name for name in ANSWER_COLUMNS if all(name in cells for _, cells, _, _ in rows)), "answer")
    answers = [cells.get(stated) for _, cells, _, _ in rows]
    indices = find_answers(stated, answers, [choices for *_, choices in rows], [location for location, *_ in rows])
    return [TableQuestion(*row, index) for row, index in zip(rows, indices, strict=True)]


def find_answer(column: str, answer: object, choices: Choices) -> int | None:
    """Return the index of an answer that is written as a column of `ANSWER_COLUMNS` says; None for no option."""
    return _NOTATIONS[ANSWER_COLUMNS[column]](answer, choices)


def find_answers(
    column: str, answers: Sequence[object], choices: Sequence[Choices], locations: Sequence[str]
) -> list[int]:
    """Return the indices of answers that are written as their column says; see `COLUMNS` and `decide_answers`.

    Raises:
        VttdataError: when an answer is no option, or as `decide_answers`.
    """
    if column not in ANSWER_COLUMNS:
        return decide_answers(answers, choices, locations)
    found = [find_answer(column, answer, options) for answer, options in zip(answers, choices, strict=True)]
    if None in found:
        line = found.index(None)
        raise VttdataError(
            f"{locations[line]}: {column} {str(answers[line])[:60]!a} is no option, of {len(choices[line].options)}."
        )
    return [index for index in found if index is not None]
