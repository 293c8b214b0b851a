"""Measures shot detectors on composed videos with known truth and on annotated real ones, side by side in one run.

Run `python benchmarks/shots/run.py [FOLDER] [--quick] [--half tune|report]`; the videos are made in FOLDER if they are
not there. Detectors are tuned on the half `tune` and reported on `report`, which share no footage.

Cuts count as found at most one frame off, gradual transitions anywhere inside their extent or one frame beside it;
every prediction matches one truth at most, and one that matches none is false. CPU is user and system time of the
process and its children, without starting and ending Python and importing; its unit, like that of time, is a bare
decode of the same files by ffmpeg with one thread. Videos are measured one after another, the bare decode before and
after each.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import get_args

sys.path.append(str(Path(__file__).resolve().parents[2]))

from benchmarks.shots.annotated import Video, annotated, composed
from benchmarks.shots.detectors import BARE, DECODES, names, program, read_program
from benchmarks.shots.generate import add_arguments, asked, generate
from benchmarks.shots.takes import Half
from vttdata.media.shots.scoring import Change, Score, match, score_by_kind

TOLERANCE = 1
_HERE = Path(__file__).resolve().parent


@dataclass(frozen=True, slots=True)
class Run:
    """One detector on one video: first frames and kinds of the shots, seconds of CPU and wall, peak memory in MiB."""

    frames: tuple[int, ...]
    kinds: tuple[str, ...]
    cpu: float
    wall: float
    memory: float
    error: str = ""


def measure(detector: str, path: Path) -> Run:
    """Run a detector on a video in a process of its own."""
    own = program(detector, path)
    command = own or [sys.executable, str(_HERE / "detectors.py"), detector, str(path)]
    watched = [sys.executable, "-I", "-S", str(_HERE / "watch.py"), *command]
    seen = json.loads(subprocess.run(watched, stdout=subprocess.PIPE, text=True, check=True).stdout)
    cpu, wall, memory = seen["cpu"], seen["wall"], seen["memory"]
    if seen["code"]:
        return Run((), (), cpu, wall, memory, (seen["errors"].strip().splitlines() or ["no reason given"])[-1])
    if own:
        frames, kinds = read_program(seen["printed"])
        return Run(tuple(frames), tuple(kinds), cpu, wall, memory)
    said = json.loads(seen["printed"].splitlines()[-1])
    return Run(tuple(said["frames"]), tuple(said["kinds"]), said["cpu"], said["wall"], memory)


def measure_all(videos: Sequence[Video], detectors: Sequence[str]) -> dict[str, list[Run]]:
    """All detectors on all videos; the bare decode is the mean of one before and one after the others."""
    runs: dict[str, list[Run]] = {detector: [] for detector in (BARE, *detectors)}
    for video in videos:
        begun = time.monotonic()
        first = measure(BARE, video.path)
        for detector in detectors:
            runs[detector].append(measure(detector, video.path))
        last = measure(BARE, video.path)
        mean = [(getattr(first, name) + getattr(last, name)) / 2 for name in ("cpu", "wall", "memory")]
        runs[BARE].append(Run((), (), *mean))
        print(f"{video.path.name}: {time.monotonic() - begun:.0f} s", file=sys.stderr)
    return runs


def accuracy_table(videos: Sequence[Video], runs: dict[str, list[Run]]) -> Iterable[str]:
    """One line for each detector, as Markdown."""
    hours = sum(video.seconds for video in videos) / 3600
    yield (
        "| detector | cuts F1 | precision | recall | gradual F1 | precision | recall | false an hour | CPU | time | "
        "peak MiB | failed |"
    )
    yield "|---|" + "--:|" * 11
    for detector, done in runs.items():
        cpu, wall = (_ratio(done, runs[BARE], unit) for unit in ("cpu", "wall"))
        costs = f"{cpu:.2f} | {wall:.2f} | {max(run.memory for run in done):.0f}"
        failed = sum(bool(run.error) for run in done)
        if detector in DECODES:
            yield f"| {detector} |" + " |" * 7 + f" {costs} | 0 |"
            continue
        cuts, gradual = scores(videos, done)
        numbers = [getattr(one, name) for one in (cuts, gradual) for name in ("f1", "precision", "recall")]
        shares = " | ".join(f"{number:.3f}" for number in numbers)
        yield f"| {detector} | {shares} | {cuts.fp / hours:.0f} | {costs} | {failed} |"


def cost_table(videos: Sequence[Video], runs: dict[str, list[Run]]) -> Iterable[str]:
    """CPU of each detector on each video by that of the bare decode, as Markdown."""
    detectors = [detector for detector in runs if detector != BARE]
    yield "| CPU on | " + " | ".join(detectors) + " | bare decode, s |"
    yield "|---|" + "--:|" * (len(detectors) + 1)
    for place, video in enumerate(videos):
        ratios = [_ratio([runs[detector][place]], [runs[BARE][place]], "cpu") for detector in detectors]
        cells = " | ".join(f"{ratio:.2f}" for ratio in ratios)
        yield f"| {video.label} | {cells} | {runs[BARE][place].cpu:.2f} |"


def scores(videos: Sequence[Video], done: Sequence[Run]) -> tuple[Score, Score]:
    """A detector's scores for cuts and for gradual transitions, counts summed over the videos."""
    cuts, gradual = Score(), Score()
    for video, run in zip(videos, done, strict=True):
        one, other = score_by_kind(video.changes, predicted(run), TOLERANCE)
        cuts, gradual = cuts + one, gradual + other
    return cuts, gradual


