"""A build that is killed at any moment and started again gives the same bytes as one that nothing disturbed."""

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

SMALL = ["collect.scenes.videos=4", "collect.scenes.width=160", "collect.scenes.height=96", "media.height=96"]


def command(folder: Path, workers: int) -> list[str]:
    settings = [part for setting in SMALL for part in ("--set", setting)]
    return [
        *(sys.executable, "-m", "vttdata.cli", "build", "demo", "--quiet"),
        *("--out", str(folder), "--workers", str(workers), *settings),
    ]


def tree(folder: Path) -> dict[str, str]:
    """Every file of a dataset folder with the hash of its bytes."""
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    return {str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest() for path in files}


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, float]:
    folder = tmp_path_factory.mktemp("undisturbed") / "build"
    started = time.monotonic()
    subprocess.run(command(folder, 2), check=True, capture_output=True)
    return folder, time.monotonic() - started


def test_the_dataset_holds_something(undisturbed: tuple[Path, float]) -> None:
    files = tree(undisturbed[0] / "dataset")
    assert any(name.startswith("clips/") for name in files)
    assert any(name.endswith(".mp4") for name in files)


@pytest.mark.parametrize("workers", [1, 4])
def test_the_number_of_workers_changes_no_byte(undisturbed: tuple[Path, float], tmp_path: Path, workers: int) -> None:
    subprocess.run(command(tmp_path / "build", workers), check=True, capture_output=True)
    assert tree(tmp_path / "build" / "dataset") == tree(undisturbed[0] / "dataset")


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_a_killed_build_goes_on_to_the_same_bytes(undisturbed: tuple[Path, float], tmp_path: Path, seed: int) -> None:
    moments = random.Random(seed)
    killed = 0
    for _ in range(4):
        process = subprocess.Popen(command(tmp_path / "build", 2), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        time.sleep(moments.uniform(0.05, 0.6) * undisturbed[1])
        killed += process.poll() is None
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
    assert killed
    subprocess.run(command(tmp_path / "build", 2), check=True, capture_output=True)
    assert tree(tmp_path / "build" / "dataset") == tree(undisturbed[0] / "dataset")


def test_a_second_build_in_the_same_folder_says_so_and_leaves(tmp_path: Path) -> None:
    first = subprocess.Popen(command(tmp_path / "build", 1), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
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
