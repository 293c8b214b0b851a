"""Open Parquet files that may be damaged, and build tables from rows that are checked against a schema.

What the columns mean is not known here. pyarrow ends the process where the figures of a column chunk contradict each
other (seen in 26, `RowGroupMetaData.column`), so the footer of a file that may be damaged is read here first, in
Thrift's compact protocol. Field numbers are those of Apache Parquet's `parquet.thrift`.
"""

from __future__ import annotations

import contextlib
import functools
import itertools
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from vttdata.errors import VttdataError
from vttdata.json_types import Row

TIMES = ("start", "end", "duration")
"""Columns of times in seconds in the source of a clip."""

_MESSAGE_CHARACTERS = 60

# A column chunk of fewer bytes or values is read whatever its size in the file is.
_MAX_UNCHECKED_BYTES = 2**26
_MAX_UNCHECKED_VALUES = 2**21
# Texts of captions are compressed to a twentieth, and a row has an id of its own, which takes bytes.
_MAX_COMPRESSION_RATIO = 200
_MAX_VALUES_PER_BYTE = 16

_PYTHON_TYPES: dict[str, tuple[type, ...]] = {
    "is_integer": (int,),
    "is_floating": (float, int),
    "is_string": (str,),
    "is_boolean": (bool,),
    "is_list": (list,),
    "is_struct": (dict,),
}

# Of the footer: bytes after it, numbers of fields, and limits on nesting and on what is remembered.
_MAGIC_BYTES = 8
_ROW_GROUPS, _COLUMNS, _CHUNK = 4, 1, 3
_PATH, _VALUES, _UNPACKED, _PACKED = 3, 5, 6, 7
_MAX_DEPTH = 32
# Thrift's compact types: both truth values, a byte, integers, a double, texts, lists and sets, structs.
_TRUTH, _BYTE, _INTEGER, _DOUBLE, _TEXT, _LIST, _SET, _STRUCT = 2, 3, 6, 7, 8, 9, 10, 12
# Shorter lists have their length in the byte of their type; of the bytes of a number only the last one is this small.
_LONG_LIST, _MAX_LAST_BYTE, _MAX_SHIFT = 15, 0x7F, 63


@contextlib.contextmanager
def open_parquet(path: Path, *columns: str) -> Iterator[pq.ParquetFile]:
    """Open a Parquet file, which must have these columns, for the time of the block.

    Raises:
        VttdataError: If the file is damaged, which may show only in the block, or a column is missing or duplicated; or
            if its footer announces far more rows, list items or bytes than a table of its size has.
    """
    try:
        metadata = _read_metadata(path, file_state(path))
        with pq.ParquetFile(path, metadata=metadata, page_checksum_verification=True) as file:
            missing = sorted(set(columns) - set(file.schema_arrow.names))
            if missing:
                raise VttdataError(f"{path}: has no column '{missing[0]}'.")
            yield file
    except (OSError, UnicodeDecodeError, OverflowError, MemoryError, pa.ArrowException) as error:
        reason = next(iter(str(error).splitlines()), type(error).__name__)
        raise VttdataError(f"{path}: is damaged or unreadable ({reason}).") from error


def file_state(path: Path) -> tuple[int, ...]:
    """Return what changes when a file does, for results that are kept as long as it does not."""
    status = path.stat()
    return status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns


@functools.lru_cache(maxsize=64)
def _read_metadata(path: Path, _status: tuple[int, ...]) -> pq.FileMetaData:
    """Return the metadata of a file after checks; one command opens the same tables many times."""
    metadata = pq.read_metadata(path)
    if excess := _describe_inflation(metadata, path):
        raise VttdataError(f"{path}: {excess}; no table of a dataset is like this, and it is not read.")
    for name, number in Counter(metadata.schema.to_arrow_schema().names).most_common(1):
        if number > 1:
            raise VttdataError(f"{path}: the column '{name}' is duplicated.")
    return metadata


