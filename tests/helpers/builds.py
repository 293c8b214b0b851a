"""Whole builds through the command line, for tests: small films in, the build's account out."""

from __future__ import annotations

import csv
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import datasets

from vttdata.media.ffmpeg import ffmpeg_path

LOOSE = ["filter.min_seconds=1", "filter.min_height=0", "clips.min_seconds=2", "media.height=64"]
COLUMNS = "captions.columns={video_id: clip, caption: text, annotator: worker}"


def vttdata(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "vttdata", *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False, env=os.environ | environment)


def build(out: Path, *settings: str, recipe: str = "own-folder") -> subprocess.CompletedProcess[str]:
    parts = [part for setting in settings for part in ("--set", setting)]
    return vttdata("build", recipe, "--quiet", "--out", str(out), "--workers", "2", *parts)


def account(out: Path) -> dict[str, dict[str, Any]]:
    return {stage["name"]: stage for stage in json.loads((out / "build.json").read_text())["stages"]}


def film(path: Path, seconds: int = 4, picture: str = "testsrc2", options: tuple[str, ...] = ()) -> Path:
    """A small real video: a moving test picture that changes its colours half way, with a tone."""
    half = f"hue=h=180:enable='gte(t,{seconds / 2})'"
    command = [
        *(ffmpeg_path(), "-v", "error", "-y", "-f", "lavfi", "-i", f"{picture}=s=96x64:r=12"),
        *("-f", "lavfi", "-i", f"sine=d={seconds}", "-vf", half, "-c:v", "libx264", "-preset", "ultrafast"),
        *("-pix_fmt", "yuv420p", "-c:a", "aac", "-t", str(seconds), *options, f"file:{path}"),
    ]
    subprocess.run(command, check=True)
    return path


def write_captions(out: Path, file: Path, per_clip: int = 4) -> list[str]:
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
