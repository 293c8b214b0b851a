"""Results of a campaign as tables: answers of workers who pass the task's rule, under hashed names; quality."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from vttdata.files.results import ResultTable, Section, format_markdown
from vttdata.files.table_formats import as_csv
from vttdata.people.campaign import Campaign
from vttdata.people.scoring.quality import WorkerQuality, agreement, worker_quality
from vttdata.people.scoring.tables import findings_table
from vttdata.people.store import Store, answered
from vttdata.people.task import Answered


def published_answers(campaign: Campaign, store: Store) -> list[Answered]:
    """Return all answers with the hashes of their workers in the place of names."""
    return [entry._replace(worker=campaign.hash_worker(entry.worker)) for entry in answered(campaign, store.answers())]


def result_files(
    campaign: Campaign,
    store: Store,
    *,
    keep_all: bool = False,
    findings: Mapping[str, Sequence[str]] | None = None,
) -> dict[str, str]:
    """Return the files of results: name -> text.

    - ``results.csv``: the task's table, of the workers that are kept; see `Task.columns`;
    - further files of the task, such as ``captions.csv`` for a build;
    - ``workers.csv``, ``agreement.csv`` and ``report.md``: quality;
    - ``findings.csv``, where `findings` are given.

    Args:
        campaign: of the answers.
        store: with the answers.
        keep_all: use the answers of workers who fail the task's rule too.
        findings: what could not be used in files of answers, kind -> cases.
    """
    answers = published_answers(campaign, store)
    quality = worker_quality(campaign.task, answers)
    left_out = set() if keep_all else {report.worker for report in quality if not report.verdict.keep}
    kept = [entry for entry in answers if entry.worker not in left_out]
    columns = list(campaign.task.columns)
    rows = campaign.task.rows(kept)
    files = {"results.csv": as_csv([columns, *([row[name] for name in columns] for row in rows)])}
    if kept:
        files |= campaign.task.further_files(answers, rows, kept={entry.worker for entry in kept})
    workers = quality_table(quality)
    agreed = [list(entry) for entry in agreement(campaign.task, kept)]
    measures = ["name", "level", "items", "ratings", "alpha", "fleiss", "cohen", "spearman", "kendall"]
    counts = (
        f"{len(kept):,} answers of {len({entry.worker for entry in kept}):,} workers to "
        f"{len({(entry.unit, entry.item.item) for entry in kept}):,} items; {len(left_out):,} workers are left out."
    )
    meanings = [(f"`{name}`", text) for name, text in campaign.task.columns.items()]
    advice = [] if kept or not answers else [_advise(quality)]
    sections = [
        Section(campaign.title, [counts, *advice]),
        Section("Agreement", table=ResultTable(measures, agreed), depth=1),
        Section("Workers", table=ResultTable.of_rows(workers), depth=1),
        Section("results.csv", table=ResultTable(("column", "meaning"), meanings), depth=1),
    ]
    if findings is not None:
        found = findings_table(findings)
        files["findings.csv"] = as_csv(found)
        if findings:
            sections.append(Section("Findings in the files", table=ResultTable.of_rows(found), depth=1))
    return files | {
        "workers.csv": as_csv(workers),
        "agreement.csv": as_csv([measures, *agreed]),
        "report.md": format_markdown(sections, depth=1),
    }


def _advise(quality: Sequence[WorkerQuality]) -> str:
    """Return what to do where no worker counts."""
    untested = sum(report.verdict.name == "untested" for report in quality)
    sentence = f"No answer counts: {untested:,} of {len(quality):,} workers are untested"
    if evidence := next((report.verdict.evidence for report in quality if report.verdict.name == "untested"), None):
        sentence += f" ({evidence})"
    return (
        f"{sentence}. Let them answer more items, which bring further controls, or take the answers of people whom you "
        "know with --keep-all and say so. A new campaign judges sooner with --set controls=0.3 or --set min_controls=1."
    )


def quality_table(reports: Sequence[WorkerQuality]) -> list[list[Any]]:
    """Return a row for each worker."""
    head = ["worker", "answers", "median_seconds", "kept", "verdict", "evidence", "flags"]
    rows = [
        [
            report.worker,
            report.answers,
            None if report.median_seconds is None else round(report.median_seconds, 2),
            "yes" if report.verdict.keep else "no",
            report.verdict.name,
            report.verdict.evidence,
            "; ".join(f"{flag}: {evidence}" for flag, evidence in report.flags),
        ]
        for report in reports
    ]
    return [head, *rows]
