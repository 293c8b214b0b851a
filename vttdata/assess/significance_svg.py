"""Draws the matrix of significant wins as the video paper does (Graham et al., PLOS ONE 2018, figure 7), as an SVG.

A green cell is a significant win of the row's system over the column's.
"""

from __future__ import annotations

from xml.sax.saxutils import escape

from vttdata.assess.significance import Significance

_CELL = 34
_LETTER = 7.5  # pixels that a letter of the labels takes, at most
_LONGEST = 40
_WIN, _NONE, _SELF, _LINE = "#3a9a50", "#f4f4f4", "#d0d0d0", "#ffffff"


def significance_svg(tested: Significance) -> str:
    """The picture, best system first; each cell tells its p-value when pointed at, and lines part the clusters."""
    names = [_label(name) for name in tested.systems]
    margin = round(max(map(len, names), default=0) * _LETTER) + 16
    size = len(names) * _CELL
    width, height = margin + size + 8, margin + size + 34
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}" '
        'font-family="sans-serif" font-size="12">',
        f'<rect width="{width}" height="{height}" fill="white"/>',
    ]
    for row, name in enumerate(names):
        middle = margin + row * _CELL + _CELL / 2
        parts.append(f'<text x="{margin - 6}" y="{middle + 4}" text-anchor="end">{escape(name)}</text>')
        turned = f"translate({middle + 4} {margin - 6}) rotate(-90)"
        parts.append(f'<text transform="{turned}" text-anchor="start">{escape(name)}</text>')
        parts += [_cell(tested, row, column, margin) for column in range(len(names))]
    parts += _cluster_lines(tested, margin, size)
    note = f"green: the row's system is better than the column's, p &lt; {tested.alpha:g}"
    parts.append(f'<text x="8" y="{height - 12}" fill="#555555">{note}</text>')
    return "\n".join([*parts, "</svg>"]) + "\n"


def _label(name: str) -> str:
    plain = "".join(sign if sign.isprintable() else " " for sign in name)
    return plain if len(plain) <= _LONGEST else f"{plain[: _LONGEST - 3]}..."


def _cell(tested: Significance, row: int, column: int, margin: int) -> str:
    colour = _SELF if row == column else _WIN if tested.wins(row, column) else _NONE
    place = f'x="{margin + column * _CELL}" y="{margin + row * _CELL}" width="{_CELL}" height="{_CELL}"'
    pair = escape(f"{_label(tested.systems[row])} over {_label(tested.systems[column])}")
    title = "" if row == column else f"<title>{pair}: p = {tested.p[row][column]:.4g}</title>"
    return f'<rect {place} fill="{colour}" stroke="{_LINE}">{title}</rect>'


def _cluster_lines(tested: Significance, margin: int, size: int) -> list[str]:
    lines, end = [], 0
    for cluster in tested.clusters()[:-1]:
        end += len(cluster)
        at = margin + end * _CELL
        lines.append(f'<path d="M{margin} {at}H{margin + size}M{at} {margin}V{margin + size}" stroke="black"/>')
    return lines
