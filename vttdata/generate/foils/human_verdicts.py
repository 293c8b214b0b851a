"""Verdicts of people on single foils, read from a table.

A foil is sound when it is grammatical, names a thing that looks different and is not there, and could well be true.
Nothing here says who judges and how.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from pathlib import Path

from vttdata.errors import VttdataError
from vttdata.files.tables import Columns, read_table

# Id of a foil -> its soundness, from 0 to 1.
Verdicts = Mapping[str, float]

# VALSE (Parcalabescu et al., ACL 2022) asks that two of three annotators accept a foil.
MIN_SOUNDNESS = 0.5

_SOUNDNESS = {"sound": 1.0, "odd": 0.5}


def read_verdicts(path: Path) -> Verdicts:
    """Read the mean verdict of each foil from a table: CSV, TSV or JSON.

    Its columns are `foil_id`, as in datasets of foils, and `verdict`: ``sound`` (1), ``odd`` (0.5) for a foil that is
    right but reads as if something were wrong, or any other word for what is wrong (0).

    Raises:
        VttdataError: when a column is missing or a row has no value in it; the message names file and line.
    """
    values: dict[str, list[float]] = defaultdict(list)
    for line, row in read_table(path, Columns(("foil_id", "verdict"), (("foil_id",), ("verdict",)))):
        foil_id, verdict = row.get("foil_id"), row.get("verdict")
        if not (isinstance(foil_id, str) and foil_id and isinstance(verdict, str) and verdict.strip()):
            raise VttdataError(f"{path}:{line}: a row of verdicts needs a foil_id and a verdict.")
        values[foil_id].append(_SOUNDNESS.get(verdict.strip().lower(), 0.0))
    if not values:
        raise VttdataError(f"{path}: there are no verdicts in this table.")
    return {foil_id: sum(of_foil) / len(of_foil) for foil_id, of_foil in values.items()}
