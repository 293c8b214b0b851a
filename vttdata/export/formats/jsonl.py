"""All tables as JSON lines, for anything.

Every configuration and split becomes a file with all rows and columns. Labels are written as their names. Tables with
binary columns, such as the bytes of videos, are left out with a note.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa

from vttdata.errors import VttdataError
from vttdata.export.files import as_json, text_file
from vttdata.export.format import ExportRequest, Format, Written
from vttdata.export.reader import DatasetReader

RULES = (
    "Each line is an object with the columns of the dataset in their order; labels (`category`, `classes`) are written "
    "as their names. All characters except ASCII are escaped, so only the end of an object ends a line."
)
_USAGE = """\
```python
import json

rows = [json.loads(line) for line in open("{name}")]
```"""


def write_jsonl(request: ExportRequest) -> Written:
    """Write ``<config>/<split>.jsonl`` for the requested configuration and split, by default all.

    Raises:
        VttdataError: if there is nothing to write, or a row has no JSON representation.
    """
    dataset, split = request.dataset, request.split
    notes, names = [], []
    for config in [request.config] if request.config is not None else dataset.configs:
        binary = [column.name for column in dataset.schema(config) if _has_bytes(column.type)]
        if binary:
            notes.append(f"'{config}' has a binary column ('{binary[0]}'), which JSON cannot hold, and is left out.")
            continue
        # A split need not be in every configuration, but must be in the one that is named.
        for name in dataset.splits(config, split if request.config is not None else None):
            if split in (None, name):
                names.append(f"{config}/{name}.jsonl")
                _write_split(dataset, request.folder / names[-1], config, name)
    if not names:
        reason = notes[0] if notes else f"no configuration has a split {split!a}."
        raise VttdataError(f"{dataset.folder}: {reason}")
    return Written(_USAGE.format(name=names[0]), notes)


def _write_split(dataset: DatasetReader, path: Path, config: str, split: str) -> None:
    label_names = _label_names(dataset, config)
    with text_file(path) as stream:
        for number, row in enumerate(dataset.rows(config, split, dataset.schema(config).names)):
            try:
                for column, name_labels in label_names.items():
                    row[column] = name_labels(row[column])
                stream.write(f"{as_json(row)}\n")
            except (ValueError, TypeError, IndexError) as error:
                raise VttdataError(
                    f"{dataset.folder}: row {number} of {config}/{split} cannot be written as JSON ({error})."
                ) from error


def _label_names(dataset: DatasetReader, config: str) -> Mapping[str, Callable[[Any], Any]]:
    """Return, by column, functions from label numbers to label names."""
    types = {column.name: column.type for column in dataset.schema(config)}
    functions: dict[str, Callable[[Any], Any]] = {}
    if dataset.categories and pa.types.is_integer(types.get("category", pa.null())):
        functions["category"] = lambda label: None if label is None else _label_name(dataset.categories, label)
    if dataset.classes and "classes" in types:
        # Missing and empty lists stay as they are.
        functions["classes"] = lambda labels: labels and [_label_name(dataset.classes, label) for label in labels]
    return functions


def _label_name(names: tuple[str, ...], label: int) -> str:
    if not 0 <= label < len(names):
        raise ValueError(f"label {label} of {len(names)}")
    return names[label]


def _has_bytes(column_type: pa.DataType) -> bool:
    if pa.types.is_binary(column_type) or pa.types.is_large_binary(column_type):
        return True
    return any(_has_bytes(column_type.field(index).type) for index in range(column_type.num_fields))


FORMAT = Format(write_jsonl, RULES, any_config=True)
