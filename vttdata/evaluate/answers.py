"""Answers to questions: files of them as models and harnesses write them, and the rules that read free text.

A rule turns an answer in words into the options that it names. Sets of rules have a version, since scores under other
rules are not comparable. What no rule understands is never left out: it is wrong, and counted.
"""

from __future__ import annotations

import contextlib
import dataclasses
import json
import math
import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from string import ascii_uppercase
from typing import NamedTuple

from vttdata.dataset.questions import Named, StoredQuestion
from vttdata.errors import VttdataError, list_choices
from vttdata.evaluate.harness_logs import is_harness_log, read_harness_log
from vttdata.evaluate.predictions import OUTPUT_COLUMNS, USUAL, NamedColumns, read_strict_json
from vttdata.files.tables import READ_SUFFIXES, Columns, number_or_nan, read_table, unfold_table
from vttdata.ids import find_video_id
from vttdata.json_types import Row
from vttdata.text.questions import (
    COLUMNS,
    OPTION_COLUMN,
    decide_answers,
    find_label,
    find_text,
    fold_text,
    lettered_options,
    letters,
    name_video,
    option_columns,
    read_count,
    read_options,
    split_option_lines,
)
from vttdata.text.statements import find_statement

_NONE: Named = frozenset()
_IDS = ("question_id", "qid", "q_uid", "id")
_VIDEOS = ("video_id", "video", "video_name")
FREE_TEXT = "free_text"
"""Column of answers in a model's own words, in which a number is no index."""

_PREDICTIONS = (FREE_TEXT, *OUTPUT_COLUMNS)
_ANSWERS = (*_PREDICTIONS, "answer", "text")
_STATED = ("answer_index", "answer_number", "answer_letter", "answer_text")
# Columns of what is asked and of what is right, in which no answers of a system are looked for.
_GIVEN = frozenset({*chain(*COLUMNS.values()), "gt", "gold", "ground_truth", "target", "correct_answer", "rating"})
_SCORES = re.compile(r"score_?([0-9])")
# Marks of the end of a text that models leave in it, and marks of emphasis around it.
_END = re.compile(r"</s>|<\|(?:im_end|eot_id|endoftext)\|>")
_BEGINNING = re.compile(r"\(?([A-J])[.):](?![A-Za-z]\.)|\(([A-J])\)")
# A letter that a word follows may be an article or a pronoun, but names another option than the letter that is clear.
_ANSWER_IS = re.compile(
    r"\b(?:[Aa]nswer|ANSWER|[Oo]ption|[Cc]hoice)(?:\s+is)?\s*:?\s*\**\(?([A-J])\b(?P<clear>[.,:;)*]|[\s*]*$)?"
)
_NOT_ALPHANUMERIC = re.compile(r"[\W_]+")


@dataclass(frozen=True, slots=True)
class Answer:
    """Answer of a system to a question.

    Fields:
        named: options that it names; None where no rule understands it.
        credit: of a right option: 1, or a share where scores of several options are the highest.
        rating: by a judge, 0..1, which decides instead of the options; None without one.
        text: the answer as it was given.
    """

    named: Named | None
    credit: float = 1.0
    rating: float | None = None
    text: str = ""

    @property
    def is_understood(self) -> bool:
        """Whether a rule understands it, or a judge has rated it."""
        return self.named is not None or self.rating is not None

    def score(self, asked: StoredQuestion) -> float:
        """Return how far it is right, 0..1; a copy of the right option counts as it does."""
        if self.rating is not None:
            return self.rating
        return min(1.0, self.credit * len(asked.right & (self.named or _NONE)))

    def show(self, asked: StoredQuestion) -> str:
        """Return it for people: its text, and the options that it names where the text does not quote them."""
        options = " or ".join(asked.options[place] for place in sorted(self.named or _NONE))
        quoted = fold_text(options) in fold_text(self.text)
        return "answered: " + (self.text if quoted else f"{self.text} ({options})" if self.text else options)


