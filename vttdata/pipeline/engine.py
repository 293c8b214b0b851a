"""Turns a stage and its items into a table: finds what is done already, has the rest done, stores it in parts.

The engine decides what is stale and keeps results in the order of the items; an executor decides where items run.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from vttdata.errors import HaltError
from vttdata.pipeline.journal import Journal
from vttdata.pipeline.parts import Done, Part, PartStore, Tag, cut_into_parts
from vttdata.pipeline.progress import Progress
from vttdata.pipeline.stage import Failed, Kept, Rejected, Stage

_CRASHES_IN_A_ROW = 8


class Executor(Protocol):
    """Whatever can process tagged items of a stage; the local one uses processes."""

    def run(self, stage: Stage, tasks: Iterable[tuple[Tag, Any]]) -> Iterator[tuple[Tag, Done]]:
        """Process every task and yield `(tag, result)` in any order."""
        ...

    def close(self) -> None:
        """Stop all work."""
        ...


@dataclass(slots=True)
class Tally:
    """The counts of one stage: things in, records kept, rejects and failures by reason, seconds spent on its items."""

    name: str
    taken: int = 0
    kept: int = 0
    rejected: Counter[str] = field(default_factory=Counter)
    failed: Counter[str] = field(default_factory=Counter)
    retryable: int = 0
    seconds: float = 0.0
    parts: int = 0
    reused: int = 0

    def add(self, result: Done) -> None:
        """Count one item's result."""
        self.taken += result.count
        self.seconds += result.seconds
        for outcome in result.outcomes:
            match outcome:
                case Kept():
                    self.kept += 1
                case Rejected(_, reason, _):
                    self.rejected[reason] += 1
                case Failed(_, reason, _, retry):
                    self.failed[reason] += 1
                    self.retryable += retry

    def as_json(self) -> dict[str, Any]:
        """The stage's entry in ``build.json``."""
        return {
            "name": self.name,
            "in": self.taken,
            "kept": self.kept,
            "rejected": dict(sorted(self.rejected.items())),
            "failed": dict(sorted(self.failed.items())),
            "seconds": round(self.seconds, 3),
            "parts": self.parts,
            "reused": self.reused,
        }


@dataclass(frozen=True, slots=True)
class Table:
    """The finished results of a stage, read from its parts as often as needed, in the order of its items."""

    stage: Stage
    store: PartStore
    keys: tuple[str, ...]
    tally: Tally

    def __len__(self) -> int:
        return self.tally.kept

    def results(self) -> Iterator[Done]:
        """Every item's result."""
        for key in self.keys:
            yield from self.store.read(key)

    def __iter__(self) -> Iterator[Any]:
        for result in self.results():
            for outcome in result.outcomes:
                if isinstance(outcome, Kept):
                    yield outcome.record


class Engine:
    """Runs stages in one build folder, which the caller has locked."""

    def __init__(self, folder: Path, executor: Executor, journal: Journal, *, retry_failed: bool, quiet: bool) -> None:
        self._folder, self._executor, self._journal = folder, executor, journal
        self._retry_failed, self._quiet = retry_failed, quiet

    def run(self, stage: Stage, items: Iterable[Any], total: int | None = None) -> Table:
        """Bring one stage up to date.

        Args:
            stage: what to do.
            items: its inputs, in an order that is the same at every run.
            total: how many items there are, for the progress bar.

        Raises:
            HaltError: when the build has to stop here; finished parts stay.
        """
        store = PartStore(self._folder / stage.name / "parts", stage)
        self._journal.note("stage", name=stage.name)
        work = _Work(stage, store, retry_failed=self._retry_failed)
        with Progress(stage.name, None if stage.all_at_once else total, quiet=self._quiet) as progress:
            for tag, result in self._process(stage, work.tasks(cut_into_parts(stage, items), progress)):
                progress.advance(
                    rejected=sum(isinstance(outcome, Rejected) for outcome in result.outcomes),
                    failed=sum(isinstance(outcome, Failed) for outcome in result.outcomes),
                )
                part = work.put(tag, result)
                if part is not None:
                    self._journal.note("part", stage=stage.name, key=part.key[:16], items=len(part.items))
                work.check_breaker(result)
        return self._finish(stage, store, work)

    def _process(self, stage: Stage, tasks: Iterator[tuple[Tag, Any]]) -> Iterator[tuple[Tag, Done]]:
        if not stage.all_at_once:
            yield from self._executor.run(stage, tasks)
            return
        for tag, item in tasks:  # nothing to isolate: an error in a whole stage ends the build
            started = time.monotonic()
            outcomes = tuple(stage.process(item))
            yield tag, Done(stage.name, stage.count(item), outcomes, time.monotonic() - started)

    def _finish(self, stage: Stage, store: PartStore, work: _Work) -> Table:
        store.keep_only(work.keys)
        tally = Tally(stage.name, parts=len(work.keys), reused=work.reused)
        table = Table(stage, store, tuple(work.keys), tally)
        for result in table.results():
            tally.add(result)
        self._journal.note("stage done", **tally.as_json())
        return table


