"""Count what neighbouring thresholds would reject, exactly: the rules of the build judge its own tables again."""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from vttdata.dataset.parquet import read_parquet_rows
from vttdata.media.clip_selection import ClipSettings, choose_clips
from vttdata.media.filters import SCORES, FilterSettings, judge, screen
from vttdata.records import Measure, Probe, Shot

_STEPS = (-0.2, -0.1, -0.05, 0.0, 0.05, 0.1, 0.2)
_FACTORS = (0.5, 0.75, 0.9, 1.0, 1.1, 1.25, 2.0)
_PROBE = [field.name for field in dataclasses.fields(Probe)]
_SHOT = [field.name for field in dataclasses.fields(Shot)]
# Choosing clips again takes about a millisecond a source and value.
_MAX_SOURCES_OF_CLIPS = 5_000


class WhatIf(NamedTuple):
    """Counts for neighbouring values of one threshold.

    Fields:
        key: of the recipe.
        stage: that applies it.
        unit: what is counted.
        value: that the build had.
        counts: value -> count; the build's own value is among them.
    """

    key: str
    stage: str
    unit: str
    value: float
    counts: dict[float, int]


def count_alternatives(stages: Path, settings: Mapping[str, Any]) -> Iterator[WhatIf]:
    """Yield the counts for each threshold of a build that rejects sources or clips; nothing where tables are missing.

    Args:
        stages: folder of the stages' tables.
        settings: of the build.
    """
    section = settings.get("filter")
    if isinstance(section, Mapping):
        filters = FilterSettings(**{**section, "score_only": tuple(section.get("score_only", ()))})
        if (probed := _rows(stages / "duplicates", _PROBE)) is not None:
            probes = [Probe(**row) for row in probed if row["container"] is not None]
            yield from _of_filters("screen", filters, probes, screen)
        measures = _rows(stages / "measure", ["frames", "seconds", "first_frame_time", "variable_frame_rate", *SCORES])
        if measures is not None:
            measured = [
                Measure(
                    row["frames"],
                    row["seconds"],
                    row["first_frame_time"],
                    row["variable_frame_rate"],
                    {name: row[name] for name in SCORES},
                )
                for row in measures
                if row["frames"] is not None
            ]
            yield from _of_filters("filter", filters, measured, judge)
    section = settings.get("clips")
    if isinstance(section, Mapping) and not section.get("whole"):
        yield from _of_clips(stages, ClipSettings(**section))
    yield from _of_captions(stages, settings)


def _of_filters(
    stage: str, settings: FilterSettings, items: Sequence[Any], verdict: Callable[[Any, Any], Any]
) -> Iterator[WhatIf]:
    def rejects(changed: FilterSettings) -> int:
        return sum(verdict(item, changed) is not None for item in items)

    for key, value, counts in _count_neighbours(settings, rejects):
        # Durations and sizes are judged by the container first; a stage that does not look at a key counts the same.
        is_score = stage == "filter" and key.removeprefix("max_") in SCORES
        if is_score or len(set(counts.values())) > 1:
            yield WhatIf(f"filter.{key}", stage, "sources rejected by all filters", value, counts)


def _of_clips(stages: Path, settings: ClipSettings) -> Iterator[WhatIf]:
    rows = _rows(stages / "shots", _SHOT)
    spans = _rows(stages / "filter", ["source_id", "spans"])
    if not rows or spans is None or any(row["spans"] for row in spans):
        return
    shots: dict[str, list[Shot]] = {}
    for row in rows:
        shots.setdefault(row["source_id"], []).append(Shot(**{**row, "colours": tuple(row["colours"] or ())}))
    if len(shots) > _MAX_SOURCES_OF_CLIPS:
        return

    def chosen(changed: ClipSettings) -> int:
        return sum(len(choose_clips(each, changed)) for each in shots.values())

    for key, value, counts in _count_neighbours(settings, chosen):
        yield WhatIf(f"clips.{key}", "clips", "clips chosen", value, counts)


def _of_captions(stages: Path, settings: Mapping[str, Any]) -> Iterator[WhatIf]:
    section = settings.get("captions")
    least = section.get("per_clip") if isinstance(section, Mapping) else None
    captions = _rows(stages / "captions", ["video_id"])
    clips = _rows(stages / "cut", ["video_id"])
    clips = _rows(stages / "clips", ["video_id"]) if clips is None else clips
    if not least or captions is None or clips is None:
        return
    number = dict.fromkeys((row["video_id"] for row in clips), 0)
    for row in captions:
        if row["video_id"] in number:
            number[row["video_id"]] += 1
    values = sorted({max(least + step, 0) for step in (-2, -1, 0, 1, 2, 5)} | {0, 2 * least})
    counts = {float(value): sum(have < value for have in number.values()) for value in values}
    yield WhatIf("captions.per_clip", "captioned", "clips with fewer captions", float(least), counts)


def _count_neighbours(settings: Any, count: Callable[[Any], int]) -> Iterator[tuple[str, float, dict[float, int]]]:
    """Yield each threshold with its value and the counts for settings with neighbouring values."""
    for field in dataclasses.fields(settings):
        key, value = field.name, getattr(settings, field.name)
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        if not is_number or not value or key.removeprefix("max_") in getattr(settings, "score_only", ()):
            continue
        counts = {}
        for near in _neighbours(key, value):
            # A least value above the greatest one is refused.
            with contextlib.suppress(ValueError):
                counts[near] = count(dataclasses.replace(settings, **{key: near}))
        yield key, value, counts


def _neighbours(key: str, value: float) -> list[float]:
    if key.removeprefix("max_") in SCORES:
        near: Iterable[float] = (round(value + step, 4) for step in _STEPS)
        return sorted({each for each in near if 0 <= each <= 1})
    if isinstance(value, int):
        return sorted(
            {max(value + step, 1) for step in (-2, -1, 0, 1, 2)}
            if value < 10
            else {round(value * factor) for factor in _FACTORS}
        )
    return sorted({round(value * factor, 3) for factor in _FACTORS})


def _rows(stage: Path, columns: Sequence[str]) -> list[dict[str, Any]] | None:
    """Return rows of a stage's table; None without the table or a column of it."""
    path = stage / "kept.parquet"
    rows = list(read_parquet_rows([path], (), optional=columns)) if path.is_file() else []
    return rows if path.is_file() and all(column in row for row in rows[:1] for column in columns) else None
