"""Errata: corrections of single values of a dataset, read from a table, checked against its rows, and put into them.

What may be corrected are captions, questions with their options and answers, spans and categories. Every other
configuration that repeats a corrected value is changed with it by `vttdata.dataset.revise`.
"""

from __future__ import annotations

import dataclasses
import json
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from string import ascii_uppercase
from typing import Annotated

import pydantic

from vttdata.dataset.front_matter import read_layout
from vttdata.dataset.parquet import read_parquet_rows
from vttdata.dataset.rows import ERRATA, ErratumRow, fixed_columns
from vttdata.errors import VttdataError, list_choices
from vttdata.files.tables import Columns, read_table
from vttdata.json_types import Row
from vttdata.settings import check_date
from vttdata.text.captions import clean_text

CORRECTABLE: Mapping[str, Sequence[str]] = {
    "captions": ("caption",),
    "clips": ("category", "start", "end"),
    "questions": ("question", "options", "answer", "start", "end"),
    "moments": ("starts", "ends"),
}
"""Table -> its columns that an erratum may correct."""

_Second = Annotated[float, pydantic.Field(ge=0, allow_inf_nan=False)]
_SECONDS: pydantic.TypeAdapter[float] = pydantic.TypeAdapter(_Second)
_TIMES: pydantic.TypeAdapter[list[float]] = pydantic.TypeAdapter(Annotated[list[_Second], pydantic.Field(min_length=1)])
_TEXTS: pydantic.TypeAdapter[list[str]] = pydantic.TypeAdapter(Annotated[list[str], pydantic.Field(min_length=2)])

COLUMNS = ("id", "field", "old", "new", "reason", "who", "date")
"""Columns of a table of errata."""


def read_errata(path: Path, version: str) -> list[ErratumRow]:
    """Read a table of corrections, which are new in a version.

    The table (CSV, TSV, JSON) has the columns ``id``, ``field``, ``old``, ``new``, ``reason``, ``who`` and ``date``
    (YYYY-MM-DD); ``old value`` and ``new value`` name the same. A field is ``TABLE.COLUMN`` of `CORRECTABLE`; a column
    that only one table has needs no table.

    A new caption is cleaned as those of builds are.

    Raises:
        VttdataError: If it cannot be read, a cell is empty, a field cannot be corrected, or two rows correct one value.
    """
    columns = Columns(
        (*COLUMNS, "old_value", "new_value"),
        (("id",), ("field",), ("old", "old_value"), ("new", "new_value"), ("reason",), ("who",), ("date",)),
        keep_spaces=True,
    )
    errata: dict[tuple[str, str], ErratumRow] = {}
    for line, row in read_table(path, columns):
        where = f"{path}:{line}"
        cells = {name: row.get(name, row.get(f"{name}_value")) for name in COLUMNS}
        texts = {name: _as_text(value) for name, value in cells.items()}
        empty = next((name for name, text in texts.items() if not text.strip() and name not in ("old", "new")), None)
        if empty is not None:
            raise VttdataError(f"{where}: the column '{empty}' is empty; an erratum says what, why, who and when.")
        try:
            check_date(texts["date"])
        except ValueError as error:
            raise VttdataError(f"{where}: date: {error}.") from error
        erratum = ErratumRow(**(texts | {"field": _find_field(texts["field"], where)}), version=version)
        if erratum.field == "captions.caption":
            # As builds clean captions.
            erratum = dataclasses.replace(erratum, new=clean_text(erratum.new))
        if (key := (erratum.id, erratum.field)) in errata:
            raise VttdataError(f"{where}: '{erratum.field}' of '{erratum.id}' is corrected twice; keep one of them.")
        errata[key] = erratum
    if not errata:
        raise VttdataError(f"{path}: contains no erratum.")
    return list(errata.values())


def _as_text(value: object) -> str:
    return value if isinstance(value, str) else "" if value is None else json.dumps(value, ensure_ascii=False)


def _find_field(name: str, where: str) -> str:
    fields = [f"{table}.{column}" for table, columns in CORRECTABLE.items() for column in columns]
    found = [field for field in fields if name.strip() in (field, field.partition(".")[2])]
    if len(found) != 1:
        problem = f"is a column of {' and '.join(found)}" if found else "cannot be corrected"
        raise VttdataError(f"{where}: the field {name!a} {problem}; fields are {list_choices(name, fields)}.")
    return found[0]


def row_id(table: str, row: Mapping[str, object]) -> str:
    """Return the id by which an erratum names a row."""
    if table in ("captions", "moments"):
        return f"{row['video_id']}#{row['sen_id']}"
    return str(row["question_id" if table == "questions" else "video_id"])


