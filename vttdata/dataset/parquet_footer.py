"""Read what the footer of a Parquet file says of its column chunks, in Thrift's compact protocol.

pyarrow ends the process where the figures of a chunk contradict each other (seen in 26, `RowGroupMetaData.column`), so
a file that may be damaged is read here first. Field numbers are those of Apache Parquet's `parquet.thrift`.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa

_MAGIC_BYTES = 8
_ROW_GROUPS, _COLUMNS, _CHUNK = 4, 1, 3
_PATH, _VALUES, _UNPACKED, _PACKED = 3, 5, 6, 7
_MAX_DEPTH = 32
_MAX_CACHED_BYTES = 2**16


@dataclass(frozen=True, slots=True)
class ColumnChunk:
    """Column chunk, as a footer describes it.

    Attributes:
        path: Column, with the fields of nested ones joined by dots.
        values: Number of values, list items counted one by one.
        packed: Bytes in the file.
        unpacked: Bytes after decompression.
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
