"""Results of a campaign as tables: answers of workers who pass the task's rule, under hashed names; quality."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from vttdata.errors import VttdataWarning
from vttdata.files.results import ResultTable, Section, format_markdown
from vttdata.files.table_formats import as_csv, counted
from vttdata.people.campaign import Campaign
from vttdata.people.scoring.quality import WorkerQuality, agreement, worker_quality
from vttdata.people.scoring.tables import findings_table
from vttdata.people.store import Store, answered
from vttdata.people.task import Answered


def published_answers(campaign: Campaign, store: Store) -> list[Answered]:
    """Return all answers with the hashes of their workers in the place of names."""
    return [entry._replace(worker=campaign.hash_worker(entry.worker)) for entry in answered(campaign, store.answers())]


class CampaignResults(NamedTuple):
    """Files of a campaign's results, name -> text, and what they say of what was judged, such as a ranking."""

    files: dict[str, str]
    sections: Sequence[Section]


def campaign_results(
    campaign: Campaign,
    store: Store,
    *,
    keep_all: bool = False,
    findings: Mapping[str, Sequence[str]] | None = None,
) -> CampaignResults:
    """Return the files of results.

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
    found = campaign.task.further_files(answers, rows, kept={entry.worker for entry in kept}) if kept else {}
    files |= {name: text if isinstance(text, str) else format_markdown(text, depth=1) for name, text in found.items()}
    shown = [section for text in found.values() if not isinstance(text, str) for section in text]
    workers = quality_table(quality)
    agreed = [list(entry) for entry in agreement(campaign.task, kept)]
    measures = ["name", "level", "items", "ratings", "alpha", "fleiss", "cohen", "spearman", "kendall"]
    items, excluded = len({(entry.unit, entry.item.item) for entry in kept}), counted(len(left_out), "worker")
    counts = (
        f"{counted(len(kept), 'answer')} of {counted(len({entry.worker for entry in kept}), 'worker')} to "
        f"{counted(items, 'item')}; {excluded} {'is' if len(left_out) == 1 else 'are'} left out."
    )
    meanings = [(f"`{name}`", text) for name, text in campaign.task.columns.items()]
    nobody = "Nobody has answered yet, so there is nothing to score."
    if not answers:
        warnings.warn(nobody, VttdataWarning, stacklevel=2)
    advice = [] if kept else [_advise(quality) if answers else nobody]
    sections = [
        Section(campaign.title, [counts, *advice]),
        Section("Agreement", table=ResultTable(measures, agreed), depth=1),
        Section("Workers", table=ResultTable.of_rows(workers), depth=1),
        Section("results.csv", table=ResultTable(("column", "meaning"), meanings), depth=1),
    ]
    if findings is not None:
        table = findings_table(findings)
        files["findings.csv"] = as_csv(table)
        if findings:
            sections.append(Section("Findings in the files", table=ResultTable.of_rows(table), depth=1))
    files |= {"workers.csv": as_csv(workers), "agreement.csv": as_csv([measures, *agreed])}
    return CampaignResults(files | {"report.md": format_markdown(sections, depth=1)}, shown)


def _advise(quality: Sequence[WorkerQuality]) -> str:
    """Return what to do where no worker counts."""
    untested = sum(report.verdict.name == "untested" for report in quality)
    are = "is" if untested == 1 else "are"
    sentence = f"No answer counts: {untested:,} of {counted(len(quality), 'worker')} {are} untested"
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
