"""Draw estimates of metrics with their intervals: a panel for each set, a row for each metric, as an SVG."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple
from xml.sax.saxutils import escape

from vttdata.evaluate.report import Estimate

_ROW, _WIDTH, _GAP, _HEAD, _FOOT = 22, 190, 44, 52, 30
# Width in pixels of a character of the labels, at most.
_CHARACTER = 7.2
_PER_LINE = 4
_INK, _LIGHT, _DOT = "#222222", "#d8d8d8", "#1f5fa8"


class Panel(NamedTuple):
    """Part of the picture: title, what is shown, and the estimate of each metric."""

    title: str
    quantity: str
    estimates: Mapping[str, Estimate | None]


def metric_svg(metrics: Sequence[str], panels: Sequence[Panel]) -> str:
    """Return the drawing; the same estimates give the same bytes."""
    margin = round(max(map(len, metrics), default=0) * _CHARACTER) + 16
    per_line = min(_PER_LINE, max(len(panels), 1))
    lines = math.ceil(len(panels) / per_line) if panels else 0
    height_of_line = _HEAD + len(metrics) * _ROW + _FOOT
    width, height = margin + per_line * (_WIDTH + _GAP), lines * height_of_line + 8
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}" '
        'font-family="sans-serif" font-size="12">',
        f'<rect width="{width}" height="{height}" fill="white"/>',
    ]
    for number, panel in enumerate(panels):
        line, column = divmod(number, per_line)
        top = line * height_of_line + _HEAD
        if column == 0:
            for row, name in enumerate(metrics):
                middle = top + row * _ROW + _ROW / 2 + 4
                parts.append(f'<text x="{margin - 8}" y="{middle:g}" text-anchor="end">{escape(name)}</text>')
        parts += draw_panel(metrics, panel, margin + column * (_WIDTH + _GAP), top)
    return "\n".join([*parts, "</svg>"]) + "\n"


def draw_panel(metrics: Sequence[str], panel: Panel, left: float, top: float) -> list[str]:
    """Return the elements of a panel, whose rows begin at `top`."""
    known = [
        estimate for estimate in panel.estimates.values() if estimate is not None and not math.isnan(estimate.score)
    ]
    ends = [end for one in known for end in (one.score, one.low, one.high) if not math.isnan(end)]
    low, high = axis_range(min([0.0, *ends]), max([*ends, 0.1]))
    bottom = top + len(metrics) * _ROW

    def x_of(value: float) -> str:
        return f"{left + _WIDTH * (value - low) / (high - low):.1f}"

    title, quantity = (escape(_shorten(text)) for text in (panel.title, panel.quantity))
    parts = [
        f'<text x="{left}" y="{top - 30}" fill="{_INK}" font-weight="bold">{title}</text>',
        f'<text x="{left}" y="{top - 14}" fill="#555555" font-size="10.5">{quantity}</text>',
    ]
    step = (high - low) / 4
    for tick in range(5):
        value = low + tick * step
        parts.append(f'<path d="M{x_of(value)} {top}V{bottom}" stroke="{_LIGHT}"/>')
        parts.append(
            f'<text x="{x_of(value)}" y="{bottom + 14}" font-size="10" text-anchor="middle">{value:.2f}</text>'
        )
    for row, name in enumerate(metrics):
        estimate = panel.estimates.get(name)
        if estimate is None or math.isnan(estimate.score):
            continue
        middle = top + row * _ROW + _ROW // 2
        label = f"{name}: {estimate.score:.3f}"
        if not math.isnan(estimate.low):
            label += f" ({estimate.low:.3f} to {estimate.high:.3f})"
            line = f"M{x_of(estimate.low)} {middle}H{x_of(estimate.high)}"
            parts.append(f'<path d="{line}" stroke="{_DOT}" stroke-width="2"/>')
        dot = f'<circle cx="{x_of(estimate.score)}" cy="{middle}" r="4" fill="{_DOT}">'
        parts.append(f"{dot}<title>{escape(label)}</title></circle>")
    return parts


def axis_range(low: float, high: float) -> tuple[float, float]:
    """Return ends of an axis in whole steps of which it has four."""
    for step in (0.025, 0.05, 0.1, 0.15, 0.2, 0.25, 0.5):
        start = math.floor(low / step + 1e-9) * step
        if start + 4 * step >= high - 1e-9:
            return start, start + 4 * step
    return -1.0, 1.0


def _shorten(text: str) -> str:
    return text if len(text) <= 36 else f"{text[:33]}..."
