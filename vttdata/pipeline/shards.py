"""Shards of a build: several processes, on any machines, that share one build folder and never talk to each other.

A shard processes the items that its number says, and goes on through the stages as long as each item is made of
records of its own source (`Stage.shardable`). It stops where a stage, or a builder, reads the results of all shards;
a merge takes these stages, and stores results of shards in parts as an undivided build does. Only merges write parts:
shards append to logs of their own (`vttdata.pipeline.stored_results`), so any number of them may run, or run twice.
"""

from __future__ import annotations

import contextlib
import itertools
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from vttdata.errors import HaltError, VttdataError
from vttdata.ids import canonical_json, digest
from vttdata.pipeline.engine import Engine, StageCounts, Table, count_item, is_intact, watch_results
from vttdata.pipeline.executors import Tag
from vttdata.pipeline.progress import Progress
from vttdata.pipeline.stage import Failed, ItemResult, Outcome, Stage
from vttdata.pipeline.stored_results import ItemResults, Part, PartStore, cut_into_parts, item_key, part_keys

_SHARD = re.compile(r"(\d{1,7})/(\d{1,7})", re.ASCII)


@dataclass(frozen=True, slots=True)
class BuildShard:
    """Share of the items of a build: its number, from 1, and the count of all shards."""

    number: int
    count: int

    def __str__(self) -> str:
        return f"{self.number}/{self.count}"


def parse_shard(text: str) -> BuildShard:
    """Return the shard that a text such as ``3/64`` names.

    Raises:
        VttdataError: when it names none.
    """
    match = _SHARD.fullmatch(text)
    if match is None:
        raise VttdataError(f"'{text[:40]}' is not a shard: write its number and that of all shards, such as 3/64.")
    shard = BuildShard(int(match[1]), int(match[2]))
    if shard.count == 0:
        raise VttdataError(f"There is no shard {shard}: a build has at least one shard.")
    if not 1 <= shard.number <= shard.count:
        raise VttdataError(f"There is no shard {shard}: the {shard.count} shards have the numbers 1 to {shard.count}.")
    return shard


def shard_number(key: str, count: int) -> int:
    """Return the number, from 1 to `count`, of the shard that processes what has a key."""
    return int(digest(key)[:15], 16) % count + 1


class UnmergedError(HaltError):
    """End of what a shard can do: the next step needs the results of all shards in the stage `step`."""

    def __init__(self, step: str) -> None:
        super().__init__(f"What comes next needs the results of all shards in '{step}'.")
        self.step = step


class MissingItemsError(HaltError):
    """End of a merge: shards have not processed all items of a stage.

    `missing` is the number of items by the number of their shard; the count of shards is 0 where it is not known.
    """

    def __init__(self, stage: str, missing: Counter[int], count: int) -> None:
        number = missing.total()
        whose = ""
        if count:
            some = f" of shard{'s' if len(missing) > 1 else ''} {ranges(missing)} of {count}"
            whose = some if len(missing) < count else f" of all {count} shards"
        super().__init__(f"Stage '{stage}' waits for {number:,} item{'s' if number > 1 else ''}{whose}")
        self.missing = missing


def ranges(numbers: Iterable[int]) -> str:
    """Return numbers as Slurm writes them: ``1-3,7``."""
    texts = []
    for _, group in itertools.groupby(enumerate(sorted(numbers)), lambda pair: pair[1] - pair[0]):
        run = [number for _, number in group]
        texts.append(str(run[0]) if len(run) == 1 else f"{run[0]}-{run[-1]}")
    return ",".join(texts)


@dataclass(frozen=True, slots=True)
class PartialTable(Table):
    """Results of one shard alone, in the order of its items; only shardable stages may read it.

    Their locations among those that are `stored` are None where the stage waits for a merge.
    """

    reader: ReadGuard
    stored: ItemResults
    locations: tuple[int, ...] | None

    def results(self) -> Iterator[ItemResult]:
        """Yield the result of every item of this shard.

        Raises:
            UnmergedError: when the results of all shards are needed.
        """
        self.reader.check(self)
        for location in self.locations or ():
            result = self.stored.read(location)
            if result is not None:
                yield result


class ReadGuard:
    """Knows what may be read at the moment, and whether something partial was.

    `stage` is the shardable stage whose items are being made, None at other times; `has_partial` is True once they came
    from results of this shard alone.
    """

    def __init__(self) -> None:
        self.stage: Stage | None = None
        self.has_partial = False

    @contextlib.contextmanager
    def reading_for(self, stage: Stage) -> Iterator[None]:
        """Let a shardable stage read partial tables."""
        self.stage, self.has_partial = stage, False
        try:
            yield
        finally:
            self.stage = None

    def check(self, table: PartialTable) -> None:
        """Note that a partial table is read.

        Raises:
            UnmergedError: when all results are needed.
        """
        if self.stage is None or table.locations is None:
            raise UnmergedError(table.stage.name)
        self.has_partial = True