def read_standard(text: str, asked: StoredQuestion) -> Named | None:
    """Read an answer by the rules ``standard-1``.

    Of yes and no, the first word. Else, in this order: the whole answer is the text of an option; its letter or label,
    alone or with its text; a letter with ``.``, ``)`` or ``:`` at the beginning; "answer is", "answer:", "option" or
    "choice" with one letter, always the same. Case, spaces around, a full stop at the end and emphasis do not count.
    """
    text = text.strip().strip("*\"'`").strip()
    if asked.is_yes_no:
        return read_first_word(text, asked)
    # Of options with the same text, which some published questions have, each is named.
    same = frozenset(i for i, option in enumerate(asked.options) if fold_text(option) == fold_text(text))
    if same:
        return same
    index = find_label(text, asked.choices)
    if index is not None:
        return frozenset({index})
    if match := _BEGINNING.match(text):
        return _by_letter(match[1] or match[2], asked)
    found = list(_ANSWER_IS.finditer(text))
    is_clear = len({match[1] for match in found}) == 1 and any(match["clear"] is not None for match in found)
    return _by_letter(found[0][1], asked) if is_clear else None


def read_tempcompass(text: str, asked: StoredQuestion) -> Named | None:
    """Read an answer by the rules ``tempcompass-1``, those of TempCompass' official scripts before a judge is asked.

    Of multiple choice: a letter of A to D alone, or with ``.`` or ``)`` at the beginning. Of yes and no: the beginning,
    case ignored. Of caption matching: a line of an option, its text, also after ``) ``, or its label (``Option 1``,
    ``1``), also with full stops. Spaces after an answer count, as they did in the authors' results of Gemini.
    """
    text = text.lstrip()
    if asked.is_yes_no:
        return next((frozenset({index}) for index, word in _yes_no(asked) if text.lower().startswith(word)), None)
    choices = asked.choices
    if asked.kind != "caption_matching":
        is_marked = text in ("A", "B", "C", "D") or (text[:1] in ("A", "B", "C", "D") and text[1:2] in (".", ")"))
        return _by_letter(text[0], asked) if is_marked else None
    after_parenthesis = text.split(") ")[1] if ") " in text else text
    for index, (label, option) in enumerate(zip(choices.labels, choices.options, strict=True)):
        names = (label, label.rpartition(" ")[2])
        texts = (f"{label}: {option}", option)
        if text in (*names, *texts) or after_parenthesis == option or text.replace(".", "") in names:
            return frozenset({index})
    return None


def read_tempcompass_stripped(text: str, asked: StoredQuestion) -> Named | None:
    """Read an answer by the rules ``tempcompass-2``, those of the scripts as of April 2025: no spaces count."""
    return read_tempcompass(text.rstrip(), asked)


def read_first_word(text: str, asked: StoredQuestion) -> Named | None:
    """Read an answer by the rules ``first-word-1``: its first word is yes or no, or the letter of an option."""
    word = next(iter(re.findall(r"\w+", text)), "")
    if asked.is_yes_no:
        return next((frozenset({index}) for index, name in _yes_no(asked) if word.lower() == name), None)
    return _by_letter(word.upper(), asked) if len(word) == 1 and word.upper() in letters(10) else None


def read_videohallucer(text: str, asked: StoredQuestion) -> Named | None:
    """Read an answer by the rules ``videohallucer-1``: ``yes`` or ``no`` as a word anywhere.

    As in VideoHallucer's script, an answer with both is right for both. Other questions are read as by ``standard-1``.
    """
    if not asked.is_yes_no:
        return read_standard(text, asked)
    return frozenset(index for index, word in _yes_no(asked) if re.search(rf"\b{word}\b", text.lower())) or None


def read_statement(text: str, asked: StoredQuestion) -> Named | None:
    """Read an answer by the rules ``standard-2``: what it states last; see `vttdata.text.statements`."""
    return find_statement(text, asked.choices)


Rule = Callable[[str, StoredQuestion], Named | None]

RULES: Mapping[str, Rule] = {
    "standard-2": read_statement,
    "standard-1": read_standard,
    "tempcompass-1": read_tempcompass,
    "tempcompass-2": read_tempcompass_stripped,
    "first-word-1": read_first_word,
    "videohallucer-1": read_videohallucer,
}
"""Name with version -> rules."""

DEFAULT_RULES = "standard-2"


def load_rules(name: str) -> Rule:
    """Return a set of rules.

    Raises:
        VttdataError: if there is none of this name.
    """
    if name not in RULES:
        raise VttdataError(f"There are no rules called {name!a}; choose from {list_choices(name, RULES)}.")
    return RULES[name]


def _yes_no(asked: StoredQuestion) -> list[tuple[int, str]]:
    return [(index, fold_text(option)) for index, option in enumerate(asked.options)]


def _by_letter(letter: str, asked: StoredQuestion) -> Named:
    """Return the option with a letter, or nothing for one beyond the options."""
    index = ascii_uppercase.index(letter)
    return frozenset({index}) if index < len(asked.options) else _NONE


