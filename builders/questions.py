"""Questions about videos from published files of any form: the recipe says where everything lies.

`vttdata.annotations.field_paths` says how a recipe points at rows and at what they hold.
"""

from __future__ import annotations

import io
import math
import warnings
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, fields, replace
from fnmatch import fnmatchcase
from pathlib import Path, PurePosixPath
from typing import Any, Literal, NamedTuple

import pydantic

from vttdata.annotations import Annotations
from vttdata.annotations.field_paths import FileRow, check_field, check_rows, compile_pattern, find_rows
from vttdata.annotations.files import SHAPE, OfficialFile, choose_files, choose_present_files, list_files, read_text
from vttdata.annotations.model import SPLITS
from vttdata.annotations.question_collector import OfficialQuestion, QuestionCollector
from vttdata.compose.official_benchmark import OfficialRecipe, build_official
from vttdata.dataset.parquet import open_parquet
from vttdata.errors import VttdataError, VttdataWarning
from vttdata.files.reading import file_sha256
from vttdata.files.tables import JSON_LINES, parse_delimited, parse_seconds
from vttdata.pipeline.build_folder import Build
from vttdata.settings import Strict
from vttdata.text.questions import (
    ANSWER_COLUMNS,
    Choices,
    choose_options,
    find_answer,
    find_answers,
    name_video,
    plain_id,
    read_options,
    without_instruction,
)

_ANY: pydantic.TypeAdapter[Any] = pydantic.TypeAdapter(Any, config=SHAPE)
_DELIMITERS = {".csv": ",", ".tsv": "\t"}
_PARQUET = ".parquet"
_SUFFIXES = frozenset({".json", _PARQUET, *JSON_LINES, *_DELIMITERS})
_ANSWERS = ("answer", *ANSWER_COLUMNS)


@dataclass(frozen=True, slots=True)
class QuestionFields(Strict):
    """Where in a row of a file everything lies: paths, templates and constants.

    Fields:
        id: unique in the set; without it ``<video>/<number>``, from 1.
        video: name of the video or of its file; see `vttdata.text.questions.name_video`.
        source: take that the video is of; by default the video.
        split: of the video.
        seconds: length of the video.
        question: text; its last lines are the options where no others are named.
        options: list, object or lines in one place, or the place of each option.
        answer: in the one notation that all answers of a file fit.
        answer_index, answer_number, answer_letter, answer_text: in this notation, the index from 0.
        type, group, kind: see `OfficialQuestion`.
        start, end: of the span in the video.
        match: path -> pattern whose names the values give, for other fields.
    """

    id: str | None = None
    video: str | None = None
    source: str | None = None
    split: str | None = None
    seconds: str | None = None
    question: str | None = None
    options: str | list[str] | None = None
    answer: str | None = None
    answer_index: str | None = None
    answer_number: str | None = None
    answer_letter: str | None = None
    answer_text: str | None = None
    type: str | None = None
    group: str | None = None
    kind: str | None = None
    start: str | None = None
    end: str | None = None
    match: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for each in fields(QuestionFields):
            value = getattr(self, each.name)
            try:
                for text in value if isinstance(value, list | dict) else [value] if value is not None else []:
                    check_field(text)
                for pattern in value.values() if isinstance(value, dict) else ():
                    compile_pattern(pattern)
            except ValueError as error:
                raise ValueError(f"{each.name}: {error}") from error
        if len(self.answers) > 1:
            raise ValueError(f"{' and '.join(self.answers)} exclude each other")

    @property
    def answers(self) -> list[str]:
        """Return the names of the fields that say where the answer is."""
        return [name for name in _ANSWERS if getattr(self, name) is not None]

    def with_file(self, special: QuestionFields) -> QuestionFields:
        """Return these fields with those that are special to a file in their place."""
        named = {each.name: getattr(special, each.name) for each in fields(QuestionFields)}
        given = {name: value for name, value in named.items() if value not in (None, {})}
        replaced = dict.fromkeys(self.answers) if special.answers else {}
        return replace(self, **{**replaced, **given})


