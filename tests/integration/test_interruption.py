"""Builds that are killed and started again give the same bytes as an undisturbed one."""

from __future__ import annotations

import hashlib
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

SMALL = [
    *("collect.scenes.videos=2", "collect.scenes.width=160", "collect.scenes.height=96"),
    *("collect.scenes.frame_rate=8", "clips.per_source=1", "media.height=96"),
]


def command(folder: Path, workers: int) -> list[str]:
    settings = [part for setting in SMALL for part in ("--set", setting)]
    return [
        *(sys.executable, "-m", "vttdata", "build", "demo", "--quiet"),
        *("--out", str(folder), "--workers", str(workers), *settings),
    ]


def hash_files(folder: Path) -> dict[str, str]:
    """Return the hash of every file of a dataset folder."""
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    return {str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest() for path in files}


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("undisturbed") / "build"
    subprocess.run(command(folder, 2), check=True, capture_output=True)
    return folder


def test_dataset_has_clips_and_videos(undisturbed: Path) -> None:
    files = hash_files(undisturbed / "dataset")
    assert any(name.startswith("clips/") for name in files)
    assert any(name.endswith(".mp4") for name in files)


@pytest.mark.parametrize("workers", [1, 4])
def test_number_of_workers_changes_no_byte(undisturbed: Path, tmp_path: Path, workers: int) -> None:
    subprocess.run(command(tmp_path / "build", workers), check=True, capture_output=True)
    assert hash_files(tmp_path / "build" / "dataset") == hash_files(undisturbed / "dataset")


@pytest.mark.parametrize("seed", [1, 2, 3])
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
    subprocess.run(command(tmp_path / "build", 2), check=True, capture_output=True)
    assert hash_files(tmp_path / "build" / "dataset") == hash_files(undisturbed / "dataset")


def start(folder: Path, workers: int) -> subprocess.Popen[bytes]:
    return subprocess.Popen(command(folder, workers), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def after_events(folder: Path, process: subprocess.Popen[bytes], number: int) -> None:
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


def worker_pids(pid: int) -> list[int]:
    """Return the worker processes of a build."""
    tasks = Path(f"/proc/{pid}/task")
    pids = [int(child) for task in tasks.glob("*/children") for child in task.read_text().split()]
    return [
        child for child in pids if b"vttdata.pipeline.executors.local" in Path(f"/proc/{child}/cmdline").read_bytes()
    ]


def test_second_build_in_the_same_folder_is_rejected(tmp_path: Path) -> None:
    first = start(tmp_path / "build", 1)
    try:
        while not (tmp_path / "build" / "journal.jsonl").exists():
            assert first.poll() is None
            time.sleep(0.02)
        second = subprocess.run(command(tmp_path / "build", 1), capture_output=True, text=True, check=False)
    finally:
        first.kill()
        first.wait()
    assert second.returncode == 2
    assert f"another build (process {first.pid})" in second.stderr
    assert "Traceback" not in second.stderr
