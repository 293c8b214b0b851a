"""Plain values whose shape is decided elsewhere: by a table's schema, or by who writes a file of JSON or YAML."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

Row = dict[str, Any]
"""Row of a table: column -> value, as pyarrow takes and gives it, or the cell of a CSV file."""

JsonObject = dict[str, Any]
"""Object of JSON or mapping of YAML: key -> value."""


def strings_in(value: object) -> Iterator[str]:
    """Yield the strings that a value of JSON holds, but not the keys of objects."""
    if isinstance(value, str):
        yield value
    parts = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    for part in parts:
        yield from strings_in(part)