def _describe_inflation(metadata: pq.FileMetaData, path: Path) -> str:
    """Return what a small file would become in memory; empty if that is in proportion.

    Rows of one value and lists of nothing take no bytes in Parquet, and zeros are compressed to a thousandth.
    """
    size = path.stat().st_size
    if metadata.num_rows > max(_MAX_UNCHECKED_VALUES, _MAX_VALUES_PER_BYTE * size):
        return f"claims {metadata.num_rows} rows in {size} bytes"
    is_nested = [metadata.schema.column(index).max_repetition_level > 0 for index in range(metadata.num_columns)]
    for chunks in read_column_chunks(path):
        if len(chunks) != len(is_nested):
            return f"has {len(chunks)} of {len(is_nested)} columns in a row group"
        for chunk, nested in zip(chunks, is_nested, strict=True):
            if chunk.unpacked > max(_MAX_UNCHECKED_BYTES, _MAX_COMPRESSION_RATIO * chunk.packed):
                return f"would unpack {chunk.packed} bytes of '{chunk.path}' to {chunk.unpacked} bytes"
            if nested and chunk.values > max(_MAX_UNCHECKED_VALUES, _MAX_VALUES_PER_BYTE * chunk.packed):
                return f"claims {chunk.values} list items of '{chunk.path}' in {chunk.packed} bytes"
    return ""


def check_footers(tables: Mapping[str, Mapping[str, Iterable[Path]]]) -> None:
    """Open every file of configurations and their splits; raise the VttdataError of `open_parquet`."""
    for path in itertools.chain.from_iterable(files for splits in tables.values() for files in splits.values()):
        with open_parquet(path):
            pass


def read_parquet_rows(
    paths: Iterable[Path], columns: Sequence[str], *, optional: Sequence[str] = (), batch_rows: int = 1_000
) -> Iterator[Row]:
    """Yield the rows of Parquet files, in order, with `batch_rows` of them in memory.

    A file without one of the optional columns gives rows without it. Times that are NaN are None.

    Raises:
        VttdataError: If a file is damaged or lacks a column.
    """
    for path in paths:
        with open_parquet(path, *columns) as file:
            existing = [*columns, *(column for column in optional if column in file.schema_arrow.names)]
            for batch in file.iter_batches(batch_rows, columns=existing):
                yield from without_nan(batch).to_pylist()


def without_nan(batch: pa.RecordBatch) -> pa.RecordBatch:
    """Return a batch in which times that are NaN are null: they are not known."""
    for index, field in enumerate(batch.schema):
        if field.name in TIMES and pa.types.is_floating(field.type):
            column = batch.column(index)
            batch = batch.set_column(index, field, pc.if_else(pc.is_nan(column), pa.scalar(None, field.type), column))
    return batch


def write_rows(path: Path, schema: pa.Schema, rows: Iterable[dict[str, object]], rows_per_group: int) -> None:
    """Write rows as a Parquet file, with one row group in memory at a time."""
    stream = iter(rows)
    with pq.ParquetWriter(path, schema, write_page_checksum=True) as writer:
        while batch := list(itertools.islice(stream, rows_per_group)):
            writer.write_table(pa.Table.from_pylist(batch, schema))


def build_table(
    rows: Sequence[dict[str, object]], schema: pa.Schema, labels: Mapping[str, int], location: str
) -> pa.Table:
    """Build a table from rows, without the silent conversions of Arrow.

    Args:
        rows: Rows with exactly the columns of the schema; the first column is a key and never null.
        schema: Schema of the table.
        labels: Column of class labels -> number of its labels, which count from 0.
        location: Table that the rows belong to, for messages.

    Raises:
        VttdataError: If a column is missing or unknown, a value has another type, or a label is out of range.
    """
    names = set(schema.names)
    for row in rows:
        if row.keys() != names:
            name = min(row.keys() ^ names)
            raise VttdataError(f"{location}: {_name_row(row, schema)} {'lacks' if name in names else 'has'} '{name}'.")
    columns = {name: [row[name] for row in rows] for name in schema.names}
    for field in schema:
        if not _fits(columns[field.name], field.type):
            raise VttdataError(f"{location}: {_describe_misfit(rows, field, schema)}.")
    try:
        table = pa.Table.from_pydict(columns, schema)
    except (pa.ArrowException, ValueError, OverflowError) as error:
        misfits = (_describe_misfit(rows, field, schema) for field in schema)
        raise VttdataError(f"{location}: {next(filter(None, misfits), 'a row is too large')}.") from error
    if table.column(0).null_count:
        raise VttdataError(f"{location}: a row has no '{schema.names[0]}'.")
    for name, number in labels.items():
        column = table.column(name)
        extremes = pc.min_max(pc.list_flatten(column) if pa.types.is_list(column.type) else column).as_py().values()
        wrong = next((label for label in extremes if label is not None and not 0 <= label < number), None)
        if wrong is not None:
            raise VttdataError(f"{location}: '{name}' has the label {wrong}, but its labels are 0 to {number - 1}.")
    return table


