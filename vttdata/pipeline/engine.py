"""Engine that brings stages up to date: finds what is done already, has the rest done, stores the results in parts.

The engine decides what is stale and keeps results in the order of their items; an executor decides where items run.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from vttdata.errors import HaltError
from vttdata.pipeline.executors import Executor, Tag
from vttdata.pipeline.journal import Journal
from vttdata.pipeline.parts import Part, PartStore, cut_into_parts
from vttdata.pipeline.progress import Progress
from vttdata.pipeline.stage import Failed, ItemResult, Kept, Rejected, Stage

# So many crashes in a row come from the machine (its memory, a broken library), hardly from the items.
MAX_CRASHES_IN_A_ROW = 8


@dataclass(slots=True)
class StageCounts:
    """Counts of one stage.

    Fields:
        name: of the stage.
        taken: things that went in; see `Stage.count`.
        kept: records.
        rejected, failed: reason -> number.
        retryable: failures that a retry may help.
        seconds: sum over all items, from whichever run processed them.
        parts, reused: all parts, and those that were complete before this run.
    """

    name: str
    taken: int = 0
    kept: int = 0
    rejected: Counter[str] = field(default_factory=Counter)
    failed: Counter[str] = field(default_factory=Counter)
    retryable: int = 0
    seconds: float = 0.0
    parts: int = 0
    reused: int = 0

    def add(self, result: ItemResult) -> None:
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
        """Return the stage's entry in ``build.json``."""
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
    """Finished results of a stage, in the order of its items. Iterating it yields the kept records.

    Every iteration reads the stored parts again, so a table of any size takes no memory.
    """

    stage: Stage
    store: PartStore
    keys: tuple[str, ...]
    tally: StageCounts

    def __len__(self) -> int:
        return self.tally.kept

    def results(self) -> Iterator[ItemResult]:
        """Yield the result of every item."""
        for key in self.keys:
            yield from self.store.read(key)

    def __iter__(self) -> Iterator[Any]:
        for result in self.results():
            for outcome in result.outcomes:
                if isinstance(outcome, Kept):
                    yield outcome.record


class Engine:
    """Engine for the stages of one build folder, which the caller has locked.

    Args:
        folder: of all stages; each gets a folder in it.
        executor: runs the items.
        journal: is told what happens.
        retry_failed: process items again that failed for a reason that may have gone.
        quiet: show no progress.
    """

    def __init__(self, folder: Path, executor: Executor, journal: Journal, *, retry_failed: bool, quiet: bool) -> None:
        self._folder = folder
        self._executor = executor
        self._journal = journal
        self._retry_failed = retry_failed
        self.quiet = quiet

    def run(self, stage: Stage, items: Iterable[Any], total: int | None = None) -> Table:
        """Bring one stage up to date.

        Args:
            stage: what to do.
            items: its inputs, in an order that is the same at every run.
            total: number of items, for the progress bar.

        Raises:
            HaltError: when the build cannot go on; finished parts stay.
        """
        store = PartStore(self._folder / stage.name / "parts", stage)
        self._journal.note("stage", name=stage.name)
        run = StageRun(stage, store, retry_failed=self._retry_failed)
        breaker = CircuitBreaker(stage)
        with Progress(stage.name, None if stage.all_at_once else total, quiet=self.quiet) as progress:
            tasks = run.tasks(cut_into_parts(stage, items), progress)
            results = process_here(stage, tasks) if stage.all_at_once else self._executor.run(stage, tasks)
            for tag, result in results:
                progress.advance(
                    rejected=sum(isinstance(outcome, Rejected) for outcome in result.outcomes),
                    failed=sum(isinstance(outcome, Failed) for outcome in result.outcomes),
                )
                part = run.add(tag, result)
                if part is not None:
                    self._journal.note("part", stage=stage.name, key=part.key[:16], items=len(part.items))
                breaker.check(result)
        store.remove_all_but(run.keys)
        tally = StageCounts(stage.name, parts=len(run.keys), reused=run.reused)
        table = Table(stage, store, tuple(run.keys), tally)
        for result in table.results():
            tally.add(result)
        self._journal.note("stage done", **tally.as_json())
        return table


