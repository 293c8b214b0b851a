"""Engine: what is processed again, in which order results come, and what bad items do to a run."""

from __future__ import annotations

import contextlib
import errno
import fcntl
import json
import os
import socket
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pandas as pd
import pytest

from tests.helpers.toy_stages import Double, Number, OneByOne, OnePart, Patient, Total, Trouble
from vttdata.collect import CollectSettings
from vttdata.errors import HaltError, VttdataError
from vttdata.pipeline.build_folder import write_tables
from vttdata.pipeline.engine import CircuitBreaker, Engine, Table
from vttdata.pipeline.executors.local import LocalExecutor
from vttdata.pipeline.journal import Journal, locked
from vttdata.pipeline.stage import Failed, ItemResult, Kept, Stage
from vttdata.pipeline.stages.collect import Fetch
from vttdata.pipeline.stages.videos import SourceFolders
from vttdata.pipeline.stored_results import PartStore
from vttdata.records import Candidate

Run = Callable[..., Table]


@pytest.fixture
def marks(tmp_path: Path) -> Path:
    folder = tmp_path / "marks"
    folder.mkdir()
    return folder


@pytest.fixture
def run(tmp_path: Path) -> Iterator[Run]:
    executors = []

    def start(stage: Stage, items: Sequence[Number], workers: int = 2, retry_failed: bool = False) -> Table:
        executor = LocalExecutor(workers)
        executors.append(executor)
        journal = Journal(tmp_path / "journal.jsonl")
        return Engine(tmp_path / "stages", executor, journal, retry_failed=retry_failed, quiet=True).run(stage, items)

    yield start
    for executor in executors:
        executor.close()


def numbers(*names: str) -> list[Number]:
    return [Number(name, value) for value, name in enumerate(names)]


def calls(marks: Path) -> int:
    return sum(path.stat().st_size for path in marks.iterdir())


def many(count: int) -> list[Number]:
    return numbers(*(f"n{value:03d}" for value in range(count)))


def test_results_keep_item_order_with_any_number_of_workers(run: Run, marks: Path) -> None:
    items = many(50)
    for workers in (1, 4):
        table = run(Double(marks), items, workers=workers)
        assert [number.value for number in table] == [2 * value for value in range(50)]
        assert table.tally.taken == table.tally.kept == len(table) == 50


def test_second_run_processes_nothing(run: Run, marks: Path) -> None:
    run(Double(marks), many(20))
    again = run(Double(marks), many(20))
    assert calls(marks) == 20
    assert again.tally.reused == again.tally.parts > 1


def test_stage_of_the_same_tables_is_not_looked_at_where_nothing_changed(run: Run, marks: Path, tmp_path: Path) -> None:
    doubled = run(Double(marks), many(20))
    journal = Journal(tmp_path / "journal.jsonl")

    def total(of: Table, *, undisturbed: bool) -> tuple[Table, int]:
        taken = []
        items = (taken.append(number) or number for number in of)
        with contextlib.closing(LocalExecutor(1)) as executor:
            engine = Engine(tmp_path / "stages", executor, journal, retry_failed=False, quiet=True)
            engine.undisturbed = undisturbed
            return engine.run(Total(), items, of=(of,)), len(taken)

    first, taken = total(doubled, undisturbed=False)
    assert taken == 20
    again, taken = total(doubled, undisturbed=True)
    assert (taken, again.is_as_before, list(again)) == (0, True, list(first))
    assert again.tally.as_json() == first.tally.as_json() | {"reused": first.tally.parts}
    tripled = run(Double(marks, factor=3), many(20))
    after, taken = total(tripled, undisturbed=True)
    assert (taken, after.is_as_before) == (20, False)
    assert [number.value for number in after] == [3 * sum(range(20))]


def test_changed_parameter_reprocesses_everything(run: Run, marks: Path) -> None:
    run(Double(marks), many(20))
    table = run(Double(marks, factor=3), many(20))
    assert calls(marks) == 40
    assert [number.value for number in table] == [3 * value for value in range(20)]


def test_changed_runtime_field_makes_nothing_stale(run: Run, marks: Path, tmp_path: Path) -> None:
    run(Double(marks), many(20))
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    run(Double(elsewhere), many(20))
    assert calls(elsewhere) == 0


def test_new_item_is_the_only_one_that_is_processed(run: Run, marks: Path) -> None:
    items = [Number(f"n{value:03d}", value) for value in range(0, 200, 2)]
    run(Double(marks), items)
    with_new = sorted([*items, Number("n051", 51)], key=lambda number: number.source_id)
    assert [number.value for number in run(Double(marks), with_new)] == [2 * number.value for number in with_new]
    assert calls(marks) == 100 + 1