@dataclass(frozen=True, slots=True)
class AnswerFile(Strict):
    """JSON file of an object with the answers, which the name `answers` stands for in a row.

    Fields:
        file: name.
        by: path in a row that leads to a key of the object.
    """

    file: str
    by: str


@dataclass(frozen=True, slots=True)
class Fields(QuestionFields):
    """Where everything lies in the files of a set.

    Fields:
        files: pattern of their names, such as ``*.json``, or name for the recipe -> name of the file; any of them may
            be missing. `file` stands for the name in paths, without extension.
        rows: path to the rows; see `vttdata.annotations.field_paths`.
        by_file: name of a file -> what lies elsewhere in it.
        answers_from: file of the answers, where they are not in the rows.
        left_out: rows that are findings instead of errors: ``no_answer``, ``few_options``, those without two options
            that can be read, ``wrong_answer``, whose answer is none of them, and ``wrong_span``; see `MEANINGS`.
        instruction_line: a line after the lines of options is left out.
        plain_ids: in names of videos that cannot be ids, ``_`` stands for spaces and the like, and a digest follows.
        joined_takes: numbers between ``_`` in the name of a video are its takes, and videos of common takes one source.
    """

    files: str | dict[str, str] = "*"
    rows: str = "[]"
    by_file: dict[str, QuestionFields] = field(default_factory=dict)
    answers_from: AnswerFile | None = None
    left_out: list[Literal["no_answer", "few_options", "wrong_answer", "wrong_span"]] = field(default_factory=list)
    instruction_line: bool = False
    plain_ids: bool = False
    joined_takes: bool = False

    def __post_init__(self) -> None:
        QuestionFields.__post_init__(self)
        check_rows(self.rows)
        for name, given in (("video", self.video), ("question", self.question), ("answer", self.answers)):
            if not given:
                raise ValueError(f"{name} is missing; it says where a row has it")
        if "wrong_answer" in self.left_out and "answer" in self.answers:
            raise ValueError(
                "left_out: a wrong_answer can be told where answer_index, answer_letter or the like is given"
            )
        if isinstance(self.files, dict) and (unknown := next(iter(self.by_file.keys() - self.files.keys()), None)):
            raise ValueError(f"by_file: {unknown!a} is none of the files {', '.join(self.files)}")


class Recipe(OfficialRecipe):
    """Recipe for published questions.

    Fields:
        fields: where everything lies in the files.
    """

    fields: Fields


def build(recipe: Recipe, run: Build) -> None:
    """Bring the build folder up to date with the recipe; the dataset is replaced in one step at the end."""
    folder = Path(recipe.annotations)
    build_official(recipe, run, read(folder, recipe.fields, language=recipe.language, name=recipe.name))


def read(folder: Path, layout: Fields, *, language: str = "en", name: str = "this set") -> Annotations:
    """Read the files of a set in a folder, its subfolders, or a zip archive in it.

    Returns:
        One clip for each video of each split, and its questions in the order of the files. Clips without a length start
        and end at 0.

    Raises:
        VttdataError: when there is no file, one is damaged, a row lacks what a field says, or an answer is no option;
            names file, row and field.
    """
    reader = FieldReader(layout, QuestionCollector(language))
    answers = reader.read_answers(folder)
    questions = [
        asked
        for role, file in choose_set_files(folder, layout, name).items()
        for asked in reader.read(role, file, answers)
    ]
    if stray := next((key for key in answers if key not in reader.answered), None):
        raise VttdataError(f"{folder}: the answer of {stray[:80]!a} is one to none of the questions.")
    if reader.left_out:
        reasons = ", ".join(f"{reason} {number:,}" for reason, number in sorted(reader.left_out.items()))
        total = reader.left_out.total()
        message = f"{total:,} of {total + len(questions):,} questions are left out ({reasons}); the card says why."
        warnings.warn(message, VttdataWarning, stacklevel=2)
    takes = group_takes(each.question.video for each in questions) if layout.joined_takes else {}
    for file, location, question in questions:
        source = takes.get(question.video, question.source)
        reader.records.ask(file, replace(question, source=source), location=location)
    return reader.records.result()


