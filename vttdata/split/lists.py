"""Reads lists of clips that people keep beside a dataset: the ids of a split, or which clip belongs to which split.

It knows nothing of any dataset; whether an id exists is for the caller to say.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator
from pathlib import Path

from vttdata.errors import VttdataError
from vttdata.tables import read_table

_ID, _SPLIT = "video_id", "split"
_JSON_LINES = {".jsonl", ".ndjson"}
_LONGEST_LINE = 2**20


def read_ids(path: Path) -> list[str]:
    """The ids in a file, each once, in its order.

    Args:
        path: a CSV, TSV or JSON lines with a column ``video_id``, or a text with one id a line.

    Raises:
        VttdataError: when it cannot be read, is a table without that column, or holds no id.
    """
    return list(dict.fromkeys(video_id for video_id, _ in _read(path)))


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
    """Every row's id and split, at least one."""
    empty = True
    for place, video_id, split in _table(path) if _is_table(path) else _lines(path):
        empty = False
        if not isinstance(video_id, str) or not isinstance(split, str):
            wrong = _SPLIT if isinstance(video_id, str) else _ID
            raise VttdataError(f"{path}:{place}: the column '{wrong}' holds no text.")
        yield video_id, split
    if empty:
        raise VttdataError(f"{path}: holds no clip id.")


def _is_table(path: Path) -> bool:
    if path.suffix.lower() in _JSON_LINES:
        return True
    try:
        with path.open(encoding="utf-8-sig", newline="") as stream:
            first = stream.readline(_LONGEST_LINE).strip()
    except UnicodeDecodeError as error:
        raise VttdataError(f"{path}: not UTF-8 text ({error.reason} at byte {error.start}).") from error
    except OSError as error:
        raise VttdataError(f"{path}: cannot be read ({error.strerror or error}).") from error
    cells = next(csv.reader([first], delimiter="\t" if path.suffix.lower() == ".tsv" else ","), [])
    names = [cell.strip() for cell in cells]
    if len(names) > 1 and _ID not in names:
        raise VttdataError(f"{path}: has no column '{_ID}'; its first line is {', '.join(names)[:80]!r}.")
    return _ID in names


def _table(path: Path) -> Iterator[tuple[int, object, object]]:
    for place, row in read_table(path):
        yield place, row.get(_ID), row.get(_SPLIT) if _SPLIT in row else "test"


def _lines(path: Path) -> Iterator[tuple[int, object, object]]:
    with path.open(encoding="utf-8-sig") as stream:
        try:
            for place, line in enumerate(stream, 1):
                if line.strip():
                    yield place, line.strip(), "test"
        except UnicodeDecodeError as error:
            raise VttdataError(f"{path}: not UTF-8 text ({error.reason} at byte {error.start}).") from error
