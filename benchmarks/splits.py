"""What dividing and auditing costs as a benchmark grows, with near-duplicates planted.

Run it alone: ``python benchmarks/splits.py``. Each size runs in a process of its own: N clips of 0.7 N sources in 20
categories, 2 % of the sources near-duplicates of another one, their pairs given (finding them is measured elsewhere).
``assign`` contains another ``group``; ``audit`` reads Parquet files of the published layout, which are written
beforehand and not counted. ``MiB then`` is the peak of memory after assigning, with all clips as records.
"""

from __future__ import annotations

import argparse
import multiprocessing
import random
import resource
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import pyarrow as pa
import pyarrow.parquet as pq

from vttdata.publish.audited import audit_files
from vttdata.records import Clip
from vttdata.split import Resemblance, SplitSettings, assign_splits, group_clips

T = TypeVar("T")
TOGETHER = ("source", "near_duplicate")
ROWS_PER_GROUP = 2_000
WORDS = ["a man", "a woman", "a dog", "two people", "is singing", "is cooking", "plays", "talks", "a game", "in a car"]


@dataclass(frozen=True)
class Planted:
    """A near-duplicate pair that is given."""

    one: str
    other: str
    offset: float = 0.0
    overlap: float = 10.0
    distance: float = 0.05


def material(number: int, draw: random.Random) -> tuple[list[Clip], list[Planted]]:
    """So many clips of 10-20 s, and the planted pairs."""
    sources = number * 7 // 10
    of = list(range(sources)) + [draw.randrange(sources) for _ in range(number - sources)]
    starts = [draw.uniform(0, 600) for _ in of]
    clips = [
        Clip(
            f"video{n:07d}", f"source{s:07d}", start, start + draw.uniform(10, 20), None, None, 3, category=f"c{s % 20}"
        )
        for n, (s, start) in enumerate(zip(of, starts, strict=True))
    ]
    copies = draw.sample(range(sources), sources // 50)
    return clips, [Planted(f"source{c:07d}", f"source{draw.randrange(sources):07d}") for c in copies]


def sentence(draw: random.Random) -> str:
    """A caption; one in seven stands elsewhere too, as in MSR-VTT."""
    words = " ".join(draw.choices(WORDS, k=4))
    return words if draw.random() < 0.15 else f"{words} number {draw.getrandbits(40)}"


def write(folder: Path, clips: list[Clip], split_of: dict[str, str], captions: int, draw: random.Random) -> Path:
    """A Parquet file of `clips` for each split; returns the folder."""
    for split in ("train", "validation", "test"):
        own = [clip for clip in clips if split_of[clip.video_id] == split]
        with pq.ParquetWriter(folder / f"{split}.parquet", pa.table(columns(own[:1], captions, draw)).schema) as writer:
            for first in range(0, len(own), ROWS_PER_GROUP):
                writer.write_table(pa.table(columns(own[first : first + ROWS_PER_GROUP], captions, draw)))
    return folder


def columns(clips: list[Clip], captions: int, draw: random.Random) -> dict[str, list[object]]:
    """The columns that an audit reads."""
    plain = {name: [getattr(clip, name) for clip in clips] for name in ("video_id", "source_id", "start", "end")}
    return plain | {"captions": [[sentence(draw) for _ in range(captions)] for _ in clips]}


def measure(task: tuple[int, int]) -> str:
    """One line of the table."""
    number, captions = task
    draw = random.Random(2016)
    clips, planted = material(number, draw)
    pairs = [(pair.one, pair.other) for pair in planted]
    _, grouping = timed(lambda: group_clips(clips, TOGETHER, pairs))
    settings = SplitSettings(together=TOGETHER)
    assignment, assigning = timed(lambda: assign_splits(clips, settings, seed=2016, pairs=pairs))
    memory = peak()
    with tempfile.TemporaryDirectory() as scratch:
        folder = write(Path(scratch), clips, assignment.split_of, captions, draw)
        files = {split: [folder / f"{split}.parquet"] for split in assignment.asked}
        found, auditing = timed(lambda: audit_files(files, near=Resemblance(planted)))
    assert found.ok, "the audit found a leak in an assignment without any"
    return (
        f"{number:>9,} {number * captions:>11,} {grouping:>9.2f} {assigning:>9.2f} {auditing:>9.2f} {memory:>9,} "
        f"{peak():>9,} {assignment.largest_gap:>10.5%}"
    )


def timed(work: Callable[[], T]) -> tuple[T, float]:
    """What some work gives, and the seconds it takes."""
    started = time.monotonic()
    result = work()
    return result, time.monotonic() - started


def peak() -> int:
    """The most memory this process had so far, MiB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024


def main() -> None:
    """Print one line a size."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", type=int, nargs="+", default=[10_000, 100_000, 1_000_000], help="numbers of clips")
    parser.add_argument("--captions", type=int, default=1, help="captions a clip (default: 1)")
    options = parser.parse_args()
    heads = ("group, s", "assign, s", "audit, s", "MiB then", "MiB peak")
    print(f"{'clips':>9} {'captions':>11} {' '.join(head.rjust(9) for head in heads)} {'gap':>10}")
    for size in options.sizes:
        with multiprocessing.get_context("spawn").Pool(1) as pool:
            print(pool.apply(measure, ((size, options.captions),)), flush=True)


if __name__ == "__main__":
    main()
