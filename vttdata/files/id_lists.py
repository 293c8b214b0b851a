"""Read lists of clips that people keep beside a dataset: ids of a split, or the split of each id, in the usual forms.

Whether an id exists in a dataset, and whether it may be duplicated, is for the caller to check.
"""

from __future__ import annotations

import io
import re
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import chain
from pathlib import Path
from typing import TextIO, cast

from vttdata.errors import VttdataError
from vttdata.files.tables import (
    JSON_LINES,
    READ_SUFFIXES,
    WORKBOOK,
    Columns,
    fold_name,
    open_text,
    parse_json,
    parse_table,
    read_table,
)
from vttdata.ids import is_split_name
from vttdata.json_types import Row

ID_COLUMNS = (
    *("clip_id", "clipid", "clip_name", "clip", "video_id", "videoid", "vid", "id", "video_name"),
    *("file_name", "filename", "video_path", "video"),
)
"""Names that tables have for the column of clips' ids."""
SPLIT_COLUMNS = ("split", "subset", "partition", "set")
"""Names that tables have for the column of splits."""
SPLIT_WORDS = {
    **dict.fromkeys(("train", "training"), "train"),
    **dict.fromkeys(("validation", "validate", "valid", "val", "dev"), "validation"),
    **dict.fromkeys(("test", "testing", "eval", "evaluation"), "test"),
}
"""Names of splits in those of files, folders and columns, as `datasets` knows them -> split."""

_ID, _SPLIT = "video_id", "split"
_IDS = (_ID, *(name for name in ID_COLUMNS if name != _ID))
_SPLIT_IN_NAME = re.compile(rf"(?:^|[^a-z])({'|'.join(SPLIT_WORDS)})(?:[^a-z]|$)")
_MAX_LINE_LENGTH = 2**20
_DIVIDED = re.compile("[,;\t]")
_PAIR = re.compile(r"[,;\s]+")
_UNSTATED = object()
_SURROGATE = re.compile("[\ud800-\udfff]")


def read_ids(path: Path, *others: str) -> list[str]:
    """Return all ids in a file, in its order.

    Args:
        path: text with one id, or an id and its split, per line, with or without a head; table (CSV, TSV, JSON) with a
            column ``video_id`` or another of `ID_COLUMNS`, see `vttdata.files.tables.read_table`; JSON list of texts;
            or JSON object of lists of ids by split, of the split of each id, or with such an object as ``splits``, as a
            protocol file.
        *others: further columns of a table whose values are returned too; then a table needs only one of all.

    Raises:
        VttdataError: when it cannot be read, is a table without such a column, or contains no id.
    """
    with _open(path) as stream:
        return [name for name, _ in _checked(str(path), path.suffix, stream, others)]


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


def read_splits(path: Path) -> dict[str, list[str]]:
    """Return the ids of each split that a file as of `read_ids`, or a folder of a file a split, states, in its order.

    What says no split is one by the name of its file: by the word in it, as in ``msrvtt_train.txt``, or by all of it.

    Raises:
        VttdataError: as `read_ids`, and when a split has no usable name, or a folder has no list.
    """
    splits: dict[str, list[str]] = {}
    files = sorted(file for file in path.iterdir() if file.suffix in READ_SUFFIXES) if path.is_dir() else [path]
    for file in files:
        with _open(file) as stream:
            name = split_in_name(file.name) or re.sub(r"\W", "_", file.stem, flags=re.ASCII)
            for video_id, split in _checked(str(file), file.suffix, stream, default=name):
                splits.setdefault(split, []).append(video_id)
    if unusable := next((name for name in splits if not is_split_name(name)), None):
        raise VttdataError(f"{path}: {unusable[:60]!a} cannot name a split; use letters, digits and _ but not 'all'.")
    if not splits:
        raise VttdataError(f"{path}: has no lists of ids; they end in {', '.join(READ_SUFFIXES)}.")
    return splits


def read_split(path: Path, name: str) -> list[str]:
    """Return the ids of a split from a file as of `read_splits`; all ids of a file with a single split.

    Raises:
        VttdataError: as `read_splits`, and when the file has several splits and not this one.
    """
    splits = read_splits(path)
    if len(splits) > 1 and name not in splits:
        raise VttdataError(f"{path}: has no split '{name}'; its splits are {', '.join(splits)}.")
    return splits.get(name) or next(iter(splits.values()))


def is_id_list(path: Path) -> bool:
    """Return whether a file, or a folder, is of ids and at most their splits, and of nothing else."""
    try:
        if path.is_dir():
            files = [file for file in path.iterdir() if not file.name.startswith(".")]
            return bool(files) and all(file.is_file() and is_id_list(file) for file in files)
        if path.suffix.lower() == ".json":
            with _open(path) as stream:
                value = next(parse_json(str(path), ".json", cast("TextIO", stream)))[1]
            return isinstance(value, str) or (isinstance(value, dict) and _pairs_of_object(value) is not None)
        # A text may be of one line, an id.
        default = [(1, {"": ""})] if path.suffix.lower() == ".txt" else []
        if path.suffix.lower() not in READ_SUFFIXES:
            return False
        row = next(chain(read_table(path), default))[1]
        lines = (",".join(map(str, row)), ",".join(map(str, row.values())))
        return len(row) == 1 or all(_place_of_split(line, _IDS) is not None for line in lines)
    except (VttdataError, StopIteration):
        return False


