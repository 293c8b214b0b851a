"""Compare `vttdata.media.cut` with ffmpeg commands in common use, on 60 spans of barcode videos.

Run `python benchmarks/cutting.py`. A cut is exact if the barcodes read from the clip are exactly those of
the frames in the span. CPU time includes subprocesses; its unit is a plain re-encode of the same spans with the same
encoder, size and quality.

`python benchmarks/cutting.py FILE...` measures the cost alone, on six spans of each file, both methods in turn: the
re-encode scales to the same size as the cut. Verification is reported by itself too, in the same unit.
"""

from __future__ import annotations

import random
import resource
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

import av
import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from tests.helpers.barcode import Movie, read_number, write_movies
from tests.helpers.cuts import read_shown, times_of
from vttdata.media.check_cut import verify_clip
from vttdata.media.cut import MediaSettings, clip_size, cut
from vttdata.media.ffmpeg_program import ffmpeg_path
from vttdata.media.probe import probe

SECONDS = 40
SPANS_PER_MOVIE = 12
COST_SPANS = 6
Cutter = Callable[[Path, float, float, Path], object]


def main() -> None:
    """Print a line for each method: exact spans of each movie and of all, and CPU time."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        movies = write_movies(folder, SECONDS, (320, 240))
        jobs = [(kind, movie, span) for kind, movie in movies.items() for span in spans(movie, kind)]
        for movie in movies.values():
            times_of(movie.path)
        rows = {method: measure(cutter, jobs, folder / "clip.mp4") for method, cutter in METHODS.items()}
    unit = rows["bare re-encode"][1]
    print("| method | " + " | ".join(movies) + f" | exact of {len(jobs)} | CPU |")
    print("|---" * (len(movies) + 3) + "|")
    for method, (exact, seconds) in rows.items():
        counts = [str(exact.count(kind)) for kind in movies]
        print(f"| {method} | {' | '.join(counts)} | {len(exact)} | {seconds / unit:.2f} |")
    print(f"\n{SPANS_PER_MOVIE} spans per movie; the unit of CPU time is {unit / len(jobs):.3f} s per span.")


def compare_cost(paths: Sequence[Path]) -> None:
    """Print the CPU time of cutting spans of each file in units of a bare re-encode, and that of its parts."""
    print("| file | s of clips | bare re-encode, CPU s | ends from packets | verified | vttdata cut |")
    print("|---|--:|--:|--:|--:|--:|")
    totals: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as name:
        for path in paths:
            costs = cost(path, Path(name) / "clip.mp4")
            totals += costs
            print_cost(path.name, costs)
    print_cost("all", totals)


def cost(path: Path, clip: Path) -> Counter[str]:
    """Return the CPU seconds of each method on all spans of a file, and the seconds of the clips."""
    probed, times, costs = probe(path), times_of(path), Counter[str]()
    columns, lines = clip_size(probed.width, probed.height, MediaSettings().height)
    with av.open(str(path)) as container:
        seconds = container.duration / 1_000_000
    draw = random.Random(path.name)
    for number in range(COST_SPANS):
        length = min(draw.uniform(10, 30), 0.8 * seconds)
        start = draw.uniform(0, seconds - length)
        end = start + length
        costs["seconds"] += length
        scaled = ("-vf", f"scale={columns}:{lines}", "-c:v", "libx264", "-crf", "23", "-c:a", "aac")
        span = (path, start, end)
        steps: list[tuple[str, Callable[[], object]]] = [
            ("bare", partial(_ffmpeg, path, clip, repr(start), repr(end - start), *scaled)),
            ("cut", partial(cut, path, probed, times, start, end, clip, MediaSettings())),
        ]
        for method, step in steps if number % 2 else reversed(steps):
            costs[method] += cpu_of(step)
        cut(path, probed, times, start, end, clip, MediaSettings())
        costs["span"] += cpu_of(partial(read_shown, *span))
        costs["check"] += cpu_of(partial(verify_clip, clip, read_shown(*span)))
    return costs


def print_cost(name: str, costs: Counter[str]) -> None:
    """Print a line of the table of costs."""
    shares = " | ".join(f"{costs[part] / costs['bare']:.2f}" for part in ("span", "check", "cut"))
    print(f"| {name} | {costs['seconds']:.0f} | {costs['bare']:.1f} | {shares} |", flush=True)


def cpu_of(step: Callable[[], object]) -> float:
    """Return the CPU seconds that a call takes, with its subprocesses."""
    begin = cpu_seconds()
    step()
    return cpu_seconds() - begin


def spans(movie: Movie, kind: str) -> list[tuple[float, float]]:
    """Return spans of 5 to 12 s that begin and end on frames, as shot boundaries do."""
    chosen = []
    for number in range(SPANS_PER_MOVIE):
        draw = random.Random(f"{kind} {number}")
        start = draw.uniform(0, movie.times[-1] - 13)
        inside = movie.inside(start, start + draw.uniform(5, 12))
        chosen.append((movie.times[inside[0]], movie.times[inside[-1] + 1]))
    return chosen


def measure(cutter: Cutter, jobs: list[tuple[str, Movie, tuple[float, float]]], clip: Path) -> tuple[list[str], float]:
    """Return the movie of each exact clip, and the CPU seconds of cutting all."""
    exact, seconds = [], 0.0
    for kind, movie, (start, end) in jobs:
        begin = cpu_seconds()
        cutter(movie.path, start, end, clip)
        seconds += cpu_seconds() - begin
        if read_all(clip) == movie.inside(start, end):
            exact.append(kind)
    return exact, seconds


def read_all(clip: Path) -> list[int]:
    """Return the numbers of the frames that a player shows, with the clip's rotation applied."""
    with av.open(str(clip)) as container:
        frames = list(container.decode(video=0))
    quarter_turns = frames[0].rotation // 90 if frames else 0
    return [read_number(np.rot90(frame.to_ndarray(format="gray"), quarter_turns)) for frame in frames]