class _Work:
    """The parts of one run of a stage that are being done, and the results that wait for the rest of their part."""

    def __init__(self, stage: Stage, store: PartStore, *, retry_failed: bool) -> None:
        self._stage, self._store, self._retry_failed = stage, store, retry_failed
        self._open: dict[int, tuple[Part, list[Done | None]]] = {}
        self._streak = self._crashes = 0
        self.keys: list[str] = []
        self.reused = 0

    def tasks(self, parts: Iterable[Part], progress: Progress) -> Iterator[tuple[Tag, Any]]:
        """The items that have to be processed, tagged with their part and place."""
        for number, part in enumerate(parts):
            self.keys.append(part.key)
            results = self._reuse(part)
            missing = [place for place, result in enumerate(results) if result is None]
            for _ in range(len(results) - len(missing)):
                progress.advance()
            if missing:
                self._open[number] = (part, results)
                for place in missing:
                    yield (number, place), part.items[place]
            elif not part.items:
                self._store.write(part.key, ())
            else:
                self.reused += 1

    def _reuse(self, part: Part) -> list[Done | None]:
        if not self._store.has(part.key):
            return [None] * len(part.items)
        try:
            results = list(self._store.read(part.key))
        except ValueError:  # damaged after it was written, by a failing disk or a curious editor
            results = []
        if len(results) != len(part.items):
            return [None] * len(part.items)
        return [result if self._still_good(result) else None for result in results]

    def _still_good(self, result: Done) -> bool:
        for outcome in result.outcomes:
            if isinstance(outcome, Kept) and not self._stage.intact(outcome.record):
                return False
            if isinstance(outcome, Failed) and outcome.retry and self._retry_failed:
                return False
        return True

    def put(self, tag: Tag, result: Done) -> Part | None:
        """Take in one result; the part is returned once it is complete and stored."""
        number, place = tag
        part, results = self._open[number]
        results[place] = result
        finished = [result for result in results if result is not None]
        if len(finished) < len(results):
            return None
        self._store.write(part.key, finished)
        del self._open[number]
        return part

    def check_breaker(self, result: Done) -> None:
        """Stop the run when failures in a row say that going on only does harm.

        Raises:
            HaltError: with what happened and how to go on.
        """
        failure = next((outcome for outcome in result.outcomes if isinstance(outcome, Failed)), None)
        self._streak = self._streak + 1 if failure and failure.reason in self._stage.halting_reasons else 0
        self._crashes = self._crashes + 1 if failure and failure.reason == "crashed" else 0
        if failure and (self._streak >= self._stage.halt_after() or self._crashes >= _CRASHES_IN_A_ROW):
            times = max(self._streak, self._crashes)
            raise HaltError(
                f"Stage '{self._stage.name}' stopped after {times} items in a row ended as '{failure.reason}': "
                f"{failure.detail.rstrip('.')}. What is done is kept; go on later with --retry-failed."
            )