class ReadAnswers(NamedTuple):
    """Id of each answered question with its answer, and sentences on the column that was read of several."""

    answers: Sequence[tuple[str, Answer]]
    notes: Sequence[str]


class _Given(NamedTuple):
    """Row of a file of answers: where it is, its cells, and its question."""

    location: str
    cells: Row
    asked: StoredQuestion | None
    name: str

    @property
    def column(self) -> str | None:
        """Name of the column of the answer: of a system's output before what may be right; None without one."""
        return next((name for name in (*_PREDICTIONS, *_STATED, *_ANSWERS) if name in self.cells), None)


def read_answers(
    path: Path,
    questions: Sequence[StoredQuestion],
    rules: str,
    *,
    must_show: bool = False,
    columns: NamedColumns = USUAL,
) -> ReadAnswers:
    """Read the answers to questions.

    Args:
        path: a table (CSV, TSV, JSON, JSON lines), nested JSON as TempCompass, EventHallusion, VideoHallucer and
            NExT-QA have, a log of a harness (see `vttdata.evaluate.harness_logs`), or a folder of such files. A row
            names its question by `question_id`, or by its video and its text, with its options or without them. It has
            an answer in `free_text`, where a number is no index, or in `prediction`, `response` or another of
            `OUTPUT_COLUMNS`; else in `answer_index` (from 0), `answer_number` (from 1), `answer_letter` or
            `answer_text`; else in `answer`; or `scores`, or `score_0` and so on, of the options; and perhaps `rating`,
            how right a judge finds it, 0..1. With `options`, or a column for each, a row says in which order they were
            shown, to which letters and indices then refer. In nested JSON with `prediction` or another column of a
            model's answers, what has none is no row.
        questions: that may be answered.
        rules: name of the rules for free text.
        must_show: refuse rows without `options`.
        columns: other names of these columns.

    Raises:
        VttdataError: if it cannot be read; a row has no answer, options that cannot be read or are not those of its
            question, or an index of no option; or most answers are numbers of which nobody can say whether they count
            from 0 or from 1.
    """
    if path.is_dir():
        files = sorted(file for file in path.iterdir() if file.suffix.lower() in READ_SUFFIXES)
        if not files:
            raise VttdataError(f"{path}: holds no file of answers.")
        read_files = [read_answers(file, questions, rules, must_show=must_show, columns=columns) for file in files]
        # What is said of several files is said once.
        named: dict[str, list[str]] = {}
        for file, note in ((file, note) for file, found in zip(files, read_files, strict=True) for note in found.notes):
            named.setdefault(note.removeprefix(f"{file.name}: "), []).append(file.name)
        return ReadAnswers(
            [answer for found in read_files for answer in found.answers],
            [f"{', '.join(names)}: {note}" for note, names in named.items()],
        )
    find, read = _QuestionFinder(questions, path.stem), load_rules(rules)
    rows = [_Given(location, cells, *find(cells, keys)) for location, cells, keys in _read_rows(path, columns)]
    columns.check(path, (row.cells for row in rows))
    if rows and not any(row.name for row in rows):
        Columns((*_IDS, *_VIDEOS), ((_IDS[0], _VIDEOS[0]),), mapping={}).lay_out(list(rows[0].cells), rows[0].location)
    orders = [_shown_order(row) for row in rows]
    hidden = next((row for row, order in zip(rows, orders, strict=True) if row.asked and order is None), None)
    if must_show and hidden is not None:
        raise VttdataError(f"{hidden.location}: there are no 'options', which say in which order they were shown.")
    shown = [
        row if row.asked is None or order is None else row._replace(asked=_reorder(row.asked, order))
        for row, order in zip(rows, orders, strict=True)
    ]
    answers = []
    for row, order, number in zip(shown, orders, _decide_numbers(shown), strict=True):
        answer = _read_answer(row, read, number)
        if order is not None and answer.named is not None:
            answer = dataclasses.replace(answer, named=frozenset(order[index] for index in answer.named))
        answers.append((row.name, answer))
    scored = [answer.score(row.asked) for row, (_, answer) in zip(rows, answers, strict=True) if row.asked]
    return ReadAnswers(answers, _describe_columns(path, rows, read, all_right=bool(scored) and min(scored) == 1))


