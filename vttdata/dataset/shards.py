"""Write the rows of one split of one configuration as Parquet files of bounded size, in bounded memory.

File names carry a digest of the content: the caches of readers go by names, so a rebuilt dataset with the old names
would return its old rows.
"""

from __future__ import annotations

import hashlib
import itertools
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from vttdata.dataset.parquet import build_table
from vttdata.files.reading import file_sha256
from vttdata.json_types import Row

# The limits below decide where row groups and files end, and so the bytes of every dataset.
ROWS_PER_SHARD = 50_000
_BYTES_PER_SHARD = 256 * 2**20
_ROWS_PER_BATCH = 2_000
_ITEMS_PER_BATCH = 20_000
# Of embedded files: a streamed row comes after at most this much, or after one larger file.
_BYTES_PER_BATCH = 8 * 2**20

_SPLIT_ORDER = {"train": 0, "validation": 1, "test": 2}


@dataclass(frozen=True, slots=True)
class Shard:
    """Parquet file with its path relative to the dataset, number of rows, size in bytes and checksum."""

    path: str
    rows: int
    bytes: int
    sha256: str


@dataclass(frozen=True, slots=True)
class SplitFiles:
    """Files of one split of one configuration.

    `pattern` is a glob that matches them, relative to the dataset; `memory` is the size of the rows in memory, bytes.
    """

    split: str
    shards: tuple[Shard, ...]
    pattern: str
    memory: int

    @property
    def rows(self) -> int:
        """Number of rows."""
        return sum(shard.rows for shard in self.shards)

    @property
    def bytes(self) -> int:
        """Size of the files in bytes."""
        return sum(shard.bytes for shard in self.shards)


def split_key(split: str | None) -> tuple[int, str]:
    """Return the sort key of a split: train, validation, test, then others by name; no split counts as ``train``."""
    name = split or "train"
    return _SPLIT_ORDER.get(name, len(_SPLIT_ORDER)), name


def write_split(
    dataset: Path,
    config: str,
    split: str,
    schema: pa.Schema,
    rows: Iterable[dict[str, object]],
    labels: Mapping[str, int] | None = None,
) -> SplitFiles | None:
    """Write ``<config>/<split>-<i>-of-<n>-<digest>.parquet``; without rows write nothing and return None.

    Rows have exactly the columns of the schema; `labels` are numbers of labels by column of class labels.

    Raises:
        VttdataError: If a row does not fit the schema or its labels; see `build_table`.
    """
    folder = dataset / config
    written: list[tuple[Path, int]] = []
    memory = 0
    tables = (build_table(batch, schema, labels or {}, f"{config}/{split}") for batch in _batch_rows(rows, schema))
    for first in tables:
        folder.mkdir(exist_ok=True)
        path = folder / f"{split}-{len(written):05d}.part"
        shard_memory, shard_rows = _write_shard(path, schema, itertools.chain([first], tables))
        written.append((path, shard_rows))
        memory += shard_memory
    if not written:
        return None
    hashes = [file_sha256(path) for path, _ in written]
    digest = hashlib.sha256("".join(hashes).encode()).hexdigest()[:12]
    shards = []
    for index, ((path, shard_rows), sha256) in enumerate(zip(written, hashes, strict=True)):
        name = f"{split}-{index:05d}-of-{len(written):05d}-{digest}.parquet"
        final = path.rename(folder / name)
        shards.append(Shard(f"{config}/{name}", shard_rows, final.stat().st_size, sha256))
    return SplitFiles(split, tuple(shards), f"{config}/{split}-*-{digest}.parquet", memory)


def _batch_rows(rows: Iterable[dict[str, object]], schema: pa.Schema) -> Iterator[list[Row]]:
    """Yield batches that are limited in rows, in items of lists and in bytes of files."""
    wide = [field.name for field in schema if pa.types.is_nested(field.type)]
    batch: list[Row] = []
    items = size = 0
    for row in rows:
        batch.append(row)
        for value in map(row.get, wide):
            if isinstance(value, list):
                items += len(value)
            elif isinstance(value, dict):
                size += len(value["bytes"])
        if len(batch) >= _ROWS_PER_BATCH or items >= _ITEMS_PER_BATCH or size >= _BYTES_PER_BATCH:
            yield batch
            batch, items, size = [], 0, 0
    if batch:
        yield batch


def _write_shard(path: Path, schema: pa.Schema, tables: Iterator[pa.Table]) -> tuple[int, int]:
    """Write tables until the shard is full, and return its size in memory and its number of rows."""
    size = rows = 0
    with pq.ParquetWriter(
        path, schema, compression="snappy", write_page_index=True, write_page_checksum=True
    ) as writer:
        for table in tables:
            writer.write_table(table)
            size += table.nbytes
            rows += table.num_rows
            if rows >= ROWS_PER_SHARD or size >= _BYTES_PER_SHARD:
                break
    return size, rows
