"""Check stimuli and gains: an oracle, frames of every container, and the cost of a clip.

Run `python benchmarks/stimuli.py oracle`, `matrix` or `cost VIDEO...`.

- ``oracle``: films that are drawn to need colour, direction, order, speed or count, through `vttdata stimuli`, an
  oracle that sees the pictures, and `vttdata evaluate --conditions`.
- ``matrix``: pictures of every container and codec of `benchmarks/spans.py`, whose frames show their numbers.
- ``cost``: seconds and bytes of a clip by condition, and how many frames of it are decoded.
"""

from __future__ import annotations

import json
import resource
import sys
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from tests.helpers.drawn_questions import KINDS, OPTIONS, build_questions, draw_benchmark, write_oracle
from tests.helpers.stimulus_matrix import CODECS, try_codec
from vttdata.cli.main import main as vttdata
from vttdata.conditions import CONDITIONS, StimuliSettings
from vttdata.media.stimuli import ClipStimuli

_FILMS_A_KIND = 6


def main() -> None:
    """Run one of the parts."""
    parts = {"oracle": oracle, "matrix": matrix}
    if sys.argv[1:2] == ["cost"]:
        cost([Path(name) for name in sys.argv[2:]])
    else:
        parts[sys.argv[1]]()


def oracle() -> None:
    """Print the accuracy of the oracle by kind of question and condition, and its gains."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        films = draw_benchmark(folder, _FILMS_A_KIND)
        build_questions(folder)
        shown, report = folder / "shown", folder / "report"
        run("stimuli", str(folder / "build"), "--videos", str(folder), "--out", str(shown), "--quiet")
        write_oracle(films, shown, folder / "oracle")
        run("evaluate", str(folder / "build"), "--conditions", str(folder / "oracle"), "--out", str(report))
        values: dict[tuple[str, str], list[float]] = defaultdict(list)
        kinds = {film.name: film.kind for film in films}
        for line in (report / "items.jsonl").read_text().splitlines():
            row = json.loads(line)
            values[kinds[row["item"]], row["condition"]].append(row["value"])
        print(f"| condition | {' | '.join(KINDS)} |\n|---|{'--:|' * len(KINDS)}")
        for condition in CONDITIONS:
            cells = (f"{np.mean(values[kind, condition]):.3f}" if values[kind, condition] else "" for kind in KINDS)
            print(f"| {condition} | {' | '.join(cells)} |")
        print(f"\nguessing: {', '.join(f'{kind} {1 / len(OPTIONS[kind]):.3f}' for kind in KINDS)}")


def run(*arguments: str) -> None:
    """Run a command, which must end well."""
    if vttdata(arguments) != 0:
        sys.exit(f"vttdata {' '.join(arguments)} failed")


def matrix() -> None:
    """Print how many pictures of each container show the frame of the stated index, at the stated time."""
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    with ProcessPoolExecutor(2) as pool:
        for trials in pool.map(try_codec, CODECS):
            for container, outcome, number in trials:
                counts[container][outcome] += number
    outcomes = sorted({outcome for of_container in counts.values() for outcome in of_container})
    print(f"| container | {' | '.join(outcomes)} |\n|---|{'--:|' * len(outcomes)}")
    for container, of_container in counts.items():
        print(f"| {container} | {' | '.join(str(of_container[outcome]) for outcome in outcomes)} |")
    sys.exit(any("wrong" in outcome for of_container in counts.values() for outcome in of_container))


def cost(videos: Sequence[Path]) -> None:
    """Print the mean CPU seconds, those of ffmpeg among them, and bytes of a clip by condition, each made alone."""
    seconds: dict[str, list[float]] = defaultdict(list)
    sizes: dict[str, list[int]] = defaultdict(list)
    frames, settings = 0, StimuliSettings()
    with tempfile.TemporaryDirectory() as name:
        for video in videos:
            started = cpu_seconds()
            with ClipStimuli(video, settings, Path(name), Path(name)) as stimuli:
                seconds["decoding, once"].append(cpu_seconds() - started)
                frames += len(stimuli.clip.frames)
                for condition in ("muted", *CONDITIONS):
                    if condition not in sizes or len(sizes[condition]) < len(seconds["decoding, once"]):
                        started = cpu_seconds()
                        made = stimuli.write(video.stem, condition, video.stem)
                        seconds[condition].append(cpu_seconds() - started)
                        sizes[condition].append(made.bytes)
    print(f"{len(videos)} clips, {frames / len(videos):.0f} frames each")
    print("| condition | CPU seconds a clip | bytes a clip | hours of 10,000 clips on one core | GB of 10,000 clips |")
    print("|---|--:|--:|--:|--:|")
    for condition, of_clips in seconds.items():
        mean, size = float(np.mean(of_clips)), float(np.mean(sizes.get(condition, [0])))
        print(f"| {condition} | {mean:.3f} | {size:,.0f} | {mean * 1e4 / 3600:.2f} | {size / 1e5:.2f} |")


def cpu_seconds() -> float:
    """Return the CPU time of this process and of the programs that it ran."""
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + children.ru_utime + children.ru_stime


if __name__ == "__main__":
    main()
