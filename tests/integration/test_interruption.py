"""Builds that are killed and started again give the same bytes as an undisturbed one.

The undisturbed one runs in an interpreter of its own, so that nothing depends on the order of hashes.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import IO

import pytest

from tests.helpers.forked import COMMANDS, ForkedProcess
from vttdata.errors import VttdataWarning
from vttdata.load.lookup import find_dataset
from vttdata.media.ffmpeg_program import ffmpeg_path

SMALL = [
    *("collect.scenes.videos=2", "collect.scenes.width=160", "collect.scenes.height=96"),
    *("collect.scenes.frame_rate=8", "clips.per_source=1", "media.height=96"),
]


# The end of the name of the module that workers run.
WORKER_NAME = "executors.local"


def command(folder: Path, workers: int) -> list[str]:
    settings = [part for setting in SMALL for part in ("--set", setting)]
    return ["build", "demo", "--quiet", "--out", str(folder), "--workers", str(workers), *settings]


def hash_files(folder: Path) -> dict[str, str]:
    """Return the hash of every file of a dataset folder."""
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    return {str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest() for path in files}


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("undisturbed") / "build"
    subprocess.run([sys.executable, "-m", "vttdata", *command(folder, 2)], check=True, capture_output=True)
    assert {"clips", "videos"} <= {path.name for path in (folder / "dataset").iterdir()}
    return folder


@pytest.mark.parametrize("workers", [1, 4])
@pytest.mark.sampled(1)
def test_number_of_workers_changes_no_byte(undisturbed: Path, tmp_path: Path, workers: int) -> None:
    assert build(tmp_path / "build", workers).returncode == 0
    assert hash_files(tmp_path / "build" / "dataset") == hash_files(undisturbed / "dataset")


@pytest.mark.parametrize("seed", [1, 2, 3])
@pytest.mark.sampled(1)
def test_killed_build_resumes_to_the_same_bytes(undisturbed: Path, tmp_path: Path, seed: int) -> None:
    moments = random.Random(seed)
    killed = 0
    for _ in range(4):
        process = start(tmp_path / "build", 2)
        after_events(tmp_path / "build", process, moments.randint(1, 12))
        time.sleep(moments.uniform(0, 0.3))
        killed += process.poll() is None
        process.kill()
        process.wait()
    assert killed
    assert build(tmp_path / "build").returncode == 0
    assert hash_files(tmp_path / "build" / "dataset") == hash_files(undisturbed / "dataset")


def start(folder: Path, workers: int, stderr: IO[bytes] | None = None) -> ForkedProcess:
    with open(os.devnull, "wb") as null:
        arguments = ["vttdata.cli.main", *command(folder, workers)]
        return COMMANDS.start(arguments, os.environ, Path.cwd(), null, stderr or null)


def after_events(folder: Path, process: ForkedProcess, number: int) -> None:
    """Wait until the build has noted so many more events, however fast the machine is, or has ended."""
    journal = folder / "journal.jsonl"
    before = journal.stat().st_size if journal.exists() else 0
    while process.poll() is None:
        if journal.exists() and journal.read_bytes()[before:].count(b"\n") >= number:
            return
        time.sleep(0.01)


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="finds the workers through /proc")
def test_killed_workers_change_no_byte(undisturbed: Path, tmp_path: Path) -> None:
    process = start(tmp_path / "build", 2)
    killed = 0
    for _ in range(4):
        after_events(tmp_path / "build", process, 8)
        for worker in worker_pids(process.pid)[:1]:
            os.kill(worker, signal.SIGKILL)
            killed += 1
    assert process.wait() == 0
    assert killed >= 2
    assert hash_files(tmp_path / "build" / "dataset") == hash_files(undisturbed / "dataset")


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="finds the workers through /proc")
@pytest.mark.parametrize("seed", [101])
@pytest.mark.long
def test_workers_killed_twice_over_their_items_cost_nothing_in_the_end(
    undisturbed: Path, tmp_path: Path, seed: int
) -> None:
    trial = KillingTrial(tmp_path / "build", seed)
    assert trial.run_until_complete() == 0, trial.codes
    assert set(trial.codes[:-1]) <= {1}
    assert trial.killed >= 2
    assert hash_files(tmp_path / "build" / "dataset") == hash_files(undisturbed / "dataset")
    left = [path for path in (tmp_path / "build").rglob("*") if path.suffix in {".part", ".tmp"}]
    assert not left


class KillingTrial:
    """Builds into one folder whose workers are killed at seeded moments, until one of them is complete.

    Fields:
        codes: exit code of each build.
        killed: number of workers that were killed.
    """

    def __init__(self, folder: Path, seed: int) -> None:
        self.codes: list[int] = []
        self.killed = 0
        self._folder = folder
        self._moments = random.Random(seed)

    def run_until_complete(self, disturbed: int = 3) -> int:
        """Build with kills up to `disturbed` times, then undisturbed, and return the last exit code."""
        for number in range(disturbed + 1):
            process = start(self._folder, 2)
            if number < disturbed:
                after_events(self._folder, process, self._moments.randint(1, 30))
                self._kill_all_workers(process, rounds=self._moments.randint(2, 4))
            self.codes.append(process.wait())
            if self.codes[-1] != 1:
                break
        return self.codes[-1]

    def _kill_all_workers(self, process: ForkedProcess, rounds: int) -> None:
        """Kill all workers and those that replace them, so that single items lose both of their tries."""
        for _ in range(rounds):
            time.sleep(self._moments.uniform(0, 0.5))
            workers: list[int] = []
            while process.poll() is None and not workers:
                time.sleep(0.01)
                workers = worker_pids(process.pid)
            for worker in workers:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(worker, signal.SIGKILL)
                    self.killed += 1


def test_dataset_is_incomplete_until_every_item_was_processed(undisturbed: Path, tmp_path: Path) -> None:
    folder = tmp_path / "build"
    clip = next((undisturbed / "dataset" / "videos").rglob("*.mp4")).name
    killed = ffmpeg_killed_over(tmp_path, clip)
    for _ in range(2):
        done = build(folder, VTTDATA_FFMPEG=str(killed))
        assert done.returncode == 1, done.stderr
        assert "is INCOMPLETE, since the processing of items was cut short in stage 'cut' (1 killed)" in done.stderr
        assert json.loads((folder / "build.json").read_text())["status"] == "incomplete"
        card = (folder / "dataset" / "README.md").read_text()
        assert "**Incomplete:** items of stage 'cut' (1 killed) are missing" in card
        with pytest.warns(VttdataWarning, match="lacks items whose processing was cut short"):
            find_dataset(str(folder))
    done = build(folder)
    assert done.returncode == 0, done.stderr
    assert json.loads((folder / "build.json").read_text())["status"] == "complete"
    assert hash_files(folder / "dataset") == hash_files(undisturbed / "dataset")


def test_killed_program_of_the_only_item_halts_the_build_until_it_runs_again(undisturbed: Path, tmp_path: Path) -> None:
    folder = tmp_path / "build"
    killed = ffmpeg_killed_over(tmp_path, "rawvideo")
    done = build(folder, VTTDATA_FFMPEG=str(killed))
    assert done.returncode == 1
    assert "Nothing is left after stage 'scenes' (1 killed); run the same command" in done.stderr
    assert build(folder).returncode == 0
    assert hash_files(folder / "dataset") == hash_files(undisturbed / "dataset")


def ffmpeg_killed_over(folder: Path, argument: str) -> Path:
    """Write a program that is ffmpeg until an argument contains this text, and kills itself then."""
    program = folder / "ffmpeg"
    lines = ["#!/bin/sh", f'case "$*" in *{argument}*) kill -9 $$ ;; esac', f'exec "{ffmpeg_path()}" "$@"']
    program.write_text("\n".join(lines) + "\n")
    program.chmod(0o755)
    return program


def build(folder: Path, workers: int = 2, **environment: str) -> subprocess.CompletedProcess[str]:
    return COMMANDS.run(["vttdata.cli.main", *command(folder, workers)], os.environ | environment)


def worker_pids(pid: int) -> list[int]:
    """Return the worker processes of a build; none of one that has ended."""
    workers = []
    for task in Path(f"/proc/{pid}/task").glob("*/children"):
        with contextlib.suppress(OSError):
            for child in task.read_text().split():
                name = Path(f"/proc/{child}/comm").read_text().strip()
                workers += [int(child)] if name == WORKER_NAME else worker_pids(int(child))
    return workers


def test_sigterm_ends_a_build_as_ctrl_c_does(undisturbed: Path, tmp_path: Path) -> None:
    with (tmp_path / "stderr").open("wb") as stderr:
        process = start(tmp_path / "build", 2, stderr)
    after_events(tmp_path / "build", process, 4)
    os.kill(process.pid, signal.SIGTERM)
    assert process.wait() == 130
    sentence = "vttdata: interrupted; what is finished is kept, run the same command to go on.\n"
    assert (tmp_path / "stderr").read_text() == sentence
    assert json.loads((tmp_path / "build" / "build.json").read_text())["status"] == "stopped"
    assert build(tmp_path / "build").returncode == 0
    assert hash_files(tmp_path / "build" / "dataset") == hash_files(undisturbed / "dataset")


def test_second_build_in_the_same_folder_is_rejected(tmp_path: Path) -> None:
    first = start(tmp_path / "build", 1)
    try:
        while not (tmp_path / "build" / "journal.jsonl").exists():
            assert first.poll() is None
            time.sleep(0.02)
        second = build(tmp_path / "build", 1)
    finally:
        first.kill()
        first.wait()
    assert second.returncode == 2
    assert f"another command (process {first.pid})" in second.stderr
    assert "Traceback" not in second.stderr