def process_here(stage: Stage, tasks: Iterable[tuple[Tag, Any]]) -> Iterator[tuple[Tag, ItemResult]]:
    """Process items in this process, so that an error of an item ends the build."""
    for tag, item in tasks:
        started = time.monotonic()
        outcomes = tuple(stage.process(item))
        yield tag, ItemResult(stage.name, stage.count(item), outcomes, time.monotonic() - started)


class StageRun:
    """One run of a stage: the keys of its parts so far, and the results that wait for the rest of their part.

    Fields:
        keys: of all parts, in order.
        reused: number of parts that were complete before.
    """

    def __init__(self, stage: Stage, store: PartStore, *, retry_failed: bool) -> None:
        self.keys: list[str] = []
        self.reused = 0
        self._stage = stage
        self._store = store
        self._retry_failed = retry_failed
        self._incomplete: dict[int, tuple[Part, list[ItemResult | None]]] = {}

    def tasks(self, parts: Iterable[Part], progress: Progress) -> Iterator[tuple[Tag, Any]]:
        """Yield the items that have to be processed, tagged with the numbers of their part and of their place in it."""
        for number, part in enumerate(parts):
            self.keys.append(part.key)
            results = self._stored_results(part)
            missing = [index for index, result in enumerate(results) if result is None]
            for _ in range(len(results) - len(missing)):
                progress.advance()
            if not missing:
                self.reused += 1
                continue
            self._incomplete[number] = (part, results)
            for index in missing:
                yield (number, index), part.items[index]

    def add(self, tag: Tag, result: ItemResult) -> Part | None:
        """Take in one result; store its part, and return it, once all results of the part are there."""
        number, index = tag
        part, results = self._incomplete[number]
        results[index] = result
        complete = [result for result in results if result is not None]
        if len(complete) < len(results):
            return None
        self._store.write(part.key, complete)
        del self._incomplete[number]
        return part

    def _stored_results(self, part: Part) -> list[ItemResult | None]:
        """Return the earlier results of a part, None for each item that has to be processed."""
        try:
            results = list(self._store.read(part.key))
        # The part was never finished, or was damaged later by a failing disk or an editor.
        except (FileNotFoundError, ValueError):
            results = []
        if len(results) != len(part.items):
            return [None] * len(part.items)
        return [result if all(map(self._is_valid, result.outcomes)) else None for result in results]

    def _is_valid(self, outcome: Kept | Rejected | Failed) -> bool:
        if isinstance(outcome, Kept):
            return self._stage.intact(outcome.record)
        return not (isinstance(outcome, Failed) and outcome.retry and self._retry_failed)


class CircuitBreaker:
    """Halts a run when failures in a row say that going on only does harm, to a site or to the results."""

    def __init__(self, stage: Stage) -> None:
        self._stage = stage
        self._failures = self._crashes = 0

    def check(self, result: ItemResult) -> None:
        """Take in the next result.

        Raises:
            HaltError: with what happened and how to go on.
        """
        failure = next((outcome for outcome in result.outcomes if isinstance(outcome, Failed)), None)
        self._failures = self._failures + 1 if failure and failure.reason in self._stage.halting_reasons else 0
        self._crashes = self._crashes + 1 if failure and failure.reason == "crashed" else 0
        if failure and (self._failures >= self._stage.halt_after() or self._crashes >= MAX_CRASHES_IN_A_ROW):
            raise HaltError(
                f"Stage '{self._stage.name}' stopped after {max(self._failures, self._crashes)} items in a row ended "
                f"as '{failure.reason}': {failure.detail.rstrip('.')}. What is done is kept; go on later with "
                "--retry-failed."
            )
