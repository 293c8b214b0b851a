"""What people said of single foils: how sound they are.

A foil is sound when it is grammatical, names a thing that looks different and is not there, and could well be true. Who
judges, and how, is decided elsewhere.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from pathlib import Path

from vttdata.errors import VttdataError
from vttdata.files.tables import read_table

Verdicts = Mapping[str, float]
"""Id of a foil -> how sound it is, from 0 to 1."""

LEAST = 0.5
"""Of less sound foils none is taken; VALSE (Parcalabescu et al., ACL 2022) asks two of three annotators."""

_VALUES = {"sound": 1.0, "odd": 0.5}


def read_verdicts(path: Path) -> Verdicts:
    """Read a table of verdicts.

    Args:
        path: CSV, TSV or JSON lines with the columns `foil_id`, as datasets of foils have it, and `verdict`: ``sound``,
            ``odd`` for one that is right but reads as if something were wrong, or any other word for what is wrong. How
            sound a foil is, is the mean of what is said of it: 1, a half, or 0.

    Raises:
        VttdataError: when a column is missing or a row has no value in it; the message names file and line.
    """
    said: dict[str, list[float]] = defaultdict(list)
    for line, row in read_table(path):
        foil_id, verdict = row.get("foil_id"), row.get("verdict")
        if not (isinstance(foil_id, str) and foil_id and isinstance(verdict, str) and verdict.strip()):
            raise VttdataError(f"{path}:{line}: a row of verdicts needs a foil_id and a verdict.")
        said[foil_id].append(_VALUES.get(verdict.strip().lower(), 0.0))
    if not said:
        raise VttdataError(f"{path}: holds no verdicts.")
    return {foil_id: sum(own) / len(own) for foil_id, own in said.items()}
