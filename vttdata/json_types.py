"""Plain values whose shape is decided elsewhere: by a table's schema, or by who writes a file of JSON or YAML."""

from __future__ import annotations

from typing import Any

Row = dict[str, Any]
"""Row of a table: column -> value, as pyarrow takes and gives it, or the cell of a CSV file."""

JsonObject = dict[str, Any]
"""Object of JSON or mapping of YAML: key -> value."""
