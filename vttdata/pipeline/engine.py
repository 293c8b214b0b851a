"""Engine that brings stages up to date: finds what is done already, has the rest done, stores the results in parts.

The engine decides what is stale and keeps results in the order of their items; an executor decides where items run.
"""

from __future__ import annotations

import contextlib
import itertools
import json
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import KW_ONLY, dataclass, field
from pathlib import Path
from typing import Any, Generic, overload

from vttdata.errors import HaltError
from vttdata.ids import digest
from vttdata.json_types import JsonObject
from vttdata.pipeline.executors import Executor, Tag
from vttdata.pipeline.journal import Journal, write_json
from vttdata.pipeline.progress import BuildProgress, Progress
from vttdata.pipeline.stage import (
    AnyStage,
    Failed,
    Gathered,
    GatheringStage,
    In,
    ItemResult,
    Kept,
    Out,
    Out_co,
    RecordTable,
    Rejected,
    Stage,
)
from vttdata.pipeline.stored_results import ItemResults, Part, PartStore, cut_into_parts

# So many crashes in a row come from the machine (its memory, a broken library), hardly from the items.
MAX_CRASHES_IN_A_ROW = 8
CRASHES = frozenset({"crashed", "killed"})
# What a stage's table was made of, beside it.
_ORIGIN = "origin.json"
# Failures that every run tries again, although the dataset is complete without their items.
PASSING = frozenset({"not_yet"})
# So many failures of unknown cause with the same words, hardly either.
MAX_UNEXPLAINED_IN_A_ROW = 10


@dataclass(slots=True)
class StageCounts:
    """Counts of one stage.

    Fields:
        taken: things that went in; see `Stage.count`.
        rejected, failed: reason -> number.
        inconclusive: of the failures those that say nothing about their item, reason -> number.
        retryable: further failures that a retry may help.
        seconds: sum over all items, from whichever run processed them.
        parts, reused: all parts, and those that were complete before this run.
    """

    name: str
    taken: int = 0
    kept: int = 0
    rejected: Counter[str] = field(default_factory=Counter)
    failed: Counter[str] = field(default_factory=Counter)
    inconclusive: Counter[str] = field(default_factory=Counter)
    retryable: int = 0
    seconds: float = 0.0
    parts: int = 0
    reused: int = 0

    def add(self, result: ItemResult[object]) -> None:
        """Count one item's result."""
        self.taken += result.count
        # As results are stored.
        self.seconds += round(result.seconds, 4)
        for outcome in result.outcomes:
            match outcome:
                case Kept():
                    self.kept += 1
                case Rejected(_, reason, _):
                    self.rejected[reason] += 1
                case Failed(_, reason, _, retry, inconclusive):
                    self.failed[reason] += 1
                    if inconclusive:
                        self.inconclusive[reason] += 1
                    else:
                        self.retryable += retry

    def inconclusive_text(self) -> str:
        """Return the stage's name with the numbers of inconclusive failures by reason; empty without any."""
        counts = ", ".join(f"{number} {reason}" for reason, number in sorted(self.inconclusive.items()))
        return f"stage '{self.name}' ({counts})" if counts else ""

    @staticmethod
    def from_json(entry: JsonObject) -> StageCounts:
        """Return the counts of a stage's entry in ``build.json``."""
        counts = StageCounts(entry["name"], entry["in"], entry["kept"])
        counts.rejected, counts.failed = Counter(entry["rejected"]), Counter(entry["failed"])
        counts.inconclusive, counts.retryable = Counter(entry["inconclusive"]), entry["retryable"]
        counts.seconds, counts.parts, counts.reused = entry["seconds"], entry["parts"], entry["reused"]
        return counts

    def as_json(self) -> JsonObject:
        """Return the stage's entry in ``build.json``."""
        return {
            "name": self.name,
            "in": self.taken,
            "kept": self.kept,
            "rejected": dict(sorted(self.rejected.items())),
            "failed": dict(sorted(self.failed.items())),
            "inconclusive": dict(sorted(self.inconclusive.items())),
            "retryable": self.retryable,
            # Results come in any order, on which the last digits of a sum depend.
            "seconds": round(round(self.seconds, 4), 3),
            "parts": self.parts,
            "reused": self.reused,
        }


