"""Hashes the rows of Parquet files, a column at a time, so that two datasets are compared without holding either.

Equal values have equal hashes of 64 bits, whatever the width of their Arrow type; two different ones share a hash once
in 2^64. Nothing here withstands somebody who seeks collisions: checksums of files do.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.types as kinds
from numpy.typing import NDArray

from vttdata.dataset.parquet import open_parquet

Hashes = NDArray[np.uint64]

_BATCH_BYTES = 32 * 2**20
_BATCH_ROWS = 65_536
_NULL = np.uint64(0x6E756C6C)
_STEP = np.uint64(0x9E3779B97F4A7C15)
"""2^64 divided by the golden ratio; with the two factors below the finaliser of SplitMix64 (Steele et al., 2014)."""
_FACTORS = (np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB))


def column_hashes(paths: Iterable[Path], column: str) -> Hashes:
    """A hash of each row's value in one column; a file without the column counts as one of nulls.

    Raises:
        VttdataError: when a file is damaged; the message names it.
    """
    parts = [np.zeros(0, dtype=np.uint64)]
    for path in paths:
        for batch in batches(path, [column]):
            there = batch.schema.get_field_index(column) >= 0
            parts.append(hashes(batch.column(column)) if there else np.full(batch.num_rows, _NULL))
    return np.concatenate(parts)


def batches(path: Path, columns: Sequence[str]) -> Iterator[Any]:
    """The rows of a file in pieces of some megabytes, with those of the columns that it has.

    Raises:
        VttdataError: when the file is damaged.
    """
    with open_parquet(path) as file:
        facts = file.metadata
        groups = (facts.row_group(number) for number in range(facts.num_row_groups))
        size = sum(group.total_byte_size for group in groups) // max(facts.num_rows, 1)
        rows = max(1, min(_BATCH_ROWS, _BATCH_BYTES // max(size, 1)))
        there = [name for name in columns if name in file.schema_arrow.names]
        if there:
            yield from file.iter_batches(rows, columns=there)
        else:
            yield pa.RecordBatch.from_struct_array(pa.array([{}] * facts.num_rows, pa.struct([])))


def hashes(values: Any) -> Hashes:
    """A hash of each value of an Arrow array: numbers, texts, bytes, lists and structures of them.

    A number is taken as it is stored: 0.0 and -0.0 differ, all NaN are one.
    """
    kind = values.type
    if kinds.is_null(kind):
        return np.full(len(values), _NULL)
    if kinds.is_dictionary(kind):
        return hashes(values.dictionary_decode())
    found = _hashes(values, kind)
    return np.where(pc.is_valid(values).to_numpy(zero_copy_only=False), found, _NULL)


def _hashes(values: Any, kind: Any) -> Hashes:
    if kinds.is_boolean(kind) or kinds.is_integer(kind):
        numbers = pc.fill_null(values, 0 if kinds.is_integer(kind) else False).to_numpy(zero_copy_only=False)
        return mixed(numbers.astype(np.int64, casting="unsafe").view(np.uint64))
    if kinds.is_floating(kind):
        real = pc.fill_null(values, 0.0).to_numpy(zero_copy_only=False).astype(np.float64)
        return mixed(np.where(np.isnan(real), np.nan, real).view(np.uint64))
    if _is_list(kind):
        return _list_hashes(values)
    if kinds.is_struct(kind):
        return combined([hashes(field) for field in values.flatten()], len(values))
    return _text_hashes(values, kind)


def _is_list(kind: Any) -> bool:
    return bool(kinds.is_list(kind) or kinds.is_large_list(kind) or kinds.is_fixed_size_list(kind))


def _list_hashes(values: Any) -> Hashes:
    """The sum of each list's items, hashed with their places, and its length."""
    lengths = pc.fill_null(pc.list_value_length(values), 0).to_numpy(zero_copy_only=False).astype(np.int64)
    ends = np.cumsum(lengths)
    starts = ends - lengths
    items = hashes(values.flatten())
    places = np.arange(len(items)) - np.repeat(starts, lengths)
    sums = np.concatenate([np.zeros(1, np.uint64), np.cumsum(mixed(items ^ mixed(places.astype(np.uint64))))])
    return combined([sums[ends] - sums[starts], lengths.astype(np.uint64)], len(lengths))


def _text_hashes(values: Any, kind: Any) -> Hashes:
    """Each distinct text is hashed once; what is neither text nor bytes is hashed as Arrow writes it."""
    if not (kinds.is_string(kind) or kinds.is_large_string(kind) or kinds.is_binary(kind)):
        values = pa.array([None if value is None else repr(value) for value in values.to_pylist()], pa.string())
    encoded = values.dictionary_encode()
    texts = encoded.dictionary.to_numpy(zero_copy_only=False)
    known = pd.util.hash_array(texts.astype(object), categorize=False).astype(np.uint64)
    places = pc.fill_null(encoded.indices, 0).to_numpy(zero_copy_only=False)
    return known[places] if len(known) else np.zeros(len(values), np.uint64)


def combined(parts: Sequence[Hashes], rows: int) -> Hashes:
    """One hash of several, for each of so many rows; their order matters."""
    result = np.zeros(rows, dtype=np.uint64)
    for part in parts:
        result = mixed(result ^ part)
    return result


def mixed(numbers: Hashes) -> Hashes:
    """Numbers whose bits all depend on all bits of these."""
    result = numbers + _STEP
    result = (result ^ (result >> np.uint64(30))) * _FACTORS[0]
    result = (result ^ (result >> np.uint64(27))) * _FACTORS[1]
    return result ^ (result >> np.uint64(31))
