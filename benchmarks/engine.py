"""Cost of the engine itself for each item: pass it to a worker, take the result, store it, write the tables.

Run it alone: ``python benchmarks/engine.py [--executor NAME]``. The stage does next to nothing, so all time is the
engine's; it is run on 5,000 and on 20,000 sources, then again with nothing changed. The last column is the peak memory
of this process so far.
"""

from __future__ import annotations

import argparse
import resource
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from vttdata.media.filters import FilterSettings
from vttdata.pipeline.engine import Engine
from vttdata.pipeline.executors import create_executor, executors
from vttdata.pipeline.journal import Journal
from vttdata.pipeline.stage_tables import write_tables
from vttdata.pipeline.stages.sources import Screen
from vttdata.records import Probe, Source

PROBE = Probe("mp4", "h264", "aac", "yuv420p", 640, 360, 0, 25.0, 0.0, 30.0, 750, 0, 1)


def make_sources(number: int) -> Iterator[Source]:
    """Yield sources that the stage keeps."""
    for index in range(number):
        yield Source(f"v{index:07d}", f"{index}.mp4", "listed", "0" * 64, 1000, probe=PROBE)


def measure(executor_name: str, folder: Path, number: int) -> float:
    """Return the seconds that bringing the stage up to date takes."""
    executor = create_executor(executor_name, 2)
    started = time.monotonic()
    engine = Engine(folder / "stages", executor, Journal(folder / "journal.jsonl"), retry_failed=False, quiet=True)
    write_tables(engine.run(Screen(FilterSettings()), make_sources(number)), folder / "stages" / "screen", {})
    seconds = time.monotonic() - started
    executor.close()
    return seconds


def main() -> None:
    """Print a line for each run."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--executor", choices=executors(), default="local", help="where items run (default: local)")
    options = parser.parse_args()
    for number in (5_000, 20_000):
        with tempfile.TemporaryDirectory() as folder:
            for state in ("new", "unchanged"):
                microseconds = measure(options.executor, Path(folder), number) / number * 1e6
                memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
                print(f"{number:>7} items, {state:<9} {microseconds:>6.0f} us an item {memory:>5} MiB")


if __name__ == "__main__":
    main()
