"""Lay out tables for a terminal."""

from __future__ import annotations

from collections.abc import Collection, Sequence


def printable(text: str) -> str:
    """Return one line without control characters, which a terminal would obey."""
    return "".join(character if character.isprintable() else "?" for character in text)


def align_columns(rows: Sequence[Sequence[str]], left: Collection[int] = (0,)) -> str:
    """Align columns to the right, and those with the indices `left` to the left."""
    rows = [[printable(cell) for cell in row] for row in rows]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = (
        [cell.ljust(width) if index in left else cell.rjust(width) for index, (cell, width) in enumerate(cells)]
        for cells in (zip(row, widths, strict=True) for row in rows)
    )
    return "\n".join("  ".join(cells).rstrip() for cells in lines)
