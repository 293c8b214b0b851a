"""Open Parquet files that may be damaged, and build tables from rows that are checked against a schema.

What the columns mean is not known here.
"""

from __future__ import annotations

import contextlib
import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from vttdata.errors import VttdataError

_MESSAGE_CHARACTERS = 60

_PYTHON_TYPES: dict[str, tuple[type, ...]] = {
    "is_integer": (int,),
    "is_floating": (float, int),
    "is_string": (str,),
    "is_boolean": (bool,),
    "is_list": (list,),
    "is_struct": (dict,),
}


@contextlib.contextmanager
def open_parquet(path: Path, *columns: str) -> Iterator[pq.ParquetFile]:
    """Open a Parquet file for the time of the block.

    Args:
        path: File.
        *columns: Columns that it must have.

    Raises:
        VttdataError: If the file is damaged, which may show only in the block, or a column is missing.
    """
    try:
        with pq.ParquetFile(path) as file:
            missing = sorted(set(columns) - set(file.schema_arrow.names))
            if missing:
                raise VttdataError(f"{path}: has no column '{missing[0]}'.")
            yield file
    except (OSError, UnicodeDecodeError, OverflowError, MemoryError, pa.ArrowException) as error:
        reason = next(iter(str(error).splitlines()), type(error).__name__)
        raise VttdataError(f"{path}: is damaged or unreadable ({reason}).") from error


def read_parquet_rows(
    paths: Iterable[Path], columns: Sequence[str], *, optional: Sequence[str] = (), batch_rows: int = 1_000
) -> Iterator[dict[str, Any]]:
    """Yield the rows of Parquet files.

    Args:
        paths: Files, in order.
        columns: Columns to read, which every file must have.
        optional: Further columns; a file without one of them gives rows without it.
        batch_rows: Number of rows in memory.

    Raises:
        VttdataError: If a file is damaged or lacks a column.
    """
    for path in paths:
        with open_parquet(path, *columns) as file:
            existing = [*columns, *(column for column in optional if column in file.schema_arrow.names)]
            for batch in file.iter_batches(batch_rows, columns=existing):
                yield from batch.to_pylist()


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
