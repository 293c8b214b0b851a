"""Throughput of the Ray executor against the local one, with two workers each, in turn on the same items.

Run it alone: ``python benchmarks/ray_throughput.py [--rounds 5]``. Items measure a drawn film of ten seconds, as a
build does; a second table has items that do nothing, whose time is all overhead. Workers have started before.
"""

from __future__ import annotations

import argparse
import dataclasses
import statistics
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Any

from vttdata.media.ffmpeg_program import ffmpeg_path
from vttdata.media.filters import FilterSettings
from vttdata.media.probe import probe
from vttdata.pipeline.executors import Executor, create_executor
from vttdata.pipeline.stage import Kept, Stage
from vttdata.pipeline.stages.sources import MeasureSources, Screen
from vttdata.pipeline.stages.stage_inputs import SourceFolders
from vttdata.records import Source


def seconds(executor: Executor, stage: Stage, source: Source, number: int) -> float:
    """Return the seconds that so many items take."""
    items = [((0, place), dataclasses.replace(source, source_id=f"v{place}")) for place in range(number)]
    started = time.monotonic()
    results: list[Any] = list(executor.run(stage, iter(items)))
    elapsed = time.monotonic() - started
    if not all(isinstance(result.outcomes[0], Kept) for _, result in results):
        raise SystemExit("an item failed")
    return elapsed


def main() -> None:
    """Print the medians of all rounds."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    executors = {name: create_executor(name, 2) for name in ("local", "ray")}
    with tempfile.TemporaryDirectory() as place:
        film = Path(place, "film.mp4")
        drawing = ["-f", "lavfi", "-i", "testsrc2=size=320x240:rate=25:duration=10", "-pix_fmt", "yuv420p"]
        subprocess.run([ffmpeg_path(), "-v", "error", *drawing, str(film)], check=True)
        source = Source("v", film.name, "listed", "0" * 64, film.stat().st_size, probe=probe(film))
        measure = MeasureSources("PyAV", SourceFolders(film.parent, film.parent))
        try:
            for stage, number in ((measure, 60), (Screen(FilterSettings()), 10_000)):
                times: dict[str, list[float]] = {name: [] for name in executors}
                for turn in range(options.rounds + 1):
                    for name, executor in executors.items():
                        elapsed = seconds(executor, stage, source, number if turn else 8)
                        if turn:
                            times[name].append(elapsed)
                for name, values in times.items():
                    print(f"{stage.name:<8} {name:<6} {statistics.median(values) / number * 1e3:8.2f} ms an item")
                ratio = statistics.median(a / b for a, b in zip(times["local"], times["ray"], strict=True))
                print(f"{stage.name:<8} throughput of ray {ratio:.2f} of local (median of {options.rounds} rounds)")
        finally:
            for executor in executors.values():
                executor.close()


if __name__ == "__main__":
    main()