def test_killed_run_loses_the_items_in_flight_alone(run: Run, marks: Path, tmp_path: Path) -> None:
    items = numbers(*(f"n{value:02d}" for value in range(39)), "full-1")
    with pytest.raises(HaltError):
        run(OnePart(marks), items, workers=1)
    assert not list((tmp_path / "stages" / "double" / "parts").iterdir())
    log = next((tmp_path / "stages" / "double" / "items").iterdir())
    # The last line was cut off by the kill.
    log.write_bytes(log.read_bytes()[:-5])
    table = run(OnePart(marks), items[:-1], workers=1)
    assert [number.value for number in table] == [2 * value for value in range(39)]
    assert {path.name for path in marks.iterdir() if path.stat().st_size > 1} == {"n38"}
    assert not (tmp_path / "stages" / "double" / "items").exists()


def test_stale_parts_are_removed(run: Run, marks: Path, tmp_path: Path) -> None:
    run(Double(marks), many(20))
    table = run(Double(marks, factor=3), many(20))
    left = {path.stem for path in (tmp_path / "stages" / "double" / "parts").iterdir()}
    assert left == set(table.keys)


def test_rejects_and_failures_have_reasons_and_details(run: Run, marks: Path) -> None:
    table = run(Double(marks), numbers("a", "odd-1", "media-1", "bug-1", "b"))
    assert table.tally.as_json() | {"seconds": 0, "parts": 0, "reused": 0} == {
        "name": "double",
        "in": 5,
        "kept": 2,
        "rejected": {"odd": 1},
        "failed": {"damaged": 1, "internal_error": 1},
        "inconclusive": {},
        "retryable": 1,
        "seconds": 0,
        "parts": 0,
        "reused": 0,
    }
    details = [
        outcome.detail for result in table.results() for outcome in result.outcomes if hasattr(outcome, "detail")
    ]
    assert details[:2] == ["1 is odd", "broken on purpose"]
    assert "KeyError" in details[2]
    assert "nothing here" in details[2]


def test_item_that_kills_its_worker_fails_alone_after_second_try(run: Run, marks: Path) -> None:
    table = run(Double(marks), numbers("a", "crash-1", "b", "crash-2", "c"))
    assert [number.source_id for number in table] == ["a", "b", "c"]
    assert table.tally.failed == {"crashed": 2}
    assert calls(marks) == 3 + 2 * 2  # each of the two gets a second try


def test_item_beyond_its_wall_clock_limit_fails_as_timeout(run: Run, marks: Path) -> None:
    table = run(Double(marks), numbers("a", "hang-1", "b"), workers=1)
    assert [number.source_id for number in table] == ["a", "b"]
    assert table.tally.failed == {"timeout": 1}


@pytest.mark.parametrize(
    ("item", "reason"), [("kill-1", "killed"), ("hang-1", "timeout")], ids=["killed worker", "exceeded time"]
)
def test_failure_that_says_nothing_about_its_item_is_tried_again_by_every_run(
    run: Run, marks: Path, item: str, reason: str
) -> None:
    items = numbers("a", item, "media-1", "later-1", "b")
    table = run(Double(marks), items)
    assert table.tally.inconclusive == {reason: 1}
    assert table.tally.failed == {reason: 1, "damaged": 1, "network": 1}
    assert table.tally.retryable == 1
    (marks / "ready").touch()
    before = calls(marks)
    table = run(Double(marks), items)
    assert calls(marks) == before + 1
    assert [number.source_id for number in table] == ["a", item, "b"]
    assert not table.tally.inconclusive


def test_trouble_of_the_machine_is_no_verdict_on_an_item(run: Run) -> None:
    table = run(Trouble(), numbers("slow", "memory", "device", "program", "crash", "fine"))
    assert table.tally.inconclusive == {"timeout": 1, "out_of_memory": 1, "io_error": 1, "killed": 1, "crashed": 1}
    assert table.tally.failed == table.tally.inconclusive
    assert table.tally.kept == 1


def test_retry_failed_reprocesses_only_retryable_failures(run: Run, marks: Path) -> None:
    items = numbers("a", "later-1", "media-1", "b")
    assert run(Double(marks), items).tally.failed == {"network": 1, "damaged": 1}
    (marks / "ready").touch()
    assert run(Double(marks), items).tally.failed == {"network": 1, "damaged": 1}
    assert calls(marks) == 4
    table = run(Double(marks), items, retry_failed=True)
    assert [number.source_id for number in table] == ["a", "later-1", "b"]
    assert calls(marks) == 5


