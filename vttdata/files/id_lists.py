"""Read lists of clips that people keep beside a dataset: ids of a split, or the split of each id.

Whether an id exists in a dataset, and whether it may be duplicated, is for the caller to check.
"""

from __future__ import annotations

import io
import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TextIO

from vttdata.errors import VttdataError
from vttdata.files.tables import (
    JSON_LINES,
    READ_SUFFIXES,
    WORKBOOK,
    Columns,
    open_text,
    parse_json,
    parse_table,
    read_table,
)
from vttdata.json_types import Row

_ID, _SPLIT = "video_id", "split"
_MAX_LINE_LENGTH = 2**20
_DIVIDED = re.compile("[,;\t]")
_SURROGATE = re.compile("[\ud800-\udfff]")


def read_ids(path: Path, *others: str) -> list[str]:
    """Return all ids in a file, in its order.

    Args:
        path: text with one id per line, with or without the head ``video_id``; table (CSV, TSV, JSON) with a column
            ``video_id``, see `vttdata.files.tables.read_table`; or JSON list of texts.
        *others: further columns of a table whose values are returned too; then a table needs only one of all.

    Raises:
        VttdataError: when it cannot be read, is a table without such a column, or contains no id.
    """
    with _open(path) as stream:
        return [name for name, _ in _checked(str(path), path.suffix, stream, (_ID, *others))]


def ids_in(text: str, location: str, suffix: str) -> list[str]:
    """Return all ids in the content of a file with this suffix, such as ``.csv``, as `read_ids` does.

    Raises:
        VttdataError: as in `read_ids`; the message begins with `location`.
    """
    return [video_id for video_id, _ in _checked(location, suffix, io.StringIO(text, newline=""))]


def read_pins(path: Path) -> dict[str, str]:
    """Return the split of each clip, by `video_id`, from a file as of `read_ids`.

    A column ``split`` names the split, and without it all ids belong to ``test``.

    Raises:
        VttdataError: as `read_ids`, and when an id has two splits or a row has none.
    """
    pins: dict[str, str] = {}
    with _open(path) as stream:
        for video_id, split in _checked(str(path), path.suffix, stream):
            if pins.setdefault(video_id, split) != split:
                raise VttdataError(f"{path}: '{video_id}' is in two splits, {pins[video_id]} and {split}.")
    return pins


@contextmanager
def _open(path: Path) -> Iterator[TextIO | None]:
    """Open a text; None for an Excel workbook, which is read by its path."""
    if path.suffix.lower() == WORKBOOK:
        yield None
        return
    with open_text(path) as stream:
        yield stream


def _checked(
    location: str, suffix: str, stream: TextIO | None, names: Sequence[str] = (_ID,)
) -> Iterator[tuple[str, str]]:
    """Yield each id and its split; raise VttdataError without any row."""
    empty = True
    for number, *values in _rows(location, suffix.lower(), stream, names):
        empty = False
        for column, value in zip((_ID, _SPLIT), values, strict=True):
            if not isinstance(value, str) or not value.strip():
                raise VttdataError(f"{location}:{number}: the column '{column}' is empty or not a text.")
            if _SURROGATE.search(value):
                raise VttdataError(f"{location}:{number}: contains an unpaired surrogate ({value!a}).")
        yield str(values[0]).strip(), str(values[1]).strip()
    if empty:
        raise VttdataError(f"{location}: contains no clip id.")


def _rows(
    location: str, suffix: str, stream: TextIO | None, names: Sequence[str]
) -> Iterator[tuple[int, object, object]]:
    """Yield line number, id and split of each row, unchecked; of a table, each cell of the columns `names`."""
    columns = Columns((*names, _SPLIT), (names,))
    if stream is None:
        yield from _cells(read_table(Path(location), columns), names)
        return
    first = stream.readline(_MAX_LINE_LENGTH)
    stream.seek(0)
    if suffix in {".json", *JSON_LINES}:
        if first.lstrip().removeprefix("[").lstrip()[:1] == '"':
            yield from ((number, video_id, "test") for number, video_id in parse_json(location, suffix, stream))
            return
    # Addresses contain commas and semicolons, and no column is called like one.
    elif "://" in first or (not _DIVIDED.search(first) and first.strip().strip('"').casefold() not in names):
        yield from ((number, line, "test") for number, line in enumerate(stream, 1) if line.strip())
        return
    table_suffix = suffix if suffix in READ_SUFFIXES else ".txt"
    yield from _cells(parse_table(location, table_suffix, stream, columns), names)


def _cells(rows: Iterable[tuple[int, Row]], names: Sequence[str]) -> Iterator[tuple[int, object, object]]:
    for number, row in rows:
        cells = [row[name] for name in names if row.get(name)] or [None]
        yield from ((number, cell, row.get(_SPLIT, "test")) for cell in cells)