def predicted(run: Run) -> list[Change]:
    """The changes that a detector reports."""
    return [Change(frame, frame) for frame in run.frames]


def mistakes(videos: Sequence[Video], done: Sequence[Run]) -> Iterable[str]:
    """What a detector missed and what it added, with what is known of that place."""
    for video, run in zip(videos, done, strict=True):
        pairs = list(match(video.changes, predicted(run), TOLERANCE))
        missed = [place for place in range(len(video.changes)) if place not in {ours for ours, _ in pairs}]
        added = [place for place in range(len(run.frames)) if place not in {theirs for _, theirs in pairs}]
        for place in missed:
            change = video.changes[place]
            yield f"{video.label}: missed {change.first}-{change.last} {video.about(change.first)}"
        for place in added:
            yield f"{video.label}: added {run.frames[place]} ({run.kinds[place]}) {video.about(run.frames[place])}"
        if run.error:
            yield f"{video.label}: failed: {run.error}"


def _ratio(done: Sequence[Run], unit: Sequence[Run], name: str) -> float:
    return float(sum(getattr(run, name) for run in done) / max(sum(getattr(run, name) for run in unit), 1e-9))


def main() -> None:
    """Make what is missing, measure, and print the tables of each half."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add_arguments(parser)
    parser.add_argument("--only", action="append", help="a detector; default: all")
    parser.add_argument("--mistakes", action="store_true", help="list what vttdata's detectors missed and added")
    options = parser.parse_args()
    generate(asked(options), os.cpu_count() or 1)
    detectors = [name for name in options.only or names() if name != BARE]
    for half in options.half or get_args(Half):
        made = [composed(job.path) for job in asked(options) if job.path.name.startswith(half)]
        videos = [*made, *annotated(half, options.footage)]
        runs = measure_all(videos, detectors)
        _report(half, videos, len(made), runs, listed=options.mistakes)


def _report(half: Half, videos: list[Video], composed_videos: int, runs: dict[str, list[Run]], *, listed: bool) -> None:
    changes = [change for video in videos[:composed_videos] for change in video.changes]
    minutes = sum(video.seconds for video in videos[:composed_videos]) / 60
    cuts = sum(change.is_cut for change in changes)
    counts = f"{minutes:.0f} minutes, {cuts} cuts, {len(changes) - cuts} gradual"
    print(f"\n## {half}: {composed_videos} composed videos, {counts}\n")
    print(
        "\n".join(
            accuracy_table(videos[:composed_videos], {name: done[:composed_videos] for name, done in runs.items()})
        )
    )
    for place, video in enumerate(videos[composed_videos:], composed_videos):
        cuts = sum(change.is_cut for change in video.changes)
        print(f"\n### {video.label}, annotated by eye: {cuts} cuts, {len(video.changes) - cuts} gradual\n")
        print("\n".join(accuracy_table([video], {name: [done[place]] for name, done in runs.items()})))
    print("\n" + "\n".join(cost_table(videos, runs)))
    for name, done in runs.items():
        if listed and name.startswith("vttdata"):
            print(f"\n### Mistakes of {name}\n\n- " + "\n- ".join(mistakes(videos, done)))


if __name__ == "__main__":
    main()
