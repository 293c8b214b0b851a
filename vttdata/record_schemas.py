"""Records as flat table rows, with the Arrow schema and the HuggingFace `Features` of such tables."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any, Literal, get_args, get_origin, get_type_hints


def row(record: Any) -> dict[str, Any]:
    """A record as one flat table row: the fields of nested records become columns of their own."""
    columns: dict[str, Any] = {}
    for field in dataclasses.fields(record):
        value = getattr(record, field.name)
        nested = _nested(type(record), field.name)  # type: ignore[arg-type] # a class is hashable
        if isinstance(value, Mapping):
            columns |= value
        elif nested is None:
            columns[field.name] = _plain(value)
        elif value is None:
            columns |= dict.fromkeys(f.name for f in dataclasses.fields(nested) if not _is_mapping(nested, f.name))
        else:
            columns |= row(value)
    return columns


def _plain(value: Any) -> Any:
    if not isinstance(value, tuple):
        return value
    return [dataclasses.asdict(item) if dataclasses.is_dataclass(item) else item for item in value]  # type: ignore[arg-type]


@functools.cache
def _nested(record: Any, name: str) -> type | None:
    hint = get_type_hints(record)[name]
    options = get_args(hint)
    if type(None) not in options:
        return hint if dataclasses.is_dataclass(hint) and isinstance(hint, type) else None
    return next((option for option in options if isinstance(option, type) and dataclasses.is_dataclass(option)), None)


@functools.cache
def _is_mapping(record: Any, name: str) -> bool:
    return get_origin(get_type_hints(record)[name]) is Mapping


def arrow_schema(record: type, mapping_keys: Mapping[str, Sequence[str]] = MappingProxyType({})) -> Any:
    """Return the Arrow schema of `row(record)`: int64, float64, string and bool columns, and lists of structs.

    Args:
        record: record class.
        mapping_keys: for each field that is a mapping to floats its keys; each becomes a column in the field's place.
    """
    import pyarrow as pa

    return pa.schema(list(_arrow_fields(record, mapping_keys)))


def features(record: type, mapping_keys: Mapping[str, Sequence[str]] = MappingProxyType({})) -> Any:
    """Return the HuggingFace `Features` of a table of these records, columns as in `row`."""
    import datasets

    return datasets.Features.from_arrow_schema(arrow_schema(record, mapping_keys))


def _arrow_fields(record: type, mapping_keys: Mapping[str, Sequence[str]]) -> Iterator[Any]:
    import pyarrow as pa

    hints = get_type_hints(record)
    for field in dataclasses.fields(record):
        nested = _nested(record, field.name)
        if _is_mapping(record, field.name):
            yield from (pa.field(key, pa.float64()) for key in mapping_keys.get(field.name, ()))
        elif nested is None:
            yield pa.field(field.name, _arrow_type(hints[field.name]))
        else:
            yield from _arrow_fields(nested, mapping_keys)


def _arrow_type(hint: Any) -> Any:
    import pyarrow as pa

    plain = {str: pa.string(), int: pa.int64(), float: pa.float64(), bool: pa.bool_()}
    if hint in plain:
        return plain[hint]
    if dataclasses.is_dataclass(hint):
        return pa.struct(list(_arrow_fields(hint, {})))  # type: ignore[arg-type]
    options = [option for option in get_args(hint) if option not in (type(None), Ellipsis)]
    if get_origin(hint) is tuple:
        return pa.list_(_arrow_type(options[0]))
    if get_origin(hint) is Literal:
        return pa.string()
    return _arrow_type(options[0])
