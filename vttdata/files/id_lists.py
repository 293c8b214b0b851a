"""Read lists of clips that people keep beside a dataset: ids of a split, or the split of each id.

Whether an id exists in a dataset, and whether it may be duplicated, is for the caller to check.
"""

from __future__ import annotations

import io
import re
from collections.abc import Iterator
from pathlib import Path
from typing import TextIO

from vttdata.errors import VttdataError
from vttdata.files.json_values import JSON_LINES, parse_json
from vttdata.files.tables import READ_SUFFIXES, Columns, open_text, parse_table

_ID, _SPLIT = "video_id", "split"
_MAX_LINE_LENGTH = 2**20
_DIVIDED = re.compile("[,;\t]")
_SURROGATE = re.compile("[\ud800-\udfff]")


def read_ids(path: Path) -> list[str]:
    """Return all ids in a file, in its order.

    Args:
        path: text with one id per line, with or without the head ``video_id``; table (CSV, TSV, JSON) with a column
            ``video_id``, see `vttdata.files.tables.read_table`; or JSON list of texts.

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
    with open_text(path) as stream:
        yield from _checked(str(path), path.suffix, stream)


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
    first = stream.readline(_MAX_LINE_LENGTH)
    stream.seek(0)
    if suffix in {".json", *JSON_LINES}:
        if first.lstrip().removeprefix("[").lstrip()[:1] == '"':
            yield from ((number, video_id, "test") for number, video_id in parse_json(place, suffix, stream))
            return
    elif not _DIVIDED.search(first) and first.strip().strip('"').casefold() != _ID:
        yield from ((number, line, "test") for number, line in enumerate(stream, 1) if line.strip())
        return
    table_suffix = suffix if suffix in READ_SUFFIXES else ".txt"
    for number, row in parse_table(place, table_suffix, stream, Columns((_ID, _SPLIT), ((_ID,),))):
        yield number, row.get(_ID), row.get(_SPLIT) if _SPLIT in row else "test"
