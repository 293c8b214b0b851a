"""Builds in shards, through the command line and a stand-in for Slurm: the same bytes as an undivided build."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.helpers import sbatch
from tests.helpers.builds import LOOSE, build, film, vttdata


@pytest.fixture(scope="module")
def videos(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("videos")
    for number, picture in enumerate(("testsrc2", "testsrc", "smptebars")):
        film(folder / f"v{number}.mp4", 3, picture)
    shutil.copy(folder / "v0.mp4", folder / "copy.mp4")
    (folder / "broken.mp4").write_bytes(b"no video")
    return folder


def settings(videos: Path, *more: str) -> list[str]:
    keys = [f"collect.folder={videos}", "name=me/street", "filter.max_frozen=1", *LOOSE, *more]
    return [part for key in keys for part in ("--set", key)]


def shard(folder: Path, videos: Path, name: str, *more: str) -> Any:
    return vttdata(
        *("build", "own-folder", *settings(videos), "--out", str(folder), "--shard", name),
        *("--quiet", "--workers", "1", *more),
    )


@pytest.fixture(scope="module")
def undivided(videos: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    folder = tmp_path_factory.mktemp("undivided")
    keys = settings(videos)[1::2]
    assert build(folder, *keys).returncode == 0
    return hashes(folder)


def hashes(folder: Path) -> dict[str, str]:
    files = [path for path in (folder / "dataset").rglob("*") if path.is_file()]
    return {str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest() for path in files}


@pytest.fixture
def slurm_log(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Put a program sbatch on the path, and return the file in which it notes jobs."""
    program = tmp_path / "bin" / "sbatch"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" "{Path(sbatch.__file__).resolve()}" "$@"\n')
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{program.parent}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("SBATCH_LOG", str(tmp_path / "jobs.jsonl"))
    return tmp_path / "jobs.jsonl"


def jobs(log: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in log.read_text().splitlines()]


def test_slurm_submits_what_is_missing_after_a_job_was_killed(
    videos: Path, undivided: dict[str, str], tmp_path: Path, slurm_log: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "a build" / "street"
    monkeypatch.setenv("SBATCH_WATCH", str(folder))
    monkeypatch.setenv("SBATCH_KILL", "2")
    options = ("own-folder", *settings(videos), "--out", str(folder))
    first = vttdata("slurm", *options, "--jobs", "2", "--sbatch=--time=1:00", "--dry-run")
    assert first.returncode == 0, first.stderr
    assert "5 items are known to be missing, of shards 1-2 of 2; then a merge." in first.stdout
    assert f"Nothing was submitted: bash {folder / 'slurm' / 'submit.sh'}" in first.stdout
    assert not slurm_log.exists()

    done = vttdata("slurm", *options, "--jobs", "2", "--sbatch=--time=1:00")
    assert done.returncode == 0, done.stderr
    assert [job["script"] for job in jobs(slurm_log)] == ["shards.sh", "merge.sh", "shards.sh", "merge.sh"]
    assert [job["options"].get("array") for job in jobs(slurm_log)][::2] == ["1-2", "1-2"]
    assert jobs(slurm_log)[0]["options"]["time"] == "1:00"
    # A shard was killed, and a merge before the last says so in its output and no more.
    assert [job["codes"] for job in jobs(slurm_log)] == [{"1": 0, "2": -9}, {"None": 0}, {"1": 0, "2": 0}, {"None": 1}]
    assert "waits for" in (folder / "slurm" / "merge-2.out").read_text()

    slurm_log.unlink()
    done = vttdata("slurm", str(folder), "--jobs", "1")
    assert done.returncode == 0, done.stderr
    assert [job["script"] for job in jobs(slurm_log)] == ["shards.sh", "merge.sh"]
    assert hashes(folder) == undivided
    assert vttdata("slurm", str(folder), "--jobs", "3").stdout.startswith("Nothing is missing: the dataset is in")
    assert len(jobs(slurm_log)) == 2


def test_shards_of_other_settings_are_refused(videos: Path, tmp_path: Path) -> None:
    folder = tmp_path / "street"
    assert shard(folder, videos, "1/2").returncode == 0
    done = shard(folder, videos, "2/2", "--set", "clips.max_seconds=20")
    assert done.returncode == 2
    assert "holds a build of other settings (clips.max_seconds: 30" in done.stderr
    done = shard(folder, videos, "3/2")
    assert (done.returncode, done.stdout) == (2, "")
    assert "There is no shard 3/2" in done.stderr
    # Folders of two recipes that were copied together.
    other = tmp_path / "other"
    assert shard(other, videos, "2/2", "--set", "seed=9").returncode == 0
    shutil.copy(other / "shards" / "2-of-2.json", folder / "shards")
    done = vttdata("merge", str(folder), "--quiet")
    assert done.returncode == 2
    assert "shard 2/2 is of another recipe or other settings than build.json (seed: 0, not 9)" in done.stderr
    (folder / "shards" / "2-of-2.json").unlink()
    done = vttdata("merge", str(folder), "--quiet")
    assert done.returncode == 1
    assert "Stage 'collect' waits for 3 items of shard 2 of 2: run 'vttdata build" in done.stderr
    # The folder is given to the other settings.
    assert shard(folder, videos, "1/2", "--set", "clips.max_seconds=20", "--replace").returncode == 0
    assert shard(folder, videos, "2/2", "--set", "clips.max_seconds=20").returncode == 0


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (("merge", "nowhere"), "There is no build 'nowhere': name the folder that its shards share."),
        (
            ("merge", "s3://bucket/street"),
            "There is no build 's3://bucket/street': name the folder that its shards share",
        ),
        (("slurm", "demo", "--jobs", "2", "--out", "s3://bucket/street"), "s3://bucket/street: shards share a folder"),
        (
            ("slurm", "s3://bucket/street", "--jobs", "2"),
            "s3://bucket/street: shards share a folder on a disk; name one",
        ),
        (("build", "s3://bucket/street", "--shard", "1/2"), "s3://bucket/street: shards share a folder on a disk"),
        (("slurm", "demo", "--jobs", "0"), "'0' is not a positive integer"),
        (("slurm", "demo", "--jobs", "2", "--sbatch", "oops"), "'oops' is not an option of sbatch"),
        (("slurm", "demo", "--jobs", "2", "--sbatch", "--time=1\nrm"), "has control characters"),
    ],
)
def test_bad_input_is_refused(
    arguments: tuple[str, ...], problem: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("VTTDATA_HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    done = vttdata(*arguments)
    assert done.returncode == 2, done.stdout
    assert problem in done.stderr
    assert "Traceback" not in done.stderr
