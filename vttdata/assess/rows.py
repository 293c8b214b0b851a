"""Reads rows from tables, and from JSON files that hold a list of objects, such as COCO's results."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from vttdata.errors import VttdataError
from vttdata.tables import read_table

_LARGEST = 2**28


def read_rows(file: Path, expected: str, *, alone: bool = False) -> Iterator[tuple[int, dict[str, Any]]]:
    """The objects of a ``.json`` file, numbered from 1; of other files what `vttdata.tables.read_table` reads.

    Args:
        file: JSON is UTF-8, with or without a byte order mark.
        expected: what a JSON file should hold, for the error.
        alone: whether an object by itself counts as a list of one.

    Raises:
        VttdataError: when it cannot be read, is no table, no JSON, larger than 256 MiB, or no list of objects.
    """
    if file.suffix.lower() != ".json":
        yield from read_table(file)
        return
    try:
        if file.stat().st_size > _LARGEST:
            raise VttdataError(f"{file}: larger than {_LARGEST} bytes.")
        value = json.loads(file.read_text(encoding="utf-8-sig"))
    except OSError as error:
        raise VttdataError(f"{file}: cannot be read ({error.strerror or error}).") from error
    except (ValueError, RecursionError) as error:
        raise VttdataError(f"{file}: not JSON ({error}).") from error
    objects = [value] if alone and isinstance(value, dict) else value
    if not isinstance(objects, list) or not all(isinstance(one, dict) for one in objects):
        raise VttdataError(f"{file}: {expected} is expected.")
    yield from enumerate(objects, 1)
