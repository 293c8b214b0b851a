"""Read files of results: exports of a crowd platform, exports of an assessment page, and WMT's layout."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from vttdata.errors import VttdataError
from vttdata.files.delimited import read_records
from vttdata.files.tables import WORKBOOK, Columns, number_or_nan, open_text, read_table, required_text
from vttdata.people.answers.intake import Intake, Results
from vttdata.people.answers.manifest import KINDS, Manifest, ManifestItem, parse_kind
from vttdata.people.answers.wmt import HEADER, split_cells, take_wmt
from vttdata.people.scoring.scores import Moments

_ITEM_COLUMN = re.compile(r"Input\.rid_(\d+)")
_ANSWER = re.compile(r"\d+_[^|]*(?:\|\d+_[^|]*)*")
_CONTENT_COLUMNS = ("video_id", "system", "kind")
_PAGE = Columns(
    ("hit", "worker", "item", "score", "position", "seconds", "shown", "answers", *_CONTENT_COLUMNS), (), ("score",)
)
# Appraise's ExportSystemScoresToCSV writes no header: user, system, segment, type, two languages, score.
_APPRAISE = re.compile(r"[^,\n]+,[^,\n]+,[^,\n]+,(?:TGT|BAD|REF|CHK),[^,\n]*,[^,\n]*,[0-9.]+(?:,.*)?\r?\n?")
# Name of another tool -> what its exports have at their beginning, and what to do.
_OTHER_TOOLS = {
    "Label Studio, as CSV": (
        ("annotation_id", "annotator", "lead_time"),
        "call the columns 'annotator' worker, 'id' item, 'lead_time' seconds and that of the rating, from 0 to 100, "
        "score, and add hit, unless a manifest has the rest also video_id, system and kind",
    ),
    "Label Studio, as JSON": (('"completed_by"', '"result"'), "export it as CSV instead"),
    "Potato": (
        ("user_id", "instance_id"),
        "write a table of its ratings, such as its export 'csv', and call the columns 'user_id' worker, 'instance_id' "
        "item and that of the rating, from 0 to 100, score, and add hit, unless a manifest has the rest also video_id, "
        "system and kind",
    ),
    "Prolific": (
        ("Submission id", "Participant id"),
        "it lists who took part and has no answers, which the page that people worked on keeps under their "
        "participant ids as worker",
    ),
}
_APPRAISE_CELLS, _BEGINNING = 7, 2**16
# A worker may change an answer or post a HIT twice. More contradictions than these few, or this share, mean that
# different items pass for one.
_MAX_CONFLICTS = 5
_MAX_CONFLICTING = 0.01


def read_results(
    files: Iterable[Path],
    *,
    manifest: Manifest | None = None,
    moments: Mapping[str, Moments] | None = None,
    workers: Collection[str] | None = None,
) -> Results:
    """Read files of results; the layout of each is recognised by its first line.

    - **crowd**: the CSV of Amazon Mechanical Turk, a row per assignment: `HITId`, `WorkerId`, `WorkTimeInSeconds`, an
      answer ``position_item_score|position_item_score|...`` in a column `Answer....`, in `Answer.details` what a page
      of ours says of each answer, and `Input.sys_id_0`,
      `Input.sid_0`, `Input.tst_0`, `Input.rid_0` and so on for what was shown; with a manifest these may be missing. A
      column `Input.hit` names the HIT instead of `HITId`.
    - **page**: the export of an assessment page, CSV, TSV or JSONL with a row per answer: `hit`, `worker`, `item`,
      `score`, and optionally `position` (from 0), `seconds` and `shown`, the share of the video that was shown; or
      objects with `hit`, `worker` and the list `answers`, as pages post them, one per line of JSONL. ``.json`` is one
      object or a list of either type. Without a manifest, `video_id`, `system` and `kind` are required as well.
    - **wmt**: see `vttdata.people.answers.wmt`.
    - **appraise**: the CSV of Appraise's ``ExportSystemScoresToCSV``, which has no header; an account is a HIT.

    Exports of Label Studio, Potato and Prolific are refused with what to rename.

    Args:
        files: files, read in this order; of several answers of a worker to an item of a HIT, the first one is kept.
        manifest: what the items show, see `vttdata.people.answers.manifest.read_manifest`.
        moments: means and deviations of workers, for WMT's layout with standardised scores.
        workers: known workers; answers of others are left out.

    Raises:
        VttdataError: if a file cannot be read or has none of the layouts, no answer is left, or many answers contradict
            others to the same item.
    """
    intake = Intake(manifest, workers)
    for file in files:
        if file.suffix.lower() == WORKBOOK:
            beginning = first_line = "\t".join(next((row for _, row in read_table(file)), ()))
        else:
            with open_text(file) as stream:
                first_line = stream.readline(2**20)
                beginning = first_line + stream.read(_BEGINNING)
        tools = ((tool, advice) for tool, (marks, advice) in _OTHER_TOOLS.items() if all(m in beginning for m in marks))
        if split_cells(first_line) == HEADER.split():
            take_wmt(file, intake, moments)
        elif {"HITId", "WorkerId"} <= set(re.split(r'[,;\t"\r\n]+', first_line)):
            _take_crowd(file, intake)
        elif _APPRAISE.fullmatch(first_line):
            _take_appraise(file, intake)
        elif tool := next(tools, None):
            raise VttdataError(f"{file}: is of {tool[0]}; {tool[1]}.")
        else:
            _take_page(file, intake)
    results = intake.result()
    if not results.judgments:
        reasons = ", ".join(f"{kind} {len(ids)}" for kind, ids in results.findings.items()) or "there are no answers"
        raise VttdataError(f"No answer is left of these results: {reasons}.")
    if max(judgment.score for judgment in results.judgments) <= 1 and any(
        judgment.score % 1 for judgment in results.judgments
    ):
        raise VttdataError("No score of these results is above 1; scores are from 0 to 100, so multiply shares by 100.")
    conflicts = results.findings.get("conflicting_duplicate", ())
    if len(conflicts) > max(_MAX_CONFLICTS, _MAX_CONFLICTING * len(results.judgments)):
        raise VttdataError(
            f"{len(conflicts):,} answers contradict an earlier one of the same worker to the same item of a HIT (first "
            f"{conflicts[0]}), beside {len(results.judgments):,} others. Either several items have the same id, or "
            "results of several campaigns are mixed; give every item of a HIT its own id, and keep one answer of a "
            "worker to each."
        )
    return results


def _take_appraise(file: Path, intake: Intake) -> None:
    """Pass the scores that Appraise exports; an account of it has one task, which becomes the HIT."""
    with open_text(file) as stream:
        for line, cells in read_records(str(file), stream, ","):
            if len(cells) < _APPRAISE_CELLS or cells[3] not in KINDS:
                raise VttdataError(
                    f"{file}:{line}: is no row of Appraise: user, system, segment, type, languages, score."
                )
            user, system, segment, kind, _, _, score = cells[:_APPRAISE_CELLS]
            shown = ManifestItem(segment, system, parse_kind(kind, f"{file}:{line}"))
            intake.take(user, user, f"{segment}/{kind}", score, shown=shown, position=line - 1)


def _take_crowd(file: Path, intake: Intake) -> None:
    # The last columns are for the requester to fill in, and may be missing.
    for line, row in read_table(file, short_rows=True):
        hit = required_text(file, line, row, "Input.hit" if row.get("Input.hit") else "HITId")
        worker = required_text(file, line, row, "WorkerId")
        if row.get("AssignmentStatus") == "Rejected":
            intake.note("rejected", hit, worker)
        shown = _crowd_items(row, f"{file}:{line}", has_manifest=intake.manifest is not None)
        items = list(shown) if intake.manifest is None else list(intake.manifest.get(hit, ()))
        cells = [value for name, value in row.items() if name.startswith("Answer.") and isinstance(value, str)]
        answers = next((value.split("|") for value in cells if _ANSWER.fullmatch(value.strip())), [])
        shares = _crowd_shares(row)
        seconds = number_or_nan(row.get("WorkTimeInSeconds")) / max(len(items) or len(answers), 1)
        for answer in answers:
            # An item's id may contain underscores itself.
            position, _, item_and_score = answer.partition("_")
            item, _, score = item_and_score.rpartition("_")
            if not position.isdecimal() or not item:
                intake.note("unreadable", hit, worker, answer[:40])
                continue
            content, share = shown.get(item), shares.get(item)
            place = int(position[:9])
            intake.take(hit, worker, item, score, shown=content, position=place, seconds=seconds, share=share)
        intake.expect(hit, worker, items)


def _crowd_items(row: Mapping[str, Any], location: str, *, has_manifest: bool) -> dict[str, ManifestItem]:
    """Return what the items of a row show; without a manifest, the row must say it of all of them."""
    shown: dict[str, ManifestItem] = {}
    for name, item in row.items():
        match = _ITEM_COLUMN.fullmatch(name)
        if match is None or item is None:
            continue
        video_id, system, kind = (row.get(f"Input.{column}_{match[1]}") for column in ("sid", "sys_id", "tst"))
        if video_id is None or system is None or kind is None:
            if has_manifest:
                continue
            raise VttdataError(f"{location}: the item {match[1]} lacks Input.sid_, Input.sys_id_ or Input.tst_.")
        if item in shown:
            raise VttdataError(f"{location}: the item {item[:40]!a} is duplicated in its HIT; each needs its own id.")
        shown[item] = ManifestItem(video_id, system, parse_kind(kind, location))
    return shown


def _crowd_shares(row: Mapping[str, Any]) -> dict[str, float]:
    """Return the share of each item's video that was shown, where a page of ours said so."""
    try:
        answers = json.loads(row.get("Answer.details") or "{}").get("answers", ())
        return {str(answer["item"]): number_or_nan(answer.get("shown")) for answer in answers}
    except (ValueError, TypeError, LookupError, AttributeError):
        return {}


