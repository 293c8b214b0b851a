"""Show what each stage of a build left out and why, with pictures, and what other thresholds would leave out.

What neighbouring thresholds would reject is exact: the rules of the build judge its own tables again.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any, NamedTuple

from markupsafe import Markup

from vttdata.dataset.parquet import read_parquet_rows
from vttdata.files.results import Bar, Bars
from vttdata.ids import digest
from vttdata.json_types import JsonObject, Row
from vttdata.media.clip_selection import ClipSettings, count_clips
from vttdata.media.filters import SCORES, FilterSettings, judge, screen
from vttdata.pipeline.attrition import Reject, attrition_rows, read_rejects
from vttdata.pipeline.journal import write_json
from vttdata.pipeline.stages.videos import Clips
from vttdata.records import Measure, Probe, Shot
from vttdata.report import plots
from vttdata.report.page import PageSection, render
from vttdata.report.page_pictures import PictureFolder
from vttdata.report.report_input import ReportInput

# Stages after which nothing of a rejected video is on disk.
_BEFORE_FETCHING = frozenset({"search", "found", "collect"})
_EXAMPLES = 12
# Rejects with their details that the main page lists for each reason.
_LISTED = 200
_STEPS = (-0.2, -0.1, -0.05, 0.0, 0.05, 0.1, 0.2)
_FACTORS = (0.5, 0.75, 0.9, 1.0, 1.1, 1.25, 2.0)
_PROBE = [column.name for column in fields(Probe)]
_MEASURE = ["frames", "seconds", "first_frame_time", "variable_frame_rate"]
_SHOT = [column.name for column in fields(Shot)]
# Choosing clips again takes about a millisecond a source and value.
_MAX_SOURCES_OF_CLIPS = 5_000
_ALTERNATIVES = "alternatives.json"


@dataclass(slots=True)
class Reason:
    """Reason for which a stage left items out: how many, and the first rejects."""

    stage: str
    reason: str
    failed: bool
    number: int = 0
    rejects: list[Reject] = field(default_factory=list)

    @property
    def anchor(self) -> str:
        """Name of its place on the page."""
        slug = "".join(character if character.isalnum() and character.isascii() else "-" for character in self.reason)
        return f"reason-{self.stage}-{'failed' if self.failed else 'rejected'}-{slug}"


def read_reasons(report: ReportInput) -> tuple[list[Reason], list[str]]:
    """Return the reasons of all stages, in each those of most rejects first, and the stages without their tables."""
    found: list[Reason] = []
    missing: list[str] = []
    for stage in report.stages:
        name = str(stage.get("name"))
        table = Path("stages", name, "rejected.parquet")
        if report.build is None or not name.isidentifier() or not (report.build / table).is_file():
            missing.append(f"stages/{name}")
            continue
        if not stage.get("rejected") and not stage.get("failed"):
            continue
        reasons: dict[tuple[str, bool], Reason] = {}
        for reject in read_rejects(report.build, name):
            reason = reasons.setdefault((reject.reason, reject.failed), Reason(name, reject.reason, reject.failed))
            reason.number += 1
            if len(reason.rejects) < _LISTED:
                reason.rejects.append(reject)
        found += sorted(reasons.values(), key=lambda reason: (-reason.number, reason.reason))
    return found, missing


def show_attrition(report: ReportInput, reasons: Sequence[Reason], pictures: PictureFolder) -> PageSection | None:
    """Return the section with what every stage took and kept, and examples of each reason; None without a build."""
    if not report.stages:
        return None
    stills = {}
    for reject in (reject for reason in reasons for reject in reason.rejects[:_EXAMPLES]):
        # The id of a clip begins with that of its source.
        source = reject.id if reject.id in report.videos else reject.id.split("_")[0]
        stills[reject.id] = report.still_of_source(source)
    pictures.inline(stills.values())
    lost_in = {stage["name"]: 0 for stage in report.stages}
    for reason in reasons:
        lost_in[reason.stage] += reason.number
    bars = [
        Bar(
            f"{name} ({unit})",
            max(1 - lost_in[name] / taken, 0.0) if taken else 1.0,
            text=f"{taken:,} \u2192 {kept:,}",
            tone="c",
            href=f"#stage-{name}" if lost_in[name] else "",
        )
        for name, unit, taken, kept, _ in attrition_rows(report.stages)
    ]
    figure = plots.bars(Bars(bars, "Things that every stage took and kept", ("stage", "in \u2192 kept"), maximum=1.0))
    groups = [
        {
            "reason": reason,
            "entries": [
                {"reject": reject, "still": pictures.address(stills.get(reject.id))} for reject in reason.rejects
            ],
            "no_file": reason.stage in _BEFORE_FETCHING,
        }
        for reason in reasons
    ]
    name, _ = report.name_and_version
    body = figure + render("attrition.html", groups=groups, examples=_EXAMPLES, name=name)
    note = "What every stage took and kept. A reason leads to examples: was this right?"
    return PageSection("attrition", "Left out", body, note, f"{sum(lost_in.values()):,}")


def show_thresholds(report: ReportInput) -> PageSection | None:
    """Return the section with counts for other thresholds; None where none was applied."""
    if report.build is None:
        return None
    alternatives = list(count_alternatives(report.build / "stages", report.settings))
    histograms = _draw_scores(report)
    if not alternatives and not histograms:
        return None
    body = render("thresholds.html", alternatives=alternatives, histograms=histograms)
    note = (
        "Counts for neighbouring values of each threshold, exact: the same rules judged the same tables again. "
        "Sources that a stage before would let through then are not in its count."
    )
    return PageSection("thresholds", "What if", body, note)


def _draw_scores(report: ReportInput) -> list[Markup]:
    """Return a histogram of the lengths of sources, and of each score of the filters, with its thresholds."""
    path = report.stage_table("measure")
    if path is None:
        return []
    columns: dict[str, list[float]] = {name: [] for name in ("seconds", *SCORES)}
    for row in read_parquet_rows([path], (), optional=tuple(columns)):
        for name, values in columns.items():
            if row.get(name) is not None:
                values.append(row[name])
    settings = report.section("filter")
    drawn = []
    for name, values in columns.items():
        note = " (not applied)" if name in settings.get("score_only", ()) else ""
        limits = plots.setting_limits(settings, (f"min_{name}", f"max_{name}"), "filter", note)
        if name == "seconds":
            drawn.append(plots.histogram_of(values, "Length of sources", "s", limits))
        else:
            title = f"Score {name} of sources, 0 best and 1 worst"
            drawn.append(plots.histogram_of(values, title, limits=limits, bounds=(0.0, 1.0)))
    return [plot for plot in drawn if plot]


class WhatIf(NamedTuple):
    """Counts for neighbouring values of one threshold: a key of the recipe and the value with which a stage applied it.

    `unit` is what is counted, and the build's own value is among those of `counts`.
    """

    key: str
    stage: str
    unit: str
    value: float
    counts: dict[float, int]


def count_alternatives(stages: Path, settings: JsonObject) -> Iterator[WhatIf]:
    """Yield the counts for each threshold of a build that rejects sources or clips; nothing where tables are missing.

    `stages` is the folder of the stages' tables, and the settings are those of the build.
    """
    section = settings.get("filter")
    if isinstance(section, Mapping):
        filters = FilterSettings(**{**section, "score_only": tuple(section.get("score_only", ()))})
        if (probed := _rows(stages / "duplicates", _PROBE)) is not None:
            probes = [Probe(**row) for row in probed if row["container"] is not None]
            yield from _of_filters("screen", filters, probes, screen)
        if (measures := _rows(stages / "measure", [*_MEASURE, *SCORES])) is not None:
            measured = [
                Measure(**{name: row[name] for name in _MEASURE}, scores={name: row[name] for name in SCORES})
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

    # Numbers of clips for the settings that were tried, by a digest of a source's shots, as the last report kept them.
    path, rule = stages / "clips" / _ALTERNATIVES, Clips(ClipSettings()).fingerprint()
    known = _read_known(path, rule)
    sources = [(own, name, dict(known.get(name, {}))) for own in shots.values() for name in (digest(own),)]

    def chosen(changed: ClipSettings) -> int:
        tried, total = f"{changed.min_seconds} {changed.max_seconds} {changed.per_source}", 0
        for own, _, counts in sources:
            if tried not in counts:
                counts[tried] = count_clips(own, changed)
            total += counts[tried]
        return total

    for key, value, counts in _count_neighbours(settings, chosen):
        yield WhatIf(f"clips.{key}", "clips", "clips chosen", value, counts)
    found = {name: counts for _, name, counts in sources}
    if found != known:
        # A folder that cannot be written is only read here.
        with contextlib.suppress(OSError):
            write_json(path, {"rule": rule, "counts": found, "digest": digest(found)})


def _read_known(path: Path, rule: str) -> dict[str, dict[str, int]]:
    """Return the numbers of clips in a file of `_of_clips`; none where it is missing or damaged, or of another rule."""
    with contextlib.suppress(OSError, ValueError, KeyError, TypeError):
        content = json.loads(path.read_bytes())
        counts: dict[str, dict[str, int]] = content["counts"]
        return counts if content["rule"] == rule and content["digest"] == digest(counts) else {}
    return {}


def _of_captions(stages: Path, settings: JsonObject) -> Iterator[WhatIf]:
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
    for key in (setting.name for setting in fields(settings)):
        value = getattr(settings, key)
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        if not is_number or not value or key.removeprefix("max_") in getattr(settings, "score_only", ()):
            continue
        counts = {}
        for near in _neighbours(key, value):
            # A least value above the greatest one is refused.
            with contextlib.suppress(ValueError):
                counts[near] = count(replace(settings, **{key: near}))
        yield key, value, counts


def _neighbours(key: str, value: float) -> list[float]:
    if key.removeprefix("max_") in SCORES:
        return sorted({near for step in _STEPS if 0 <= (near := round(value + step, 4)) <= 1})
    if isinstance(value, int):
        if value < 10:
            return sorted({max(value + step, 1) for step in (-2, -1, 0, 1, 2)})
        return sorted({round(value * factor) for factor in _FACTORS})
    return sorted({round(value * factor, 3) for factor in _FACTORS})


def _rows(stage: Path, columns: Sequence[str]) -> list[Row] | None:
    """Return rows of a stage's table; None without the table or a column of it."""
    path = stage / "kept.parquet"
    rows = list(read_parquet_rows([path], (), optional=columns)) if path.is_file() else []
    return rows if path.is_file() and all(column in row for row in rows[:1] for column in columns) else None
