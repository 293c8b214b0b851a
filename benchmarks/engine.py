"""What the engine itself costs an item: hand it to a worker, take the answer, store it, write the tables.

Run it alone: ``python benchmarks/engine.py``. The stage does next to nothing, so all time is the engine's; it is run on
5,000 and on 20,000 sources, then again with nothing changed. The last column is the peak memory of the process so far.
"""

from __future__ import annotations

import resource
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from vttdata.media.filters import FilterSettings
from vttdata.pipeline.engine import Engine
from vttdata.pipeline.executors.local import LocalExecutor
from vttdata.pipeline.journal import Journal
from vttdata.pipeline.stages.sources import Screen
from vttdata.pipeline.tables import write_tables
from vttdata.records import Probe, Source

PROBE = Probe("mp4", "h264", "aac", "yuv420p", 640, 360, 0, 25.0, 0.0, 30.0, 750, 0, 1)


def sources(number: int) -> Iterator[Source]:
    """So many sources that all pass."""
    for place in range(number):
        yield Source(f"v{place:07d}", f"{place}.mp4", "listed", "0" * 64, 1000, probe=PROBE)


def run(folder: Path, number: int) -> float:
    """Seconds that bringing the stage up to date takes."""
    executor = LocalExecutor(2)
    started = time.monotonic()
    engine = Engine(folder / "stages", executor, Journal(folder / "journal.jsonl"), retry_failed=False, quiet=True)
    write_tables(engine.run(Screen(FilterSettings()), sources(number)), folder / "stages" / "screen")
    seconds = time.monotonic() - started
    executor.close()
    return seconds


def main() -> None:
    """Print one line a run."""
    for number in (5_000, 20_000):
        with tempfile.TemporaryDirectory() as folder:
            for what in ("new", "unchanged"):
                cost = run(Path(folder), number) / number * 1e6
                memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
                print(f"{number:>7} items, {what:<9} {cost:>6.0f} us an item {memory:>5} MiB")


if __name__ == "__main__":
    main()
