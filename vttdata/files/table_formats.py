"""Format tables in CSV, whose first row names the columns, and texts and columns for a terminal.

Texts from outside cannot become formulas or commands of a terminal. Results in sections are in `vttdata.files.results`.
"""

from __future__ import annotations

import csv
import io
import math
import re
from collections.abc import Collection, Sequence
from typing import Any

from vttdata.files.csv_safety import escape_formula

Table = Sequence[Sequence[Any]]

_UNSAFE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")


def printable(text: str) -> str:
    """Return one line without control characters, which a terminal would obey."""
    return "".join(character if character.isprintable() else "?" for character in text)


def visible(text: str) -> str:
    """Return text in which control characters, which a terminal would obey, are Python's escapes for them.

    Line ends and tabs stay, and characters that turn the direction of writing become escapes.
    """
    return _UNSAFE.sub(lambda match: ascii(match[0])[1:-1], text)


def counted(number: int, noun: str) -> str:
    """Return a number of things in words, such as ``1 clip`` and ``1,200 clips``."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def align_columns(rows: Sequence[Sequence[str]], left: Collection[int] = (0,)) -> str:
    """Align columns to the right, and those with the indices `left` to the left."""
    rows = [[printable(cell) for cell in row] for row in rows]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = (
        [cell.ljust(width) if index in left else cell.rjust(width) for index, (cell, width) in enumerate(cells)]
        for cells in (zip(row, widths, strict=True) for row in rows)
    )
    return "\n".join("  ".join(cells).rstrip() for cells in lines)


def as_csv(table: Table) -> str:
    """Return a table as CSV with all digits; None and NaN become empty cells, and formulas are escaped."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    for row in table:
        cells = ("" if value is None or (isinstance(value, float) and math.isnan(value)) else value for value in row)
        writer.writerow([escape_formula(cell) if isinstance(cell, str) else cell for cell in cells])
    return out.getvalue()
