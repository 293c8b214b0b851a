"""Exports every table of a dataset as plain JSON lines, one file a configuration and split, all rows and columns.

Labels are written as their names. What JSON cannot hold, such as the bytes of videos, is left out and told.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa

from vttdata.errors import VttdataError
from vttdata.export.files import as_json, text_file
from vttdata.export.reader import Source

RULES = (
    "One object a line, with the columns of the dataset in their order; labels (`category`, `classes`) are written as "
    "their names. A line ends only with its object: all other characters than ASCII are escaped."
)
READ = """\
```python
import json

rows = [json.loads(line) for line in open("{name}")]
```"""


def write_jsonl(source: Source, folder: Path, config: str | None, split: str | None) -> tuple[str, list[str]]:
    """Write ``<config>/<split>.jsonl`` for all, or for those that are asked for.

    Returns:
        How it is read, and what is to be told.

    Raises:
        VttdataError: when nothing is left to write, or a row cannot be said in JSON.
    """
    configs = [config] if config is not None else list(source.configs)
    notes, names = [], []
    for own in configs:
        binary = [column.name for column in source.schema(own) if _holds_bytes(column.type)]
        if binary:
            notes.append(f"'{own}' holds bytes ('{binary[0]}'), which JSON has no place for, and is left out.")
            continue
        for name in source.splits(own, split if config is not None else None):
            if split in (None, name):
                names.append(f"{own}/{name}.jsonl")
                _write(source, folder / names[-1], own, name)
    if not names:
        told = notes[0] if notes else f"no configuration has a split {split!a}."
        raise VttdataError(f"{source.folder}: {told}")
    return READ.format(name=names[0]), notes


def _write(source: Source, path: Path, config: str, split: str) -> None:
    named = _labels(source, config)
    with text_file(path) as stream:
        for number, row in enumerate(source.rows(config, split)):
            try:
                for column, name in named.items():
                    row[column] = name(row[column])
                stream.write(f"{as_json(row)}\n")
            except (ValueError, TypeError, IndexError) as error:
                raise VttdataError(
                    f"{source.folder}: row {number} of {config}/{split} is no JSON ({error})."
                ) from error


def _labels(source: Source, config: str) -> Mapping[str, Callable[[Any], Any]]:
    """Column -> what turns its numbers into names."""
    types = {column.name: column.type for column in source.schema(config)}
    named: dict[str, Callable[[Any], Any]] = {}
    if source.categories and pa.types.is_integer(types.get("category", pa.null())):
        named["category"] = lambda label: None if label is None else _name(source.categories, label)
    if source.classes and "classes" in types:
        named["classes"] = lambda labels: labels and [_name(source.classes, label) for label in labels]
    return named


def _name(names: tuple[str, ...], label: int) -> str:
    if not 0 <= label < len(names):
        raise ValueError(f"label {label} of {len(names)}")
    return names[label]


def _holds_bytes(kind: pa.DataType) -> bool:
    if pa.types.is_binary(kind) or pa.types.is_large_binary(kind):
        return True
    return any(_holds_bytes(kind.field(place).type) for place in range(kind.num_fields))