def _name_row(row: Mapping[str, object], schema: pa.Schema) -> str:
    return f"the row of {str(row.get(schema.names[0]))[:_MESSAGE_CHARACTERS]!a}"


def _fits(values: Iterable[Any], arrow_type: pa.DataType) -> bool:
    """Return whether values have the Python types of an Arrow type; nulls fit every type.

    Arrow by itself truncates 1.5 to 1 and takes a text for a list of characters.
    """
    allowed = next((types for check, types in _PYTHON_TYPES.items() if getattr(pa.types, check)(arrow_type)), ())
    found = set(map(type, values)) - {type(None)}
    # A bool is an int for Python.
    if not all(issubclass(each, allowed) and (each is not bool or bool in allowed) for each in found):
        return False
    if not pa.types.is_list(arrow_type):
        return True
    return _fits(itertools.chain.from_iterable(filter(None, values)), arrow_type.value_type)


def _describe_misfit(rows: Sequence[dict[str, object]], field: pa.Field, schema: pa.Schema) -> str:
    """Describe the first value that does not fit a column; empty if all fit."""
    for row in rows:
        value = row[field.name]
        try:
            pa.array([value], field.type)
            fits = _fits([value], field.type)
        except (pa.ArrowException, ValueError, OverflowError):
            fits = False
        if not fits:
            shown = ascii(value)[:_MESSAGE_CHARACTERS]
            return f"{_name_row(row, schema)} has {shown} as '{field.name}', which should be {field.type}"
    return ""


@dataclass(frozen=True, slots=True)
class ColumnChunk:
    """Column chunk, as a footer describes it: its column, nested ones with dots, and how large it is.

    It has so many values, list items counted one by one, and so many bytes in the file and after decompression.
    """

    path: str
    values: int
    packed: int
    unpacked: int


def read_column_chunks(path: Path) -> list[list[ColumnChunk]]:
    """Return the column chunks of each row group, in the order of the schema's leaves.

    Raises:
        pyarrow.ArrowInvalid: If the footer does not describe them.
    """
    with path.open("rb") as file:
        size = file.seek(0, 2)
        file.seek(max(0, size - _MAGIC_BYTES))
        length = int.from_bytes(file.read(4), "little")
        file.seek(max(0, size - _MAGIC_BYTES - length))
        data = file.read(length)
    footer = _Footer(data)
    try:
        footer.read()
    except (IndexError, KeyError) as error:
        raise pa.ArrowInvalid("its footer does not describe its columns") from error
    return footer.groups