def correct_row(table: str, row: Row, errata: Iterable[ErratumRow], categories: Sequence[str]) -> Row:
    """Return a row with its corrections; `categories` are the names of the dataset's labels.

    Raises:
        VttdataError: If an old value is not that of the row, or a new one cannot take its place.
    """
    corrected = dict(row)
    for erratum in errata:
        column = erratum.field.partition(".")[2]
        old, new = (_parse_value(erratum, text, column, corrected, categories) for text in (erratum.old, erratum.new))
        if not _is_same(old, corrected[column]):
            found = _show(corrected[column], column, row, categories)
            raise VttdataError(
                f"The erratum of '{erratum.field}' of '{erratum.id}' has the old value {erratum.old[:80]!a}, but the "
                f"dataset has {f'{found[:80]!a}' if found else 'none'}; nothing was changed."
            )
        if _is_same(new, corrected[column]):
            raise VttdataError(f"The erratum of '{erratum.field}' of '{erratum.id}' has the old value as the new one.")
        if column in ("start", "end") and table == "clips" and row.get("sha256") is not None:
            raise VttdataError(
                f"The clip '{erratum.id}' has a file that was cut by its span, which an erratum cannot correct; build "
                "the dataset again."
            )
        corrected[column] = new
    if table == "questions" and "answer" in corrected:
        options, answer = corrected["options"], corrected["answer"]
        if not 2 <= len(options) <= len(ascii_uppercase) or len(options) != len(corrected["labels"]):
            raise VttdataError(f"The errata of '{row_id(table, row)}' leave another number of options than labels.")
        corrected["answer_letter"] = ascii_uppercase[answer]
    start, end = corrected.get("start"), corrected.get("end")
    if start is not None and end is not None and start >= end and (start, end) != (row["start"], row["end"]):
        raise VttdataError(f"The errata of '{row_id(table, row)}' leave a span that ends before it starts.")
    if "duration" in corrected and start is not None and end is not None:
        corrected["duration"] = end - start
    return corrected


def _parse_value(erratum: ErratumRow, text: str, column: str, row: Row, categories: Sequence[str]) -> object:
    """Return the value that a text of an erratum stands for in a column."""
    try:
        if column == "category":
            return list(categories).index(text) if text else None
        if column == "answer":
            options, labels = row["options"], row["labels"]
            letters = list(ascii_uppercase[: len(options)])
            return next(names.index(text) for names in (options, labels, letters) if text in names)
        if column in ("start", "end"):
            return _SECONDS.validate_python(text)
        if column in ("options", "starts", "ends"):
            return (_TEXTS if column == "options" else _TIMES).validate_json(text)
    except (ValueError, StopIteration) as error:
        raise VttdataError(
            f"The erratum of '{erratum.field}' of '{erratum.id}' has {text[:80]!a}, which is no value of '{column}'."
        ) from error
    if not text.strip():
        raise VttdataError(f"The erratum of '{erratum.field}' of '{erratum.id}' has an empty text.")
    return text


def _is_same(old: object, value: object) -> bool:
    if isinstance(old, float) and isinstance(value, float):
        return math.isclose(old, value, abs_tol=1e-9)
    if isinstance(old, list) and isinstance(value, list):
        return len(old) == len(value) and all(map(_is_same, old, value))
    return type(old) is type(value) and old == value


def _show(value: object, column: str, row: Row, categories: Sequence[str]) -> str:
    if column == "category" and isinstance(value, int):
        return str(categories[value])
    return str(row["options"][value]) if column == "answer" and isinstance(value, int) else _as_text(value)


def find_values(dataset: Path, text: str) -> Iterator[tuple[str, str, str]]:
    """Yield the id, the field and the value, as errata name them, of values of a dataset that contain a text.

    Case makes no difference; an id that contains the text gives all values of its row.
    """
    layout, wanted = read_layout(dataset, needs=None), text.casefold()
    for table, columns in CORRECTABLE.items():
        paths = [path for files in layout.files.get(table, {}).values() for path in files]
        for row in read_parquet_rows(paths, ("video_id",), optional=("sen_id", "question_id", "options", *columns)):
            name = row_id(table, row)
            for column in filter(row.__contains__, columns):
                value = _show(row[column], column, row, layout.categories)
                if wanted in name.casefold() or wanted in value.casefold():
                    yield name, f"{table}.{column}", value


def correction_hint(dataset: Path) -> str:
    """Return a sentence on which ids errata have, with the first one of the dataset; empty where it has none."""
    first = next(find_values(dataset, ""), None)
    if first is None:
        return ""
    return (
        f"'vttdata correct' names a value by an id such as {first[0]} and a field such as {first[1]}; --find TEXT "
        "prints those that contain a text."
    )


def history_rows(rows: Iterable[Row]) -> list[ErratumRow]:
    """Return the errata of rows of the table `errata`."""
    names = {column.name for column in fixed_columns(ERRATA)}
    return [ErratumRow(**{name: value for name, value in row.items() if name in names}) for row in rows]


def as_rows(errata: Iterable[ErratumRow]) -> list[Row]:
    """Return the rows of the table `errata`, by version, field and id."""
    ordered = sorted(errata, key=lambda erratum: (erratum.version, erratum.field, erratum.id))
    return [dataclasses.asdict(erratum) for erratum in ordered]