def test_video_that_was_to_come_is_tried_again_by_every_run(run: Run, marks: Path) -> None:
    items = numbers("a", "premiere-1", "later-1")
    first = run(Double(marks), items).tally
    assert (first.failed, first.inconclusive_text()) == ({"not_yet": 1, "network": 1}, "")
    (marks / "ready").touch()
    assert [number.source_id for number in run(Double(marks), items)] == ["a", "premiere-1"]


def test_rate_limits_in_a_row_halt_the_run_and_keep_finished_parts(run: Run, marks: Path) -> None:
    items = numbers("a", "limit-1", "b", "limit-2", "limit-3", "limit-4", *(f"z{value}" for value in range(50)))
    with pytest.raises(
        HaltError, match=r"3 items in a row ended as 'rate_limit': HTTP Error 429.*run the same command"
    ):
        run(Double(marks), items, workers=1)
    assert not list(marks.glob("z4?"))
    done_before = calls(marks)
    run(Double(marks), [item for item in items if not item.source_id.startswith("limit")], workers=1)
    assert calls(marks) >= done_before


def test_row_of_failures_that_halts_a_run_is_tried_again_by_the_next(run: Run, marks: Path) -> None:
    items = numbers("limit-1", "a", "limit-2", "limit-3", "limit-4", "b")
    for _ in range(2):
        with pytest.raises(HaltError):
            run(OneByOne(marks), items, workers=1)
    tries = {path.name: path.stat().st_size for path in marks.iterdir()}
    assert tries == {"limit-1": 1, "a": 1, "limit-2": 2, "limit-3": 2, "limit-4": 2}


def test_row_of_failures_goes_on_where_the_stage_sees_no_reason_to_halt(run: Run, marks: Path) -> None:
    items = numbers(*(f"limit-{number}" for number in range(7)), "a")
    table = run(Patient(marks), items, workers=1)
    assert table.tally.failed == {"rate_limit": 7}
    assert [number.source_id for number in table] == ["a"]


def test_workers_that_die_in_a_row_halt_the_run(marks: Path) -> None:
    breaker = CircuitBreaker(Double(marks), lambda _: None)

    def counted(reason: str) -> int:
        failed = Failed("n", reason, "the worker process died", retry=True, inconclusive=True)
        return len(list(breaker.add((0, 0), ItemResult("n", 1, (failed,), 0.0))))

    assert [counted("crashed") for _ in range(7)] == [0] * 7
    assert counted("timeout") == 7 + 1
    assert [counted(reason) for reason in ("killed", "crashed", "killed", "crashed", "killed", "killed", "killed")]
    with pytest.raises(HaltError, match="8 items in a row ended as 'killed'"):
        counted("killed")


def test_fault_of_unknown_cause_halts_the_run_when_it_is_the_same_for_ten_videos(tmp_path: Path) -> None:
    stage = Fetch(720, CollectSettings(manifest="links.csv"), SourceFolders(tmp_path, tmp_path), frozenset())
    videos = [Candidate("url", f"https://example.org/{number}") for number in range(30)]
    breaker = CircuitBreaker(stage, lambda tag: videos[tag[0]])

    def fail(number: int, text: str) -> None:
        detail = f"{videos[number].locator}: [x] {number}: {text}"
        failed = Failed("v", "other", detail, retry=True)
        list(breaker.add((number, 0), ItemResult("v", 1, (failed,), 0.0)))

    for number in range(9):
        fail(number, "Unable to extract uploader id")
    for number in range(9, 11):
        fail(number, f"Unable to extract field {number}")
    for number in range(11, 20):
        fail(number, "Unable to extract uploader id")
    with pytest.raises(HaltError, match=r"10 items in a row ended as 'other': .*Unable to extract uploader id"):
        fail(20, "Unable to extract uploader id")


def test_full_disk_halts_the_run_and_stores_no_failure(run: Run, marks: Path, tmp_path: Path) -> None:
    with pytest.raises(HaltError, match="the toy disk is full"):
        run(Double(marks), numbers("a", "full-1", "b"), workers=1)
    parts = "".join(path.read_text() for path in tmp_path.glob("stages/double/parts/*.jsonl"))
    assert "full-1" not in parts


def test_stage_over_all_items_gets_them_as_one_tuple(run: Run) -> None:
    table = run(Total(), many(10))
    assert [number.value for number in table] == [45]
    assert table.tally.taken == 10


def test_no_items_give_an_empty_table(run: Run, marks: Path) -> None:
    assert list(run(Double(marks), [])) == []
    assert [number.value for number in run(Total(), [])] == [0]


