"""Measure how the one reading (quality, fingerprint, shots) of a folder of videos speeds up with worker processes.

Run `python benchmarks/shots/workers.py FOLDER [--workers 1 --workers 2]`. The build's own stage and
executor do the work, starting of workers included. Speed is that of one worker divided by the wall-clock time; CPU is
user and system time of all workers, which on a machine shared with others says more.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import resource
import sys
import tempfile
import time
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[2]))

from vttdata.media.ffmpeg_program import DEMUXERS
from vttdata.media.probe import probe
from vttdata.pipeline.executors.local import LocalExecutor
from vttdata.pipeline.stage import Failed
from vttdata.pipeline.stages.videos import MeasureSources, SourceFolders
from vttdata.records import Source


def sources(folder: Path) -> list[Source]:
    """Return the videos of a folder, with the facts of their containers."""
    paths = [path for path in sorted(folder.iterdir()) if path.suffix[1:] in DEMUXERS.split(",")]
    return [
        Source(path.name, path.name, "listed", hashlib.sha256(path.name.encode()).hexdigest(), path.stat().st_size,
               probe=probe(path))
        for path in paths
    ]  # fmt: skip


def detect(stage: MeasureSources, videos: list[Source], workers: int) -> tuple[float, float]:
    """Return the wall-clock and CPU seconds of reading all videos."""
    before, begun = _children_cpu_seconds(), time.monotonic()
    executor = LocalExecutor(workers)
    tasks = (((0, number), video) for number, video in enumerate(videos))
    failed = [
        outcome for _, done in executor.run(stage, tasks) for outcome in done.outcomes if isinstance(outcome, Failed)
    ]
    wall = time.monotonic() - begun
    executor.close()
    if failed:
        raise SystemExit(f"{failed[0].id}: {failed[0].detail}")
    return wall, _children_cpu_seconds() - before


def _children_cpu_seconds() -> float:
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def main() -> None:
    """Print a line for each number of workers."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, help="of videos")
    parser.add_argument("--workers", type=int, action="append", help="number of workers; default: 1, 2 and 4")
    options = parser.parse_args()
    videos = sources(options.folder)
    features = tempfile.TemporaryDirectory()
    folders = SourceFolders(options.folder, options.folder)
    stage = MeasureSources("", folders, Path(features.name))
    seconds = sum(video.probe.container_seconds for video in videos if video.probe)
    print(f"{len(videos)} videos, {seconds / 60:.0f} minutes, {os.cpu_count()} cores\n")
    print("| workers | wall, s | speed | CPU, s | CPU / wall |\n|--:|--:|--:|--:|--:|")
    unit = 0.0
    for workers in options.workers or (1, 2, 4):
        wall, cpu = detect(stage, videos, workers)
        unit = unit or wall * workers
        print(f"| {workers} | {wall:.1f} | {unit / wall:.2f} | {cpu:.1f} | {cpu / wall:.2f} |", flush=True)


if __name__ == "__main__":
    main()