@dataclass
class ShardEngine(Engine):
    """Engine of one shard, `shard`; the journal is that of the shard."""

    shard: BuildShard
    guard: ReadGuard = field(default_factory=ReadGuard, init=False)

    def run(self, stage: Stage, items: Iterable[Any], total: int | None = None, label: str = "") -> Table:
        """Process the items of this shard; return a `Table` where a merge has stored all, else a `PartialTable`."""
        store = PartStore(self.folder / stage.name / "parts", stage)
        self.journal.note("stage", name=stage.name)
        tally = StageCounts(stage.name)
        stored = ItemResults(store)
        if not stage.shardable:
            keys = self._merged_keys(stage, items, store)
            if keys is None:
                return PartialTable(stage, store, (), tally, self.guard, stored, None)
            tally.kept = sum(map(store.count_kept, keys))
            return Table(stage, store, keys, tally)
        shown_total = total and -(-total // self.shard.count)
        with stored, self.progress(label or stage.name, shown_total) as progress, self.guard.reading_for(stage):
            work = ShardWork(stage, store, stored, tally, progress, self)
            for tag, result in watch_results(stage, self.process(stage, work.tasks(items)), work.item, progress):
                work.add(tag, result)
                self.processed += 1
        self.journal.note("stage done", **tally.as_json())
        if work.is_merged:
            return Table(stage, store, tuple(work.keys), tally)
        return self.partial_table(stage, store, tally, stored, work)

    def partial_table(
        self, stage: Stage, store: PartStore, tally: StageCounts, stored: ItemResults, work: ShardWork
    ) -> Table:
        """Return the table of a stage that no merge has finished."""
        locations = tuple(location for location in work.locations if location is not None)
        return PartialTable(stage, store, (), tally, self.guard, stored, locations)

    def has_item(self, stage: Stage, item: Any) -> bool:
        """Return True if this shard processes an item."""
        return shard_number(stage.shard_key(item), self.shard.count) == self.shard.number

    def _merged_keys(self, stage: Stage, items: Iterable[Any], store: PartStore) -> tuple[str, ...] | None:
        """Return the keys of the parts of a stage that merges take; None if they are not all there."""
        if next(iter(store.finished()), None) is None:
            return None
        try:
            keys = tuple(part_keys(stage, items))
        except UnmergedError:
            return None
        return keys if all(store.path(key).is_file() for key in keys) else None


@dataclass
class ShardWork:
    """Items of one shard in one stage.

    Fields:
        keys: of all parts, where the items are not those of this shard alone.
        locations: of the results of this shard, in the order of its items; None for an item that is in flight.
        is_merged: all parts are stored, and no item of this shard has to be processed.
    """

    stage: Stage
    store: PartStore
    stored: ItemResults
    tally: StageCounts
    progress: Progress
    engine: ShardEngine
    keys: list[str] = field(default_factory=list)
    locations: list[int | None] = field(default_factory=list)
    is_merged: bool = True
    _in_flight: dict[int, tuple[str, Any]] = field(default_factory=dict)

    def tasks(self, items: Iterable[Any]) -> Iterator[tuple[Tag, Any]]:
        """Yield the items that this shard has to process."""
        stream = iter(items)
        # With the first item, it is known whether items come from results of this shard alone.
        first = list(itertools.islice(stream, 1))
        if self.engine.guard.has_partial:
            self.is_merged = False
            fingerprint = self.stage.fingerprint()
            for item in itertools.chain(first, stream):
                yield from self._take(item, item_key(fingerprint, canonical_json(item)), None)
        else:
            for part in cut_into_parts(self.stage, itertools.chain(first, stream)):
                yield from self._take_from_part(part)
            self.is_merged = self.is_merged and not self.engine.guard.has_partial

    def item(self, tag: Tag) -> Any:
        """Return the item of a tag, whose result has not been added."""
        return self._in_flight[tag[1]][1]

    def add(self, tag: Tag, result: ItemResult) -> None:
        """Store the result of an item."""
        key, _ = self._in_flight.pop(tag[1])
        self.locations[tag[1]] = self.stored.add(self.store.encode(result, key))
        self.tally.add(result)

    def _take_from_part(self, part: Part) -> Iterator[tuple[Tag, Any]]:
        self.keys.append(part.key)
        indices = [index for index, item in enumerate(part.items) if self.engine.has_item(self.stage, item)]
        if not indices:
            self.is_merged = self.is_merged and self.store.path(part.key).is_file()
            return
        try:
            self.store.check(part.key)
            in_part: list[int] = self.stored.locations(self.store.path(part.key))
        except (FileNotFoundError, ValueError):
            in_part = []
        if len(in_part) != len(part.items):
            self.is_merged = False
        for index in indices:
            location = in_part[index] if len(in_part) == len(part.items) else None
            yield from self._take(part.items[index], part.item_keys[index], location)
            self.is_merged = self.is_merged and self.locations[-1] == location

    def _take(self, item: Any, key: str, location: int | None) -> Iterator[tuple[Tag, Any]]:
        """Find the result of an item, in the part where it should be or elsewhere, or yield the item."""
        for is_elsewhere in (False, True):
            candidate = self.stored.find(key) if is_elsewhere else location
            result = None if candidate is None else self.stored.read(candidate)
            if result and is_intact(self.stage, result) and not self.engine.has_due(self.stage, result):
                self.locations.append(candidate)
                self.tally.add(result)
                count_item(result, self.progress)
                return
        self.locations.append(None)
        position = len(self.locations) - 1
        self._in_flight[position] = key, item
        yield (0, position), item


@dataclass
class PlanEngine(ShardEngine):
    """Engine that processes nothing and counts what shards have to process, as far as it can be known.

    Its own shard may be any. `missing` is the number of missing items by the number of their shard, and `rounds` the
    number of runs of shardable stages that shards have been through.
    """

    missing: Counter[int] = field(default_factory=Counter, init=False)
    rounds: int = field(default=0, init=False)
    _in_round: bool = field(default=False, init=False)

    def run(self, stage: Stage, items: Iterable[Any], total: int | None = None, label: str = "") -> Table:
        """Count the items of a stage that are missing."""
        table = super().run(stage, items, total, label)
        if not stage.shardable:
            self._in_round = self._in_round and isinstance(table, PartialTable)
        elif not self.missing and not self._in_round:
            self._in_round = True
            self.rounds += 1
        return table

    def process(self, stage: Stage, tasks: Iterable[tuple[Tag, Any]]) -> Iterator[tuple[Tag, ItemResult]]:
        """Count the items, and yield nothing."""
        for _, item in tasks:
            self.missing[shard_number(stage.shard_key(item), self.shard.count)] += 1
        return iter(())

    def has_item(self, stage: Stage, item: Any) -> bool:  # noqa: ARG002
        """Return True; the plan is that of all shards."""
        return True

    def partial_table(
        self, stage: Stage, store: PartStore, tally: StageCounts, stored: ItemResults, work: ShardWork
    ) -> Table:
        """Return a table that anybody may read if all results are there, in whatever file."""
        table = super().partial_table(stage, store, tally, stored, work)
        if not self.missing and isinstance(table, PartialTable):
            return WholeTable(table.stage, table.store, (), tally, self.guard, stored, table.locations)
        return table


@dataclass(frozen=True, slots=True)
class WholeTable(PartialTable):
    """Results of all shards that no merge has stored yet."""

    def results(self) -> Iterator[ItemResult]:
        """Yield the result of every item."""
        return filter(None, map(self.stored.read, self.locations or ()))


@dataclass
class MergeEngine(Engine):
    """Engine that takes the stages that shards cannot, and stores the results of shards in parts.

    The number of shards, for messages, is 0 where it is not known.
    """

    shards: int

    def process(self, stage: Stage, tasks: Iterable[tuple[Tag, Any]]) -> Iterator[tuple[Tag, ItemResult]]:
        """Process the items of stages that are not for shards.

        Raises:
            MissingItemsError: when items of other stages have not been processed.
        """
        if not stage.shardable:
            yield from super().process(stage, tasks)
            return
        missing = Counter(shard_number(stage.shard_key(item), self.shards or 1) for _, item in tasks)
        if missing:
            raise MissingItemsError(stage.name, missing, self.shards)

    def accept_failures(self, stage: Stage) -> bool:
        """Return True for the stages of shards, which try failed items again themselves."""
        return stage.shardable

    def is_due(self, stage: Stage, outcome: Outcome) -> bool:
        """Return True if a shard may have had a better result than a stored failure."""
        if stage.shardable:
            return isinstance(outcome, Failed) and (outcome.inconclusive or outcome.retry)
        return super().is_due(stage, outcome)