def _describe_columns(path: Path, rows: Sequence[_Given], read: Rule, *, all_right: bool) -> list[str]:
    """Return sentences on the column of a file's answers: which it is of several, and whether it may be right ones."""
    known = [row for row in rows if row.asked is not None and not _has_scores(row.cells)]
    columns = dict.fromkeys(row.column for row in known if row.column is not None)
    others = [name for name in (*_ANSWERS, *_STATED) if any(name in row.cells for row in known) and name not in columns]
    shown = ", ".join(map(repr, columns))
    notes = [f"{path.name}: the answers are those of {shown}, not of {', '.join(map(repr, others))}."] if others else []
    if not columns or not columns.keys().isdisjoint(_PREDICTIONS):
        return notes
    alike = [
        name
        for name in dict.fromkeys(chain.from_iterable(row.cells for row in known))
        if name not in columns and name not in _GIVEN and not OPTION_COLUMN.fullmatch(name)
        if 2 * sum(_names_option(row, name, read) for row in known) >= len(known)
    ]
    # Of bare values there is no column that could hold anything else.
    if alike or (all_right and any(len(row.cells) > 1 for row in known)):
        found = f"{', '.join(map(ascii, alike))} reads as answers too" if alike else "every one is right"
        notes.append(
            f"{path.name}: the answers are those of {shown}, and {found}; if it holds what is right, call the column "
            "of the system's answers 'prediction'."
        )
    return notes


def _names_option(row: _Given, column: str, read: Rule) -> bool:
    value = row.cells.get(column)
    return row.asked is not None and isinstance(value, str) and bool(read(value, row.asked))


def _read_rows(path: Path, columns: NamedColumns) -> Iterator[tuple[str, Row, tuple[str, ...]]]:
    """Yield place, cells under folded names, and the keys that lead to each row of a file of answers."""
    if is_harness_log(path):
        columns.refuse(path)
        yield from ((f"{path}:{line}", row, ()) for line, row in read_harness_log(path))
        return
    value = None
    if path.suffix.lower() == ".json":
        # JSON lines are read as a table below, which says what is wrong with anything else.
        with contextlib.suppress(VttdataError):
            value = read_strict_json(path)
    ids = {*_IDS, *_VIDEOS}
    unfolded = unfold_table(value, (*ids, *columns.mapping.values())) if isinstance(value, dict) else None
    is_table = bool(unfolded) and not ids.isdisjoint(columns.name_cells((unfolded or [{}])[0]))
    if not is_table and (isinstance(value, dict) or _is_nested(value, columns)):
        rows = list(_walk(value, (), columns))
        # Beside the answers of a model, some files repeat the questions, with what is right, and facts of the videos.
        predicted = [(keys, cells) for keys, cells in rows if any(name in cells for name in _PREDICTIONS)]
        yield from ((f"{path}: {'/'.join(keys)}", cells, keys) for keys, cells in predicted or rows)
        return
    for line, row in read_table(path):
        yield f"{path}:{line}", columns.name_cells(row), ()


def _is_nested(value: object, columns: NamedColumns) -> bool:
    """Return whether JSON is a list whose rows are objects inside of its objects, as pairs of questions are."""
    return (
        isinstance(value, list)
        and bool(value)
        and all(isinstance(entry, dict) and any(isinstance(inner, dict) for inner in entry.values()) for entry in value)
        and not any(
            _has_answer(cells := columns.name_cells(entry)) or not cells.keys().isdisjoint(_IDS) for entry in value
        )
    )


def _has_answer(cells: Row) -> bool:
    return any(name in (*_ANSWERS, *_STATED, "scores") or _SCORES.fullmatch(name) for name in cells)


def _walk(value: object, keys: tuple[str, ...], columns: NamedColumns) -> Iterator[tuple[tuple[str, ...], Row]]:
    """Yield the keys and the cells of rows of nested JSON: objects that have an answer, and values that are one."""
    if isinstance(value, dict) and _has_answer(cells := columns.name_cells(value)):
        yield keys, cells
    elif isinstance(value, dict):
        for key, inner in value.items():
            yield from _walk(inner, (*keys, key), columns)
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            yield from _walk(inner, (*keys, str(index)), columns)
    else:
        yield keys, {"answer": value}