@dataclass(frozen=True, slots=True)
class Table(Generic[Out_co]):
    """Finished results of a stage, in the order of its items. Iterating it yields the kept records.

    Iterations read the stored parts, large ones again and again, so a table of any size takes little memory; but
    records that are kept as they are have no parts, and are in `records`. A table `is_as_before` of which nothing was
    looked at.
    """

    stage: AnyStage | RecordTable[Any]
    tally: StageCounts
    store: PartStore[Out_co] | None = None
    keys: tuple[str, ...] = ()
    records: tuple[Out_co, ...] = ()
    is_as_before: bool = False

    def __len__(self) -> int:
        return self.tally.kept

    def results(self) -> Iterator[ItemResult[Out_co]]:
        """Yield the result of every item."""
        if self.store is not None:
            for key in self.keys:
                yield from self.store.read(key)

    def __iter__(self) -> Iterator[Out_co]:
        yield from self.records
        for result in self.results():
            for outcome in result.outcomes:
                if isinstance(outcome, Kept):
                    yield outcome.record


def describe_origin(stage: AnyStage, of: Sequence[Table[Any]]) -> str:
    """Return a digest of a stage and of the tables that its items are made of; empty where these have no parts."""
    if not of or any(table.store is None for table in of):
        return ""
    return digest([stage.fingerprint(), *([table.stage.name, table.keys] for table in of)])


@dataclass
class Engine:
    """Engine for the stages of one build folder, which the caller has locked.

    Fields:
        folder: of all stages; each gets a folder in it.
        retry_failed: process items again that failed for a reason that may have gone.
        force: compare the content of all files that earlier results are about.
        undisturbed: nothing in the build folder has changed since its build was finished.
    """

    folder: Path
    executor: Executor
    journal: Journal
    _: KW_ONLY
    retry_failed: bool
    quiet: bool
    force: bool = False
    undisturbed: bool = False

    def __post_init__(self) -> None:
        self._build_progress = BuildProgress(quiet=self.quiet, started=time.monotonic())

    def progress(self, label: str, total: int | None = None) -> Progress:
        """Return a context that shows the progress of a step, and how long the build has taken, unless it is quiet."""
        return Progress(label, total, self._build_progress)

    def keep(self, stage: RecordTable[Out], records: Iterable[Out], label: str = "") -> Table[Out]:
        """Take in records as they are; the label is for the progress bar."""
        self.journal.note("stage", name=stage.name)
        with self.progress(label or stage.name) as progress:
            kept = tuple(records)
            progress.advance()
        tally = StageCounts(stage.name, len(kept), len(kept))
        self.journal.note("stage done", **tally.as_json())
        return Table(stage, tally, records=kept)

    @overload
    def run(
        self,
        stage: GatheringStage[In, Gathered, Out],
        items: Iterable[In],
        total: int | None = None,
        label: str = "",
        of: Sequence[Table[Any]] = (),
    ) -> Table[Out]: ...

    @overload
    def run(
        self,
        stage: Stage[In, Out],
        items: Iterable[In],
        total: int | None = None,
        label: str = "",
        of: Sequence[Table[Any]] = (),
    ) -> Table[Out]: ...

    def run(
        self,
        stage: Stage[Any, Out],
        items: Iterable[object],
        total: int | None = None,
        label: str = "",
        of: Sequence[Table[Any]] = (),
    ) -> Table[Out]:
        """Bring one stage up to date.

        Items are in an order that is the same at every run; their number and the label are for the progress bar. `of`
        are the tables that they are made of, and of nothing else, or none.

        Raises:
            HaltError: when the build cannot go on; finished parts stay.
        """
        store: PartStore[Out] = PartStore(self.folder / stage.name / "parts", stage)
        self.journal.note("stage", name=stage.name)
        origin = describe_origin(stage, of)
        before = self._find_before(stage, store, origin)
        if before is not None:
            self.journal.note("stage done", **before.tally.as_json())
            return before
        shown_total = None if isinstance(stage, GatheringStage) else total
        with ItemResults(store) as stored, self.progress(label or stage.name, shown_total) as progress:
            run = StageRun(stage, store, stored, self)
            tasks = run.tasks(cut_into_parts(stage, items), progress)
            for tag, result in watch_results(stage, self.process(stage, tasks), run.item, progress):
                part = run.add(tag, result)
                if part is not None:
                    self.journal.note("part", stage=stage.name, key=part.key[:16], items=len(part.items))
            store.remove_all_but(run.keys)
            stored.remove()
        tally = run.tally
        tally.parts = len(run.keys)
        self.journal.note("stage done", **tally.as_json())
        if origin:
            write_json(self.folder / stage.name / _ORIGIN, {"of": origin, "keys": run.keys, "tally": tally.as_json()})
        return Table(stage, tally, store, tuple(run.keys))

    def _find_before(self, stage: Stage[Any, Out], store: PartStore[Out], origin: str) -> Table[Out] | None:
        """Return the table that a stage made of the same tables, if none of its results has to be looked at."""
        is_safe = self.undisturbed and (stage.files_in_build or type(stage).intact is Stage.intact)
        if not origin or not is_safe or self.force:
            return None
        with contextlib.suppress(OSError, ValueError, KeyError, TypeError):
            before = json.loads((self.folder / stage.name / _ORIGIN).read_bytes())
            tally = StageCounts.from_json(before["tally"])
            # A failure may pass.
            if before["of"] == origin and not tally.failed:
                tally.reused = tally.parts
                return Table(stage, tally, store, tuple(before["keys"]), is_as_before=True)
        return None

    def process(self, stage: Stage[In, Out], tasks: Iterable[tuple[Tag, In]]) -> Iterator[tuple[Tag, ItemResult[Out]]]:
        """Process tagged items, and yield their results in any order."""
        if not isinstance(stage, GatheringStage):
            yield from self.executor.run(stage, tasks)
            return
        # In this process, so that an error of the item ends the build.
        for tag, item in tasks:
            started = time.monotonic()
            outcomes = tuple(stage.process(item))
            yield tag, ItemResult(stage.name, stage.count(item), outcomes, time.monotonic() - started)

    def has_due(self, result: ItemResult[object]) -> bool:
        """Return True if a stored result holds a failure whose item has to be tried again."""
        failures = (outcome for outcome in result.outcomes if isinstance(outcome, Failed))
        return any(
            failure.inconclusive or failure.reason in PASSING or (failure.retry and self.retry_failed)
            for failure in failures
        )


