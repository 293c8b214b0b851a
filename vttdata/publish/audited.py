"""Audits a dataset folder from its Parquet files, read by column, or other splits of its clips.

What a leak is, is said in `vttdata.split.audit`.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from vttdata.errors import VttdataError
from vttdata.publish.front_matter import read_layout
from vttdata.split import Audit, Resemblance
from vttdata.split.entries import Entries, Integers, entries_of_table
from vttdata.split.leaks import audit_entries
from vttdata.split.lists import read_ids
from vttdata.split.verbatim import Batches

_COLUMNS = ("video_id", "source_id", "start", "end")
_ROWS_AT_A_TIME = 10_000


def audit_dataset(dataset: Path, splits: Mapping[str, Path] | None = None, near: Resemblance | None = None) -> Audit:
    """Judge the splits of a dataset folder, or others of its clips.

    Args:
        dataset: a folder of our layout.
        splits: name -> file of ids (see `read_ids`), in the place of the dataset's own splits; clips in none of them
            are left out.
        near: near-duplicate sources, where they are known.

    Raises:
        VttdataError: when the folder is no dataset, or a list cannot be read or names clips that are not in it.
    """
    return audit_files(read_layout(dataset).files["clips"], splits, near)


def audit_files(
    files: Mapping[str, Sequence[Path]], splits: Mapping[str, Path] | None = None, near: Resemblance | None = None
) -> Audit:
    """Judge the Parquet files of `clips`: split -> files; else as `audit_dataset`."""
    tables, numbers = [], []
    for number, own in enumerate(files.values()):
        for path in own:
            with _opened(path) as file:
                tables.append(file.read(columns=list(_COLUMNS)))
                numbers.append(np.full(tables[-1].num_rows, number))
    table, names, chosen = pa.concat_tables(tables), list(files), np.arange(sum(map(len, numbers)))
    if splits is not None:
        rows = [_rows(table.column("video_id"), read_ids(file), file) for file in splits.values()]
        numbers = [np.full(len(own), number) for number, own in enumerate(rows)]
        names, chosen = list(splits), np.concatenate(rows)
    split = np.concatenate(numbers)
    entries = entries_of_table(table if splits is None else table.take(pa.array(chosen)), split, names)
    paths = [path for own in files.values() for path in own]
    return audit_entries(entries, _captions(paths, entries, chosen, table.num_rows), near)


def _rows(known: Any, ids: Sequence[str], file: Path) -> Integers:
    """The rows of these ids."""
    try:
        wanted = pa.array(ids, pa.string())
    except UnicodeEncodeError as error:
        raise VttdataError(f"{file}: holds half a character ({error.object!r}).") from error
    rows = pc.index_in(wanted, value_set=known.cast(pa.string()))
    if rows.null_count:
        first = ids[pc.index(rows.is_null(), True).as_py()]
        raise VttdataError(f"{file}: {rows.null_count} of its ids are not in the dataset, the first is '{first}'.")
    found: Integers = rows.to_numpy().astype(np.int64)
    return found


def _captions(paths: Sequence[Path], entries: Entries, chosen: Integers, rows: int) -> Batches:
    """The captions of the chosen rows, read piece by piece; a row that is chosen twice is told twice."""
    entry_of = np.full((len(entries.splits), rows), -1, dtype=np.int64)
    entry_of[entries.split, chosen] = np.arange(len(chosen))

    def read() -> Iterator[tuple[Integers, Any]]:
        first = 0
        for path in paths:
            for number, parents, texts in _lists(path):
                for places in entry_of[:, first : first + number]:
                    own = places[parents]
                    if (own >= 0).any():
                        yield own[own >= 0], texts.filter(pa.array(own >= 0))
                first += number

    return read


def _lists(path: Path) -> Iterator[tuple[int, Integers, Any]]:
    """Piece by piece the number of clips, and of each caption its clip's place in the piece and its text."""
    with _opened(path) as file:
        for batch in file.iter_batches(_ROWS_AT_A_TIME, columns=["captions"]):
            lists = batch.column(0)
            texts = lists.flatten()
            parents = pc.list_parent_indices(lists).filter(texts.is_valid())
            yield len(lists), parents.to_numpy().astype(np.int64), texts.drop_null()


@contextlib.contextmanager
def _opened(path: Path) -> Iterator[Any]:
    """A Parquet file with the columns that are needed."""
    try:
        with pq.ParquetFile(path) as file:
            missing = sorted({*_COLUMNS, "captions"} - set(file.schema_arrow.names))
            if missing:
                raise VttdataError(f"{path}: has no column '{missing[0]}', without which clips cannot be audited.")
            yield file
    except (OSError, pa.ArrowException) as error:
        raise VttdataError(f"{path}: damaged or unreadable ({str(error).splitlines()[0]}).") from error