def cpu_seconds() -> float:
    """Return the CPU time of this process and its finished children."""
    usages = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(usage.ru_utime + usage.ru_stime for usage in usages)


def ours(source: Path, start: float, end: float, clip: Path) -> None:
    """Cut with `vttdata.media.cut`, including its verification; `main` measured the source, as a build does."""
    cut(source, probe(source), times_of(source), start, end, clip, MediaSettings())


def bare(source: Path, start: float, end: float, clip: Path) -> None:
    """Re-encode with exact times, one thread and no verification."""
    _ffmpeg(source, clip, repr(start), repr(end - start), "-c:v", "libx264", "-crf", "23", "-c:a", "aac")


def rounded(source: Path, start: float, end: float, clip: Path) -> None:
    """Re-encode with times truncated to milliseconds."""
    times = (f"{int(start * 1000) / 1000:.3f}", f"{int(end * 1000) / 1000 - int(start * 1000) / 1000:.3f}")
    _ffmpeg(source, clip, *times, "-c:v", "libx264", "-crf", "23", "-c:a", "aac")


def copied(source: Path, start: float, end: float, clip: Path) -> None:
    """Copy the streams without re-encoding."""
    _ffmpeg(source, clip, repr(start), repr(end - start), "-c", "copy")


def _ffmpeg(source: Path, clip: Path, start: str, seconds: str, *coding: str) -> None:
    times = ("-ss", start, "-i", str(source), "-t", seconds)
    command = [ffmpeg_path(), "-y", "-v", "error", "-threads", "1", *times, *coding, "-threads:v", "1", str(clip)]
    subprocess.run(command, check=True, timeout=300)


METHODS: dict[str, Cutter] = {
    "vttdata cut, verified": ours,
    "bare re-encode": bare,
    "re-encode, times in whole milliseconds": rounded,
    "stream copy": copied,
}

if __name__ == "__main__":
    if files := [Path(argument) for argument in sys.argv[1:]]:
        compare_cost(files)
    else:
        main()
