"""Items run on Ray as they do on this machine, and whatever happens to the cluster costs no result."""

from __future__ import annotations

import importlib.util
import os
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.helpers.needs import LIBRARY
from tests.helpers.toy_stages import Double, Number
from vttdata.errors import HaltError, VttdataError
from vttdata.media.ffmpeg_program import ffmpeg_path
from vttdata.pipeline.build_folder import tool_versions
from vttdata.pipeline.executors import create_executor
from vttdata.pipeline.executors.local import LocalExecutor
from vttdata.pipeline.executors.ray import MAX_BATCH, BatchQueue, RayExecutor
from vttdata.pipeline.stage import Kept, Outcome, Stage

needs_ray = pytest.mark.skipif(importlib.util.find_spec("ray") is None, reason=LIBRARY.format("ray"))


@dataclass(frozen=True)
class Slow(Double):
    """Take half a second for each number, however slow the machine is."""

    def seconds_limit(self, item: Number) -> float:
        return 60.0

    def process(self, item: Number) -> Iterator[Outcome[Number]]:
        time.sleep(0.5)
        yield from super().process(item)


@dataclass(frozen=True)
class Huge(Stage[Number, Number]):
    """Need more memory than any machine has."""

    name = "huge"
    output = Number
    # MiB; Ray's numbers overflow at 838 TiB, and it then grants what is asked for.
    memory = 2**28

    def process(self, item: Number) -> Iterator[Outcome[Number]]:
        yield Kept(item)


def numbers(*ids: str) -> list[tuple[tuple[int, int], Number]]:
    return [((0, index), Number(id_, index)) for index, id_ in enumerate(ids)]


def test_batches_grow_while_items_take_no_time_and_shrink_when_they_do() -> None:
    queue = BatchQueue(numbers(*map(str, range(1000))))
    sizes = []
    for _ in range(8):
        batch = queue.take()
        sizes.append(len(batch))
        queue.add_answer(batch, len(batch), 0.001)
    assert sizes == [1, 2, 4, 8, 16, 32, 64, 64]
    assert MAX_BATCH == 64
    batch = queue.take()
    queue.add_answer(batch, 3, 0.1)
    assert queue.take() == batch[3:6]


def test_lost_task_gets_one_more_try_alone() -> None:
    tasks = numbers("a", "b", "c", "d")
    queue = BatchQueue(tasks)
    queue.size = 2
    first, second = queue.take(), queue.take()
    assert list(queue.put_back_lost([first, second])) == []
    assert [queue.take(), queue.take()] == [tasks[:1], tasks[1:2]]
    assert sorted(queue.take()) == tasks[2:]
    assert list(queue.put_back_lost([tasks[:1]])) == tasks[:1]


def test_tasks_are_taken_from_the_iterator_as_there_is_room() -> None:
    tasks = iter(numbers(*map(str, range(10))))
    queue = BatchQueue(tasks)
    assert queue.fill(2)
    assert len(list(tasks)) == 8
    assert not queue.fill(3)


def test_missing_ray_is_named_with_its_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(VttdataError, match=r"Ray is not installed: pip install 'vttdata\[ray\]'"):
        create_executor("ray")


def test_address_is_for_executors_that_work_on_a_cluster() -> None:
    with pytest.raises(VttdataError, match="'local' works on no cluster, so it takes no address"):
        create_executor("local", address="somewhere:6379")


@needs_ray
@pytest.mark.parametrize("address", ["somewhere", "ray://somewhere:10001", "http://somewhere:80", "somewhere:99999"])
def test_address_of_another_form_is_refused(address: str) -> None:
    with pytest.raises(VttdataError, match="is not the address of a Ray cluster: write HOST:PORT"):
        RayExecutor(address=address)


@needs_ray
def test_cluster_that_is_not_there_is_one_sentence(tmp_path: Path) -> None:
    executor = RayExecutor(address="127.0.0.1:1")
    with pytest.raises(VttdataError, match=r"No connection to a Ray cluster at 127\.0\.0\.1:1 \(") as error:
        list(executor.run(Double(tmp_path), numbers("a")))
    assert isinstance(error.value.__cause__, ConnectionRefusedError)
    executor.close()


def test_nothing_to_do_needs_no_cluster(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: object())
    assert list(RayExecutor(address="127.0.0.1:1").run(Double(tmp_path), [])) == []


