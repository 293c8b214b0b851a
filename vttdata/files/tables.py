"""Read the tables that users bring (CSV, TSV, JSON lines) row by row, with file and line in every error."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, TextIO

from vttdata.errors import VttdataError

_DELIMITERS = {".csv": ",", ".tsv": "\t"}
_JSON_LINES = {".jsonl", ".ndjson"}
_MAX_CELL_CHARACTERS = 2**20
_MAX_JSON_BYTES = 2**28


def read_table(path: Path, *, short_rows: bool = False) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield `(line number, row)` for each row of a table.

    Rows of CSV and TSV contain strings (empty cells are None); rows of JSON lines contain JSON values.

    Args:
        path: UTF-8, with or without a byte order mark; the extension names the format.
        short_rows: treat cells that are missing at the end of a row as empty.

    Raises:
        VttdataError: when the extension is unknown or a row cannot be read; the message names file and line.
    """
    suffix = path.suffix.lower()
    if suffix not in _DELIMITERS and suffix not in _JSON_LINES:
        allowed = ", ".join(sorted({*_DELIMITERS, *_JSON_LINES}))
        raise VttdataError(f"{path}: a table must end in one of {allowed}, not '{path.suffix}'.")
    try:
        with path.open(encoding="utf-8-sig", newline="") as stream:
            if suffix in _JSON_LINES:
                yield from parse_json_lines(str(path), stream)
            else:
                yield from parse_delimited(str(path), stream, _DELIMITERS[suffix], short_rows=short_rows)
    except UnicodeDecodeError as error:
        raise VttdataError(f"{path}: not UTF-8 text ({error.reason} at byte {error.start}).") from error
    except OSError as error:
        raise VttdataError(f"{path}: cannot be read ({error.strerror or error}).") from error


def parse_delimited(
    place: str, stream: TextIO, delimiter: str, *, short_rows: bool = False
) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield the rows of CSV or TSV as `read_table` does; `place` names the file in errors."""
    csv.field_size_limit(_MAX_CELL_CHARACTERS)
    reader = csv.reader(stream, delimiter=delimiter, strict=True)
    try:
        header = next(reader, None)
        if header is None:
            return
        names = [name.strip() for name in header]
        duplicates = {name for name in names if names.count(name) > 1}
        if duplicates:
            raise VttdataError(f"{place}: column '{min(duplicates)}' is duplicated in the header.")
        for cells in reader:
            if not cells:
                continue
            if short_rows:
                cells.extend([""] * (len(names) - len(cells)))
            if len(cells) != len(names):
                raise VttdataError(f"{place}:{reader.line_num}: {len(cells)} cells under {len(names)} column names.")
            yield reader.line_num, {name: cell or None for name, cell in zip(names, cells, strict=True)}
    except csv.Error as error:
        raise VttdataError(f"{place}:{reader.line_num}: {error}.") from error


def parse_json_lines(place: str, stream: TextIO) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield the rows of JSON lines as `read_table` does; `place` names the file in errors."""
    for number, line in enumerate(stream, 1):
        if not line.strip():
            continue
        try:
            value = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise VttdataError(f"{place}:{number}: not a JSON object ({error}).") from error
        if not isinstance(value, dict):
            raise VttdataError(f"{place}:{number}: a JSON object is expected, found {type(value).__name__}.")
        yield number, value


def read_rows(file: Path, expected: str, *, alone: bool = False) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield the objects of a ``.json`` file, numbered from 1, or the rows of a table as `read_table` does.

    Args:
        file: JSON is UTF-8, with or without a byte order mark.
        expected: description of the JSON list, for the error.
        alone: accept an object that is not in a list.

    Raises:
        VttdataError: when it cannot be read, is not a table or not JSON, is larger than 256 MiB, or is not a list of
            objects.
    """
    if file.suffix.lower() != ".json":
        yield from read_table(file)
        return
    try:
        if file.stat().st_size > _MAX_JSON_BYTES:
            raise VttdataError(f"{file}: larger than {_MAX_JSON_BYTES} bytes.")
        value = json.loads(file.read_text(encoding="utf-8-sig"))
    except OSError as error:
        raise VttdataError(f"{file}: cannot be read ({error.strerror or error}).") from error
    except (ValueError, RecursionError) as error:
        raise VttdataError(f"{file}: not JSON ({error}).") from error
    objects = [value] if alone and isinstance(value, dict) else value
    if not isinstance(objects, list) or not all(isinstance(item, dict) for item in objects):
        raise VttdataError(f"{file}: {expected} is expected.")
    yield from enumerate(objects, 1)