def _take_page(file: Path, intake: Intake) -> None:
    counts: dict[tuple[str, str], int] = {}
    needs_content = intake.manifest is None
    for line, row in _single_answers(file, read_table(file, _PAGE)):
        hit, item = (required_text(file, line, row, name) for name in ("hit", "item"))
        worker = str(row.get("worker") or "")
        for name in ("worker", "score", *(_CONTENT_COLUMNS if needs_content else ())):
            if name not in row:
                hint = "; without it a manifest of the HITs is needed" if name in _CONTENT_COLUMNS else ""
                raise VttdataError(f"{file}:{line}: '{name}' is missing{hint}.")
        shown = None
        if all(row.get(name) for name in _CONTENT_COLUMNS):
            video_id, system, kind = (required_text(file, line, row, name) for name in _CONTENT_COLUMNS)
            shown = ManifestItem(video_id, system, parse_kind(kind, f"{file}:{line}"))
        # Without positions, answers are taken to be in the order shown.
        number = counts[hit, worker] = counts.get((hit, worker), -1) + 1
        position = number_or_nan(row.get("position"))
        intake.take(
            hit,
            worker,
            item,
            row["score"],
            shown=shown,
            position=int(position) if 0 <= position < 1e9 else number,
            seconds=number_or_nan(row.get("seconds")),
            share=number_or_nan(row.get("shown")),
        )


def _single_answers(file: Path, rows: Iterable[tuple[int, dict[str, Any]]]) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield a row per answer, also for objects with the list `answers`."""
    for line, row in rows:
        answers = row.pop("answers", None)
        if answers is None:
            yield line, row
            continue
        if not isinstance(answers, list) or not all(isinstance(answer, dict) for answer in answers):
            raise VttdataError(f"{file}:{line}: 'answers' is not a list of objects.")
        yield from ((line, row | answer) for answer in answers)
