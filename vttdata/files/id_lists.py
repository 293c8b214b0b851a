"""Reads lists of clips that people keep beside a dataset: the ids of a split, or which clip belongs to which split.

It knows nothing of any dataset; whether an id exists, and whether it may come twice, is for the caller to say.
"""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import TextIO

from vttdata.errors import VttdataError
from vttdata.files.tables import parse_delimited, parse_json_lines

_ID, _SPLIT = "video_id", "split"
_LONGEST_LINE = 2**20
_HALF_SIGN = re.compile("[\ud800-\udfff]")


def read_ids(path: Path) -> list[str]:
    """All ids in a file, in its order.

    Args:
        path: a text with one id a line, under ``video_id`` or nothing; a table (CSV, TSV, JSON lines) with a column
            ``video_id``; or a JSON list of texts. UTF-8, with or without a byte order mark.

    Raises:
        VttdataError: when it cannot be read, is a table without that column, or holds no id.
    """
    return [video_id for video_id, _ in _read(path)]


def ids_in(text: str, place: str, suffix: str) -> list[str]:
    """As `read_ids`, of a text that was read already: `place` names it in errors, `suffix` is its file's (``.csv``).

    Raises:
        VttdataError: as in `read_ids`.
    """
    return [video_id for video_id, _ in _checked(place, suffix, io.StringIO(text, newline=""))]


def read_pins(path: Path) -> dict[str, str]:
    """Which clip belongs to which split: `video_id` -> split.

    Args:
        path: as in `read_ids`; a column ``split`` names the split, without one all ids belong to ``test``.

    Raises:
        VttdataError: as in `read_ids`, and when an id is given two splits or a row names none.
    """
    pins: dict[str, str] = {}
    for video_id, split in _read(path):
        if pins.setdefault(video_id, split) != split:
            raise VttdataError(f"{path}: '{video_id}' is given to two splits, {pins[video_id]} and {split}.")
    return pins


def _read(path: Path) -> Iterator[tuple[str, str]]:
    try:
        with path.open(encoding="utf-8-sig", newline="") as stream:
            yield from _checked(str(path), path.suffix, stream)
    except UnicodeDecodeError as error:
        raise VttdataError(f"{path}: not UTF-8 text ({error.reason} at byte {error.start}).") from error
    except OSError as error:
        raise VttdataError(f"{path}: cannot be read ({error.strerror or error}).") from error


def _checked(place: str, suffix: str, stream: TextIO) -> Iterator[tuple[str, str]]:
    """Every row's id and split, at least one."""
    empty = True
    for number, *values in _rows(place, suffix.lower(), stream):
        empty = False
        for column, value in zip((_ID, _SPLIT), values, strict=True):
            if not isinstance(value, str) or not value.strip():
                raise VttdataError(f"{place}:{number}: the column '{column}' holds no text.")
            if _HALF_SIGN.search(value):
                raise VttdataError(f"{place}:{number}: holds half a character ({value!a}).")
        yield str(values[0]).strip(), str(values[1]).strip()
    if empty:
        raise VttdataError(f"{place}: holds no clip id.")


def _rows(place: str, suffix: str, stream: TextIO) -> Iterator[tuple[int, object, object]]:
    """Line, id and split of each row as they stand there."""
    if suffix == ".json":
        yield from _json(place, stream)
        return
    if suffix in {".jsonl", ".ndjson"}:
        table = parse_json_lines(place, stream)
    else:
        first = stream.readline(_LONGEST_LINE).strip()
        stream.seek(0)
        delimiter = "\t" if "\t" in first else ","
        names = [name.strip() for name in next(csv.reader([first], delimiter=delimiter), [])]
        if _ID not in names:
            if len(names) > 1:
                raise VttdataError(f"{place}: has no column '{_ID}'; its first line is {', '.join(names)[:80]!r}.")
            yield from ((number, line, "test") for number, line in enumerate(stream, 1) if line.strip())
            return
        table = parse_delimited(place, stream, delimiter)
    for number, row in table:
        yield number, row.get(_ID), row.get(_SPLIT) if _SPLIT in row else "test"


def _json(place: str, stream: TextIO) -> Iterator[tuple[int, object, object]]:
    try:
        ids = json.load(stream)
    except (ValueError, RecursionError) as error:
        raise VttdataError(f"{place}: cut off, damaged or not JSON ({error}).") from error
    if not isinstance(ids, list):
        raise VttdataError(f"{place}: a JSON list of ids is expected, found {type(ids).__name__}.")
    for number, video_id in enumerate(ids, 1):
        yield number, video_id, "test"