def choose_set_files(folder: Path, layout: Fields, name: str) -> dict[str, OfficialFile]:
    """Return the files of a set by their names in its recipe.

    Raises:
        VttdataError: when there is none, or two have one name.
    """
    if isinstance(layout.files, dict):
        return choose_present_files(folder, {role: file.lower() for role, file in layout.files.items()}, name)
    found: dict[str, OfficialFile] = {}
    for file in list_files(folder, _SUFFIXES):
        if fnmatchcase(file.name.lower(), layout.files.lower()):
            other = found.setdefault(PurePosixPath(file.name).stem, file)
            if other.name != file.name:
                raise VttdataError(f"{folder}: both {other.name} and {file.name} are files of the set; keep one.")
    if not found:
        raise VttdataError(f"{folder}: holds no file {layout.files} of {name}.")
    return found


class LocatedQuestion(NamedTuple):
    """Question, its file, and its place there."""

    file: OfficialFile
    location: str
    question: OfficialQuestion


class FieldReader:
    """Reads the questions of files whose rows are laid out as fields of a recipe say."""

    def __init__(self, layout: Fields, records: QuestionCollector) -> None:
        self.layout = layout
        self.records = records
        self.answered: set[str] = set()
        self.left_out: Counter[str] = Counter()
        self._numbers: Counter[str] = Counter()

    def read_answers(self, folder: Path) -> dict[str, Any]:
        """Return the answers in a file of their own, by the key of their question; none without such a file."""
        if self.layout.answers_from is None:
            return {}
        file = choose_files(folder, {"answers": self.layout.answers_from.file.lower()})["answers"]
        return dict(self.records.read_json(file, pydantic.TypeAdapter(dict[str, Any], config=SHAPE)))

    def read(self, role: str, file: OfficialFile, answers: Mapping[str, Any]) -> list[LocatedQuestion]:
        """Return the questions of a file, in its order."""
        fields = self.layout.with_file(self.layout.by_file.get(role, QuestionFields()))
        column, path = next((name, str(getattr(fields, name))) for name in fields.answers)
        asked: list[LocatedQuestion] = []
        choices, given = [], []
        for row in self._find_rows(role, file, fields, answers):
            answer = row.find(f"fields.{column}", path)
            chosen = self._choose(row, fields, column, answer)
            if isinstance(chosen, str):
                self.records.findings.add(chosen, file.name, self._name(row, fields))
                self.left_out[chosen] += 1
                continue
            text, options = chosen
            question = self._describe(row, fields, text, options)
            asked.append(LocatedQuestion(file, row.location, question))
            choices.append(options)
            given.append(answer)
        indices = find_answers(column, given, choices, [each.location for each in asked])
        return [
            each._replace(question=replace(each.question, answer=index))
            for each, index in zip(asked, indices, strict=True)
        ]

    def _find_rows(
        self, role: str, file: OfficialFile, fields: QuestionFields, answers: Mapping[str, Any]
    ) -> Iterator[FileRow]:
        content, lines = read_content(file, self.records)
        for row in find_rows(content, self.layout.rows, str(file), {"file": role}, lines):
            if self.layout.answers_from is not None:
                key = row.text("fields.answers_from.by", self.layout.answers_from.by) or ""
                row.names["answers"] = answers.get(key)
                self.answered.add(key)
            yield row.match("fields.match", fields.match)

    def _choose(self, row: FileRow, fields: QuestionFields, column: str, answer: object) -> tuple[str, Choices] | str:
        """Return the text of a question and its options, or the kind of the finding as which it is left out."""
        question = row.text("fields.question", str(fields.question)) or ""
        if self.layout.instruction_line:
            question = without_instruction(question)
        if "no_answer" in self.layout.left_out and answer is None:
            return "no_answer"
        found: object = None
        if isinstance(fields.options, str):
            found = row.find("fields.options", fields.options)
        elif fields.options is not None:
            found = [row.find("fields.options", each) for each in fields.options]
        try:
            text, choices = choose_options(row.location, question, read_options(row.location, found))
        except VttdataError:
            if "few_options" not in self.layout.left_out:
                raise
            return "few_options"
        if "wrong_answer" in self.layout.left_out and find_answer(column, answer, choices) is None:
            return "wrong_answer"
        try:
            self._span(row, fields)
        except VttdataError:
            if "wrong_span" not in self.layout.left_out:
                raise
            return "wrong_span"
        return text, choices

    def _describe(self, row: FileRow, fields: QuestionFields, text: str, choices: Choices) -> OfficialQuestion:
        names = ("source", "split", "type", "group", "kind")
        source, split, type_, group, kind = (self._text(row, fields, name) for name in names)
        return OfficialQuestion(
            self._name(row, fields),
            self._video(row, fields),
            text,
            choices.options,
            0,
            kind,
            choices.labels,
            group,
            type_,
            source,
            "test" if split is None else SPLITS.get(split.lower(), split),
            span=self._span(row, fields),
            seconds=self._seconds(row, fields, "seconds"),
        )

    def _text(self, row: FileRow, fields: QuestionFields, name: str) -> str | None:
        path = getattr(fields, name)
        return None if path is None else row.text(f"fields.{name}", path)

    def _span(self, row: FileRow, fields: QuestionFields) -> tuple[float, float] | None:
        start, end = (self._seconds(row, fields, name) for name in ("start", "end"))
        if (start is None) != (end is None) or (start or 0) > (end or 0):
            raise VttdataError(f"{row.location}: fields.start, fields.end: {start} to {end} is no span, in seconds.")
        return None if start is None or end is None else (start, end)

    def _seconds(self, row: FileRow, fields: QuestionFields, name: str) -> float | None:
        path = getattr(fields, name)
        value = None if path is None else row.find(f"fields.{name}", path)
        seconds = None if value is None else parse_seconds(value)
        if seconds is not None and not 0 <= seconds < math.inf:
            raise VttdataError(f"{row.location}: fields.{name}: {str(value)[:40]!a} should be seconds, such as 12.5.")
        return seconds

    def _name(self, row: FileRow, fields: QuestionFields) -> str:
        if fields.id is not None:
            return row.text("fields.id", fields.id) or ""
        video = self._video(row, fields)
        self._numbers[video] += 1
        return f"{video}/{self._numbers[video]}"

    def _video(self, row: FileRow, fields: QuestionFields) -> str:
        named = name_video(row.text("fields.video", str(fields.video)) or "")
        return plain_id(named) if self.layout.plain_ids else named