class _QuestionFinder:
    """Finder of the question that a row is about, by its id, or by its video and text.

    Of questions with one text about one video, the rows are about the first, the second and so on; where ids begin with
    a folder, as ``temporal/0/basic``, about those whose folder the name of the file has, as ``temporal_MODEL.json``.
    """

    def __init__(self, questions: Sequence[StoredQuestion], file: str) -> None:
        self._file = file
        self._by_id = {asked.question_id: asked for asked in questions}
        self._by_text: dict[tuple[str, str], list[StoredQuestion]] = defaultdict(list)
        self._by_video: dict[str, list[StoredQuestion]] = defaultdict(list)
        for asked in questions:
            named = "".join(f"{label}{text}" for label, text in zip(asked.labels, asked.options, strict=True))
            for text in {_fold(asked.question), _fold(asked.question + named)}:
                self._by_text[asked.video_id, text].append(asked)
            self._by_video[asked.video_id].append(asked)
        self._used: dict[tuple[str, str], int] = defaultdict(int)

    def __call__(self, cells: Row, keys: tuple[str, ...]) -> tuple[StoredQuestion | None, str]:
        """Return the question, None for an unknown one, and the id by which it is called."""
        stated = next((str(cells[name]) for name in _IDS if cells.get(name) is not None), "/".join(keys))
        if stated in self._by_id:
            return self._by_id[stated], stated
        names = [str(cells[name]) for name in _VIDEOS if cells.get(name) is not None] or keys
        found_ids = (find_video_id(text, self._by_video) for name in names for text in (name, name_video(name)))
        video = next((name for name in found_ids if name is not None), names[0] if names else "")
        if cells.get("question") is not None:
            key = (video, _fold(str(cells["question"])))
            found = self._by_text.get(key, ())
            if found:
                of_file = [asked for asked in found if self._is_of_file(asked.question_id)] or found
                asked = of_file[min(self._used[key], len(of_file) - 1)]
                self._used[key] += 1
                return asked, asked.question_id
        of_video = self._by_video.get(video, ())
        if len(of_video) == 1 and not stated:
            return of_video[0], of_video[0].question_id
        return None, stated or video

    def _is_of_file(self, question_id: str) -> bool:
        folder, mark, _ = question_id.partition("/")
        return bool(mark) and folder in self._file


def _fold(text: str) -> str:
    return _NOT_ALPHANUMERIC.sub("", text.casefold())


def _given_answer(row: _Given) -> object:
    """Return the answer in a row, None for an empty one.

    Raises:
        VttdataError: if the row has no column of answers.
    """
    if row.column is None:
        answers = ("prediction", "answer")
        Columns(answers, (answers,), mapping={}).lay_out(list(row.cells), row.location)
    return row.cells[row.column or ""]


def _is_stated(row: _Given) -> bool:
    """Return whether a row says how its answer is written, or has scores instead."""
    return row.column in (*_STATED, FREE_TEXT) or _has_scores(row.cells)


def _has_scores(cells: Row) -> bool:
    return cells.get("scores") is not None or any(_SCORES.fullmatch(name) for name in cells)


def _decide_numbers(rows: Sequence[_Given]) -> list[int | None]:
    """Return the options of answers that are numbers where most answers of a file are; None for others.

    Raises:
        VttdataError: as `decide_answers`.
    """
    numbers: list[int | None] = [None] * len(rows)
    plain = [(place, row) for place, row in enumerate(rows) if row.asked is not None and not _is_stated(row)]
    counted = [(place, row) for place, row in plain if read_count(_given_answer(row)) is not None]
    if not counted or 2 * len(counted) <= len(plain):
        return numbers
    choices = [row.asked.choices for _, row in counted if row.asked is not None]
    decided = decide_answers([_given_answer(row) for _, row in counted], choices, [row.location for _, row in counted])
    for (place, _), index in zip(counted, decided, strict=True):
        numbers[place] = index
    return numbers


def _read_answer(row: _Given, read: Rule, number: int | None) -> Answer:
    """Read the answer of a row; `number` is the option if the answer is a number that was decided."""
    if row.asked is None:
        return Answer(None)
    rating = row.cells.get("rating")
    judged = None if rating is None else _finite(row.location, "rating", rating)
    if judged is not None and not 0 <= judged <= 1:
        raise VttdataError(f"{row.location}: 'rating' is {judged:g}, not from 0 to 1.")
    if _has_scores(row.cells):
        return _best_scores(row, row.asked, judged)
    if row.column in _STATED:
        return Answer(_stated_option(row, row.column, row.asked), 1.0, judged, str(row.cells[row.column] or ""))
    value = _given_answer(row)
    text = "" if value is None else str(value)
    if number is not None:
        return Answer(frozenset({number}), 1.0, judged, text)
    return dataclasses.replace(read_free_text(text, row.asked, read), rating=judged)


