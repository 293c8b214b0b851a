"""Hash the rows of Parquet files column by column, so that two datasets are compared without loading either.

Equal values have equal hashes of 64 bits, whatever the width of their Arrow type; two different values share a hash
with probability 2^-64. The hashes do not resist somebody who constructs collisions; checksums of files do.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from vttdata.dataset.parquet import open_parquet
from vttdata.split.audit.repeated_captions import hash_texts

Hashes = NDArray[np.uint64]

_BATCH_BYTES = 32 * 2**20
_BATCH_ROWS = 65_536
_NULL = np.uint64(0x6E756C6C)

# Finaliser of SplitMix64 (Steele, Lea and Flood, OOPSLA 2014): 2^64 divided by the golden ratio, and two factors.
_INCREMENT = np.uint64(0x9E3779B97F4A7C15)
_FACTORS = (np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB))


def hash_column(paths: Iterable[Path], column: str) -> Hashes:
    """Return a hash of each row's value in a column; a file without the column counts as nulls.

    Raises:
        VttdataError: If a file is damaged; the message names it.
    """
    parts = [hashes for (hashes,) in hash_batches(paths, [column])]
    return np.concatenate(parts) if parts else np.zeros(0, dtype=np.uint64)


def hash_batches(paths: Iterable[Path], columns: Sequence[str]) -> Iterator[list[Hashes]]:
    """Yield hashes of the values in each column, batch by batch; a file without a column counts as nulls there.

    Raises:
        VttdataError: If a file is damaged; the message names it.
    """
    for path in paths:
        for batch in read_batches(path, columns):
            indices = map(batch.schema.get_field_index, columns)
            yield [
                hash_values(batch.column(index)) if index >= 0 else np.full(batch.num_rows, _NULL) for index in indices
            ]


def read_batches(path: Path, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
    """Yield the rows of a file in batches of some megabytes, with those of the columns that it has.

    Raises:
        VttdataError: If the file is damaged.
    """
    with open_parquet(path) as file:
        metadata = file.metadata
        groups = (metadata.row_group(number) for number in range(metadata.num_row_groups))
        row_bytes = sum(group.total_byte_size for group in groups) // max(metadata.num_rows, 1)
        rows = max(1, min(_BATCH_ROWS, _BATCH_BYTES // max(row_bytes, 1)))
        existing = [name for name in columns if name in file.schema_arrow.names]
        if existing:
            yield from file.iter_batches(rows, columns=existing)
        else:
            yield pa.RecordBatch.from_struct_array(pa.array([{}] * metadata.num_rows, pa.struct([])))


def hash_values(values: pa.Array) -> Hashes:
    """Return a hash of each value of an Arrow array: numbers, texts, bytes, lists and structures of them.

    Numbers are hashed as they are stored: 0.0 and -0.0 differ, all NaN are equal.
    """
    if pa.types.is_null(values.type):
        return np.full(len(values), _NULL)
    if pa.types.is_dictionary(values.type):
        return hash_values(values.dictionary_decode())
    is_valid = pc.is_valid(values).to_numpy(zero_copy_only=False)
    return np.where(is_valid, _hash_nullable(values, values.type), _NULL)


def _hash_nullable(values: pa.Array, arrow_type: pa.DataType) -> Hashes:
    """Return hashes that mean nothing where a value is null."""
    types = pa.types
    if types.is_boolean(arrow_type) or types.is_integer(arrow_type):
        numbers = pc.fill_null(values, 0 if types.is_integer(arrow_type) else False).to_numpy(zero_copy_only=False)
        return mix_bits(numbers.astype(np.int64, casting="unsafe").view(np.uint64))
    if types.is_floating(arrow_type):
        floats = pc.fill_null(values, 0.0).to_numpy(zero_copy_only=False).astype(np.float64)
        return mix_bits(np.where(np.isnan(floats), np.nan, floats).view(np.uint64))
    if types.is_struct(arrow_type):
        return combine_hashes([hash_values(field) for field in values.flatten()], len(values))
    if not (types.is_string(arrow_type) or types.is_large_string(arrow_type) or types.is_binary(arrow_type)):
        values = pa.array([None if value is None else repr(value) for value in values.to_pylist()], pa.string())
    # Hashing each distinct text once is much faster, since most columns repeat their values.
    encoded = values.dictionary_encode()
    text_hashes = hash_texts(encoded.dictionary)
    indices = pc.fill_null(encoded.indices, 0).to_numpy(zero_copy_only=False)
    return text_hashes[indices] if len(text_hashes) else np.zeros(len(values), np.uint64)


def combine_hashes(parts: Sequence[Hashes], rows: int) -> Hashes:
    """Return one hash of several for each of the rows; the order of the parts matters."""
    combined = np.zeros(rows, dtype=np.uint64)
    for part in parts:
        combined = mix_bits(combined ^ part)
    return combined


def mix_bits(numbers: Hashes) -> Hashes:
    """Return numbers of which every bit depends on every bit of the given ones."""
    mixed = numbers + _INCREMENT
    mixed = (mixed ^ (mixed >> np.uint64(30))) * _FACTORS[0]
    mixed = (mixed ^ (mixed >> np.uint64(27))) * _FACTORS[1]
    return mixed ^ (mixed >> np.uint64(31))
