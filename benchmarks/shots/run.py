"""Measure shot detectors on composed videos with known truth and on annotated real ones, side by side in one run.

Run `python benchmarks/shots/run.py [FOLDER] [--quick] [--half tune|report]`; the videos are made in FOLDER if they are
not there. Detectors are tuned on the half `tune` and reported on `report`, which share no footage. `--hard NUMBER`
measures on that many videos of each hard case instead (`benchmarks.shots.hard_cases`), `--real` on real footage whose
boundaries were judged by eye, and `--single FILE` on further files, of one shot each. `--overlays NUMBER` measures on
that many films under each overlay (`benchmarks.shots.overlay_cases`).

Cuts count as found at most one frame off, gradual transitions anywhere inside their extent or one frame beside it;
every prediction matches one truth at most, and one that matches none is false. CPU is user and system time of the
process and its children, without starting and ending Python and importing; its unit, like that of time, is a bare
decode of the same files by ffmpeg with one thread. Videos are measured one after another, the bare decode before and
after each.
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import get_args

sys.path.append(str(Path(__file__).resolve().parents[2]))

from benchmarks.shots.annotated import Video, annotated, composed, real_video
from benchmarks.shots.detectors import BARE, DECODES, names, program, python_command, read_program
from benchmarks.shots.footage import Half
from benchmarks.shots.generate import add_arguments, generate, selected_jobs
from benchmarks.shots.hard_cases import CASES, write_hard_cases
from benchmarks.shots.overlay_cases import OVERLAYS
from vttdata.media.shots.scoring import Change, Score, match, score, score_by_kind

TOLERANCE = 1
_HERE = Path(__file__).resolve().parent


@dataclass(frozen=True, slots=True)
class Run:
    """Result of a detector on a video: first frames and transitions of the shots, seconds, peak memory in MiB."""

    frames: tuple[int, ...]
    kinds: tuple[str, ...]
    cpu: float
    wall: float
    memory: float
    error: str = ""


def measure(detector: str, path: Path) -> Run:
    """Run a detector on a video in a process of its own."""
    program_command = program(detector, path)
    command = program_command or python_command(detector, path)
    watched = [sys.executable, "-I", "-S", str(_HERE / "watch.py"), *command]
    watched_run = json.loads(subprocess.run(watched, stdout=subprocess.PIPE, text=True, check=True).stdout)
    cpu, wall, memory = watched_run["cpu"], watched_run["wall"], watched_run["memory"]
    if watched_run["code"]:
        return Run((), (), cpu, wall, memory, (watched_run["errors"].strip().splitlines() or ["no reason given"])[-1])
    if program_command:
        frames, kinds = read_program(watched_run["printed"])
        return Run(tuple(frames), tuple(kinds), cpu, wall, memory)
    printed = json.loads(watched_run["printed"].splitlines()[-1])
    return Run(tuple(printed["frames"]), tuple(printed["kinds"]), printed["cpu"], printed["wall"], memory)


def measure_all(videos: Sequence[Video], detectors: Sequence[str]) -> dict[str, list[Run]]:
    """Run all detectors on all videos; the bare decode is the mean of one run before and one after the others."""
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
    """Yield the lines of a Markdown table with a row for each detector."""
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
        numbers = [getattr(score, name) for score in (cuts, gradual) for name in ("f1", "precision", "recall")]
        shares = " | ".join(f"{number:.3f}" for number in numbers)
        yield f"| {detector} | {shares} | {cuts.fp / hours:.0f} | {costs} | {failed} |"


def cost_table(videos: Sequence[Video], runs: dict[str, list[Run]]) -> Iterable[str]:
    """Yield the lines of a Markdown table: CPU of each detector on each video, over that of the bare decode."""
    detectors = [detector for detector in runs if detector != BARE]
    yield "| CPU on | " + " | ".join(detectors) + " | bare decode, s |"
    yield "|---|" + "--:|" * (len(detectors) + 1)
    for index, video in enumerate(videos):
        ratios = [_ratio([runs[detector][index]], [runs[BARE][index]], "cpu") for detector in detectors]
        cells = " | ".join(f"{ratio:.2f}" for ratio in ratios)
        yield f"| {video.label} | {cells} | {runs[BARE][index].cpu:.2f} |"


def scores(videos: Sequence[Video], done: Sequence[Run]) -> tuple[Score, Score]:
    """Return a detector's scores for cuts and for gradual transitions, counts summed over the videos."""
    cuts, gradual = Score(), Score()
    for video, run in zip(videos, done, strict=True):
        cuts_of_video, gradual_of_video = score_by_kind(video.changes, predicted(run), TOLERANCE)
        cuts, gradual = cuts + cuts_of_video, gradual + gradual_of_video
    return cuts, gradual


def predicted(run: Run) -> list[Change]:
    """Return the changes that a detector reports."""
    return [Change(frame, frame) for frame in run.frames]


