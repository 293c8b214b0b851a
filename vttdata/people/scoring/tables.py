"""Put the results of an assessment into tables, whose first row names the columns."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from vttdata.files.table_formats import Table
from vttdata.people.answers.intake import FINDINGS
from vttdata.people.scoring.scores import SystemScore
from vttdata.people.scoring.significance import Significance
from vttdata.people.scoring.workers import WorkerReport
from vttdata.records import CaptionScore

_CONTROLS = ("degraded", "reference", "repeat")
_COMPARISON_COLUMNS = (
    *("pairs", "original", "control", "difference", "distance"),
    *("paired_t", "wilcoxon", "mann_whitney"),
)


def worker_table(reports: Iterable[WorkerReport]) -> Table:
    """Return a row per worker: verdict, statistics, and the three comparisons with their p-values."""
    columns = (
        *("worker", "verdict", "p", "hits", "items", "mean", "sd", "seconds_per_item"),
        *("shown", "longest_run", "consistent"),
    )
    head = [*columns, "flags", *(f"{control}_{name}" for control in _CONTROLS for name in _COMPARISON_COLUMNS)]
    rows = [
        [
            *(getattr(report, name) for name in columns),
            " ".join(report.flags),
            *(getattr(getattr(report, control), name) for control in _CONTROLS for name in _COMPARISON_COLUMNS),
        ]
        for report in reports
    ]
    return [head, *rows]


def system_table(
    systems: Iterable[SystemScore], intervals: Mapping[str, tuple[float, float]], tested: Significance
) -> Table:
    """Return a row per system, best first: scores, interval of z, counts, cluster (from 1) and range of ranks."""
    clusters = {name: number for number, names in enumerate(tested.clusters(), 1) for name in names}
    head = ["system", "z", "z_lower", "z_upper", "raw", "captions", "assessments", "cluster", "rank_from", "rank_to"]
    rows = []
    for score in systems:
        system = score.system
        values = (system, score.z, *intervals[system], score.raw, score.captions, score.assessments)
        rows.append([*values, clusters[system], *tested.rank_range(tested.systems.index(system))])
    return [head, *rows]


def significance_table(tested: Significance) -> Table:
    """Return the p-values of the row's system being better than the column's."""
    return [["system", *tested.systems], *([name, *line] for name, line in zip(tested.systems, tested.p, strict=True))]


def caption_table(scores: Iterable[CaptionScore]) -> Table:
    """Return a row per caption: video, system, mean raw score, mean z-score, number of assessments."""
    rows = [[score.video_id, score.system, score.raw, score.z, score.assessments] for score in scores]
    return [["video_id", "system", "raw", "z", "assessments"], *rows]


def findings_table(findings: Mapping[str, Sequence[str]]) -> Table:
    """Return a row per kind of finding: count, meaning, and the first three cases."""
    rows = [[kind, len(ids), FINDINGS[kind], ", ".join(ids[:3])] for kind, ids in findings.items()]
    return [["finding", "count", "meaning", "such as"], *rows]
