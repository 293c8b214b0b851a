"""Shards: which items they process, what they may read, and how merges find what they did."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.helpers.toy_stages import Double, Number, Total
from vttdata.errors import VttdataError
from vttdata.pipeline.engine import Engine
from vttdata.pipeline.executors import Executor, Tag
from vttdata.pipeline.journal import Journal
from vttdata.pipeline.shards import (
    BuildShard,
    MergeEngine,
    MissingItemsError,
    PlanEngine,
    ShardEngine,
    UnmergedError,
    parse_shard,
    ranges,
    shard_number,
)
from vttdata.pipeline.stage import ItemResult, Kept, Outcome, Stage, process_item


class Here(Executor):
    """Run items in this process."""

    description = "in this process"

    def __init__(self, workers: int | None = None) -> None:
        pass

    def run(self, stage: Stage, tasks: Iterable[tuple[Tag, Any]]) -> Iterator[tuple[Tag, ItemResult]]:
        return ((tag, process_item(stage, item)) for tag, item in tasks)

    def close(self) -> None:
        pass


@dataclass(frozen=True)
class First(Double):
    """Double numbers in any shard."""

    name = "first"
    shardable = True


@dataclass(frozen=True)
class Second(Double):
    """Double numbers in any shard, once more."""

    name = "second"
    shardable = True
    part_size = 3


@dataclass(frozen=True)
class Sort(Stage):
    """Keep all numbers in the order of their ids, which needs all of them."""

    name = "sort"
    output = Number
    all_at_once = True

    def process(self, item: tuple[Number, ...]) -> Iterator[Outcome]:
        return map(Kept, sorted(item, key=lambda number: number.source_id))


@dataclass(frozen=True)
class Third(Double):
    """Double numbers in any shard, after the sorting."""

    name = "third"
    shardable = True


def pipeline(engine: Engine, marks: Path, items: list[Number]) -> list[int]:
    """Run four stages and then one that the result is read from."""
    first = engine.run(First(marks), items, len(items))
    second = engine.run(Second(marks), first, len(first))
    ordered = engine.run(Sort(), second)
    third = engine.run(Third(marks), ordered, len(ordered))
    return [number.value for number in engine.run(Total(), third)] + [number.value for number in third]


class Folder:
    """Build folder of numbers, in which builds, shards, merges and plans run."""

    def __init__(self, path: Path, items: list[Number]) -> None:
        self.path, self.items = path, items
        self.marks = path / "marks"
        self.marks.mkdir(parents=True)

    def _run(self, engine_type: Any, *arguments: Any, **options: Any) -> Any:
        engine = engine_type(
            *(self.path / "stages", Here(), Journal(self.path / "journal"), *arguments),
            **{"retry_failed": False, "quiet": True, **options},
        )
        try:
            return engine, pipeline(engine, self.marks, self.items)
        except UnmergedError as error:
            return engine, error.step

    def build(self) -> list[int]:
        return list(self._run(Engine)[1])

    def shard(self, number: int, count: int, **options: Any) -> tuple[int, str]:
        engine, step = self._run(ShardEngine, BuildShard(number, count), **options)
        return engine.processed, step

    def merge(self, count: int) -> list[int]:
        return list(self._run(MergeEngine, shards=count)[1])

    def plan(self, count: int) -> tuple[Counter[int], int]:
        engine, _ = self._run(PlanEngine, BuildShard(1, count))
        return engine.missing, engine.rounds

    def calls(self) -> Counter[str]:
        return Counter({path.name: path.stat().st_size for path in self.marks.iterdir()})


NUMBERS = [Number(f"n{(value * 37) % 100:03d}", value) for value in range(100)]


@pytest.fixture
def whole(tmp_path: Path) -> Folder:
    folder = Folder(tmp_path / "whole", NUMBERS)
    folder.build()
    return folder


@pytest.fixture
def folder(tmp_path: Path) -> Folder:
    return Folder(tmp_path / "shards", NUMBERS)


def part_names(folder: Folder) -> list[str]:
    return sorted(str(path.relative_to(folder.path)) for path in folder.path.glob("stages/*/*/*"))


@pytest.mark.parametrize("counts", [(1, 1), (2, 2), (7, 7), (2, 7)])
def test_shards_and_merges_give_the_parts_of_a_build(whole: Folder, folder: Folder, counts: tuple[int, int]) -> None:
    before, after = counts
    done = [folder.shard(number, before) for number in range(1, before + 1)]
    assert {step for _, step in done} == {"sort"}
    assert sum(processed for processed, _ in done) == 200
    with pytest.raises(MissingItemsError, match="'third' waits for 100 items of all"):
        folder.merge(before)
    done = [folder.shard(number, after) for number in range(1, after + 1)]
    assert {step for _, step in done} == {"total"}
    assert sum(processed for processed, _ in done) == 100
    assert folder.merge(after) == whole.build()
    assert set(folder.calls().values()) == {3}
    assert part_names(folder) == part_names(whole)
    assert folder.plan(5) == (Counter(), 2)


def test_merge_names_the_shards_that_are_missing(folder: Folder) -> None:
    for number in (1, 2, 4):
        folder.shard(number, 7)
    with pytest.raises(MissingItemsError, match=r"Stage 'first' waits for \d+ items of shards 3,5-7 of 7") as error:
        folder.merge(7)
    expected = Counter(shard_number(number.source_id, 7) for number in NUMBERS)
    assert error.value.missing == {number: expected[number] for number in (3, 5, 6, 7)}
    assert folder.plan(7)[0] == {number: expected[number] for number in (3, 5, 6, 7)}


def test_number_of_shards_may_change_before_a_merge(folder: Folder, whole: Folder) -> None:
    folder.shard(1, 2)
    for number in (1, 2, 3):
        folder.shard(number, 3)
    with pytest.raises(MissingItemsError, match="third"):
        folder.merge(3)
    assert set(folder.calls().values()) == {2}
    # A build without shards goes on with what they did.
    folder.shard(1, 2)
    assert folder.build() == whole.build()
    assert set(folder.calls().values()) == {3}


def test_shard_without_items_ends_as_the_others_do(tmp_path: Path) -> None:
    folder = Folder(tmp_path / "one", NUMBERS[:1])
    done = [folder.shard(number, 3) for number in (1, 2, 3)]
    assert sorted(processed for processed, _ in done) == [0, 0, 2]
    with pytest.raises(MissingItemsError, match="'third' waits for 1 item of shard "):
        folder.merge(3)
    empty = Folder(tmp_path / "none", [])
    assert [empty.shard(number, 2)[0] for number in (1, 2)] == [0, 0]
    assert empty.merge(2) == [0]


def test_one_more_item_in_a_finished_build_costs_one_item_in_each_stage(folder: Folder) -> None:
    folder.build()
    folder.items = [*NUMBERS, Number("new", 7)]
    for count in (3, 2):
        processed = sum(folder.shard(number, count)[0] for number in range(1, count + 1))
        assert processed == (2 if count == 3 else 1)
        if count == 3:
            with pytest.raises(MissingItemsError, match="'third' waits for 1 item of shard"):
                folder.merge(3)
    assert len(folder.merge(2)) == 102
    assert folder.calls()["new"] == 3
    assert folder.calls().total() == 303


def test_later_success_of_a_shard_replaces_a_failure_that_was_merged(tmp_path: Path) -> None:
    folder = Folder(tmp_path / "later", [*NUMBERS[:20], Number("later-1", 5)])
    folder.shard(1, 1)
    with pytest.raises(MissingItemsError):
        folder.merge(1)
    folder.shard(1, 1)
    assert len(folder.merge(1)) == 1 + 20
    (folder.marks / "ready").touch()
    assert folder.plan(1)[0] == {}
    folder.shard(1, 1, retry_failed=True)
    with pytest.raises(MissingItemsError, match="'third' waits for 1 item"):
        folder.merge(1)
    folder.shard(1, 1)
    assert len(folder.merge(1)) == 1 + 21


def test_stage_that_is_not_for_shards_is_not_run_by_them(folder: Folder) -> None:
    """Results of one shard cannot pass for those of all."""

    def read_directly(engine: Engine) -> list[Any]:
        return list(engine.run(First(folder.marks), NUMBERS))

    engine = ShardEngine(
        *(folder.path / "stages", Here(), Journal(folder.path / "journal"), BuildShard(1, 2)),
        retry_failed=False,
        quiet=True,
    )
    with pytest.raises(UnmergedError, match="needs the results of all shards in 'first'"):
        read_directly(engine)
    table = engine.run(First(folder.marks), NUMBERS)
    total = engine.run(Total(), table)
    with pytest.raises(UnmergedError):
        engine.run(Third(folder.marks), total)
    assert not list((folder.path / "stages" / "total").rglob("*.jsonl"))


@given(st.lists(st.text(max_size=8), max_size=50), st.integers(1, 100))
def test_every_key_has_one_shard(keys: list[str], count: int) -> None:
    assert all(1 <= shard_number(key, count) <= count for key in keys)
    assert [shard_number(key, count) for key in keys] == [shard_number(key, count) for key in keys]


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("65/64", "There is no shard 65/64: the 64 shards have the numbers 1 to 64"),
        ("0/4", "There is no shard 0/4"),
        ("1/0", "There is no shard 1/0"),
        ("3", "'3' is not a shard: write its number and that of all shards, such as 3/64"),
        ("1/2/3", "is not a shard"),
        ("-1/4", "is not a shard"),
        ("\u0661/4", "is not a shard"),
    ],
)
def test_text_that_is_no_shard_is_refused(text: str, problem: str) -> None:
    with pytest.raises(VttdataError, match=problem):
        parse_shard(text)


def test_numbers_are_written_as_slurm_does() -> None:
    assert ranges([7, 1, 2, 3]) == "1-3,7"
    assert ranges([]) == ""
    assert str(parse_shard("3/64")) == "3/64"