def split_in_name(name: str) -> str | None:
    """Return the split that the name of a file or folder says; None for none."""
    word = _SPLIT_IN_NAME.search(name.lower())
    return SPLIT_WORDS[word[1]] if word else None


@contextmanager
def _open(path: Path) -> Iterator[TextIO | None]:
    """Open a text; None for an Excel workbook, which is read by its path."""
    if path.suffix.lower() == WORKBOOK:
        yield None
        return
    with open_text(path) as stream:
        yield stream


def _checked(
    location: str, suffix: str, stream: TextIO | None, others: Sequence[str] = (), default: str = "test"
) -> Iterator[tuple[str, str]]:
    """Yield each id and its split, or the default; raise VttdataError without any row."""
    empty = True
    for number, value, split in _rows(location, suffix.lower(), stream, others):
        empty = False
        texts = []
        for column, cell in ((_ID, value), (_SPLIT, default if split is _UNSTATED else split)):
            if not isinstance(cell, str) or not cell.strip():
                raise VttdataError(f"{location}:{number}: the column '{column}' is empty or not a text.")
            if _SURROGATE.search(cell):
                raise VttdataError(f"{location}:{number}: contains an unpaired surrogate ({cell!a}).")
            texts.append(cell.strip())
        yield texts[0], texts[1]
    if empty:
        raise VttdataError(f"{location}: contains no clip id.")


def _rows(
    location: str, suffix: str, stream: TextIO | None, others: Sequence[str]
) -> Iterator[tuple[int, object, object]]:
    """Yield line number, id and split of each row, unchecked; of a table, also the cells of the columns `others`."""
    names = (*_IDS, *others)
    columns = Columns((*names, *SPLIT_COLUMNS), (names,))
    if stream is None:
        yield from _cells(read_table(Path(location), columns), others)
        return
    first = stream.readline(_MAX_LINE_LENGTH)
    stream.seek(0)
    if suffix in {".json", *JSON_LINES}:
        if first.lstrip().removeprefix("[").lstrip()[:1] == '"':
            yield from ((number, video_id, _UNSTATED) for number, video_id in parse_json(location, suffix, stream))
            return
        if suffix == ".json" and first.lstrip()[:1] == "{":
            pairs = _pairs_of_object(next(parse_json(location, suffix, stream))[1])
            if pairs is not None:
                yield from ((number, *pair) for number, pair in enumerate(pairs, 1))
                return
            stream.seek(0)
    elif (split_place := _place_of_split(first, names)) is not None:
        yield from _pairs_of_lines(location, stream, split_place)
        return
    # Addresses contain commas and semicolons, and no column is called like one.
    elif "://" in first or (not _DIVIDED.search(first) and fold_name(first.strip().strip('"')) not in names):
        yield from ((number, line, _UNSTATED) for number, line in enumerate(stream, 1) if line.strip())
        return
    table_suffix = suffix if suffix in READ_SUFFIXES else ".txt"
    yield from _cells(parse_table(location, table_suffix, stream, columns), others)


def _place_of_split(line: str, names: Container[str]) -> int | None:
    """Return which of the two cells of a line is a split beside an id; None when it is a head, or no such pair."""
    cells = [fold_name(cell.strip('"')) for cell in _PAIR.split(line.strip())]
    places = [place for place, cell in enumerate(cells) if cell in SPLIT_WORDS]
    return places[0] if len(cells) == 2 and len(places) == 1 and cells[1 - places[0]] not in names else None


def _pairs_of_lines(location: str, lines: Iterable[str], split_place: int) -> Iterator[tuple[int, str, str]]:
    for number, line in enumerate(lines, 1):
        cells = [cell.strip('"') for cell in _PAIR.split(line.strip())]
        if len(cells) == 2 and cells[split_place].lower() in SPLIT_WORDS:
            yield number, cells[1 - split_place], cells[split_place]
        elif line.strip():
            raise VttdataError(f"{location}:{number}: is not an id and its split, as the first line is.")


def _pairs_of_object(value: Mapping[str, object]) -> list[tuple[object, object]] | None:
    """Return ids with their splits from an object of ids by split, or of splits by id; None of any other object."""
    splits = value.get("splits", value)
    if not isinstance(splits, dict) or not {*map(fold_name, splits)}.isdisjoint(_IDS):
        return None
    if all(isinstance(ids, list) and all(isinstance(each, str) for each in ids) for ids in splits.values()):
        return [(video_id, split) for split, ids in splits.items() for video_id in ids]
    return [*splits.items()] if all(isinstance(split, str) for split in splits.values()) else None


def _cells(rows: Iterable[tuple[int, Row]], others: Sequence[str]) -> Iterator[tuple[int, object, object]]:
    for number, row in rows:
        ids = [row[name] for name in _IDS if name in row][:1]
        cells = [cell for cell in (*ids, *(row.get(name) for name in others)) if cell] or [None]
        split = next((row[name] for name in SPLIT_COLUMNS if name in row), _UNSTATED)
        yield from ((number, cell, split) for cell in cells)