class _Footer:
    """Reader of a footer in one pass, which collects the column chunks of each row group.

    Its methods take the position of a value and return the one behind it; they raise IndexError or KeyError where the
    footer is not as it should be.
    """

    def __init__(self, data: bytes) -> None:
        self.groups: list[list[ColumnChunk]] = []
        self._data = data
        self._path, self._numbers = "", dict[int, int]()
        in_metadata = {_PATH: (_LIST, self._names)} | {
            number: (_INTEGER, partial(self._number, number)) for number in (_VALUES, _UNPACKED, _PACKED)
        }
        self._in_chunk = {_CHUNK: (_STRUCT, partial(self._struct, readers=in_metadata))}
        self._in_group = {_COLUMNS: (_LIST, partial(self._list, self._chunk))}

    def read(self) -> None:
        self._struct(0, {_ROW_GROUPS: (_LIST, partial(self._list, self._group))})

    def _struct(self, position: int, readers: Mapping[int, tuple[int, Callable[[int], int]]]) -> int:
        data, number = self._data, 0
        missing = len(readers)
        while head := data[position]:
            position += 1
            step, kind = head >> 4, head & 15
            if step:
                number += step
            else:
                number, position = _read_integer(data, position), _skip(data, position, _INTEGER)
            if number in readers:
                expected, read = readers[number]
                if kind != expected:
                    raise IndexError
                position = read(position)
                missing -= 1
            # A truth value is told by the type of its field.
            elif kind > _TRUTH:
                position = _skip(data, position, kind)
        if missing:
            raise IndexError
        return position + 1

    def _list(self, read: Callable[[int], int], position: int) -> int:
        length, of_items, position = _read_list_head(self._data, position)
        if length and of_items != _STRUCT:
            raise IndexError
        for _ in range(length):
            position = read(position)
        return position

    def _group(self, position: int) -> int:
        self.groups.append([])
        return self._struct(position, self._in_group)

    def _chunk(self, position: int) -> int:
        position = self._struct(position, self._in_chunk)
        numbers = self._numbers
        self.groups[-1].append(ColumnChunk(self._path, numbers[_VALUES], numbers[_PACKED], numbers[_UNPACKED]))
        return position

    def _number(self, number: int, position: int) -> int:
        self._numbers[number] = _read_integer(self._data, position)
        return _skip(self._data, position, _INTEGER)

    def _names(self, position: int) -> int:
        length, _, position = _read_list_head(self._data, position)
        names = []
        for _ in range(length):
            size, start = _read_varint(self._data, position)
            position = start + size
            names.append(self._data[start:position])
        self._path = b".".join(names).decode("utf-8", "replace")
        return position


def _skip(data: bytes, position: int, kind: int, depth: int = 0) -> int:
    """Return the position behind a value of a type."""
    if kind == _STRUCT:
        return _skip_struct(data, position, depth)
    if kind in (_LIST, _SET):
        length, of_items, position = _read_list_head(data, position)
        if of_items <= _BYTE:
            return position + length
        for _ in range(length):
            position = _skip(data, position, of_items, depth + 1)
    elif kind == _TEXT:
        length, position = _read_varint(data, position)
        position += length
    elif kind == _DOUBLE:
        position += 8
    elif kind <= _INTEGER:
        while kind > _BYTE and data[position] > _MAX_LAST_BYTE:
            position += 1
        position += 1
    else:
        raise IndexError
    return position


def _skip_struct(data: bytes, position: int, depth: int) -> int:
    """Return the position behind a struct; footers of many row groups have millions of fields, hence few calls."""
    if depth > _MAX_DEPTH:
        raise IndexError
    while head := data[position]:
        position += 1
        if not head >> 4:
            position = _skip(data, position, _INTEGER)
        kind = head & 15
        if _BYTE < kind <= _INTEGER:
            while data[position] > _MAX_LAST_BYTE:
                position += 1
            position += 1
        elif kind > _TRUTH:
            position = _skip(data, position, kind, depth + 1)
    return position + 1


def _read_list_head(data: bytes, position: int) -> tuple[int, int, int]:
    """Return the length of a list, the type of its items, and the position of the first one."""
    length, of_items = divmod(data[position], 16)
    if length < _LONG_LIST:
        return length, of_items, position + 1
    length, position = _read_varint(data, position + 1)
    return length, of_items, position


def _read_varint(data: bytes, position: int) -> tuple[int, int]:
    """Return a number without sign, and the position behind it."""
    value = shift = 0
    while (byte := data[position]) > _MAX_LAST_BYTE:
        value |= (byte & _MAX_LAST_BYTE) << shift
        position += 1
        shift += 7
        if shift > _MAX_SHIFT:
            raise IndexError
    return value | byte << shift, position + 1


def _read_integer(data: bytes, position: int) -> int:
    value, _ = _read_varint(data, position)
    return value >> 1 ^ -(value & 1)
