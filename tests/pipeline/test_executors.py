"""Executors are found by lying in their folder, and the local one survives what happens to its workers."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.helpers.decoy_modules import write_decoys
from tests.helpers.toy_stages import Double, Number
from vttdata.errors import VttdataError
from vttdata.pipeline.executors import create_executor, executors
from vttdata.pipeline.executors.local import LocalExecutor

pytestmark = pytest.mark.usefixtures("fresh_interpreters")

INLINE = """
from vttdata.pipeline.executors import Executor
from vttdata.pipeline.stage import process_item


class Inline(Executor):
    description = "this process"

    def __init__(self, workers=None):
        pass

    def run(self, stage, tasks):
        for tag, item in tasks:
            yield tag, process_item(stage, item)

    def close(self):
        pass
"""


@pytest.fixture
def plugins(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "plugins" / "executors"
    folder.mkdir(parents=True)
    monkeypatch.setenv("VTTDATA_PLUGINS", str(folder.parent))
    return folder


def test_every_executor_has_a_description_of_one_line() -> None:
    assert "local" in executors()
    assert all(text and "\n" not in text for text in executors().values())


def test_executors_are_listed_without_heavy_imports() -> None:
    heavy = {"pydantic", "pyarrow", "numpy", "av", "ray"}
    code = (
        f"import sys; from vttdata.pipeline.executors import executors; executors(); print({heavy} & {{*sys.modules}})"
    )
    assert subprocess.check_output([sys.executable, "-c", code], text=True) == "set()\n"


def test_executor_file_of_the_user_is_found_and_runs_a_stage(plugins: Path, tmp_path: Path) -> None:
    (plugins / "inline.py").write_text(INLINE)
    assert executors()["inline"] == "this process"
    tasks = [((0, number), Number(f"n{number}", number)) for number in range(3)]
    results = dict(create_executor("inline").run(Double(tmp_path), tasks))
    assert [results[tag].outcomes[0].record.value for tag, _ in tasks] == [0, 2, 4]


def test_file_without_an_executor_is_refused_by_name(plugins: Path) -> None:
    (plugins / "nothing.py").write_text("VALUE = 1\n")
    with pytest.raises(VttdataError, match=r"nothing\.py: defines no class derived from"):
        executors()


def test_unknown_executor_is_refused_with_the_known_ones() -> None:
    with pytest.raises(VttdataError, match="'spark' is not an executor; choose one of local"):
        create_executor("spark")


def test_tasks_are_taken_only_as_workers_get_free(tmp_path: Path) -> None:
    taken = []

    def tasks() -> Iterator[tuple[tuple[int, int], Number]]:
        for number in range(100):
            taken.append(number)
            yield (0, number), Number(f"n{number}", number)

    executor = LocalExecutor(2)
    try:
        results = executor.run(Double(tmp_path), tasks())
        for done in range(10):
            next(results)
            assert len(taken) <= done + 1 + 2
    finally:
        executor.close()


def test_message_about_a_dead_worker_has_its_last_error_line(tmp_path: Path) -> None:
    executor = LocalExecutor(1)
    try:
        ((_, result),) = executor.run(Double(tmp_path), [((0, 0), Number("crash-1", 1))])
    finally:
        executor.close()
    assert result.outcomes[0].reason == "crashed"
    assert f"exit code -{int(signal.SIGSEGV)}, Fatal Python error: Segmentation fault" in result.outcomes[0].detail


def test_files_in_the_working_folder_hide_no_library_from_workers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_decoys(tmp_path)
    monkeypatch.chdir(tmp_path)
    executor = LocalExecutor(1)
    try:
        ((_, result),) = executor.run(Double(tmp_path), [((0, 0), Number("a", 1))])
    finally:
        executor.close()
    assert result.outcomes[0].record.value == 2


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="finds the workers through /proc")
def test_worker_that_is_killed_while_idle_is_replaced(tmp_path: Path) -> None:
    executor = LocalExecutor(1)
    try:
        list(executor.run(Double(tmp_path), [((0, 0), Number("a", 1))]))
        tasks = Path("/proc/self/task").glob("*/children")
        workers = [int(child) for task in tasks for child in task.read_text().split()]
        ours = [pid for pid in workers if b"executors.local" in Path(f"/proc/{pid}/cmdline").read_bytes()]
        assert len(ours) == 1
        os.kill(ours[0], signal.SIGKILL)
        ((_, result),) = executor.run(Double(tmp_path), [((0, 0), Number("b", 2))])
    finally:
        executor.close()
    assert result.outcomes[0].record.value == 4
