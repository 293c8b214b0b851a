"""Stream the tables of a large corpus, such as a training list of millions of videos, in batches of a few columns.

Unlike `vttdata.files.tables` this reads tables whose rows nobody can look at: columns are found by their usual names,
and a table that cannot be parsed is refused as a whole.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv
import pyarrow.json

from vttdata.dataset.parquet import open_parquet
from vttdata.errors import VttdataError
from vttdata.files.tables import fold_name

# Columns that are looked for -> names that tables have for them, without regard to case.
NAMES = {
    "video_id": ("video_id", "videoid", "youtube_id", "youtubeid", "vid", "clip_id", "id"),
    "source_id": ("source_id",),
    "url": ("url", "video_url", "contenturl", "page_url"),
    "start": ("start", "start_timestamp", "start_time", "start_seconds", "begin"),
    "end": ("end", "end_timestamp", "end_time", "end_seconds"),
    "caption": ("caption", "captions", "text", "sentence", "description"),
    "hash_scheme": ("hash_scheme",),
    "hashes": ("hashes",),
}
SUFFIXES = (
    *(".parquet", ".csv", ".tsv", ".jsonl", ".ndjson"),
    *(".csv.gz", ".tsv.gz", ".jsonl.gz", ".csv.zst", ".jsonl.zst"),
)

# Of text that is parsed at once; larger blocks are no faster.
_BLOCK_BYTES = 2**23
_BATCH_ROWS = 2**16


def corpus_files(path: Path) -> list[Path]:
    """Return a table, or the tables in a folder and its subfolders, sorted.

    Raises:
        VttdataError: when there is none.
    """
    if path.is_dir():
        files = sorted(file for file in path.rglob("*") if file.is_file() and file.name.lower().endswith(SUFFIXES))
    else:
        files = [path] if path.is_file() else []
    if not files or not all(file.name.lower().endswith(SUFFIXES) for file in files):
        raise VttdataError(f"{path}: a table, or a folder of tables, is expected; they end in {', '.join(SUFFIXES)}.")
    return files


def stream_corpus(path: Path, columns: Mapping[str, str] | None = None) -> Iterator[pa.Table]:
    """Yield the columns of `NAMES` that the tables of a file have, in batches; texts are Arrow strings.

    Args:
        path: a file as in `corpus_files`, with a head if it is delimited.
        columns: name in `NAMES` -> name of the column in the table.

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
                    yield pa.table({key: batch.column(column) for key, column in found.items()})
        elif ".json" in name or ".ndjson" in name:
            yield from _stream_json(path, columns or {})
        else:
            yield from _stream_csv(path, columns or {}, "\t" if ".tsv" in name else ",")
    except (pa.ArrowException, UnicodeDecodeError) as error:
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
    for name, usual in NAMES.items():
        if name in columns and columns[name] not in header:
            raise VttdataError(f"{path}: has no column '{columns[name]}'; the columns are {', '.join(header)[:400]}.")
        column = columns.get(name) or next((folded[alias] for alias in usual if alias in folded), None)
        if column is not None:
            found[name] = column
    if not found.keys() & {"video_id", "source_id", "url", "caption"}:
        if not header:
            raise VttdataError(f"{path}: is empty.")
        raise VttdataError(
            f"{path}: no column says which video a row is about, or what it says; the columns are "
            f"{', '.join(header)[:400]}. Name one with --columns video_id=COLUMN, url=COLUMN or caption=COLUMN."
        )
    return found


def _stream_csv(path: Path, columns: Mapping[str, str], delimiter: str) -> Iterator[pa.Table]:
    with pa.input_stream(str(path)) as stream:
        start = stream.read(2**20).decode("utf-8-sig", "replace")
    header = next(csv.reader(start.splitlines(keepends=True), delimiter=delimiter), [])
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
        line = stream.read(2**22).decode("utf-8-sig", "replace").partition("\n")[0]
    try:
        first = json.loads(line)
    except ValueError as error:
        raise VttdataError(f"{path}:1: not a line of JSON ({error}).") from error
    if not isinstance(first, dict):
        raise VttdataError(f"{path}:1: a JSON object on each line is expected.")
    found = find_columns(list(first), columns, path)
    read = pyarrow.json.ReadOptions(block_size=_BLOCK_BYTES)
    with closing(pyarrow.json.open_json(path, read)) as reader:
        for batch in reader:
            yield pa.table(
                {name: batch.column(column) for name, column in found.items() if column in batch.schema.names}
            )


def as_strings(column: Any) -> Any:
    """Return a column of texts or numbers as one Arrow array of strings."""
    array = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    array = array.combine_chunks() if isinstance(array, pa.ChunkedArray) else array
    return array if pa.types.is_string(array.type) else pc.cast(array, pa.string())
