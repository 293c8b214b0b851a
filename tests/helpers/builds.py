"""Run whole builds through the command line, over small films."""

from __future__ import annotations

import contextlib
import csv
import io
import json
import os
import subprocess
from pathlib import Path
from typing import Any
from unittest import mock

import datasets

from vttdata.cli.main import main
from vttdata.media.ffmpeg_program import ffmpeg_path

# Settings under which films of a few seconds are kept.
LOOSE = ["filter.min_seconds=1", "filter.min_height=0", "clips.min_seconds=2", "media.height=64"]
# Settings under which the recipe demo takes seconds: a clip of each of two small films.
TINY_DEMO = {
    "collect.scenes.videos": 2,
    "collect.scenes.width": 160,
    "collect.scenes.height": 96,
    "collect.scenes.frame_rate": 8,
    "clips.per_source": 1,
    "media.height": 96,
}
COLUMNS = "captions.columns={video_id: clip, caption: text, annotator: worker}"


def vttdata(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run the command line in this process, which saves the start of an interpreter, and capture what it prints."""
    stdout, stderr = io.StringIO(), io.StringIO()
    with (
        mock.patch.dict(os.environ, environment),
        contextlib.redirect_stdout(stdout),
        contextlib.redirect_stderr(stderr),
    ):
        try:
            code = main(arguments)
        except SystemExit as end:
            code = int(end.code or 0)
    return subprocess.CompletedProcess(arguments, code, stdout.getvalue(), stderr.getvalue())


def build(out: Path, *settings: str, recipe: str = "own-folder", workers: int = 1) -> subprocess.CompletedProcess[str]:
    """Build a recipe into a folder, with settings written as for ``--set``."""
    parts = [part for setting in settings for part in ("--set", setting)]
    return vttdata("build", recipe, "--quiet", "--out", str(out), "--workers", str(workers), *parts)


def account(out: Path) -> dict[str, dict[str, Any]]:
    """Return what `build.json` says of each stage, by the stage's name."""
    return {stage["name"]: stage for stage in json.loads((out / "build.json").read_text())["stages"]}


def film(path: Path, seconds: int = 4, picture: str = "testsrc2", options: tuple[str, ...] = ()) -> Path:
    """Write a small real video: a moving test picture that changes its colours half way, with a tone."""
    half = f"hue=h=180:enable='gte(t,{seconds / 2})'"
    command = [
        *(ffmpeg_path(), "-v", "error", "-y", "-f", "lavfi", "-i", f"{picture}=s=96x64:r=12"),
        *("-f", "lavfi", "-i", f"sine=d={seconds}", "-vf", half, "-c:v", "libx264", "-preset", "ultrafast"),
        *("-pix_fmt", "yuv420p", "-c:a", "aac", "-t", str(seconds), *options, f"file:{path}"),
    ]
    subprocess.run(command, check=True)
    return path


def write_captions(out: Path, file: Path, per_clip: int = 4) -> list[str]:
    """Write a table of captions for all clips of a build, and return the ids of the clips, sorted."""
    rows = datasets.load_dataset(str(out / "dataset"), "clips", cache_dir=str(out / "cache"))
    ids = sorted(row["video_id"] for split in rows.values() for row in split)
    with file.open("w", newline="") as stream:
        writer = csv.writer(stream)
        writer.writerow(["clip", "text", "worker"])
        for video_id in ids:
            writer.writerows(
                [video_id, f"sentence {number} about {video_id}", f"w{number}"] for number in range(per_clip)
            )
    return ids
