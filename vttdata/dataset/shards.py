"""Writes the rows of one split of one configuration as Parquet files of bounded size, in memory that stays flat.

File names carry a digest of what is in them. A reader's cache goes by names, not by contents, so a rebuilt dataset
must have new ones, or its old rows come back.
"""

from __future__ import annotations

import hashlib
import itertools
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from vttdata.dataset.parquet import build_table

ROWS_PER_SHARD = 50_000
_BYTES_PER_SHARD = 256 * 2**20
_ROWS_AT_A_TIME = 2_000
_ITEMS_AT_A_TIME = 20_000
_BYTES_AT_A_TIME = 8 * 2**20  # of embedded files: a streamed row comes after at most so much, or after one file
_READ_BYTES = 2**20
_SPLIT_ORDER = {"train": 0, "validation": 1, "test": 2}


@dataclass(frozen=True, slots=True)
class Shard:
    """One Parquet file: its path relative to the dataset, its rows, its size and its checksum."""

    path: str
    rows: int
    bytes: int
    sha256: str


@dataclass(frozen=True, slots=True)
class SplitFiles:
    """All files of one split of one configuration. `pattern` finds them; `memory` is their size in memory in bytes."""

    split: str
    shards: tuple[Shard, ...]
    pattern: str
    memory: int

    @property
    def rows(self) -> int:
        """The number of rows."""
        return sum(shard.rows for shard in self.shards)

    @property
    def bytes(self) -> int:
        """The size of the files in bytes."""
        return sum(shard.bytes for shard in self.shards)


def split_key(split: str | None) -> tuple[int, str]:
    """Sorts splits: those for training, validation and test first; a clip without a split counts as ``train``."""
    name = split or "train"
    return _SPLIT_ORDER.get(name, len(_SPLIT_ORDER)), name


def write_split(
    dataset: Path,
    config: str,
    split: str,
    schema: pa.Schema,
    rows: Iterable[dict[str, Any]],
    labels: Mapping[str, int] | None = None,
) -> SplitFiles | None:
    """Write ``<config>/<split>-<i>-of-<n>-<digest>.parquet``; None, and no file, when there are no rows.

    Raises:
        VttdataError: when a row does not fit the schema, or a label is none of `labels`; see `build_table`.
    """
    folder = dataset / config
    written: list[tuple[Path, int]] = []
    memory = 0
    tables = (build_table(batch, schema, labels or {}, f"{config}/{split}") for batch in _batches(rows))
    for first in tables:
        folder.mkdir(exist_ok=True)
        path = folder / f"{split}-{len(written):05d}.part"
        size, count = _write_shard(path, schema, itertools.chain([first], tables))
        written.append((path, count))
        memory += size
    if not written:
        return None
    hashes = [file_sha256(path) for path, _ in written]
    digest = hashlib.sha256("".join(hashes).encode()).hexdigest()[:12]
    shards = []
    for index, ((path, count), sha256) in enumerate(zip(written, hashes, strict=True)):
        name = f"{split}-{index:05d}-of-{len(written):05d}-{digest}.parquet"
        final = path.rename(folder / name)
        shards.append(Shard(f"{config}/{name}", count, final.stat().st_size, sha256))
    return SplitFiles(split, tuple(shards), f"{config}/{split}-*-{digest}.parquet", memory)


def _batches(rows: Iterable[dict[str, Any]]) -> Iterator[list[dict[str, Any]]]:
    """So many rows, items in lists, and bytes of files that memory depends on no number in all."""
    batch: list[dict[str, Any]] = []
    items = size = 0
    for row in rows:
        batch.append(row)
        items += sum(len(value) for value in row.values() if isinstance(value, list))
        size += sum(len(value["bytes"]) for value in row.values() if isinstance(value, dict))
        if len(batch) >= _ROWS_AT_A_TIME or items >= _ITEMS_AT_A_TIME or size >= _BYTES_AT_A_TIME:
            yield batch
            batch, items, size = [], 0, 0
    if batch:
        yield batch


def _write_shard(path: Path, schema: pa.Schema, tables: Iterator[pa.Table]) -> tuple[int, int]:
    """Write tables until the shard is full; return its size in memory and its rows."""
    size = rows = 0
    with pq.ParquetWriter(path, schema, compression="snappy", write_page_index=True) as writer:
        for table in tables:
            writer.write_table(table)
            size += table.nbytes
            rows += table.num_rows
            if rows >= ROWS_PER_SHARD or size >= _BYTES_PER_SHARD:
                break
    return size, rows


def file_sha256(path: Path) -> str:
    """The SHA-256 of a file, read piece by piece."""
    digest = hashlib.sha256()
    with path.open("rb") as stream:
        while piece := stream.read(_READ_BYTES):
            digest.update(piece)
    return digest.hexdigest()
