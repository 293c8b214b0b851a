"""What came back from assessors, checked answer by answer: what cannot be used is left out, told and counted.

The layouts of files are the business of `vttdata.assess.answers.read` and `vttdata.assess.answers.wmt`.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple, get_args

from vttdata.errors import VttdataError
from vttdata.files.csv_safety import unguarded
from vttdata.files.tables import read_table
from vttdata.records import Judgment, JudgmentKind

FINDINGS = {
    "rejected": "assignments that the requester rejected; their answers are kept",
    "unknown_worker": "answers of workers that are not among the known ones; left out",
    "unknown_hit": "answers to a HIT that the manifest does not have; left out",
    "unknown_item": "answers to an item that its HIT does not have; left out",
    "changed_item": "answers whose video, system or kind is not what the manifest says; left out",
    "unreadable": "answers in which no item and score can be told apart; left out",
    "missing_answer": "items of a begun HIT without a score",
    "out_of_range": "scores that are no number of 0..100; left out",
    "duplicate": "further answers of a worker to an item of a HIT already answered; left out, the first is kept",
    "conflicting_duplicate": "of those, the ones whose score is not that of the first",
}
"""Every kind of finding and what it means."""

KINDS: dict[str, JudgmentKind] = {
    **{kind: kind for kind in get_args(JudgmentKind)},
    "SYSTEM": "system",
    "REPEAT": "repeat",
    "REF": "reference",
    "ref": "reference",
    "BAD_REF": "degraded",
    "cal": "degraded",
    "TGT": "system",
    "BAD": "degraded",
    "CHK": "repeat",
}
"""Our names of kinds, those of Graham's scripts and those of Appraise."""


class Described(NamedTuple):
    """What an item shows: the caption of a system, or a control made from it, about a video."""

    video_id: str
    system: str
    kind: JudgmentKind


_MAX_SECONDS = 1e9

Manifest = Mapping[str, Mapping[str, Described]]
"""HIT -> item -> what it shows; items in the order in which they are shown."""


@dataclass(frozen=True, slots=True)
class Results:
    """Judgments in the order of the files, and what was found: kind -> `hit/worker/item` of each case."""

    judgments: tuple[Judgment, ...]
    findings: Mapping[str, tuple[str, ...]]


@dataclass(slots=True)
class Intake:
    """Takes answers one by one, from however many files, and checks each.

    Fields:
        manifest: what all items show, or None where the files say it themselves.
        workers: the known workers, or None where anyone may answer.
    """

    manifest: Manifest | None = None
    workers: Collection[str] | None = None
    _judgments: dict[tuple[str, str, str], Judgment] = field(default_factory=dict)
    _findings: dict[str, list[str]] = field(default_factory=dict)
    _answered: dict[tuple[str, str], set[str]] = field(default_factory=dict)

    def note(self, kind: str, hit: str, worker: str, item: str = "") -> None:
        """Note one finding."""
        self._findings.setdefault(kind, []).append("/".join(part for part in (hit, worker, item) if part))

    def take(
        self,
        hit: str,
        worker: str,
        item: str,
        score: Any,
        *,
        shown: Described | None,
        position: int,
        seconds: float | None = None,
    ) -> None:
        """Check one answer.

        Args:
            hit: its id.
            worker: who answered.
            item: what was answered.
            score: a number or its text.
            shown: what the file says of the item, if it does.
            position: the item's place in the HIT, from 0.
            seconds: spent on the item; None or no sensible number where it is not known.
        """
        told = self._trouble(hit, worker, item, shown)
        if told is not None:
            self.note(told, hit, worker, item)
            return
        described = shown if self.manifest is None else self.manifest[hit][item]
        if described is None:
            raise ValueError("an item that nothing describes has been sorted out before")
        self._answered.setdefault((hit, worker), set()).add(item)
        value = number(score)
        spent = seconds if seconds is not None and 0 <= seconds < _MAX_SECONDS else None
        if score is None or (isinstance(score, str) and not score.strip()):
            self.note("missing_answer", hit, worker, item)
        elif not 0 <= value <= 100:
            self.note("out_of_range", hit, worker, item)
        elif (hit, worker, item) in self._judgments:
            self.note("duplicate", hit, worker, item)
            if self._judgments[hit, worker, item].score != value:
                self.note("conflicting_duplicate", hit, worker, item)
        else:
            self._judgments[hit, worker, item] = Judgment(hit, worker, item, *described, value, position, spent)

    def _trouble(self, hit: str, worker: str, item: str, shown: Described | None) -> str | None:
        if not worker or (self.workers is not None and worker not in self.workers):
            return "unknown_worker"
        if self.manifest is None:
            return "unknown_item" if shown is None or not item else None
        if hit not in self.manifest:
            return "unknown_hit"
        if item not in self.manifest[hit]:
            return "unknown_item"
        return "changed_item" if shown is not None and shown != self.manifest[hit][item] else None

    def expect(self, hit: str, worker: str, items: Iterable[str]) -> None:
        """Note those of a HIT's items that the worker has not answered so far."""
        answered = self._answered.setdefault((hit, worker), set())
        for item in items:
            if item not in answered:
                answered.add(item)
                self.note("missing_answer", hit, worker, item)

    def result(self) -> Results:
        """Everything taken; with a manifest, items that no file mentions are found missing now."""
        for hit, worker in list(self._answered):
            if self.manifest is not None and hit in self.manifest:
                self.expect(hit, worker, self.manifest[hit])
        found = {kind: tuple(self._findings[kind]) for kind in FINDINGS if kind in self._findings}
        return Results(tuple(self._judgments.values()), found)


def number(value: Any) -> float:
    """A number, or a text that is one; NaN for anything else."""
    if isinstance(value, bool):
        return math.nan
    try:
        return float(value)
    except (TypeError, ValueError, OverflowError):
        return math.nan


def read_manifest(file: Path) -> dict[str, dict[str, Described]]:
    """Read what the items of HITs show: a CSV, TSV or JSONL table with a row for each item, in the order shown.

    Columns: `hit`, `item` (unique within its HIT), `video_id`, `system`, `kind` (see `KINDS`); others are ignored. A
    ``'`` that keeps a spreadsheet from running a cell, as in ``'=A1``, is taken off.

    Raises:
        VttdataError: when it cannot be read, a cell is empty, a kind is unknown, or an item stands twice.
    """
    hits: dict[str, dict[str, Described]] = {}
    for line, row in read_table(file):
        hit, item, video_id, system, kind = (
            unguarded(cell(file, line, row, name)) for name in ("hit", "item", "video_id", "system", "kind")
        )
        items = hits.setdefault(hit, {})
        if item in items:
            raise VttdataError(f"{file}:{line}: the item {item!a} of HIT {hit!a} stands twice.")
        items[item] = Described(video_id, system, kind_of(kind, f"{file}:{line}"))
    if not hits:
        raise VttdataError(f"{file}: holds no items.")
    return hits


def cell(file: Path, line: int, row: Mapping[str, Any], name: str) -> str:
    """The text of a cell that must not be empty."""
    if name not in row:
        raise VttdataError(f"{file}:{line}: the column '{name}' is missing.")
    if row[name] is None or str(row[name]).strip() == "":
        raise VttdataError(f"{file}:{line}: '{name}' is empty.")
    return str(row[name])


def kind_of(name: str, place: str) -> JudgmentKind:
    """The kind that a file calls `name`."""
    if name not in KINDS:
        raise VttdataError(f"{place}: found the kind {name[:40]!a}; known are {', '.join(KINDS)}.")
    return KINDS[name]