def watch_results(
    stage: Stage[In, Out],
    results: Iterable[tuple[Tag, ItemResult[Out]]],
    item_of: Callable[[Tag], In],
    progress: Progress,
) -> Iterator[tuple[Tag, ItemResult[Out]]]:
    """Show the results of a stage as they come, and yield those that can be stored.

    Raises:
        HaltError: when failures in a row say that going on does harm.
    """
    breaker = CircuitBreaker(stage, item_of)
    for tag, result in results:
        count_item(result, progress)
        yield from breaker.add(tag, result)
    yield from breaker.release()


def count_item(result: ItemResult[object], progress: Progress) -> None:
    """Count an item and its losses."""
    progress.advance(
        rejected=sum(isinstance(outcome, Rejected) for outcome in result.outcomes),
        failed=sum(isinstance(outcome, Failed) for outcome in result.outcomes),
    )


class StageRun(Generic[In, Out]):
    """One run of a stage: the keys of its parts so far, in order, and the results that wait for the rest of their part.

    `tally` counts the results so far, and parts that were complete before.
    """

    def __init__(self, stage: Stage[In, Out], store: PartStore[Out], stored: ItemResults[Out], engine: Engine) -> None:
        self.keys: list[str] = []
        self.tally = StageCounts(stage.name)
        self._stage, self._store, self._stored, self._engine = stage, store, stored, engine
        self._incomplete: dict[int, tuple[Part[In], list[str | None]]] = {}

    def tasks(self, parts: Iterable[Part[In]], progress: Progress) -> Iterator[tuple[Tag, In]]:
        """Yield the items that have to be processed, tagged with the numbers of their part and of their place in it."""
        for number, part in enumerate(parts):
            self.keys.append(part.key)
            stored = self._results_in_part(part)
            results = [
                result if result is not None and not self._engine.has_due(result) else self._find_elsewhere(key)
                for key, result in itertools.zip_longest(part.item_keys, stored)
            ]
            missing = [index for index, result in enumerate(results) if result is None]
            for result in filter(None, results):
                count_item(result, progress)
                self.tally.add(result)
            if all(old is new and new is not None for old, new in zip(stored, results, strict=True)):
                self.tally.reused += 1
                continue
            lines = [
                None if result is None else self._store.encode(result, key)
                for key, result in itertools.zip_longest(part.item_keys, results)
            ]
            if not missing:
                self._store.write(part.key, filter(None, lines))
                continue
            self._incomplete[number] = (part, lines)
            for index in missing:
                yield (number, index), part.items[index]

    def item(self, tag: Tag) -> In:
        """Return the item of a tag, the results of whose part are not complete yet."""
        number, index = tag
        return self._incomplete[number][0].items[index]

    def add(self, tag: Tag, result: ItemResult[Out]) -> Part[In] | None:
        """Take in one result; store its part, and return it, once all results of the part are there."""
        self.tally.add(result)
        number, index = tag
        part, lines = self._incomplete[number]
        key = part.item_keys[index] if part.item_keys else None
        lines[index] = line = self._store.encode(result, key)
        complete = [line for line in lines if line is not None]
        if len(complete) < len(lines):
            self._stored.add(line)
            return None
        self._store.write(part.key, complete)
        del self._incomplete[number]
        return part

    def _results_in_part(self, part: Part[In]) -> list[ItemResult[Out] | None]:
        """Return the results in the file of a part, None for each whose files are gone, or for all without a file."""
        try:
            keys = self._store.check(part.key)
            results = list(self._store.read(part.key)) if keys in ([], [*part.item_keys]) else []
        # The part was never finished, or was changed later by a failing disk or an editor; or it is another one.
        except (FileNotFoundError, ValueError):
            results = []
        if len(results) != len(part.items):
            return [None] * len(part.items)
        return [result if self._is_intact(result) else None for result in results]

    def _find_elsewhere(self, key: str | None) -> ItemResult[Out] | None:
        """Return the result of an item in another part or in a log; None if the item has to be processed.

        The key is None for a stage that takes all items at once.
        """
        result = None if key is None else self._stored.find(key)
        usable = result is not None and self._is_intact(result) and not self._engine.has_due(result)
        return result if usable else None

    def _is_intact(self, result: ItemResult[Out]) -> bool:
        """Check that the files of all records in a result are still there."""
        if self._engine.undisturbed and self._stage.files_in_build and not self._engine.force:
            return True
        check = self._stage.unchanged if self._engine.force else self._stage.intact
        return all(check(outcome.record) for outcome in result.outcomes if isinstance(outcome, Kept))