def read_content(file: OfficialFile, records: QuestionCollector) -> tuple[Any, list[str] | None]:
    """Return the content of JSON, JSON Lines, CSV, TSV or Parquet, and the place of each item in files of lines.

    Raises:
        VttdataError: when it cannot be read.
    """
    suffix = PurePosixPath(file.name).suffix.lower()
    if suffix == ".json":
        return records.read_json(file, _ANY), None
    if suffix == _PARQUET:
        if file.member is not None:
            raise VttdataError(f"{file}: a Parquet file is read from a folder; unpack the archive.")
        records.checksums[file.name] = file_sha256(file.path)
        with open_parquet(file.path) as table:
            return table.read().to_pylist(), None
    if suffix in JSON_LINES:
        lines = list(records.read_json_lines(file, _ANY))
    else:
        stream = io.StringIO(read_text(file, records.checksums))
        rows = parse_delimited(str(file), stream, _DELIMITERS[suffix])
        lines = [(f"{file}:{line}", row) for line, row in rows]
    return [value for _, value in lines], [location for location, _ in lines]


def group_takes(videos: Iterable[str]) -> dict[str, str]:
    """Return the source of each video: the first take of all that are connected by videos made from several."""
    parent: dict[str, str] = {}

    def find(take: str) -> str:
        while parent.setdefault(take, take) != take:
            take = parent[take]
        return take

    first: dict[str, str] = {}
    for video in videos:
        takes = [part for part in video.split("_") if part.isdecimal() and len(part) > 1]
        roots = sorted({find(take) for take in takes or [video]})
        first[video] = roots[0]
        for root in roots[1:]:
            parent[root] = roots[0]
    return {video: find(root) for video, root in first.items()}
