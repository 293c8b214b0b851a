"""Read tables that people keep about videos: the columns by which videos and captions are known, in batches.

Columns are found by their usual names, and a table that cannot be parsed is refused as a whole; `vttdata.files.tables`
reads row by row, and is for tables that somebody looks at. Memory does not depend on the size of a table.
"""

from __future__ import annotations

import csv
import itertools
import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv
import pyarrow.json

from vttdata.dataset.parquet import open_parquet
from vttdata.errors import VttdataError
from vttdata.files.id_lists import ID_COLUMNS, SPLIT_COLUMNS
from vttdata.files.tables import fold_name, read_table

NAMES = {
    "source_id": (
        *("source_id", "source_video_id", "original_video_id", "source_video"),
        *("youtube_id", "youtubeid", "yt_id", "ytid"),
    ),
    "video_id": ID_COLUMNS,
    "url": (
        *("url", "video_url", "contenturl", "page_url", "webpage_url", "youtube_url"),
        *("link", "video_link", "youtube_link"),
    ),
    "source_url": ("source_url",),
    "start": ("start", "start_timestamp", "start_time", "start_seconds", "start_sec", "begin"),
    "end": ("end", "end_timestamp", "end_time", "end_seconds", "end_sec"),
    "caption": ("caption", "captions", "text", "sentence", "sentences", "description"),
    "sha256": ("sha256", "sha1", "md5", "md5sum", "checksum", "file_hash", "video_sha256", "video_md5"),
    "source_sha256": ("source_sha256", "source_sha1", "source_md5", "source_checksum"),
    "duplicate_of": ("duplicate_of", "copy_of", "near_duplicate_of", "same_as"),
    "split": SPLIT_COLUMNS,
    "hash_scheme": ("hash_scheme",),
    "hashes": ("hashes", "fingerprint", "phash", "video_hash"),
}
"""Columns that are looked for -> names that tables have for them, without regard to case; the first that is there."""

SUFFIXES = (
    *(".parquet", ".csv", ".tsv", ".json", ".jsonl", ".ndjson"),
    *(".csv.gz", ".tsv.gz", ".jsonl.gz", ".csv.zst", ".jsonl.zst"),
)

# JSON that describes a dataset.
_DESCRIPTIONS = ("dataset_info.json", "dataset_infos.json", "dataset_dict.json", "state.json", "croissant.json")

# Of text that is parsed at once; larger blocks are no faster.
_BLOCK_BYTES = 2**23
_BATCH_ROWS = 2**16


def list_tables(path: Path, *, needed: bool = True) -> list[Path]:
    """Return a table, or the tables in a folder and its subfolders, sorted; JSON lists only where there are no others.

    Raises:
        VttdataError: when there is none, if one is needed.
    """
    if path.is_dir():
        files = sorted(file for file in path.rglob("*") if file.is_file() and file.name.lower().endswith(SUFFIXES))
        files = [file for file in files if not any(part.startswith(".") for part in file.relative_to(path).parts)]
        lists = [file for file in files if file.suffix.lower() == ".json"]
        files = [file for file in files if file not in lists] or [
            file for file in lists if file.name not in _DESCRIPTIONS
        ]
    else:
        files = [path] if path.is_file() else []
    if (needed and not files) or not all(file.name.lower().endswith(SUFFIXES) for file in files):
        raise VttdataError(f"{path}: a table, or a folder of tables, is expected; they end in {', '.join(SUFFIXES)}.")
    return files


def stream_table(path: Path, columns: Mapping[str, str] | None = None) -> Iterator[pa.Table]:
    """Yield the columns of `NAMES` that the tables of a file have, in batches; texts are Arrow strings.

    The file is as in `list_tables`, with a head if it is delimited; `columns` are its names by those in `NAMES`.

    Raises:
        VttdataError: when the file is damaged, has none of the columns by which videos or captions are known, or lacks
            one of `columns`.
    """
    name = path.name.lower()
    try:
        if name.endswith(".parquet"):
            with open_parquet(path) as file:
                found = find_columns(file.schema_arrow.names, columns or {}, path)
                for batch in file.iter_batches(_BATCH_ROWS, columns=list(dict.fromkeys(found.values()))):
                    table = pa.table({key: batch.column(column) for key, column in found.items()})
                    yield _check_types(table, found, path)
        elif name.endswith(".json"):
            yield from _stream_values(path, columns or {})
        elif ".json" in name or ".ndjson" in name:
            yield from _stream_json(path, columns or {})
        else:
            yield from _stream_csv(path, columns or {}, "\t,;" if ".tsv" in name else ",;\t")
    except (pa.ArrowException, UnicodeError) as error:
        # `ArrowInvalid` is a ValueError too, whose text may have several lines.
        reason = " ".join(str(error).split())[:200]
        raise VttdataError(f"{path}: cannot be parsed ({reason}).") from error
    except (OSError, EOFError) as error:
        raise VttdataError(f"{path}: cannot be read ({error}).") from error


