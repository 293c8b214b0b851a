"""Write a recipe for a file of questions, with guesses of where in it everything lies (``vttdata new questions FILE``).

Names of keys and columns are guessed from, and checked against, what the rows hold: a video's file, options that can be
read, answers that are options in one notation. The recipe says what was read with it, for people to check.
"""

from __future__ import annotations

import contextlib
import json
import re
from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from pathlib import Path, PurePosixPath
from typing import Any

import pydantic

from vttdata.annotations.field_paths import FileRow, find_rows
from vttdata.annotations.files import OfficialFile
from vttdata.annotations.model import SPLITS
from vttdata.annotations.question_collector import QuestionCollector
from vttdata.errors import VttdataError
from vttdata.files.output_file import make_output_folder, write_whole
from vttdata.files.tables import fold_name, parse_seconds
from vttdata.ids import MAX_EXTERNAL_ID_LENGTH, VIDEO_EXTENSIONS, is_safe_id
from vttdata.recipe import packaged
from vttdata.text.questions import (
    YES_NO,
    Choices,
    choose_options,
    find_answer,
    fold_text,
    letters,
    name_video,
    read_options,
    split_option_lines,
    without_instruction,
)

_LEVELS = ("outer", "inner", "row")
_NAMES: Mapping[str, Sequence[str]] = {
    "question": ("question", "question_text", "query", "problem", "ask", "q"),
    "options": ("options", "option", "choices", "candidates", "answers"),
    "id": ("question_id", "questionid", "qid", "id", "uid", "q_uid", "key", "idx", "index"),
    "type": ("question_type", "task_type", "type", "task", "category", "question_category", "skill", "dimension"),
    "group": ("group", "group_id", "pair_id"),
    "split": ("split",),
    "seconds": ("duration", "video_duration", "video_length"),
    "start": ("start", "start_time", "question_start_time"),
    "end": ("end", "end_time", "question_stop_time", "question_end_time"),
    "video": (
        "video_id",
        "videoid",
        "video",
        "video_name",
        "video_path",
        "vid",
        "video_uid",
        "clip",
        "scene_name",
        "q_uid",
        "key",
    ),
}
_ANSWERS = ("answer_letter", "answer_text", "answer_index", "answer_number")
_NUMBERED = re.compile(r"(.*?)([0-9]{1,2}|[A-Z]|(?<=_)[a-z])")
_MISSING = {
    frozenset(
        ("options", *_ANSWERS)
    ): "no row has options: a list, an object, columns such as option_0 or opt_a, or lines of the question",
    frozenset(_ANSWERS): "no row has an answer; those of another file are read by 'answers_from'",
}
# What a person fills in where it could not be guessed.
_BLANKS = {
    "options": "  # options: [COLUMN, COLUMN]  # the column of each option, or the one of all",
    "answer": "  # answer_letter: COLUMN  # or answer_text, answer_index (from 0), answer_number (from 1)",
}
_SAMPLE = 20_000
_MIN_SHARE = 0.9
_MAX_TYPES = 60
# Fewer keys are parts of a set, such as its tracks.
_MAX_LEVEL = 10


def write_question_recipe(path: Path, folder: Path) -> tuple[Path, str]:
    """Write ``recipes/STEM.yaml`` for a file of questions.

    Args:
        path: JSON, JSON Lines, CSV, TSV or Parquet.
        folder: checkout, or folder of plugins.

    Returns:
        The path of the recipe, and a sentence on what it reads.

    Raises:
        VttdataError: when the file cannot be read or holds no questions, or the recipe exists.
    """
    name = re.sub(r"[^a-z0-9]+", "-", path.stem.lower()).strip("-") or "questions"
    target = folder / "recipes" / f"{name}.yaml"
    if target.exists():
        raise VttdataError(f"{target}: exists already; choose another folder.")
    builder = packaged.load_builder("questions")
    content, lines = builder.read_content(OfficialFile(path), QuestionCollector())
    fields = {"files": {"questions": path.name}, **guess_fields(content, str(path), lines)}
    blanks: list[str] = []
    try:
        layout = pydantic.TypeAdapter(builder.Fields).validate_json(json.dumps(fields))
        read = builder.read(path.parent, layout)
        first = read.questions[0]
        counts = f"{len(read.questions):,} questions about {len({clip.video_id for clip in read.clips}):,} videos"
        sentence = (
            f"Reads {counts}; the answer to the first, {first.question[:80]!a}, is {first.options[first.answer]!a}."
        )
    except pydantic.ValidationError as error:
        # What is there is not asked for where something is missing.
        missing = next((words for key, words in _MISSING.items() if not key & fields.keys()), None)
        sentence = f"Cannot be read yet: {missing or error.errors()[0]['msg']}."
        blanks = [line for key, line in _BLANKS.items() if not any(name.startswith(key) for name in fields)]
    except VttdataError as error:
        sentence = f"Cannot be read yet: {error}"
    text = [
        f"# {path.stem} from its file: vttdata build {name} --set annotations=FOLDER",
        "# The fields are guesses to be checked; 'Published questions' in the manual of recipes has all of them.",
        f"# {sentence}",
        f"name: me/{name}",
        "builder: questions",
        "licence: unknown",
        "description: Multiple-choice questions about videos.",
        "fields:",
        # JSON is YAML, whatever the keys and texts are.
        *(f"  {key}: {json.dumps(value, ensure_ascii=False)}" for key, value in fields.items()),
        *blanks,
    ]
    make_output_folder(target.parent)
    write_whole(target, "\n".join(text) + "\n")
    return target, sentence


