"""Draw the matrix of significant wins as in the video paper (Graham et al., PLOS ONE 2018, figure 7), as an SVG.

A cell is green if the system of its row is significantly better than the system of its column.
"""

from __future__ import annotations

from xml.sax.saxutils import escape

from vttdata.people.scoring.significance import Significance

_CELL = 34
# Width in pixels of a character of the labels, at most.
_CHARACTER = 7.5
_MAX_LABEL = 40
_WIN, _NO_WIN, _DIAGONAL, _GRID = "#3a9a50", "#f4f4f4", "#d0d0d0", "#ffffff"


def significance_svg(tested: Significance) -> str:
    """Return the drawing, best system first, with p-values as tooltips and lines between clusters."""
    labels = [_label(name) for name in tested.systems]
    margin = round(max(map(len, labels), default=0) * _CHARACTER) + 16
    size = len(labels) * _CELL
    width, height = margin + size + 8, margin + size + 34
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}" '
        'font-family="sans-serif" font-size="12">',
        f'<rect width="{width}" height="{height}" fill="white"/>',
    ]
    for row, label in enumerate(labels):
        middle = margin + row * _CELL + _CELL / 2
        parts.append(f'<text x="{margin - 6}" y="{middle + 4}" text-anchor="end">{escape(label)}</text>')
        rotation = f"translate({middle + 4} {margin - 6}) rotate(-90)"
        parts.append(f'<text transform="{rotation}" text-anchor="start">{escape(label)}</text>')
        for column, rival in enumerate(labels):
            colour = _DIAGONAL if row == column else _WIN if tested.wins(row, column) else _NO_WIN
            position = f'x="{margin + column * _CELL}" y="{margin + row * _CELL}" width="{_CELL}" height="{_CELL}"'
            title = f"<title>{escape(f'{label} over {rival}')}: p = {tested.p[row][column]:.4g}</title>"
            parts.append(f'<rect {position} fill="{colour}" stroke="{_GRID}">{"" if row == column else title}</rect>')
    end = 0
    for cluster in tested.clusters()[:-1]:
        end += len(cluster)
        line = margin + end * _CELL
        parts.append(f'<path d="M{margin} {line}H{margin + size}M{line} {margin}V{margin + size}" stroke="black"/>')
    note = f"green: the row's system is better than the column's, p &lt; {tested.alpha:g}"
    parts.append(f'<text x="8" y="{height - 12}" fill="#555555">{note}</text>')
    return "\n".join([*parts, "</svg>"]) + "\n"


def _label(name: str) -> str:
    printable = "".join(character if character.isprintable() else " " for character in name)
    return printable if len(printable) <= _MAX_LABEL else f"{printable[: _MAX_LABEL - 3]}..."
