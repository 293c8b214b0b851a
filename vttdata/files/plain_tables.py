"""Lay out tables for a terminal."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence

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