class CircuitBreaker(Generic[In, Out]):
    """Halts a run when failures in a row say that going on only does harm, to a site or to the results.

    The stage says which failures count. Those that may begin such a row are held back until another result ends it.
    Those of a row that halts the run are never stored, so that the next run tries their items again.
    """

    def __init__(self, stage: Stage[In, Out], item_of: Callable[[Tag], In]) -> None:
        self._stage = stage
        self._item_of = item_of
        self._held: list[tuple[Tag, ItemResult[Out]]] = []
        self._row: list[tuple[In, Failed]] = []
        self._link: object = None

    def add(self, tag: Tag, result: ItemResult[Out]) -> Iterator[tuple[Tag, ItemResult[Out]]]:
        """Take in the next result, and yield the results that can be stored.

        Raises:
            HaltError: with what happened and how to go on.
        """
        failure = next((outcome for outcome in result.outcomes if isinstance(outcome, Failed)), None)
        link, limit = self._link_and_limit(tag, failure) if failure else (None, 0)
        if link != self._link:
            yield from self.release()
        self._link = link
        if failure is None or not link:
            yield tag, result
            return
        self._held.append((tag, result))
        self._row.append((self._item_of(tag), failure))
        if len(self._row) >= limit:
            if link != self._stage.halting_reasons or self._stage.must_halt(self._row):
                raise HaltError(
                    f"Stage '{self._stage.name}' stopped after {len(self._row)} items in a row ended as "
                    f"'{failure.reason}': {failure.detail.rstrip('.')}. What is done is kept; run the same command "
                    "later to go on."
                )
            yield from self.release()

    def _link_and_limit(self, tag: Tag, failure: Failed) -> tuple[object, int]:
        """Return what makes a row of failures one, nothing if none begins here, and the length at which it halts."""
        if failure.reason in CRASHES:
            return CRASHES, MAX_CRASHES_IN_A_ROW
        if failure.reason in self._stage.halting_reasons:
            return self._stage.halting_reasons, self._stage.halt_after()
        return self._stage.unexplained(self._item_of(tag), failure), MAX_UNEXPLAINED_IN_A_ROW

    def release(self) -> Iterator[tuple[Tag, ItemResult[Out]]]:
        """Yield the results that are held back, since their row has ended."""
        held, self._held, self._row = self._held, [], []
        yield from held
