"""Folder of stimuli: its manifest, and the table of what is shown of each clip in each condition."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator
from pathlib import Path

from vttdata.conditions import CONDITIONS, Stimulus
from vttdata.dataset.parquet import read_parquet_rows
from vttdata.errors import VttdataError
from vttdata.files.own_folder import FolderKind
from vttdata.files.reading import is_inside, read_description
from vttdata.json_types import JsonObject

MANIFEST, TABLE = "stimuli.json", "stimuli.parquet"


def _names(folder: Path) -> Collection[str]:
    read_stimuli_manifest(folder)
    own = (MANIFEST, f"{MANIFEST}.tmp", TABLE, f".{TABLE}.tmp", "stages", "scratch", "journal.jsonl")
    return (*own, ".lock", ".lock.owner", *CONDITIONS)


STIMULI = FolderKind("stimuli", MANIFEST, _names)


def read_stimuli_manifest(folder: Path) -> JsonObject:
    """Return the manifest of a folder of stimuli, finished or not.

    Raises:
        VttdataError: if it is missing or damaged.
    """
    try:
        manifest = json.loads(read_description(folder, MANIFEST))
    except (ValueError, RecursionError) as error:
        raise VttdataError(f"{folder / MANIFEST}: cut off, damaged or not JSON.") from error
    if not isinstance(manifest, dict) or manifest.get("status") not in ("complete", "incomplete"):
        raise VttdataError(f"{folder}: holds no stimuli, which 'vttdata stimuli' makes.")
    return manifest


def read_conditions(folder: Path) -> list[str]:
    """Return the conditions of a finished folder of stimuli.

    Raises:
        VttdataError: if it is none, or is not finished.
    """
    manifest = read_stimuli_manifest(folder)
    if manifest["status"] != "complete" or not isinstance(manifest.get("conditions"), dict):
        raise VttdataError(f"{folder}: the stimuli are not finished; run the same 'vttdata stimuli' again.")
    return [name for name in CONDITIONS if name in manifest["conditions"]]


def read_stimuli(folder: Path, conditions: Collection[str] | None = None) -> Iterator[Stimulus]:
    """Yield what is shown of each clip in some conditions, by default all.

    Raises:
        VttdataError: if the table is missing or damaged, or names a file outside of the folder.
    """
    for row in read_parquet_rows([folder / TABLE], tuple(Stimulus.__annotations__)):
        if conditions is None or row["condition"] in conditions:
            values: JsonObject = {name: tuple(cell) if isinstance(cell, list) else cell for name, cell in row.items()}
            stimulus = Stimulus(**values)
            if not all(map(is_inside, stimulus.files)):
                raise VttdataError(f"{folder / TABLE}: names a file outside of its folder.")
            yield stimulus
