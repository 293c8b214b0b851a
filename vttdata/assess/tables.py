"""The findings of an assessment as tables, in CSV and in Markdown.

A table is a list of rows of values, the first of which names the columns. Text from outside can become neither formula
nor markup.
"""

from __future__ import annotations

import csv
import io
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from vttdata.assess.answers.intake import FINDINGS
from vttdata.assess.scores import SystemScore
from vttdata.assess.significance import Significance
from vttdata.assess.workers import WorkerReport
from vttdata.evaluate.meta.correlation import Correlation
from vttdata.files.csv_safety import guarded
from vttdata.records import CaptionScore

Table = Sequence[Sequence[Any]]

_MARKUP = re.compile(r"([\\`*_{}\[\]#|~<>&!])")
_DIGITS = 4
_CONTROLS = ("degraded", "reference", "repeat")
_OF_A_COMPARISON = ("pairs", "original", "control", "difference", "distance", "paired_t", "wilcoxon", "mann_whitney")


def as_csv(table: Table) -> str:
    """CSV with all digits; None and NaN are empty cells; texts that a spreadsheet would run are `guarded`."""
    out = io.StringIO()
    csv.writer(out, lineterminator="\n").writerows([_cell(value) for value in row] for row in table)
    return out.getvalue()


def _cell(value: Any) -> Any:
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return ""
    return guarded(value) if isinstance(value, str) else value


def as_markdown(table: Table) -> str:
    """A Markdown table, numbers to four significant digits below 1 and four decimals above."""
    head, *rows = [[shown(value) for value in row] for row in table]
    lines = [head, ["---"] * len(head), *rows]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def shown(value: Any) -> str:
    """A value for people: short numbers, ``-`` for what is not there, text as one line without markup."""
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return "-"
    if isinstance(value, float):
        return f"{value:.{_DIGITS}g}" if abs(value) < 1 else f"{value:.{_DIGITS}f}".rstrip("0").rstrip(".")
    text = " ".join("".join(sign for sign in str(value) if sign.isprintable() or sign.isspace()).split())
    return _MARKUP.sub(r"\\\1", text) if isinstance(value, str) else text


def worker_table(reports: Iterable[WorkerReport]) -> Table:
    """A row a worker: verdict, advice, and the three comparisons with their p-values."""
    own = ("worker", "verdict", "p", "hits", "items", "mean", "sd", "seconds_per_item", "longest_run", "consistent")
    head = [*own, "flags", *(f"{kind}_{name}" for kind in _CONTROLS for name in _OF_A_COMPARISON)]
    rows = [
        [
            *(getattr(report, name) for name in own),
            " ".join(report.flags),
            *(getattr(getattr(report, kind), name) for kind in _CONTROLS for name in _OF_A_COMPARISON),
        ]
        for report in reports
    ]
    return [head, *rows]


def system_table(
    systems: Iterable[SystemScore], intervals: Mapping[str, tuple[float, float]], tested: Significance
) -> Table:
    """A row a system, best first: scores, interval of z, numbers, cluster (from 1) and range of ranks."""
    clusters = {name: number for number, names in enumerate(tested.clusters(), 1) for name in names}
    head = ["system", "z", "z_lower", "z_upper", "raw", "captions", "assessments", "cluster", "rank_from", "rank_to"]
    rows = []
    for own in systems:
        scores = (own.system, own.z, *intervals[own.system], own.raw, own.captions, own.assessments)
        rows.append([*scores, clusters[own.system], *tested.rank_range(tested.systems.index(own.system))])
    return [head, *rows]


def significance_table(tested: Significance) -> Table:
    """The p-values, one row and one column a system: is the row's system better than the column's."""
    return [["system", *tested.systems], *([name, *line] for name, line in zip(tested.systems, tested.p, strict=True))]


def caption_table(scores: Iterable[CaptionScore]) -> Table:
    """A row a caption: video, system, mean raw and z score, assessments."""
    rows = [[own.video_id, own.system, own.raw, own.z, own.assessments] for own in scores]
    return [["video_id", "system", "raw", "z", "assessments"], *rows]


def findings_table(findings: Mapping[str, Sequence[str]]) -> Table:
    """A row for each kind of finding: how often, what it means, and the first three cases."""
    rows = [[kind, len(ids), FINDINGS[kind], ", ".join(ids[:3])] for kind, ids in findings.items()]
    return [["finding", "count", "meaning", "such as"], *rows]


def correlation_table(correlations: Mapping[str, Correlation]) -> Table:
    """A row for each named correlation."""
    rows = [[name, own.n, own.pearson, own.spearman, own.kendall] for name, own in correlations.items()]
    return [["", "n", "pearson", "spearman", "kendall"], *rows]