def counts_table(videos: Sequence[Video], runs: dict[str, list[Run]], row_of: Callable[[Video], str]) -> Iterable[str]:
    """Yield the lines of a Markdown table with a row for each value of `row_of`: false and missed boundaries."""
    detectors = [detector for detector in runs if detector not in DECODES]
    yield "| | seconds | boundaries | " + " | ".join(f"{detector}: false, missed" for detector in detectors) + " |"
    yield "|---|" + "--:|" * (len(detectors) + 2)
    for row in dict.fromkeys(map(row_of, videos)):
        members = [index for index, video in enumerate(videos) if row_of(video) == row]
        cells = []
        for detector in detectors:
            counts = [score(videos[index].changes, predicted(runs[detector][index]), TOLERANCE) for index in members]
            total = sum(counts, Score())
            failed = sum(bool(runs[detector][index].error) for index in members)
            cells.append(f"{total.fp}, {total.fn}" + (f" ({failed} refused)" if failed else ""))
        seconds = sum(videos[index].seconds for index in members)
        count = sum(len(videos[index].changes) for index in members)
        yield f"| {row} | {seconds:.0f} | {count} | " + " | ".join(cells) + " |"


def recall_table(videos: Sequence[Video], runs: dict[str, list[Run]]) -> Iterable[str]:
    """Yield the lines of a Markdown table with a row for each kind of change: how many each detector finds."""
    detectors = [detector for detector in runs if detector not in DECODES]
    counts = Counter(video.kind(index) for video in videos for index in range(len(video.changes)))
    hits = {
        detector: Counter(
            video.kind(index)
            for video, run in zip(videos, runs[detector], strict=True)
            for index, _ in match(video.changes, predicted(run), TOLERANCE)
        )
        for detector in detectors
    }
    yield "| found | of | " + " | ".join(detectors) + " |"
    yield "|---|" + "--:|" * (len(detectors) + 1)
    for kind, count in counts.most_common():
        yield f"| {kind} | {count} | " + " | ".join(str(hits[detector][kind]) for detector in detectors) + " |"


def mistakes(videos: Sequence[Video], done: Sequence[Run]) -> Iterable[str]:
    """Yield a line for each change that a detector missed or added, with what was planned there."""
    for video, run in zip(videos, done, strict=True):
        pairs = list(match(video.changes, predicted(run), TOLERANCE))
        matched_changes, matched_frames = {index for index, _ in pairs}, {index for _, index in pairs}
        for change in (change for index, change in enumerate(video.changes) if index not in matched_changes):
            yield f"{video.label}: missed {change.first}-{change.last} {video.describe(change.first)}"
        for index, (frame, transition) in enumerate(zip(run.frames, run.kinds, strict=True)):
            if index not in matched_frames:
                yield f"{video.label}: added {frame} ({transition}) {video.describe(frame)}"
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
    parser.add_argument("--hard", type=int, metavar="NUMBER", help="measure on this many videos of each hard case")
    parser.add_argument("--overlays", type=int, metavar="NUMBER", help="measure on this many films under each overlay")
    parser.add_argument(
        "--case", action="append", choices=[*CASES, *OVERLAYS], help="a hard case or an overlay; default: all"
    )
    parser.add_argument("--real", action="store_true", help="measure on real footage judged by eye")
    parser.add_argument("--single", type=Path, action="append", metavar="FILE", help="a real video of one shot")
    options = parser.parse_args()
    detectors = [name for name in options.only or names() if name != BARE]
    halves = options.half or get_args(Half)
    if options.real or options.single:
        pairs = [annotated(half, options.footage) for half in halves] if options.real else []
        first_files = [*itertools.chain(*(first for first, _ in pairs)), *map(real_video, options.single or ())]
        _report("real footage", first_files, detectors, listed=options.mistakes)
        _report(
            "other files of it",
            list(itertools.chain(*(others for _, others in pairs))),
            detectors,
            listed=options.mistakes,
        )
        return
    per_case, cases = (options.overlays, OVERLAYS) if options.overlays else (options.hard, CASES)
    drawn = {name: draw for name, draw in cases.items() if not options.case or name in options.case}
    for half in halves:
        if per_case:
            paths = write_hard_cases(half, options.footage, options.folder, seed=options.seed, per_case=per_case,
                                     workers=os.cpu_count() or 1, cases=drawn)  # fmt: skip
        else:
            jobs = [job for job in selected_jobs(options) if job.plan.name.startswith(half)]
            paths = generate(jobs, os.cpu_count() or 1)
        _report(half, [composed(path) for path in paths], detectors, by_case=bool(per_case), listed=options.mistakes)


def _report(
    title: str, videos: Sequence[Video], detectors: Sequence[str], *, by_case: bool = False, listed: bool
) -> None:
    """Measure and print the tables; with a row for each hard case or each video."""
    if not videos:
        return
    runs = measure_all(videos, detectors)
    cuts = sum(change.is_cut for video in videos for change in video.changes)
    gradual = sum(len(video.changes) for video in videos) - cuts
    minutes = sum(video.seconds for video in videos) / 60
    print(f"\n## {title}: {len(videos)} videos, {minutes:.1f} minutes, {cuts} cuts, {gradual} gradual\n")
    tables = [accuracy_table(videos, runs), recall_table(videos, runs)]
    tables.append(counts_table(videos, runs, lambda video: video.planned["shots"][0][1] if by_case else video.label))
    if not by_case:
        tables.append(cost_table(videos, runs))
    print("\n\n".join("\n".join(table) for table in tables))
    for name, done in runs.items():
        if listed and name.startswith("vttdata"):
            print(f"\n### Mistakes of {name}\n\n- " + "\n- ".join(mistakes(videos, done)))


if __name__ == "__main__":
    main()
