"""Cost of shards for builds of many sources, and what kills cost them.

``python benchmarks/shards.py scale [--sources N] [--shards N]`` passes sources through two stages that do next to
nothing: undivided, in one shard of many, and through the merge. ``python benchmarks/shards.py kill [--moments N]``
kills shards and their workers at random moments, then merges, and counts how often items were processed. Run it in the
root of the checkout.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import random
import resource
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.engine import make_sources
from vttdata.media.filters import FilterSettings
from vttdata.pipeline.engine import Engine
from vttdata.pipeline.executors import Executor, Tag
from vttdata.pipeline.executors.local import LocalExecutor
from vttdata.pipeline.journal import Journal
from vttdata.pipeline.shards import BuildShard, MergeEngine, MissingItemsError, PlanEngine, ShardEngine, UnmergedError
from vttdata.pipeline.stage import ItemResult, Kept, Outcome, Stage, process_item, runtime
from vttdata.pipeline.stages.videos import Duplicates, Filter, Screen
from vttdata.records import Source

KILLED_ITEMS = 400


class InProcess(Executor):
    """Run items in this process, so that all that is measured is the engine."""

    description = "in this process"

    def __init__(self, workers: int | None = None) -> None:
        """Take no notice of the number of workers."""

    def run(self, stage: Stage, tasks: Iterable[tuple[Tag, Any]]) -> Iterator[tuple[Tag, ItemResult]]:
        """Process the items in their order."""
        return ((tag, process_item(stage, item)) for tag, item in tasks)

    def close(self) -> None:
        """Do nothing."""


def build(engine: Engine, sources: int) -> int:
    """Run a stage, one that takes all items at once, and another; return the number of parts of the last."""
    different = (replace(source, sha256=source.source_id) for source in make_sources(sources))
    screened = engine.run(Screen(FilterSettings()), different)
    unique = engine.run(Duplicates(), screened)
    kept = engine.run(Filter(FilterSettings()), unique)
    return len(kept.keys) if sum(1 for _ in kept) == sources else 0


def scale(step: str, folder: Path, sources: int, shards: int) -> None:
    """Run one step in this process, and print what it took."""
    common = folder / "stages", InProcess(), Journal(folder / "journal")
    flags: dict[str, Any] = {"retry_failed": False, "quiet": True}
    engine: Engine
    if step == "undivided":
        engine = Engine(*common, **flags)
    elif step == "merge":
        engine = MergeEngine(*common, shards=shards, **flags)
    elif step == "plan":
        engine = PlanEngine(*common, BuildShard(1, shards), **flags)
    else:
        engine = ShardEngine(*common, BuildShard(1, shards if step == "shard" else 1), **flags)
    parts = 0
    with contextlib.suppress(UnmergedError, MissingItemsError):
        parts = build(engine, sources)
    usage = resource.getrusage(resource.RUSAGE_SELF)
    seconds = (usage.ru_utime + usage.ru_stime) * 100_000 / sources
    note = f", {parts:,} parts a stage" if parts else ""
    print(f"{step:<11} {seconds:>7.1f} CPU s for 100,000 sources, {usage.ru_maxrss // 1024:>6,} MiB{note}", flush=True)


@dataclass(frozen=True)
class Mark(Stage):
    """Note in a file that an item was processed, after some milliseconds of work."""

    name = "mark"
    output = Source
    shardable = True
    part_size = 64

    marks: Path = runtime()

    def process(self, item: Source) -> Iterator[Outcome]:
        """Keep the source."""
        time.sleep(0.005)
        with (self.marks / item.source_id).open("a") as stream:
            stream.write("x")
        yield Kept(item)


def work(folder: str, number: int, count: int) -> None:
    """Run one shard with two workers."""
    engine = ShardEngine(
        *(Path(folder) / "stages", LocalExecutor(2), Journal(Path(folder) / "journal"), BuildShard(number, count)),
        retry_failed=False,
        quiet=True,
    )
    engine.run(Mark(Path(folder) / "marks"), make_sources(KILLED_ITEMS))


def command(folder: Path, number: int, count: int) -> list[str]:
    """Return the command line of one shard; its workers have to import the stage from this module."""
    return [sys.executable, "-c", f"from benchmarks.shards import work; work({str(folder)!r}, {number}, {count})"]


def kill(folder: Path, moments: int, seed: int) -> None:
    """Kill shards, or one of their workers, at random moments; count what was processed more than once."""
    random_moments = random.Random(seed)
    (folder / "marks").mkdir()
    shard_kills = worker_kills = 0
    while True:
        count = random_moments.choice((1, 2, 7))
        for number in range(1, count + 1):
            process = subprocess.Popen(command(folder, number, count), start_new_session=True)
            before = len(list((folder / "marks").iterdir()))
            after = before + random_moments.randint(1, 25)
            # One shard may lose several workers before it is killed itself.
            while shard_kills + worker_kills < moments and process.poll() is None:
                if len(list((folder / "marks").iterdir())) < after:
                    time.sleep(0.002)
                    continue
                children = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
                if random_moments.random() < 0.3 and children:
                    os.kill(int(children[0]), signal.SIGKILL)
                    worker_kills += 1
                    after += random_moments.randint(1, 25)
                else:
                    process.kill()
                    shard_kills += 1
                    break
            process.wait()
        if shard_kills + worker_kills >= moments or len(list((folder / "marks").iterdir())) == KILLED_ITEMS:
            break
    for number in (1, 2):
        subprocess.run(command(folder, number, 2), check=True)
    engine = MergeEngine(
        *(folder / "stages", InProcess(), Journal(folder / "journal")), shards=2, retry_failed=False, quiet=True
    )
    kept = [source.source_id for source in engine.run(Mark(folder / "marks"), make_sources(KILLED_ITEMS))]
    again = sum(path.stat().st_size - 1 for path in (folder / "marks").iterdir())
    allowed = 2 * shard_kills + worker_kills
    print(
        f"{shard_kills} shards and {worker_kills} workers killed; {len(kept)} of {KILLED_ITEMS} items kept, {again} "
        f"processed again; {allowed} were in flight at most"
    )


def main() -> None:
    """Run one of the two measurements."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("measurement", choices=["scale", "kill", "step"])
    parser.add_argument("--sources", type=int, default=100_000, help="sources of scale (default: 100,000)")
    parser.add_argument("--shards", type=int, default=64, help="shards of scale (default: 64)")
    parser.add_argument("--moments", type=int, default=20, help="kills (default: 20)")
    parser.add_argument("--seed", type=int, default=1, help="of the moments (default: 1)")
    parser.add_argument("--folder", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--step", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.measurement == "step":
        scale(options.step, options.folder, options.sources, options.shards)
        return
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        if options.measurement == "kill":
            kill(folder, options.moments, options.seed)
            return
        steps = [("undivided", "whole")]
        steps += [(step, "shards") for step in ("plan", "shard", "all shards", "merge", "shard", "all shards", "merge")]
        for step, part in steps:
            (folder / part).mkdir(exist_ok=True)
            program = [sys.executable, __file__, "step", "--step", step, "--folder", str(folder / part)]
            sizes = ["--sources", str(options.sources), "--shards", str(options.shards)]
            subprocess.run([*program, *sizes], check=True)


if __name__ == "__main__":
    main()
