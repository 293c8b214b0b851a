"""Throughput of the Ray executor against the local one, with two workers each, in turn on the same items.

Run it alone: ``python benchmarks/ray_throughput.py [--rounds 5]``. Items measure a drawn film of ten seconds, as a
build does, and then do nothing, so that all their time is overhead. Workers have started before. CPU time is that of
this process and of all that it has started for the executor, Ray's own processes among them.
"""

from __future__ import annotations

import argparse
import contextlib
import dataclasses
import os
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
from vttdata.pipeline.stages.videos import MeasureSources, Screen, SourceFolders
from vttdata.records import Source


def cpu_seconds(name: str) -> float:
    """Return the CPU seconds so far of this process and of those that it has started for an executor."""
    parents: dict[int, int] = {}
    ticks: dict[int, int] = {}
    for path in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            fields = (path / "stat").read_text().rpartition(")")[2].split()
            parents[int(path.name)] = int(fields[1])
            ticks[int(path.name)] = sum(map(int, fields[11:15]))

    def sort(pid: int) -> str:
        """Return the executor whose process it is; empty for the process of another program."""
        if parents.get(pid) == os.getpid():
            with contextlib.suppress(OSError):
                return "local" if b"executors.local" in Path(f"/proc/{pid}/cmdline").read_bytes() else "ray"
        return sort(parents[pid]) if pid in parents else ""

    total = time.process_time() * os.sysconf("SC_CLK_TCK") + sum(ticks[pid] for pid in ticks if sort(pid) == name)
    return total / os.sysconf("SC_CLK_TCK")


def measure_run(name: str, executor: Executor, stage: Stage, source: Source, number: int) -> tuple[float, float]:
    """Return the wall-clock and CPU seconds that so many items take."""
    items = [((0, index), dataclasses.replace(source, source_id=f"v{index}")) for index in range(number)]
    started, cpu_started = time.monotonic(), cpu_seconds(name)
    results: list[Any] = list(executor.run(stage, iter(items)))
    elapsed, cpu = time.monotonic() - started, cpu_seconds(name) - cpu_started
    if not all(isinstance(result.outcomes[0], Kept) for _, result in results):
        raise SystemExit("an item failed")
    return elapsed, cpu


def main() -> None:
    """Print the medians of all rounds."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    executors = {name: create_executor(name, 2) for name in ("local", "ray")}
    with tempfile.TemporaryDirectory() as scratch:
        film = Path(scratch, "film.mp4")
        drawing = ["-f", "lavfi", "-i", "testsrc2=size=320x240:rate=25:duration=10", "-pix_fmt", "yuv420p"]
        subprocess.run([ffmpeg_path(), "-v", "error", *drawing, str(film)], check=True)
        source = Source("v", film.name, "listed", "0" * 64, film.stat().st_size, probe=probe(film))
        measure = MeasureSources("PyAV", SourceFolders(film.parent, film.parent), Path(scratch))
        try:
            for stage, number in ((measure, 60), (Screen(FilterSettings()), 10_000)):
                times: dict[str, list[tuple[float, float]]] = {name: [] for name in executors}
                for turn in range(options.rounds + 1):
                    for name, executor in executors.items():
                        taken = measure_run(name, executor, stage, source, number if turn else 8)
                        if turn:
                            times[name].append(taken)
                for name, values in times.items():
                    elapsed, cpu = (statistics.median(value) / number * 1e3 for value in zip(*values, strict=True))
                    print(f"{stage.name:<8} {name:<6} {elapsed:8.2f} ms an item, {cpu:8.2f} ms of CPU")
                ratio = statistics.median(a[0] / b[0] for a, b in zip(times["local"], times["ray"], strict=True))
                print(f"{stage.name:<8} throughput of ray {ratio:.2f} of local (median of {options.rounds} rounds)")
        finally:
            for executor in executors.values():
                executor.close()


if __name__ == "__main__":
    main()
