"""Derive the columns of a table from the dataclass of its rows, and from the columns all that describes them.

A field of such a dataclass is ``Annotated`` with what its column means and with the `Role` of the column, if it has
one. Arrow schemas, the features of a README, the texts of a card and the fields of a Croissant description follow from
that. The rows themselves are in `vttdata.dataset.rows`.
"""

from __future__ import annotations

import dataclasses
import enum
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, get_type_hints

import pyarrow as pa

from vttdata.json_types import JsonObject
from vttdata.records import arrow_schema

# Types are those that every version of `datasets` knows, under its names.
_DTYPES = {pa.string(): "string", pa.int64(): "int64", pa.float64(): "float64", pa.bool_(): "bool"}


class Role(enum.Enum):
    """What a column is for, beyond its type.

    A label is the number of a name: of a category of the dataset, or of a class of concepts.
    """

    KEY = "key"
    CATEGORY = "categories"
    CLASS = "classes"


LabelNames = Mapping[Role, Sequence[str]]
"""Names of the labels of each kind, in the order of their numbers."""


@dataclass(frozen=True, slots=True)
class Column:
    """Column with its name, its type, and its meaning in words.

    Fields:
        labels: Kind of its labels, if it has some.
        is_key: True if the column identifies a row, alone or together with others.
    """

    name: str
    type: pa.DataType
    meaning: str
    labels: Role | None = None
    is_key: bool = False

    @property
    def is_list(self) -> bool:
        """Whether a value is a list."""
        return bool(pa.types.is_list(self.type))

    @property
    def is_file(self) -> bool:
        """Whether a value is the bytes of a file and its name."""
        return bool(pa.types.is_struct(self.type))

    @property
    def item_type(self) -> pa.DataType:
        """Type of the items of a list, or of the value itself."""
        return self.type.value_type if self.is_list else self.type

    @property
    def dtype(self) -> str:
        """Name of `item_type` in `datasets`, or ``class label``."""
        return "class label" if self.labels else _DTYPES.get(self.item_type, "bytes and path")

    @property
    def type_name(self) -> str:
        """Name of the type for people."""
        return f"list of {self.dtype}" if self.is_list else self.dtype


def read_columns(row: type, scores: Iterable[Column] = ()) -> tuple[Column, ...]:
    """Return the columns of a dataclass of rows; `scores` stand in the place of a field that is a mapping."""
    hints = get_type_hints(row, include_extras=True)
    schema = arrow_schema(row)
    columns: list[Column] = []
    for field in dataclasses.fields(row):
        if field.name not in schema.names:
            columns += scores
            continue
        marks = hints[field.name].__metadata__
        labels = next((role for role in (Role.CATEGORY, Role.CLASS) if role in marks), None)
        meaning = next(mark for mark in marks if isinstance(mark, str))
        columns.append(Column(field.name, schema.field(field.name).type, meaning, labels, Role.KEY in marks))
    return tuple(columns)


def without_categories(columns: Iterable[Column]) -> tuple[Column, ...]:
    """Return the columns of a dataset without named categories, where a category is a (null) text."""
    return tuple(
        dataclasses.replace(column, type=pa.string(), labels=None) if column.labels is Role.CATEGORY else column
        for column in columns
    )


def table_schema(columns: Iterable[Column]) -> pa.Schema:
    """Return the Arrow schema."""
    return pa.schema([(column.name, column.type) for column in columns])


def label_counts(columns: Iterable[Column], labels: LabelNames) -> dict[str, int]:
    """Return the number of labels of each column of class labels; without those of which no name is known."""
    names = {column.name: labels.get(column.labels, ()) for column in columns if column.labels}
    return {name: len(of_column) for name, of_column in names.items() if of_column}


def readme_features(columns: Iterable[Column], labels: LabelNames) -> list[JsonObject]:
    """Return the ``features`` of the README's ``dataset_info``, with which readers need not open a file."""
    return [{"name": column.name} | _feature(column, labels) for column in columns]


def _feature(column: Column, labels: LabelNames) -> JsonObject:
    if column.is_file:
        # Not the type ``video``: readers before datasets 3.1 do not know it and then refuse all configurations.
        return {"struct": [{"name": "bytes", "dtype": "binary"}, {"name": "path", "dtype": "string"}]}
    dtype: Any = column.dtype
    if column.labels:
        dtype = {
            "class_label": {"names": {str(index): name for index, name in enumerate(labels.get(column.labels, ()))}}
        }
    return {"list" if column.is_list else "dtype": dtype}


def describe_wrong_type(columns: Iterable[Column], schema: pa.Schema) -> str | None:
    """Return in words which column of a table has a type that readers of rows cannot take; None if all are usable.

    Widths, ways to lay out texts, columns of nothing but nulls and columns that are not ours make no difference. A text
    stands for a category, too.
    """
    for column in columns:
        if column.name not in schema.names:
            continue
        found = schema.field(column.name).type
        is_list = pa.types.is_list(found) or pa.types.is_large_list(found) or pa.types.is_fixed_size_list(found)
        item = found.value_type if is_list else found
        if not pa.types.is_null(found) and (is_list != column.is_list or not _is_usable(item, column)):
            return f"the column '{column.name}' is {found}, where {column.type_name} is expected"
    return None


def _is_usable(found: pa.DataType, column: Column) -> bool:
    types, wanted = pa.types, column.item_type
    if types.is_dictionary(found):
        found = found.value_type
    if types.is_boolean(wanted):
        return bool(types.is_boolean(found))
    if types.is_string(found) or types.is_large_string(found) or types.is_string_view(found):
        return bool(types.is_string(wanted)) or column.labels is Role.CATEGORY
    is_float = types.is_floating(wanted) and types.is_floating(found)
    return bool(is_float or (types.is_integer(found) and not types.is_string(wanted)))