def read_free_text(text: str, asked: StoredQuestion, read: Rule) -> Answer:
    """Return an answer in a model's own words as a rule reads it."""
    text = _END.sub("", text)
    return Answer(read(text, asked) if text.strip() else None, text=text)


def _stated_option(row: _Given, stated: str, asked: StoredQuestion) -> Named | None:
    """Return the option in a column that says how it is written; None for an empty cell."""
    value, choices = row.cells[stated], asked.choices
    if value is None:
        return None
    number = read_count(value)
    if stated in ("answer_index", "answer_number"):
        index = None if number is None else number - (stated == "answer_number")
    else:
        index = find_label(value, choices) if stated == "answer_letter" else find_text(value, choices)
    if index is None or not 0 <= index < len(choices.options):
        raise VttdataError(
            f"{row.location}: {stated} {str(value)[:60]!a} is no option, of {len(choices.options)}; leave the cell "
            "empty where there is no answer."
        )
    return frozenset({index})


def _best_scores(row: _Given, asked: StoredQuestion, rating: float | None) -> Answer:
    """Return the options with the highest score, which share one answer."""
    value = row.cells.get("scores")
    if isinstance(value, str):
        try:
            value = json.loads(value)
        except ValueError as error:
            raise VttdataError(f"{row.location}: 'scores' is no list of numbers.") from error
    if value is None:
        columns = sorted((match[1], name) for name in row.cells if (match := _SCORES.fullmatch(name)))
        value = [row.cells[name] for _, name in columns if row.cells[name] is not None]
    if not isinstance(value, list) or len(value) != len(asked.options):
        found = len(value) if isinstance(value, list) else "no list"
        raise VttdataError(f"{row.location}: {len(asked.options)} scores are expected, found {found}.")
    scores = [_finite(row.location, "scores", score) for score in value]
    best = frozenset(index for index, score in enumerate(scores) if score == max(scores))
    return Answer(best, 1 / len(best), rating, json.dumps(scores))


def _finite(location: str, column: str, value: object) -> float:
    try:
        number = float(value) if isinstance(value, (int, float, str)) else math.nan
    except ValueError:
        number = math.nan
    if not math.isfinite(number):
        raise VttdataError(f"{location}: '{column}' has {str(value)[:40]!a}, which is no finite number.")
    return number


def _shown_order(row: _Given) -> list[int] | None:
    """Return the index of each option that a row says was shown; None where it says nothing.

    Raises:
        VttdataError: if these cannot be read, or are not the options of the question.
    """
    if row.asked is None:
        return None
    options, stated = row.asked.options, "options"
    listed = read_options(row.location, row.cells.get(stated))
    for name in COLUMNS[stated][1:] if listed is None else ():
        # Other programs write other things under these names.
        with contextlib.suppress(VttdataError):
            found = [str(option) for option in read_options(row.location, row.cells.get(name)) or ()]
            lined = split_option_lines("\n".join(found))
            shown = {*map(fold_text, [*found, *(lined.options if lined else ())])}
            listed = listed if shown.isdisjoint(map(fold_text, options)) else list(found)
    # Columns such as A and B may hold anything, also how probable a model found each option.
    if listed is None and sum(map(len, option_columns(row.cells))) < len(options):
        return None
    texts = [str(option) for option in (lettered_options(row.location, row.cells) if listed is None else listed)]
    if listed is None and len(texts) != len(options):
        return None
    lined = split_option_lines("\n".join(texts))
    for shown_texts in (texts, lined.options if lined else ()):
        remaining = list(enumerate(map(fold_text, options)))
        order = []
        for text in map(fold_text, shown_texts):
            place = next((place for place in remaining if place[1] == text), None)
            if place is not None:
                remaining.remove(place)
                order.append(place[0])
        if not remaining and len(order) == len(shown_texts):
            return order
    if listed is None and all(math.isfinite(number_or_nan(text)) for text in texts):
        return None
    raise VttdataError(f"{row.location}: the options are not those of the question {row.name[:80]!a}.")


def _reorder(asked: StoredQuestion, order: Sequence[int]) -> StoredQuestion:
    """Return a question whose options are shown in another order, under the labels of their places."""
    options = tuple(asked.options[index] for index in order)
    return dataclasses.replace(asked, options=options, answer=list(order).index(asked.answer))
