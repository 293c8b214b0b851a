"""Format tables: in CSV, in Markdown and for a terminal.

A table is a list of rows, the first of which names the columns. Texts from outside cannot become formulas, markup or
commands of a terminal.
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

_MARKUP = re.compile(r"([\\`*_{}\[\]#|~<>&!])")
_UNSAFE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")


def printable(text: str) -> str:
    """Return one line without control characters, which a terminal would obey."""
    return "".join(character if character.isprintable() else "?" for character in text)


def visible(text: str) -> str:
    """Return text in which control characters, which a terminal would obey, are Python's escapes for them.

    Line ends and tabs stay, and characters that turn the direction of writing become escapes.
    """
    return _UNSAFE.sub(lambda match: ascii(match[0])[1:-1], text)


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
        cells = ("" if _is_missing(value) else value for value in row)
        writer.writerow([escape_formula(cell) if isinstance(cell, str) else cell for cell in cells])
    return out.getvalue()


def as_markdown(table: Table) -> str:
    """Return a table as Markdown; see `as_text` for its cells."""
    head, *rows = [[as_text(value) for value in row] for row in table]
    lines = [head, ["---"] * len(head), *rows]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def as_plain(table: Table) -> str:
    """Return a table for a terminal: columns of numbers to the right, others to the left, ``-`` for None and NaN."""
    head, *rows = table
    left = [
        index for index, column in enumerate(zip(*rows, strict=True)) if any(isinstance(value, str) for value in column)
    ]
    return align_columns([list(head), *([as_cell(value) for value in row] for row in rows)], left) + "\n"


def as_cell(value: object) -> str:
    """Return a value for a terminal, with three decimals, or one digit of what would be 0.000."""
    if _is_missing(value):
        return "-"
    if isinstance(value, float):
        return f"{value:.3f}" if value == 0 or abs(value) >= 0.0005 else f"{value:.0e}"
    return str(value)


def as_text(value: object) -> str:
    """Return a value as one line of Markdown text.

    Numbers have four significant digits below 1 and four decimals above; ``-`` stands for None and NaN; text is
    escaped.
    """
    if _is_missing(value):
        return "-"
    if isinstance(value, float):
        return f"{value:.4g}" if abs(value) < 1 else f"{value:.4f}".rstrip("0").rstrip(".")
    characters = (character for character in str(value) if character.isprintable() or character.isspace())
    text = " ".join("".join(characters).split())
    return _MARKUP.sub(r"\\\1", text) if isinstance(value, str) else text


def _is_missing(value: object) -> bool:
    return value is None or (isinstance(value, float) and math.isnan(value))
