"""Format the results of an assessment as tables: in CSV, in Markdown and for a terminal.

A table is a list of rows, the first of which names the columns. Texts from outside cannot become formulas or markup.
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
from vttdata.files.csv_safety import escape_formula
from vttdata.files.plain_tables import align_columns
from vttdata.records import CaptionScore

Table = Sequence[Sequence[Any]]

_MARKUP = re.compile(r"([\\`*_{}\[\]#|~<>&!])")
_CONTROLS = ("degraded", "reference", "repeat")
_COMPARISON_COLUMNS = (
    *("pairs", "original", "control", "difference", "distance"),
    *("paired_t", "wilcoxon", "mann_whitney"),
)


def as_csv(table: Table) -> str:
    """Return a table as CSV with all digits; None and NaN become empty cells, and formulas are escaped."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    for row in table:
        cells = ("" if _is_missing(value) else value for value in row)
        writer.writerow([escape_formula(cell) if isinstance(cell, str) else cell for cell in cells])
    return out.getvalue()


def as_markdown(table: Table) -> str:
    """Return a table as Markdown; see `as_text` for its cells."""
    head, *rows = [[as_text(value) for value in row] for row in table]
    lines = [head, ["---"] * len(head), *rows]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def as_plain(table: Table) -> str:
    """Return a table for a terminal: columns of numbers to the right, others to the left, ``-`` for None and NaN."""
    head, *rows = table
    left = [
        index for index, column in enumerate(zip(*rows, strict=True)) if any(isinstance(value, str) for value in column)
    ]
    return align_columns([list(head), *([as_cell(value) for value in row] for row in rows)], left) + "\n"


def as_cell(value: Any) -> str:
    """Return a value for a terminal, with three decimals, or one digit of what would be 0.000."""
    if _is_missing(value):
        return "-"
    if isinstance(value, float):
        return f"{value:.3f}" if value == 0 or abs(value) >= 0.0005 else f"{value:.0e}"
    return str(value)


def as_text(value: Any) -> str:
    """Return a value as one line of Markdown text.

    Numbers have four significant digits below 1 and four decimals above; ``-`` stands for None and NaN; text is
    escaped.
    """
    if _is_missing(value):
        return "-"
    if isinstance(value, float):
        return f"{value:.4g}" if abs(value) < 1 else f"{value:.4f}".rstrip("0").rstrip(".")
    characters = (character for character in str(value) if character.isprintable() or character.isspace())
    text = " ".join("".join(characters).split())
    return _MARKUP.sub(r"\\\1", text) if isinstance(value, str) else text


def _is_missing(value: Any) -> bool:
    return value is None or (isinstance(value, float) and math.isnan(value))


def worker_table(reports: Iterable[WorkerReport]) -> Table:
    """Return a row per worker: verdict, statistics, and the three comparisons with their p-values."""
    columns = ("worker", "verdict", "p", "hits", "items", "mean", "sd", "seconds_per_item", "longest_run", "consistent")
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