def find_columns(header: Sequence[str], columns: Mapping[str, str], path: Path) -> dict[str, str]:
    """Return name in `NAMES` -> column of a header.

    Raises:
        VttdataError: when a named column is missing, or nothing says which video a row is about or what it says.
    """
    unknown = next((name for name in columns if name not in NAMES), None)
    if unknown is not None:
        raise VttdataError(f"--columns {unknown}=...: there is no such column; choose from {', '.join(NAMES)}.")
    folded = {fold_name(name): name for name in reversed(header)}
    found: dict[str, str] = {}
    taken = set(columns.values())
    for name, usual in NAMES.items():
        if name in columns and columns[name] not in header:
            raise VttdataError(f"{path}: has no column '{columns[name]}'; the columns are {', '.join(header)[:400]}.")
        column = columns.get(name) or next((c for alias in usual if (c := folded.get(alias)) and c not in taken), None)
        if column is not None:
            found[name] = column
            taken.add(column)
    if "source_id" not in found and fold_name(found.get("video_id", "")).startswith("clip"):
        video = next((folded[alias] for alias in ("video_id", "videoid", "vid", "video") if alias in folded), None)
        found |= {"source_id": video} if video is not None else {}
    if not found.keys() & {"video_id", "source_id", "url", "caption"}:
        if not header:
            raise VttdataError(f"{path}: is empty.")
        raise VttdataError(
            f"{path}: no column says which video a row is about, or what it says; the columns are "
            f"{', '.join(header)[:400]}. Name one with --columns video_id=COLUMN, url=COLUMN or caption=COLUMN."
        )
    return found


def _stream_csv(path: Path, columns: Mapping[str, str], delimiters: str) -> Iterator[pa.Table]:
    with pa.input_stream(str(path)) as stream:
        start = stream.read(2**20).decode("utf-8-sig", "replace")
    headers = [next(csv.reader(start.splitlines(keepends=True), delimiter=each), []) for each in delimiters]
    # The delimiter that gives the most columns; of equal ones the first, which is that of the extension.
    header = max(headers, key=len)
    delimiter = delimiters[headers.index(header)]
    found = find_columns(header, columns, path)
    wanted = list(dict.fromkeys(found.values()))
    options = pyarrow.csv.ConvertOptions(
        include_columns=wanted, column_types=dict.fromkeys(wanted, pa.string()), strings_can_be_null=True
    )
    parse = pyarrow.csv.ParseOptions(delimiter=delimiter, newlines_in_values=True)
    read = pyarrow.csv.ReadOptions(block_size=_BLOCK_BYTES)
    with closing(pyarrow.csv.open_csv(path, read, parse, options)) as reader:
        for batch in reader:
            yield pa.table({name: batch.column(column) for name, column in found.items()})


def _stream_json(path: Path, columns: Mapping[str, str]) -> Iterator[pa.Table]:
    with pa.input_stream(str(path)) as stream:
        line = stream.read(2**22).decode("utf-8-sig", "replace").lstrip().partition("\n")[0]
    try:
        first = json.loads(line)
    except ValueError as error:
        raise VttdataError(f"{path}:1: not a line of JSON ({error}).") from error
    if not isinstance(first, dict):
        raise VttdataError(f"{path}:1: a JSON object on each line is expected.")
    read = pyarrow.json.ReadOptions(block_size=_BLOCK_BYTES)
    with closing(pyarrow.json.open_json(path, read)) as reader:
        # The first object need not have all columns.
        found = find_columns(reader.schema.names, columns, path)
        for batch in reader:
            present = {name: column for name, column in found.items() if column in batch.schema.names}
            table = pa.table({name: batch.column(column) for name, column in present.items()})
            yield _check_types(table, found, path)


def _stream_values(path: Path, columns: Mapping[str, str]) -> Iterator[pa.Table]:
    """Yield batches of the objects of a JSON list."""
    rows = (row for _, row in read_table(path))
    while block := list(itertools.islice(rows, _BATCH_ROWS)):
        found = find_columns(list(dict.fromkeys(itertools.chain.from_iterable(block))), columns, path)
        try:
            table = pa.table({name: pa.array([row.get(column) for row in block]) for name, column in found.items()})
        except (pa.ArrowInvalid, pa.ArrowTypeError) as error:
            raise VttdataError(f"{path}: one of {', '.join(found.values())} has values of several types.") from error
        yield _check_types(table, found, path)


def _check_types(table: pa.Table, columns: Mapping[str, str], path: Path) -> pa.Table:
    """Return a table without a column ``video`` that holds files.

    Raises:
        VttdataError: when another column holds lists, objects or bytes; that of captions may hold lists of texts.
    """
    for name in table.column_names:
        found = table.schema.field(name).type
        while name == "caption" and (pa.types.is_list(found) or pa.types.is_large_list(found)):
            found = found.value_type
        if not (pa.types.is_nested(found) or pa.types.is_binary(found)):
            continue
        if fold_name(columns[name]) != "video":
            raise VttdataError(
                f"{path}: the column '{columns[name]}' holds {found}, where texts or numbers are expected."
            )
        table = table.drop_columns([name])
    return table


def as_strings(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Return a column of texts or numbers as one Arrow array of strings."""
    array = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    array = array.combine_chunks() if isinstance(array, pa.ChunkedArray) else array
    return array if pa.types.is_string(array.type) else pc.cast(array, pa.string())
