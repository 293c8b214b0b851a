"""Opens Parquet files that somebody else may have written, so that a damaged one is told in one sentence.

What the rows mean is known to those who read them.
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


@contextlib.contextmanager
def open_parquet(path: Path, *needed: str) -> Iterator[pq.ParquetFile]:
    """A Parquet file with the columns that are needed, to be read inside the block.

    Raises:
        VttdataError: when the file is damaged, there and in the block, or has no such column.
    """
    try:
        with pq.ParquetFile(path) as file:
            missing = sorted(set(needed) - set(file.schema_arrow.names))
            if missing:
                raise VttdataError(f"{path}: has no column '{missing[0]}'.")
            yield file
    except (OSError, pa.ArrowException) as error:
        raise VttdataError(f"{path}: damaged or unreadable ({str(error).splitlines()[0]}).") from error


_SHOWN = 60

_TAKES: dict[str, tuple[type, ...]] = {
    "is_integer": (int,),
    "is_floating": (float, int),
    "is_string": (str,),
    "is_boolean": (bool,),
    "is_list": (list,),
    "is_struct": (dict,),
}


def build_table(rows: Sequence[dict[str, Any]], schema: pa.Schema, labels: Mapping[str, int], place: str) -> pa.Table:
    """The rows as a table.

    Args:
        rows: with exactly the columns of the schema; the first column is a key and never null.
        schema: of the table.
        labels: of each column of class labels, the number of its labels, which count from 0.
        place: what the rows belong to, for errors.

    Raises:
        VttdataError: when a column is missing or unknown, a value has another type, or a label is out of range.
    """
    names = set(schema.names)
    for row in rows:
        if row.keys() != names:
            odd = min(row.keys() ^ names)
            raise VttdataError(f"{place}: {_row(row, schema)} {'lacks' if odd in names else 'has'} '{odd}'.")
    columns = {name: [row[name] for row in rows] for name in schema.names}
    for field in schema:
        if not _fits(columns[field.name], field.type):
            raise VttdataError(f"{place}: {_misfit(rows, field, schema)}.")
    try:
        table = pa.Table.from_pydict(columns, schema)
    except (pa.ArrowException, ValueError, OverflowError) as error:
        told = next((own for field in schema if (own := _misfit(rows, field, schema))), "a row is too large")
        raise VttdataError(f"{place}: {told}.") from error
    if table.column(0).null_count:
        raise VttdataError(f"{place}: a row has no '{schema.names[0]}'.")
    for name, number in labels.items():
        column = table.column(name)
        _check_labels(
            pc.list_flatten(column) if pa.types.is_list(column.type) else column, number, f"{place}: '{name}'"
        )
    return table


def _row(row: Mapping[str, Any], schema: pa.Schema) -> str:
    return f"the row of {str(row.get(schema.names[0]))[:_SHOWN]!a}"


def _fits(values: Iterable[Any], wanted: pa.DataType) -> bool:
    """Whether values are of the right Python types; Arrow itself cuts 1.5 to 1 and takes a text for a list."""
    allowed = next((own for known, own in _TAKES.items() if getattr(pa.types, known)(wanted)), ())
    types = set(map(type, values)) - {type(None)}
    if not all(issubclass(own, allowed) and (own is not bool or bool in allowed) for own in types):
        return False
    return not pa.types.is_list(wanted) or _fits(itertools.chain.from_iterable(filter(None, values)), wanted.value_type)


def _misfit(rows: Sequence[dict[str, Any]], field: pa.Field, schema: pa.Schema) -> str:
    """What is wrong with the first value that this column does not take; empty where all are well."""
    for row in rows:
        value = row[field.name]
        try:
            pa.array([value], field.type)
            well = _fits([value], field.type)
        except (pa.ArrowException, ValueError, OverflowError):
            well = False
        if not well:
            return f"{_row(row, schema)} has {ascii(value)[:_SHOWN]} as '{field.name}', which should be {field.type}"
    return ""


def _check_labels(column: Any, number: int, place: str) -> None:
    ends = pc.min_max(column).as_py()
    wrong = next((end for end in ends.values() if end is not None and not 0 <= end < number), None)
    if wrong is not None:
        raise VttdataError(f"{place} holds the label {wrong}, and its labels are 0 to {number - 1}.")