def guess_fields(content: object, file: str, lines: list[str] | None = None) -> dict[str, Any]:
    """Return fields of a recipe for the content of a file; `lines` as of `find_rows`.

    Raises:
        VttdataError: when no rows of questions are found.
    """
    for path, row in _row_paths(content, "", _LEVELS):
        if any(fold_name(key) in _NAMES["question"] and isinstance(value, str) for key, value in row.items()):
            return Guess(path, find_rows(content, path, file, {}, lines)[:_SAMPLE]).fields()
    raise VttdataError(f"{file}: no rows with a question were found; a key such as 'question' is expected.")


def _row_paths(value: object, path: str, names: Sequence[str]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield the path of each object that may be a row, with the first such object, from outside in."""
    if isinstance(value, list) and value and names:
        yield from _row_paths(value[0], f"{path}[{names[0]}]", names[1:])
    if not isinstance(value, dict) or not value:
        return
    yield path, value
    inner = list(value.values())
    is_map = all(isinstance(each, type(inner[0])) for each in inner) and isinstance(inner[0], dict | list)
    if is_map and names and not (len(inner) == 1 and isinstance(inner[0], list)):
        yield from _row_paths(inner[0], f"{path}{{{names[0]}}}", names[1:])
        return
    for key, each in value.items():
        if isinstance(each, dict | list):
            yield from _row_paths(each, f"{path}.{key}".removeprefix("."), names)


class Guess:
    """Guesses the fields of sampled rows; `used` are the paths that have a meaning already."""

    def __init__(self, path: str, rows: Sequence[FileRow]) -> None:
        self.path = path
        self.rows = rows
        self.paths = list(self._find_paths())
        self.values = {path: [row.find("", f"{path}?") for row in rows] for path in self.paths}
        self.used: set[str] = set()

    def fields(self) -> dict[str, Any]:
        """Return the fields, in the order in which a person reads them."""
        question = self._take("question", lambda text: isinstance(text, str))
        video, name = self._guess_video(), self._guess_id()
        options, choices = self._guess_options(question)
        answer = self._guess_answer(choices)
        types = self._take("type", lambda text: isinstance(text, str | list))
        if types is not None and len({str(each) for each in self.values[types]}) > _MAX_TYPES:
            types = None
        found: dict[str, Any] = {"id": name, "video": video or name, "question": question, "options": options, **answer}
        found["type"] = types
        found["split"] = self._take("split", lambda text: str(text).lower() in SPLITS)
        found["group"] = self._take("group", lambda text: isinstance(text, str | int))
        found["seconds"] = self._take("seconds", _is_time)
        span = [self._take(field, _is_time) for field in ("start", "end")]
        found |= dict(zip(("start", "end"), span, strict=True)) if None not in span else {}
        stated: dict[str, Any] = {key: self._mark(value) for key, value in found.items() if value is not None}
        asked = [row.text("", f"{question}?") or "" for row in self.rows] if options is None else []
        if any(split_option_lines(text) is None and without_instruction(text) != text for text in asked):
            stated["instruction_line"] = True
        # Where no row has options, the error that says so is worth more than a set without questions.
        left_out = ["few_options"] * (None in choices and any(choices))
        left_out += ["wrong_answer"] * (self._misfits(answer, choices) > 0)
        names = {str(value) for value in self.values.get(video or name or "", ())}
        if not all(is_safe_id(name_video(each), MAX_EXTERNAL_ID_LENGTH) for each in names):
            stated["plain_ids"] = True
        return {"rows": self.path, **stated, **({"left_out": left_out} if left_out else {})}

    def _guess_video(self) -> str | None:
        """Return where the video is: a file, a usual name, the id of an item around rows, or the key of a level."""
        around = [path for path in self.paths if path.partition(".")[0] in _LEVELS and path.endswith(".id")]
        levels = [name for name in _LEVELS if f"{{{name}}}" in self.path]
        level = next((name for name in levels if len({row.names[name] for row in self.rows}) > _MAX_LEVEL), None)
        path = self._find(self.paths, _is_video_file) or self._take("video", lambda text: isinstance(text, str | int))
        path = path or next(iter(around), None)
        self.used |= {path} if path else set()
        return path or level

    def _find_paths(self) -> Iterator[str]:
        """Yield the paths of a row's values, those in its objects, and those of the items around it."""
        keys = dict.fromkeys(key for row in self.rows for key in row.value)
        for key in keys:
            yield key
            inner = next((row.value[key] for row in self.rows if row.value.get(key)), None)
            if isinstance(inner, list) and inner and isinstance(inner[0], dict):
                yield from (f"{key}[].{name}" for name in inner[0])
            elif isinstance(inner, dict):
                yield from (f"{key}.{name}" for name in inner)
        for name, holder in self.rows[0].holders.items():
            if isinstance(holder, dict) and holder is not self.rows[0].value:
                yield from (f"{name}.{key}" for key, value in holder.items() if not isinstance(value, dict | list))

    def _find(self, paths: Collection[str], fits: Callable[[Any], bool]) -> str | None:
        """Return the first path most of whose values fit."""
        for path in paths:
            values = [value for value in self.values[path] if value is not None]
            if path not in self.used and values and sum(map(fits, values)) >= _MIN_SHARE * len(values):
                return path
        return None

    def _take(self, field: str, fits: Callable[[Any], bool]) -> str | None:
        """Return the path of a field by its usual names, and note that it is used."""
        folded = {path: fold_name(path.rpartition(".")[2]) for path in self.paths}
        named = [path for name in _NAMES[field] for path in self.paths if folded[path] == name]
        found = self._find(named, fits)
        self.used |= {found} if found else set()
        return found

    def _guess_options(self, question: str | None) -> tuple[str | list[str] | None, list[Choices | None]]:
        """Return where the options are, and those of each row; None for rows without two that can be read."""
        runs: dict[str, list[str]] = defaultdict(list)
        for path in self.paths:
            if "." not in path and (match := _NUMBERED.fullmatch(path)):
                runs[match[1]].append(path)
        named = [path for name in _NAMES["options"] for path in self.paths if fold_name(path.partition("[")[0]) == name]
        found = [
            (where, self._choose(question, where))
            for where in (*named, *sorted(runs.values(), key=len, reverse=True)[:2], None)
        ]
        counts = [sum(each is not None for each in choices) for _, choices in found]
        best = next(pair for pair, count in zip(found, counts, strict=True) if count >= _MIN_SHARE * max(counts))
        if not any(best[1]) and self._find(self.paths, lambda value: fold_text(str(value)) in YES_NO):
            best = [f"={word}" for word in YES_NO], [Choices(YES_NO, letters(2))] * len(self.rows)
        self.used |= {best[0]} if isinstance(best[0], str) else set(best[0] or ())
        return best

    def _choose(self, question: str | None, where: str | list[str] | None) -> list[Choices | None]:
        found: list[Choices | None] = []
        for row in self.rows:
            choices = None
            with contextlib.suppress(VttdataError):
                options: object = None
                if where is not None:
                    options = row.find("", where) if isinstance(where, str) else [row.find("", each) for each in where]
                text = without_instruction(row.text("", question or "") or "")
                choices = choose_options(row.location, text, read_options(row.location, options))[1]
            found.append(choices)
        return found

    def _guess_answer(self, choices: Sequence[Choices | None]) -> dict[str, str]:
        """Return the field of the answers and their path: the notation and path that fit most rows."""
        shares = {}
        if not any(choices):
            return {}
        # A single option is the text of an option in every row.
        taken = tuple(f"{path}{mark}" for path in self.used for mark in ".[")
        for column in _ANSWERS:
            for path in self.paths:
                if path not in self.used and "[]" not in path and not path.startswith(taken):
                    shares[column, path] = -self._misfits({column: path}, choices)
        if not shares:
            return {}
        (column, path), misfits = max(shares.items(), key=lambda item: item[1])
        if -misfits > (1 - _MIN_SHARE) * len(choices):
            return {}
        # Numbers that could count from 0 and from 1 are read as indices; the first answer is shown for this.
        self.used.add(path)
        return {column: path}

    def _misfits(self, answer: Mapping[str, str], choices: Sequence[Choices | None]) -> int:
        for column, path in answer.items():
            pairs = zip(self.values[path], choices, strict=True)
            return sum(each is not None and find_answer(column, value, each) is None for value, each in pairs)
        return 0

    def _guess_id(self) -> str | None:
        path = self._take("id", lambda text: isinstance(text, str | int))
        if path is not None and len({str(each) for each in self.values[path]}) == len(self.rows):
            return path
        levels = [name for name in _LEVELS if f"{{{name}}}" in self.path]
        return next((name for name in levels if len({row.names[name] for row in self.rows}) == len(self.rows)), None)

    def _mark(self, where: str | list[str]) -> str | list[str]:
        """Return paths with ``?`` behind those that lead to nothing in some row."""
        if isinstance(where, list):
            return where
        return f"{where}?" if None in self.values.get(where, ()) else where


def _is_video_file(value: object) -> bool:
    return isinstance(value, str) and PurePosixPath(value).suffix.lower() in VIDEO_EXTENSIONS


def _is_time(value: object) -> bool:
    return parse_seconds(value) >= 0
