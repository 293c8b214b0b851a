"""Show what each stage of a build left out and why, with pictures, and what other thresholds would leave out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from markupsafe import Markup

from vttdata.dataset.parquet import read_parquet_rows
from vttdata.media.filters import SCORES
from vttdata.pipeline.attrition import Reject, attrition_rows, read_rejects
from vttdata.report import plots
from vttdata.report.page import PageSection, render
from vttdata.report.page_pictures import PictureFolder
from vttdata.report.report_input import ReportInput
from vttdata.report.what_if import count_alternatives

# Stages after which nothing of a rejected video is on disk.
_BEFORE_FETCHING = frozenset({"search", "found", "collect"})
_EXAMPLES = 12
# Rejects with their details that the main page lists for each reason.
_LISTED = 200


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
        folder = report.build / "stages" / name if report.build is not None and name.isidentifier() else None
        if report.build is None or folder is None or not (folder / "rejected.parquet").is_file():
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
    rows = []
    for name, unit, taken, kept, _ in attrition_rows(report.stages):
        lost = lost_in[name]
        share = max(1 - lost / taken, 0.0) if taken else 1.0
        rows.append(
            {"name": name, "unit": unit, "taken": taken, "kept": kept, "lost": lost, "share": round(100 * share, 1)}
        )
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
    body = render("attrition.html", rows=rows, groups=groups, examples=_EXAMPLES, name=name)
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
