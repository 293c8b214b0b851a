"""Read the manifest of a campaign, which says which caption or control each item of each HIT shows."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple, get_args

from vttdata.errors import VttdataError, list_choices
from vttdata.files.csv_safety import unescape_formula
from vttdata.files.tables import Columns, read_table, required_text
from vttdata.records import JudgmentKind

KINDS: dict[str, JudgmentKind] = {
    **{kind: kind for kind in get_args(JudgmentKind)},
    "SYSTEM": "system",
    "REPEAT": "repeat",
    "REF": "reference",
    "ref": "reference",
    "BAD_REF": "degraded",
    "cal": "degraded",
    "TGT": "system",
    "BAD": "degraded",
    "CHK": "repeat",
}
"""Kinds of items by our names, those of Graham's scripts and those of Appraise."""


class ManifestItem(NamedTuple):
    """Video and caption that an item shows: the caption of a system, or a control made from it."""

    video_id: str
    system: str
    kind: JudgmentKind


Manifest = Mapping[str, Mapping[str, ManifestItem]]
"""HIT -> item -> what it shows, in the order in which items are shown."""


def read_manifest(file: Path) -> dict[str, dict[str, ManifestItem]]:
    """Read a manifest: a CSV, TSV or JSON table with a row per item, in the order in which items are shown.

    Columns: `hit`, `item` (unique within its HIT), `video_id`, `system`, `kind` (see `KINDS`); others are ignored. A
    ``'`` that keeps a spreadsheet from running a cell, as in ``'=A1``, is removed.

    Raises:
        VttdataError: if it cannot be read, a cell is empty, a kind is unknown, or an item is duplicated.
    """
    hits: dict[str, dict[str, ManifestItem]] = {}
    names = ("hit", "item", "video_id", "system", "kind")
    for line, row in read_table(file, Columns(names, [(name,) for name in names])):
        hit, item, video_id, system, kind = (unescape_formula(required_text(file, line, row, name)) for name in names)
        items = hits.setdefault(hit, {})
        if item in items:
            raise VttdataError(f"{file}:{line}: the item {item!a} of HIT {hit!a} is duplicated.")
        items[item] = ManifestItem(video_id, system, parse_kind(kind, f"{file}:{line}"))
    if not hits:
        raise VttdataError(f"{file}: contains no items.")
    return hits


def parse_kind(name: str, location: str) -> JudgmentKind:
    """Return the kind of item with a name of `KINDS`.

    Raises:
        VttdataError: if the name is unknown; the message begins with `location`.
    """
    if name not in KINDS:
        raise VttdataError(f"{location}: unknown kind {name[:40]!a}; choose from {list_choices(name, KINDS)}.")
    return KINDS[name]
