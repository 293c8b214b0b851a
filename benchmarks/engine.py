"""Cost of the engine itself for each item: pass it to a worker, take the result, store it, write the tables.

Run it alone: ``python benchmarks/engine.py [--executor NAME] [NUMBER ...]``. The stage does next to nothing, so all
time is the engine's; it is run on 5,000 and 20,000 sources, or other numbers of them, then again with nothing changed.
CPU seconds, without those for tables, and the peak of memory so far are those of this process, which schedules.
"""

from __future__ import annotations

import argparse
import resource
import tempfile
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from vttdata.media.filters import FilterSettings
from vttdata.pipeline.build_folder import write_tables
from vttdata.pipeline.engine import Engine
from vttdata.pipeline.executors import Executor, Tag, create_executor, executors
from vttdata.pipeline.journal import Journal
from vttdata.pipeline.stage import ItemResult, Stage
from vttdata.pipeline.stages.videos import Screen
from vttdata.records import Probe, Source

PROBE = Probe("mp4", "h264", "aac", "yuv420p", 640, 360, 0, 25.0, 0.0, 30.0, 750, 0, 1, *[None] * 5)


def make_sources(number: int) -> Iterator[Source]:
    """Yield sources that the stage keeps."""
    for index in range(number):
        yield Source(f"v{index:07d}", f"{index}.mp4", "listed", "0" * 64, 1000, probe=PROBE)


class InFlight(Executor):
    """Executor that counts the items that another one holds.

    Fields:
        most: greatest number so far.
    """

    description = "another executor"

    def __init__(self, executor: Executor) -> None:
        self.most = 0
        self._executor, self._now = executor, 0

    def run(self, stage: Stage, tasks: Iterable[tuple[Tag, Any]]) -> Iterator[tuple[Tag, ItemResult]]:
        """Pass tasks and results on."""
        for answer in self._executor.run(stage, self._count(tasks)):
            self._now -= 1
            yield answer

    def close(self) -> None:
        """Do nothing; the other one is closed by itself."""

    def _count(self, tasks: Iterable[tuple[Tag, Any]]) -> Iterator[tuple[Tag, Any]]:
        for task in tasks:
            self._now += 1
            self.most = max(self.most, self._now)
            yield task


def measure(executor_name: str, folder: Path, number: int, state: str) -> str:
    """Bring the stage up to date, and return what that took."""
    executor = create_executor(executor_name, 2)
    counter = InFlight(executor)
    started, busy = time.monotonic(), time.process_time()
    engine = Engine(folder / "stages", counter, Journal(folder / "journal.jsonl"), retry_failed=False, quiet=True)
    table = engine.run(Screen(FilterSettings()), make_sources(number))
    busy = (time.process_time() - busy) / number * 100_000
    write_tables(table, folder / "stages" / "screen", {})
    microseconds = (time.monotonic() - started) / number * 1e6
    executor.close()
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    return (
        f"{number:>9,} items, {state:<9} {microseconds:>6.0f} us an item, {busy:>6.1f} CPU s for 100,000, "
        f"{memory:>5} MiB, {table.tally.parts:>7,} parts, {counter.most} items in flight"
    )


def main() -> None:
    """Print a line for each run."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--executor", choices=executors(), default="local", help="where items run (default: local)")
    parser.add_argument("numbers", type=int, nargs="*", default=[5_000, 20_000], help="of items")
    options = parser.parse_args()
    for number in options.numbers:
        with tempfile.TemporaryDirectory() as folder:
            for state in ("new", "unchanged"):
                print(measure(options.executor, Path(folder), number, state), flush=True)


if __name__ == "__main__":
    main()
