"""Read lists of clips that people keep beside a dataset: ids of a split, or the split of each id.

Whether an id exists in a dataset, and whether it may be duplicated, is for the caller to check.
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
_MAX_LINE_LENGTH = 2**20
_SURROGATE = re.compile("[\ud800-\udfff]")


def read_ids(path: Path) -> list[str]:
    """Return all ids in a file, in its order.

    Args:
        path: text with one id per line, with or without the head ``video_id``; table (CSV, TSV, JSON lines) with a
            column ``video_id``; or JSON list of texts. UTF-8, with or without a byte order mark.

    Raises:
        VttdataError: when it cannot be read, is a table without that column, or contains no id.
    """
    return [video_id for video_id, _ in _read(path)]


def ids_in(text: str, place: str, suffix: str) -> list[str]:
    """Return all ids in a text, as `read_ids` does for a file.

    Args:
        text: content of the file.
        place: name of the file for errors.
        suffix: extension of the file, such as ``.csv``.

    Raises:
        VttdataError: as in `read_ids`.
    """
    return [video_id for video_id, _ in _checked(place, suffix, io.StringIO(text, newline=""))]


def read_pins(path: Path) -> dict[str, str]:
    """Return the split of each clip, by `video_id`.

    Args:
        path: as for `read_ids`; a column ``split`` names the split, and without it all ids belong to ``test``.

    Raises:
        VttdataError: as `read_ids`, and when an id has two splits or a row has none.
    """
    pins: dict[str, str] = {}
    for video_id, split in _read(path):
        if pins.setdefault(video_id, split) != split:
            raise VttdataError(f"{path}: '{video_id}' is in two splits, {pins[video_id]} and {split}.")
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
    """Yield the id and the split of each row; raise VttdataError without any row."""
    empty = True
    for number, *values in _rows(place, suffix.lower(), stream):
        empty = False
        for column, value in zip((_ID, _SPLIT), values, strict=True):
            if not isinstance(value, str) or not value.strip():
                raise VttdataError(f"{place}:{number}: the column '{column}' is empty or not a text.")
            if _SURROGATE.search(value):
                raise VttdataError(f"{place}:{number}: contains an unpaired surrogate ({value!a}).")
        yield str(values[0]).strip(), str(values[1]).strip()
    if empty:
        raise VttdataError(f"{place}: contains no clip id.")


def _rows(place: str, suffix: str, stream: TextIO) -> Iterator[tuple[int, object, object]]:
    """Yield line number, id and split of each row, unchecked."""
    if suffix == ".json":
        try:
            ids = json.load(stream)
        except (ValueError, RecursionError) as error:
            raise VttdataError(f"{place}: cut off, damaged or not JSON ({error}).") from error
        if not isinstance(ids, list):
            raise VttdataError(f"{place}: a JSON list of ids is expected, found {type(ids).__name__}.")
        yield from ((number, video_id, "test") for number, video_id in enumerate(ids, 1))
        return
    if suffix in {".jsonl", ".ndjson"}:
        table = parse_json_lines(place, stream)
    else:
        first = stream.readline(_MAX_LINE_LENGTH).strip()
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
