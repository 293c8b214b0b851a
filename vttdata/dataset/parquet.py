"""Open Parquet files that may be damaged, and build tables from rows that are checked against a schema.

What the columns mean is not known here. pyarrow ends the process where the figures of a column chunk contradict each
other (seen in 26, `RowGroupMetaData.column`), so the footer of a file that may be damaged is read here first, in
Thrift's compact protocol. Field numbers are those of Apache Parquet's `parquet.thrift`.
"""

from __future__ import annotations

import contextlib
import functools
import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from vttdata.errors import VttdataError

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
_MAX_CACHED_BYTES = 2**16


@contextlib.contextmanager
def open_parquet(path: Path, *columns: str) -> Iterator[pq.ParquetFile]:
    """Open a Parquet file, which must have these columns, for the time of the block.

    Raises:
        VttdataError: If the file is damaged, which may show only in the block, or a column is missing; or if its footer
            announces far more rows, list items or bytes than a table of its size has.
    """
    try:
        with pq.ParquetFile(path) as file:
            if excess := _describe_inflation(file.metadata, path):
                raise VttdataError(f"{path}: {excess}; no table of a dataset is like this, and it is not read.")
            missing = sorted(set(columns) - set(file.schema_arrow.names))
            if missing:
                raise VttdataError(f"{path}: has no column '{missing[0]}'.")
            yield file
    except (OSError, UnicodeDecodeError, OverflowError, MemoryError, pa.ArrowException) as error:
        reason = next(iter(str(error).splitlines()), type(error).__name__)
        raise VttdataError(f"{path}: is damaged or unreadable ({reason}).") from error


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
) -> Iterator[dict[str, Any]]:
    """Yield the rows of Parquet files, in order, with `batch_rows` of them in memory.

    A file without one of the optional columns gives rows without it.

    Raises:
        VttdataError: If a file is damaged or lacks a column.
    """
    for path in paths:
        with open_parquet(path, *columns) as file:
            existing = [*columns, *(column for column in optional if column in file.schema_arrow.names)]
            for batch in file.iter_batches(batch_rows, columns=existing):
                yield from batch.to_pylist()


def write_rows(path: Path, schema: pa.Schema, rows: Iterable[dict[str, Any]], rows_per_group: int) -> None:
    """Write rows as a Parquet file, with one row group in memory at a time."""
    stream = iter(rows)
    with pq.ParquetWriter(path, schema) as writer:
        while batch := list(itertools.islice(stream, rows_per_group)):
            writer.write_table(pa.Table.from_pylist(batch, schema))


def build_table(
    rows: Sequence[dict[str, Any]], schema: pa.Schema, labels: Mapping[str, int], location: str
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


def _name_row(row: Mapping[str, Any], schema: pa.Schema) -> str:
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


def _describe_misfit(rows: Sequence[dict[str, Any]], field: pa.Field, schema: pa.Schema) -> str:
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


def read_column_chunks(path: Path) -> tuple[tuple[ColumnChunk, ...], ...]:
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
    # One command opens the same tables many times.
    return _parse_cached(data) if len(data) <= _MAX_CACHED_BYTES else _parse(data)


def _parse(data: bytes) -> tuple[tuple[ColumnChunk, ...], ...]:
    try:
        groups = _Reader(data).struct()[_ROW_GROUPS]
        return tuple(tuple(_as_chunk(column[_CHUNK]) for column in group[_COLUMNS]) for group in groups)
    except (IndexError, KeyError, TypeError, AttributeError) as error:
        raise pa.ArrowInvalid("its footer does not describe its columns") from error


_parse_cached = functools.lru_cache(maxsize=64)(_parse)


def _as_chunk(fields: dict[int, Any]) -> ColumnChunk:
    path = b".".join(fields[_PATH]).decode("utf-8", "replace")
    return ColumnChunk(path, int(fields[_VALUES]), int(fields[_PACKED]), int(fields[_UNPACKED]))


class _Reader:
    """Reader of one value after another."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._position = 0
        self._depth = 0

    def struct(self) -> dict[int, Any]:
        """Return the fields of a struct by number."""
        self._depth += 1
        if self._depth > _MAX_DEPTH:
            raise IndexError
        fields: dict[int, Any] = {}
        number = 0
        while head := self._byte():
            step, kind = divmod(head, 16)
            number = number + step if step else self._integer()
            # A truth value is told by the type of its field.
            fields[number] = kind == 1 if kind in (1, 2) else self._value(kind)
        self._depth -= 1
        return fields

    def _value(self, kind: int) -> Any:
        if kind in (1, 2, 3):
            return self._byte()
        if kind in (4, 5, 6):
            return self._integer()
        if kind == 7:
            return self._bytes(8)
        if kind == 8:
            return self._bytes(self._varint())
        if kind in (9, 10):
            number, of_items = divmod(self._byte(), 16)
            number = self._varint() if number == 15 else number
            return [self._value(of_items) for _ in range(number)]
        if kind == 12:
            return self.struct()
        raise IndexError

    def _byte(self) -> int:
        self._position += 1
        return self._data[self._position - 1]

    def _bytes(self, number: int) -> bytes:
        self._position += number
        if self._position > len(self._data):
            raise IndexError
        return self._data[self._position - number : self._position]

    def _varint(self) -> int:
        value = shift = 0
        while True:
            byte = self._byte()
            value |= (byte & 0x7F) << shift
            if byte < 0x80:
                return value
            shift += 7
            if shift > 63:
                raise IndexError

    def _integer(self) -> int:
        value = self._varint()
        return value >> 1 ^ -(value & 1)
