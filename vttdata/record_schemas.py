"""Flat table rows of records, with the Arrow schema and the HuggingFace `Features` of such tables."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any, Literal, get_args, get_origin, get_type_hints

_NO_KEYS: Mapping[str, Sequence[str]] = MappingProxyType({})


def to_row(record: Any) -> dict[str, Any]:
    """Return a record as one flat table row: fields of nested records and keys of mappings are columns too."""
    columns: dict[str, Any] = {}
    for field in dataclasses.fields(record):
        value = getattr(record, field.name)
        nested = _nested_record(type(record), field.name)  # type: ignore[arg-type] # a class is hashable
        if isinstance(value, Mapping):
            columns |= value
        elif nested is not None and value is not None:
            columns |= to_row(value)
        elif nested is not None:
            columns |= dict.fromkeys(f.name for f in dataclasses.fields(nested) if not _is_mapping(nested, f.name))
        elif isinstance(value, tuple):
            columns[field.name] = [dataclasses.asdict(v) if dataclasses.is_dataclass(v) else v for v in value]  # type: ignore[arg-type]
        else:
            columns[field.name] = value
    return columns


# Evaluates all annotations of a class, which are text, anew at each call.
_type_hints = functools.cache(get_type_hints)


@functools.cache
def _nested_record(record: Any, name: str) -> type | None:
    """Return the record class of a field, optional or not; None for other fields."""
    hint = _type_hints(record)[name]
    options = get_args(hint) if type(None) in get_args(hint) else (hint,)
    return next((option for option in options if isinstance(option, type) and dataclasses.is_dataclass(option)), None)


@functools.cache
def _is_mapping(record: Any, name: str) -> bool:
    return get_origin(_type_hints(record)[name]) is Mapping


def arrow_schema(record: type, mapping_keys: Mapping[str, Sequence[str]] = _NO_KEYS) -> Any:
    """Return the Arrow schema of `to_row(record)`: int64, float64, string and bool columns, and lists of structs.

    `mapping_keys` are, for each field that is a mapping to floats, its keys; each becomes a column in the field's
    place.
    """
    import pyarrow as pa

    return pa.schema(list(_arrow_fields(record, mapping_keys)))


def features(record: type, mapping_keys: Mapping[str, Sequence[str]] = _NO_KEYS) -> Any:
    """Return the HuggingFace `Features` of a table of these records; arguments as of `arrow_schema`."""
    import datasets

    return datasets.Features.from_arrow_schema(arrow_schema(record, mapping_keys))


def _arrow_fields(record: type, mapping_keys: Mapping[str, Sequence[str]]) -> Iterator[Any]:
    import pyarrow as pa

    hints = _type_hints(record)
    for field in dataclasses.fields(record):
        nested = _nested_record(record, field.name)
        if _is_mapping(record, field.name):
            yield from (pa.field(key, pa.float64()) for key in mapping_keys.get(field.name, ()))
        elif nested is not None:
            yield from _arrow_fields(nested, mapping_keys)
        else:
            yield pa.field(field.name, _arrow_type(hints[field.name]))


def _arrow_type(hint: Any) -> Any:
    import pyarrow as pa

    plain = {str: pa.string(), int: pa.int64(), float: pa.float64(), bool: pa.bool_()}
    if hint in plain:
        return plain[hint]
    if dataclasses.is_dataclass(hint):
        return pa.struct(list(_arrow_fields(hint, _NO_KEYS)))  # type: ignore[arg-type]
    if get_origin(hint) is Literal:
        return pa.string()
    options = [option for option in get_args(hint) if option not in (type(None), Ellipsis)]
    return pa.list_(_arrow_type(options[0])) if get_origin(hint) is tuple else _arrow_type(options[0])
