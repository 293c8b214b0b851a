"""Compose the benchmark's videos with known truth, and encode them as the web does.

Run `python benchmarks/shots/generate.py [FOLDER] [--quick] [--half tune|report]`. Each video is written beside a JSON
file with its truth; existing files are kept. The same seed gives the same plans and pictures; the bytes also
depend on the ffmpeg program.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import get_args

sys.path.append(str(Path(__file__).resolve().parents[2]))

from benchmarks.shots.draw import frames
from benchmarks.shots.footage import TAKES, Half, Planes, Take, read_takes
from benchmarks.shots.overlay import Size
from benchmarks.shots.plan import Plan, plan_video
from vttdata.media.ffmpeg_program import ffmpeg_path

SECONDS, QUICK_SECONDS = 100.0, 30.0
SEED = 1


@dataclass(frozen=True, slots=True)
class Encoding:
    """Encoding of a video: picture size, frame rate, file extension and ffmpeg's options."""

    name: str
    size: Size
    rate: str
    ending: str
    options: tuple[str, ...]
    quick: bool = False

    @property
    def frames_per_second(self) -> float:
        """The frame rate as a number."""
        above, _, below = self.rate.partition("/")
        return float(above) / float(below or 1)


def _x264(crf: int, *options: str) -> tuple[str, ...]:
    return ("-c:v", "libx264", "-preset", "faster", "-crf", str(crf), *options, "-movflags", "+faststart")


def _every(frames: int) -> tuple[str, ...]:
    return ("-g", str(frames), "-keyint_min", str(frames), "-sc_threshold", "0")


_VP9 = ("-c:v", "libvpx-vp9", "-deadline", "realtime", "-cpu-used", "8", "-b:v", "0", "-crf", "36")
_AV1 = ("-c:v", "libsvtav1", "-preset", "12", "-crf", "38", "-svtav1-params", "lp=1")
ENCODINGS = (
    Encoding("h264-360p-default", (640, 360), "25", "mp4", _x264(23), quick=True),
    Encoding("h264-360p-2s", (640, 360), "30000/1001", "mp4", _x264(26, *_every(60)), quick=True),
    Encoding("h264-480p-5s", (854, 480), "25", "mp4", _x264(30, *_every(125))),
    Encoding("h264-720p-default", (1280, 720), "25", "mp4", _x264(23)),
    Encoding("h264-720p-2s", (1280, 720), "30", "mp4", _x264(28, *_every(60))),
    Encoding("h264-portrait-default", (360, 640), "30", "mp4", _x264(24)),
    Encoding("vp9-360p", (640, 360), "25", "webm", _VP9, quick=True),
    Encoding("av1-360p", (640, 360), "24", "mp4", _AV1),
    Encoding("h264-intra-360p", (640, 360), "25", "mp4", _x264(26, "-g", "1"), quick=True),
    Encoding("mpeg4-360p", (640, 360), "25", "avi", ("-c:v", "mpeg4", "-q:v", "5")),
)


@dataclass(frozen=True, slots=True)
class Job:
    """Video to make."""

    encoding: Encoding
    plan: Plan
    footage: Path
    folder: Path

    @property
    def path(self) -> Path:
        """Return the video file."""
        return self.folder / f"{self.plan.name}.{self.encoding.ending}"


def default_footage() -> Path:
    """Return the folder of videos beside the checkout, or under VTTDATA_SHARED."""
    beside = Path(__file__).resolve().parents[3] / "shared"
    return Path(os.environ.get("VTTDATA_SHARED", beside)) / "videos"


def plan_jobs(
    half: Half, footage: Path, folder: Path, takes: tuple[Take, ...] = TAKES, *, quick: bool = False, seed: int = SEED
) -> Iterator[Job]:
    """Yield the videos of a half, without making them."""
    available = tuple(take for take in takes if (footage / take.file).exists())
    for encoding in ENCODINGS:
        if encoding.quick or not quick:
            seconds, rate = QUICK_SECONDS if quick else SECONDS, encoding.frames_per_second
            name = f"{half}-{encoding.name}" + ("-quick" if quick else "")
            plan = plan_video(name, half, available, seconds=seconds, rate=rate, seed=seed)
            yield Job(encoding, plan, footage, folder)


def make(job: Job) -> Path:
    """Write the video and its truth, unless they exist as planned."""
    truth, text = job.path.with_suffix(".json"), json.dumps(job.plan.truth()) + "\n"
    if job.path.exists() and truth.exists() and truth.read_text("utf-8") == text:
        return job.path
    size = "x".join(map(str, job.encoding.size))
    part = job.path.with_name(f"part-{job.path.name}")
    command = [ffmpeg_path(), "-y", "-v", "error", "-f", "rawvideo", "-pix_fmt", "yuv420p", "-s", size]
    command += ["-r", job.encoding.rate, "-i", "pipe:0", "-threads", "1", *job.encoding.options, str(part)]
    quiet = os.environ | {"SVT_LOG": "1"}
    with subprocess.Popen(command, stdin=subprocess.PIPE, env=quiet) as process:
        assert process.stdin is not None
        for picture in frames(job.plan, job.encoding.size, job.footage, job.folder):
            process.stdin.write(_bytes(picture))
        process.stdin.close()
        if process.wait():
            raise SystemExit(f"ffmpeg cannot encode {job.path.name}.")
    part.replace(job.path)
    truth.write_text(text, "utf-8")
    return job.path


def _bytes(picture: Planes) -> bytes:
    return b"".join(plane.tobytes() for plane in picture)


def generate(jobs: list[Job], workers: int) -> list[Path]:
    """Make all videos, and remove the takes' decoded frames afterwards."""
    if jobs:
        jobs[0].folder.mkdir(parents=True, exist_ok=True)
    with ProcessPoolExecutor(workers) as pool:
        paths = list(pool.map(make, jobs))
    for reel in (reel for job in jobs[:1] for reel in job.folder.glob("*.yuv")):
        reel.unlink()
    return paths


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options that select videos."""
    folder = Path(tempfile.gettempdir()) / "vttdata-shots-benchmark"
    parser.add_argument("folder", type=Path, nargs="?", default=folder, help="where the videos are kept (%(default)s)")
    parser.add_argument("--footage", type=Path, default=default_footage(), help="folder of the takes' files")
    parser.add_argument("--takes", type=Path, help="JSON table of takes in other footage")
    parser.add_argument("--half", choices=get_args(Half), action="append", help="default: both")
    parser.add_argument("--quick", action="store_true", help="four short videos a half instead of ten")
    parser.add_argument("--seed", type=int, default=SEED)


def selected_jobs(options: argparse.Namespace) -> list[Job]:
    """Return the videos that the options select."""
    takes = read_takes(options.takes) if options.takes else TAKES
    missing = sum(not (options.footage / take.file).exists() for take in takes)
    if missing:
        print(
            f"{missing} of {len(takes)} takes are not in {options.footage}; drawn scenes replace them.", file=sys.stderr
        )
    return [
        job
        for half in options.half or get_args(Half)
        for job in plan_jobs(half, options.footage, options.folder, takes, quick=options.quick, seed=options.seed)
    ]


if __name__ == "__main__":
    arguments = argparse.ArgumentParser(description=__doc__)
    add_arguments(arguments)
    arguments.add_argument("--workers", type=int, default=os.cpu_count() or 1)
    options = arguments.parse_args()
    for path in generate(selected_jobs(options), options.workers):
        print(path)