@pytest.fixture(scope="module")
def cluster() -> Iterator[Any]:
    from tests.helpers.ray_cluster import ray_cluster

    with ray_cluster({"num_cpus": 1}, {"num_cpus": 1}) as cluster:
        yield cluster


@pytest.fixture
def executor(cluster: Any, request: pytest.FixtureRequest) -> Iterator[RayExecutor]:
    executor = RayExecutor(address=cluster.address)
    yield executor
    executor.close()


@needs_ray
def test_results_are_those_of_the_local_executor(executor: RayExecutor, tmp_path: Path) -> None:
    ids = ["a", "odd-1", "media-1", "bug-1", "crash-1", "kill-1", "hang-1", "limit-1", "later-1", *map(str, range(40))]
    outcomes = []
    for each in (executor, LocalExecutor(2)):
        results = dict(each.run(Double(tmp_path), numbers(*ids)))
        outcomes.append([results[tag].outcomes for tag, _ in numbers(*ids)])
        each.close()
    assert outcomes[0] == outcomes[1]
    # Whoever crashed, was killed or did not end had one more try and cost nobody else one.
    assert (tmp_path / "crash-1").read_text() == "xxxx"
    assert (tmp_path / "hang-1").read_text() == "xx"
    assert (tmp_path / "a").read_text() == "xx"


@needs_ray
def test_halting_item_stops_the_run(executor: RayExecutor, tmp_path: Path) -> None:
    with pytest.raises(HaltError, match="the toy disk is full"):
        list(executor.run(Double(tmp_path), numbers("full-1")))


@needs_ray
def test_killed_workers_cost_no_result_and_say_nothing(
    cluster: Any, executor: RayExecutor, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    from tests.helpers.ray_cluster import kill, worker_pids

    nodes = [cluster.head_node, *cluster.worker_nodes]
    tasks = numbers(*(f"n{number}" for number in range(8)))
    results = {}
    for tag, result in executor.run(Slow(tmp_path), tasks):
        if len(results) == 1:
            # Each of the two nodes has one.
            assert sum(kill(pid) for node in nodes for pid in worker_pids(node)) == 2
        results[tag] = result
    assert [results[tag].outcomes for tag, _ in tasks] == [
        (Kept(Number(number.source_id, 2 * number.value)),) for _, number in tasks
    ]
    executor.close()
    assert capfd.readouterr().err == ""


@needs_ray
def test_worker_with_another_ffmpeg_is_refused(
    cluster: Any, executor: RayExecutor, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = tmp_path / "ffmpeg"
    program.write_text(f'#!/bin/sh\necho "ffmpeg version 5.1-other"\nexec "{ffmpeg_path()}" "$@"\n')
    program.chmod(0o755)
    # This process knows its program already; the variable reaches the workers.
    tool_versions()
    monkeypatch.setenv("VTTDATA_FFMPEG", str(program))
    with pytest.raises(VttdataError, match=r"has ffmpeg 5\.1-other instead of .*; install the same versions"):
        list(executor.run(Double(tmp_path), numbers("a")))


@needs_ray
def test_worker_that_does_not_see_the_build_folder_is_refused(
    executor: RayExecutor, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from vttdata.pipeline.executors import ray

    witness = tmp_path / "journal.jsonl"
    witness.write_text("the build\n")
    executor.prepare(witness)
    monkeypatch.setattr(ray, "_state", lambda path: (str(path), 10, "hash of another file"))
    with pytest.raises(VttdataError, match=r"does not see the build folder .*; build in a folder that all nodes share"):
        list(executor.run(Double(tmp_path), numbers("a")))


@needs_ray
def test_cluster_without_room_is_described(cluster: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VTTDATA_RAY_START_SECONDS", "1")
    executor = RayExecutor(address=cluster.address)
    try:
        with pytest.raises(
            HaltError, match=r"within 1 s: one needs 1 CPU and \d+ MiB .* of the 2 CPUs and \d+ MiB of 2"
        ):
            list(executor.run(Huge(), numbers("a")))
    finally:
        executor.close()


@needs_ray
def test_worker_that_cannot_start_is_refused(
    cluster: Any, executor: RayExecutor, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("VTTDATA_FFMPEG", os.devnull)
    with pytest.raises(VttdataError, match=r"could not start \(.*VTTDATA_FFMPEG is '/dev/null'"):
        list(executor.run(Double(tmp_path), numbers("a")))
