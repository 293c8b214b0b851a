"""Collect answers of assessors and check each of them; unusable ones are left out and reported as findings.

File layouts are parsed in `vttdata.people.answers.read` and `vttdata.people.answers.wmt`.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field

from vttdata.files.tables import number_or_nan
from vttdata.people.answers.manifest import Manifest, ManifestItem
from vttdata.records import Judgment

FINDINGS = {
    "rejected": "assignments that the requester rejected; their answers are kept",
    "unknown_worker": "answers of workers that are not among the known ones; left out",
    "unknown_hit": "answers to a HIT that the manifest does not have; left out",
    "unknown_item": "answers to an item that its HIT does not have; left out",
    "changed_item": "answers whose video, system or kind is not what the manifest says; left out",
    "refused": "answers that the campaign's task does not take; left out",
    "unreadable": "answers in which no item and score can be told apart; left out",
    "missing_answer": "items of a begun HIT without a score",
    "out_of_range": "scores that are no number of 0..100; left out",
    "duplicate": "further answers of a worker to an item of a HIT already answered; left out, the first is kept",
    "conflicting_duplicate": "of those, the ones whose score is not that of the first",
}
"""Kinds of findings and their meanings."""

# Longer times are taken for errors of a clock.
_MAX_SECONDS = 1e9


@dataclass(frozen=True, slots=True)
class Results:
    """Judgments in the order of the files, and findings: kind -> `hit/worker/item` of each case."""

    judgments: tuple[Judgment, ...]
    findings: Mapping[str, tuple[str, ...]]


@dataclass(slots=True)
class Intake:
    """Collector of answers from any number of files, which checks each answer.

    Fields:
        manifest: what all items show, or None if the files say it.
        workers: known workers, or None if anyone may answer.
    """

    manifest: Manifest | None = None
    workers: Collection[str] | None = None
    _judgments: dict[tuple[str, ...], Judgment] = field(default_factory=dict)
    _findings: dict[str, list[str]] = field(default_factory=dict)
    _answered: dict[tuple[str, str], set[str]] = field(default_factory=dict)

    def note(self, kind: str, hit: str, worker: str, item: str = "") -> None:
        """Record a finding of a kind of `FINDINGS`."""
        self._findings.setdefault(kind, []).append("/".join(part for part in (hit, worker, item) if part))

    def take(
        self,
        hit: str,
        worker: str,
        item: str,
        score: object,
        *,
        shown: ManifestItem | None,
        position: int,
        seconds: float | None = None,
        share: float | None = None,
    ) -> None:
        """Check an answer, and record a judgment or a finding.

        Two answers of a worker are about the same item where HIT, item, video, system and kind are the same.

        Args:
            hit: id of the HIT.
            worker: id of the worker.
            item: id of the item.
            score: number of 0..100, or its text.
            shown: what the item shows according to the file; None if the file does not say it.
            position: position of the item in the HIT, from 0.
            seconds: time spent on the item; None, NaN or an impossible time if unknown.
            share: share of the video's length that was shown; None or NaN if unknown.
        """
        problem = self._problem(hit, worker, item, shown)
        if problem is not None:
            self.note(problem, hit, worker, item)
            return
        content = shown if self.manifest is None else self.manifest[hit][item]
        assert content is not None
        self._answered.setdefault((hit, worker), set()).add(item)
        value = number_or_nan(score)
        key = (hit, worker, item, *content)
        known_seconds = seconds if seconds is not None and 0 <= seconds < _MAX_SECONDS else None
        if score is None or (isinstance(score, str) and not score.strip()):
            self.note("missing_answer", hit, worker, item)
        elif not 0 <= value <= 100:
            self.note("out_of_range", hit, worker, item)
        elif key in self._judgments:
            self.note("duplicate", hit, worker, item)
            if self._judgments[key].score != value:
                self.note("conflicting_duplicate", hit, worker, item)
        else:
            known_share = share if share is not None and share >= 0 else None
            self._judgments[key] = Judgment(hit, worker, item, *content, value, position, known_seconds, known_share)

    def _problem(self, hit: str, worker: str, item: str, shown: ManifestItem | None) -> str | None:
        """Return the finding for which an answer is left out."""
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
        """Record a finding for each of a HIT's items that the worker has not answered so far."""
        answered = self._answered.setdefault((hit, worker), set())
        for item in items:
            if item not in answered:
                answered.add(item)
                self.note("missing_answer", hit, worker, item)

    def result(self) -> Results:
        """Return all judgments and findings; with a manifest, items of begun HITs that no file has are missing."""
        for hit, worker in list(self._answered):
            if self.manifest is not None and hit in self.manifest:
                self.expect(hit, worker, self.manifest[hit])
        findings = {kind: tuple(self._findings[kind]) for kind in FINDINGS if kind in self._findings}
        return Results(tuple(self._judgments.values()), findings)
