"""Reads files of results: exports of a crowd platform, exports of an assessment page, and WMT's layout."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

from vttdata.assess.answers.intake import Described, Intake, Manifest, Results, cell, kind_of, number
from vttdata.assess.answers.wmt import HEAD, take_wmt
from vttdata.assess.scores import Moments
from vttdata.errors import VttdataError
from vttdata.files.tables import read_rows, read_table

Layout = Literal["crowd", "page", "wmt"]

_ITEM = re.compile(r"Input\.rid_(\d+)")
_ANSWER = re.compile(r"\d+_[^|]*(?:\|\d+_[^|]*)*")
_DESCRIPTION = ("video_id", "system", "kind")


def read_results(
    files: Iterable[Path],
    *,
    manifest: Manifest | None = None,
    moments: Mapping[str, Moments] | None = None,
    workers: Collection[str] | None = None,
) -> Results:
    """Read files of results; each says by its first line which layout it has.

    - **crowd**: the CSV of Amazon Mechanical Turk, a row an assignment: `HITId`, `WorkerId`, `WorkTimeInSeconds`, an
      answer ``place_item_score|place_item_score|...`` in a column `Answer....`, and `Input.sys_id_0`, `Input.sid_0`,
      `Input.tst_0`, `Input.rid_0` and so on for what was shown; with a manifest these may be missing. A column
      `Input.hit` names the HIT in the place of `HITId`.
    - **page**: what an assessment page exports, CSV, TSV or JSONL with a row an answer: `hit`, `worker`, `item`,
      `score`, and if known `position` (from 0) and `seconds`; or objects with `hit`, `worker` and the list `answers`,
      as pages post them, one a line of JSONL. ``.json`` is one object or a list of either kind. Without a manifest
      `video_id`, `system` and `kind` are needed as well.
    - **wmt**: see `vttdata.assess.answers.wmt`.

    Args:
        files: read in this order; the first answer to an item stays where several are there.
        manifest: what the items show, see `vttdata.assess.answers.intake.read_manifest`.
        moments: for WMT's layout, where scores are standardised.
        workers: the known workers; answers of others are left out.

    Raises:
        VttdataError: when a file cannot be read, or has none of the layouts, or no answer is left.
    """
    intake = Intake(manifest, workers)
    for file in files:
        layout = _layout(file)
        if layout == "wmt":
            take_wmt(file, intake, moments)
        elif layout == "crowd":
            _take_crowd(file, intake)
        else:
            _take_page(file, intake)
    results = intake.result()
    if not results.judgments:
        found = ", ".join(f"{kind} {len(ids)}" for kind, ids in results.findings.items()) or "there are no answers"
        raise VttdataError(f"No answer is left of these results: {found}.")
    return results


def _layout(file: Path) -> Layout:
    try:
        with file.open("rb") as stream:
            head = stream.readline(2**20).decode("utf-8-sig", "replace")
    except OSError as error:
        raise VttdataError(f"{file}: cannot be read ({error.strerror or error}).") from error
    if head.split() == HEAD.split():
        return "wmt"
    return "crowd" if {"HITId", "WorkerId"} <= set(re.split(r'[,\t"\r\n]+', head)) else "page"


def _take_crowd(file: Path, intake: Intake) -> None:
    for line, row in read_table(file, short_rows=True):  # the last columns are for the requester to fill in
        hit = cell(file, line, row, "Input.hit" if row.get("Input.hit") else "HITId")
        worker = cell(file, line, row, "WorkerId")
        if row.get("AssignmentStatus") == "Rejected":
            intake.note("rejected", hit, worker)
        shown = _shown(row, f"{file}:{line}", known=intake.manifest is not None)
        items = list(intake.manifest.get(hit, ())) if intake.manifest is not None else list(shown)
        answers = _answers(row)
        seconds = number(row.get("WorkTimeInSeconds")) / max(len(items) or len(answers), 1)
        for answer in answers:
            place, item, score = _parts(answer)
            if not place.isdecimal() or not item:
                intake.note("unreadable", hit, worker, answer[:40])
                continue
            intake.take(hit, worker, item, score, shown=shown.get(item), position=int(place[:9]), seconds=seconds)
        intake.expect(hit, worker, items)


def _parts(answer: str) -> tuple[str, str, str]:
    """Place, item and score; an item may hold ``_`` itself."""
    place, _, rest = answer.partition("_")
    item, _, score = rest.rpartition("_")
    return place, item, score


def _answers(row: Mapping[str, Any]) -> Sequence[str]:
    """The parts of the cell that holds the scores; none where the worker sent nothing."""
    cells = [value for name, value in row.items() if name.startswith("Answer.") and isinstance(value, str)]
    return next((value.split("|") for value in cells if _ANSWER.fullmatch(value.strip())), ())


def _shown(row: Mapping[str, Any], place: str, *, known: bool) -> dict[str, Described]:
    """Item -> what it shows, as far as the row says it; it must say it where that is not known otherwise."""
    shown: dict[str, Described] = {}
    for name, item in row.items():
        found = _ITEM.fullmatch(name)
        if found is None or item is None:
            continue
        video_id, system, kind = (row.get(f"Input.{column}_{found[1]}") for column in ("sid", "sys_id", "tst"))
        if video_id is None or system is None or kind is None:
            if known:
                continue
            raise VttdataError(f"{place}: the item {found[1]} lacks Input.sid_, Input.sys_id_ or Input.tst_.")
        if item in shown:
            raise VttdataError(f"{place}: the item {item[:40]!a} stands twice in its HIT.")
        shown[item] = Described(video_id, system, kind_of(kind, place))
    return shown


def _take_page(file: Path, intake: Intake) -> None:
    places: dict[tuple[str, str], int] = {}
    expected = "a list of answers or an object with the list 'answers'"
    for line, row in _single_answers(file, read_rows(file, expected, alone=True)):
        hit, item = (cell(file, line, row, name) for name in ("hit", "item"))
        worker = str(row.get("worker") or "")
        for name in ("worker", "score") if intake.manifest is not None else ("worker", "score", *_DESCRIPTION):
            if name not in row:
                raise VttdataError(f"{file}:{line}: '{name}' is missing{'' if name == 'score' else _hint(name)}.")
        place = places[hit, worker] = places.get((hit, worker), -1) + 1
        position, seconds = number(row.get("position")), number(row.get("seconds"))
        intake.take(
            hit,
            worker,
            item,
            row["score"],
            shown=_described(file, line, row),
            position=int(position) if 0 <= position < 1e9 else place,
            seconds=seconds,
        )


def _single_answers(file: Path, rows: Iterable[tuple[int, dict[str, Any]]]) -> Iterator[tuple[int, dict[str, Any]]]:
    """The rows, of which an object with the list `answers` gives one an answer."""
    for line, row in rows:
        answers = row.pop("answers", None)
        if answers is None:
            yield line, row
            continue
        if not isinstance(answers, list) or not all(isinstance(answer, dict) for answer in answers):
            raise VttdataError(f"{file}:{line}: 'answers' is no list of answers.")
        yield from ((line, row | answer) for answer in answers)


def _hint(name: str) -> str:
    return "; without it a manifest of the HITs is needed" if name in _DESCRIPTION else ""


def _described(file: Path, line: int, row: Mapping[str, Any]) -> Described | None:
    if not all(row.get(name) for name in _DESCRIPTION):
        return None
    video_id, system, kind = (cell(file, line, row, name) for name in _DESCRIPTION)
    return Described(video_id, system, kind_of(kind, f"{file}:{line}"))
