"""Draw plots as inline SVG and as tables with bars; they take plain values and return markup with escaped texts.

Positions are percentages and texts keep their size, so that a plot fits 320 pixels as well as a wide window. Colours
come from the style sheet: `tone` is a class such as ``a`` to ``h`` for series, or ``good``, ``warn``, ``bad``.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from markupsafe import Markup

from vttdata.files.results import Bars, Limit
from vttdata.json_types import JsonObject
from vttdata.report.page import format_number, render

SERIES = "abcdefgh"


def setting_limits(settings: JsonObject, keys: Iterable[str], section: str, note: str = "") -> list[Limit]:
    """Return a limit for each of these settings of a section of a recipe that is a number."""
    return [
        Limit(settings[key], f"{section}.{key}{note}") for key in keys if isinstance(settings.get(key), int | float)
    ]


class Stretch(NamedTuple):
    """Half-open span of a `timeline`, in seconds; `title` is shown by the pointer."""

    start: float
    end: float
    title: str = ""
    tone: str = "a"


def bars(figure: Bars) -> Markup:
    """Return a table with a bar, and an interval where there is one, in each row, which a reader may sort.

    A bar of 0 has no length, and bars of values below it grow to the left.
    """
    rows, limits = figure.rows, figure.limits
    ends = [row.value if row.high is None else max(row.value, row.high) for row in rows]
    top = figure.maximum
    if top is None:
        top = max([0.0, *filter(math.isfinite, ends), *(limit.value for limit in limits)])
    bottom = min([0.0, *(row.low for row in rows if row.low is not None), *(row.value for row in rows)])
    bottom = bottom if math.isfinite(bottom) else 0.0
    zero = min(max(0.0, bottom), top)

    def position(value: float) -> float:
        return _percent(value - bottom, top - bottom)

    entries = [
        {
            "bar": row,
            "text": row.text or format_number(row.value),
            "x": position(min(row.value, zero)),
            "width": round(abs(position(row.value) - position(zero)), 2),
            "low": None if row.low is None else position(row.low),
            "high": None if row.high is None else position(row.high),
        }
        for row in rows
    ]
    lines = [limit._asdict() | {"x": position(limit.value), "text": format_number(limit.value)} for limit in limits]
    return render("bars.html", rows=entries, figure=figure, limits=lines)


def stacked_bars(rows: Mapping[str, Sequence[float]], series: Sequence[str], *, caption: str, heading: str) -> Markup:
    """Return a table with a bar of several parts in each row: label -> a number for each series."""
    top = max((sum(counts) for counts in rows.values()), default=0)
    tones = [SERIES[index % len(SERIES)] for index in range(len(series))]
    entries = []
    for label, counts in rows.items():
        starts = [sum(counts[:index]) for index in range(len(counts))]
        pieces = [
            {"x": _percent(start, top), "width": _percent(count, top), "tone": tone}
            for start, count, tone in zip(starts, counts, tones, strict=True)
            if count
        ]
        entries.append({"label": label, "counts": counts, "pieces": pieces})
    return render("stacked_bars.html", rows=entries, series=series, tones=tones, caption=caption, heading=heading)


_HISTOGRAM_PIXELS = 96
_BINS = 40


def histogram(
    counts: Sequence[int],
    edges: Sequence[float],
    *,
    title: str,
    unit: str = "",
    limits: Sequence[Limit] = (),
    note: str = "",
) -> Markup:
    """Return a histogram of counts in bins with ascending edges, one more than counts, and with thresholds as lines.

    Thresholds outside of the edges are only named below, where the note is.
    """
    first, last, top = edges[0], edges[-1], max([*counts, 1])
    bins = []
    for count, low, high in zip(counts, edges, edges[1:], strict=False):
        height = max(round(_HISTOGRAM_PIXELS * count / top, 1), 1.5) if count else 0
        width = max(round(_percent(high - low, last - first) - 0.25, 2), 0.1)
        name = f"{format_number(low)} to {format_number(high)} {unit}: {count:,}"
        start = _percent(low - first, last - first)
        bins.append({"x": start, "y": 104 - height, "width": width, "height": height, "title": name})
    lines = []
    for limit in limits:
        x = _percent(limit.value - first, last - first) if first <= limit.value <= last else -1
        lines.append(limit._asdict() | {"x": x, "text": format_number(limit.value)})
    summary = f"{title}: {sum(counts):,} from {format_number(first)} to {format_number(last)} {unit}".strip()
    return render(
        "histogram.html",
        bins=[entry for entry in bins if entry["height"]],
        limits=lines,
        title=title,
        unit=unit,
        low=format_number(first),
        high=format_number(last),
        note=note,
        summary=summary,
    )


def histogram_of(
    values: Sequence[float] | npt.NDArray[np.generic],
    title: str,
    unit: str = "",
    limits: Sequence[Limit] = (),
    bounds: tuple[float, float] | None = None,
) -> Markup:
    """Return a histogram of values, with their median below; empty markup without finite values.

    The ends of the axis are by default those of the values and thresholds, and 0 where it is near.
    """
    array = np.asarray(values, dtype=float)
    array = array[np.isfinite(array)]
    if not len(array):
        return Markup()
    low, high = bounds or (
        min([0.0 if array.min() < array.max() / 3 else array.min(), *(limit.value for limit in limits)]),
        max([array.max(), *(limit.value for limit in limits)]),
    )
    counts, edges = np.histogram(array, bins=_BINS, range=(low, high if high > low else low + 1))
    note = f"median {format_number(float(np.median(array)))} {unit}".strip()
    return histogram(counts.tolist(), edges.tolist(), title=title, unit=unit, limits=limits, note=note)


def timeline(lanes: Mapping[str, Sequence[Stretch]], seconds: float) -> Markup:
    """Return lanes of spans, by their names, over so many seconds: shots of a source above the clips from it."""
    entries = []
    for number, spans in enumerate(lanes.values()):
        pieces = []
        for span in spans:
            width = max(round(_percent(span.end - span.start, seconds) - 0.15, 2), 0.1)
            pieces.append(span._asdict() | {"x": _percent(span.start, seconds), "width": width})
        entries.append({"y": 2 + 16 * number, "pieces": pieces})
    counts = ", ".join(f"{len(spans)} {name}" for name, spans in lanes.items())
    summary = f"{counts} in {format_number(round(seconds, 2))} s"
    return render("timeline.html", lanes=entries, height=2 + 16 * len(lanes), summary=summary)


def _percent(part: float, whole: float) -> float:
    """Return a share as a percentage between 0 and 100, with two digits; 0 of nothing."""
    if not (math.isfinite(part) and whole):
        return 0.0
    return round(min(max(100 * part / whole, 0.0), 100.0), 2)