def test_unfinished_part_is_processed_again(run: Run, marks: Path, tmp_path: Path) -> None:
    table = run(Double(marks), many(8))
    part = tmp_path / "stages" / "double" / "parts" / f"{table.keys[0]}.jsonl"
    part.rename(part.with_suffix(".tmp"))
    again = run(Double(marks), many(8))
    assert [number.value for number in again] == [2 * value for value in range(8)]
    assert again.tally.reused == again.tally.parts - 1


@pytest.mark.parametrize("damage", [b"", b"{", b'{"id": 1}\n', b"[]\n", b"\xff\xfe"])
def test_damaged_part_is_processed_again(run: Run, marks: Path, tmp_path: Path, damage: bytes) -> None:
    table = run(Double(marks), many(8))
    (tmp_path / "stages" / "double" / "parts" / f"{table.keys[0]}.jsonl").write_bytes(damage)
    again = run(Double(marks), many(8))
    assert [number.value for number in again] == [2 * value for value in range(8)]
    assert again.tally.reused == again.tally.parts - 1


def test_tables_hold_the_latest_results(run: Run, marks: Path, tmp_path: Path) -> None:
    folder = tmp_path / "stages" / "double"
    items = numbers("a", "later-1", "odd-1")
    write_tables(run(Double(marks), items), folder, lambda: {"odd-1": "odd.mp4"})
    assert pd.read_parquet(folder / "kept.parquet").source_id.tolist() == ["a"]
    assert pd.read_parquet(folder / "rejected.parquet").to_dict("records") == [
        {"source_id": "odd-1", "file": "odd.mp4", "reason": "odd", "detail": "2 is odd"}
    ]
    assert pd.read_parquet(folder / "failed.parquet").reason.tolist() == ["network"]
    (marks / "ready").touch()
    write_tables(run(Double(marks), items, retry_failed=True), folder, dict)
    assert pd.read_parquet(folder / "kept.parquet").source_id.tolist() == ["a", "later-1"]
    assert pd.read_parquet(folder / "failed.parquet").empty


def test_part_that_was_edited_is_processed_again(run: Run, marks: Path, tmp_path: Path) -> None:
    first = list(run(Double(marks), many(20)))
    path = next((tmp_path / "stages" / "double" / "parts").glob("*.jsonl"))
    text = path.read_text()
    path.write_text(text.replace('"value": ', '"value": 1', 1))
    assert list(run(Double(marks), many(20))) == first
    assert path.read_text() != text.replace('"value": ', '"value": 1', 1)
    assert 20 < calls(marks) < 40


def test_edited_part_of_all_items_is_processed_again(run: Run, tmp_path: Path) -> None:
    first = list(run(Total(), numbers("a", "b")))
    (path,) = (tmp_path / "stages" / Total.name / "parts").glob("*.jsonl")
    path.write_text(path.read_text().replace('"value": ', '"value": 1', 1))
    assert list(run(Total(), numbers("a", "b"))) == first


def test_part_that_has_the_name_of_another_is_processed_again(run: Run, marks: Path, tmp_path: Path) -> None:
    first = list(run(Double(marks), many(20)))
    by_length: dict[int, list[Path]] = {}
    for path in (tmp_path / "stages" / "double" / "parts").glob("*.jsonl"):
        by_length.setdefault(path.read_text().count("\n"), []).append(path)
    path, other = next(paths for paths in by_length.values() if len(paths) > 1)[:2]
    path.write_bytes(other.read_bytes())
    assert list(run(Double(marks), many(20))) == first


def test_result_in_a_log_that_was_edited_is_not_read(tmp_path: Path, marks: Path) -> None:
    store = PartStore(tmp_path, Double(marks))
    result = ItemResult("a", 1, (Kept(Number("a", 12)),), 0.5)
    line = store.encode(result, "0123456789abcdef" * 2)
    assert store.decode(line) == store.decode(line.encode()) == result
    with pytest.raises(ValueError, match="is not as it was written"):
        store.decode(line.replace('"value": 12', '"value": 13'))


def test_on_a_disk_without_locks_a_file_names_the_build(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def no_locks(stream: object, operation: int) -> None:
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr(fcntl, "flock", no_locks)
    owner = tmp_path / ".lock.owner"
    with (
        locked(tmp_path),
        pytest.raises(VttdataError, match=rf"process {os.getpid()}.* at work here.*delete {owner}"),
        locked(tmp_path),
    ):
        pass
    assert not owner.exists()
    # A build that was killed on this machine, and one on a machine of which nothing is known.
    owner.write_text(json.dumps([socket.gethostname(), 2**31 - 1]))
    with locked(tmp_path):
        pass
    owner.write_text(json.dumps(["node7", 1]))
    with pytest.raises(VttdataError, match="process 1 on node7"), locked(tmp_path):
        pass
