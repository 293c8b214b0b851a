"""Time and memory of finding near-duplicates, assigning splits and auditing them, as a benchmark grows.

Run it alone: ``python benchmarks/splits.py``. Each size runs in a process of its own: N clips of 0.7 N sources in 20
categories, whose fingerprints are drawn as in ``near_duplicates.py``, 2 % of them near-duplicates of another one.
``find`` looks for them, ``assign`` divides, ``audit`` reads Parquet files of the published layout, which are written
beforehand and not counted, and looks for near-duplicates again. ``MiB`` is the peak, the drawn material included.
"""

from __future__ import annotations

import argparse
import multiprocessing
import random
import resource
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeVar

import pyarrow as pa
import pyarrow.parquet as pq
from near_duplicates import draw_sources

from vttdata.dataset.leak_audit import audit_files
from vttdata.records import Clip, Fingerprint
from vttdata.split import SplitSettings, assign_splits
from vttdata.split.near_duplicates.matches import match_sources

T = TypeVar("T")
SETTINGS = SplitSettings(together=("source", "near_duplicate"), method="balanced")
ROWS_PER_GROUP = 2_000
WORDS = ["a man", "a woman", "a dog", "two people", "is singing", "is cooking", "plays", "talks", "a game", "in a car"]


def draw_clips(ids: Sequence[str], number: int, draw: random.Random) -> list[Clip]:
    """Draw clips of 10-20 s, at least one of each source."""
    source_ids = [*ids, *(draw.choice(ids) for _ in range(number - len(ids)))]
    starts = [draw.uniform(0, 600) for _ in source_ids]
    return [
        Clip(f"video{n:07d}", source, start, start + draw.uniform(10, 20), None, None, 3, category=f"c{n % 20}")
        for n, (source, start) in enumerate(zip(source_ids, starts, strict=True))
    ]


def draw_caption(draw: random.Random) -> str:
    """Draw a caption; one in seven occurs elsewhere too, as in MSR-VTT."""
    words = " ".join(draw.choices(WORDS, k=4))
    return words if draw.random() < 0.15 else f"{words} number {draw.getrandbits(40)}"


def write_parquet(path: Path, rows: Sequence[T], columns: Callable[[Sequence[T]], dict[str, list[Any]]]) -> Path:
    """Write rows as a Parquet file, a group at a time."""
    with pq.ParquetWriter(path, pa.table(columns(rows[:1])).schema) as writer:
        for first in range(0, len(rows), ROWS_PER_GROUP):
            writer.write_table(pa.table(columns(rows[first : first + ROWS_PER_GROUP])))
    return path


def measure(task: tuple[int, int]) -> str:
    """Return a line of the table."""
    number, captions = task
    draw = random.Random(2016)
    sources = [(name, prints) for name, prints, _ in draw_sources(number * 7 // 10, turned=0)]
    clips = draw_clips(sorted(name for name, _ in sources), number, draw)
    pairs, finding = timed(lambda: [(pair.source_a, pair.source_b) for pair in match_sources(sources).duplicates()])
    assignment, assigning = timed(lambda: assign_splits(clips, SETTINGS, seed=2016, pairs=pairs))
    with tempfile.TemporaryDirectory() as scratch:
        files: dict[str, dict[str, list[Path]]] = {"clips": {}, "sources": {}}
        for split in assignment.requested:
            members = [clip for clip in clips if assignment.split_of[clip.video_id] == split]
            used = {clip.source_id for clip in members}
            fingerprints = [source for source in sources if source[0] in used]
            files["clips"][split] = [
                write_parquet(Path(scratch, f"c-{split}"), members, lambda rows: clip_columns(rows, captions, draw))
            ]
            files["sources"][split] = [write_parquet(Path(scratch, f"s-{split}"), fingerprints, source_columns)]
        result, auditing = timed(lambda: audit_files(files))
    assert result.ok, "the audit found a leak in an assignment without any"
    assert result.closest is not None
    total = finding + assigning + auditing
    return (
        f"{number:>9,} {len(sources):>9,} {len(pairs):>7,} {finding:>8.1f} {assigning:>9.1f} {auditing:>8.1f} "
        f"{total:>8.1f} {peak():>7,} {assignment.largest_gap:>9.4%} {result.closest['similarity']:>8.2f}"
    )


def clip_columns(clips: Sequence[Clip], captions: int, draw: random.Random) -> dict[str, list[Any]]:
    """Return the columns of `clips` that an audit reads."""
    plain = {name: [getattr(clip, name) for clip in clips] for name in ("video_id", "source_id", "start", "end")}
    return plain | {"captions": [[draw_caption(draw) for _ in range(captions)] for _ in clips]}


def source_columns(sources: Sequence[tuple[str, Fingerprint]]) -> dict[str, list[Any]]:
    """Return the columns of `sources` that an audit reads."""
    ids, prints = zip(*sources, strict=True)
    return {"source_id": list(ids)} | {name: [getattr(p, name) for p in prints] for name in ("hash_scheme", "hashes")}


def timed(work: Callable[[], T]) -> tuple[T, float]:
    """Return the result of some work, and the seconds it took."""
    started = time.monotonic()
    result = work()
    return result, time.monotonic() - started


def peak() -> int:
    """Return the peak memory of this process so far, in MiB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024


def main() -> None:
    """Print a line for each size."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", type=int, nargs="+", default=[10_000, 100_000, 1_000_000], help="numbers of clips")
    parser.add_argument("--captions", type=int, default=1, help="captions a clip (default: 1)")
    options = parser.parse_args()
    print("    clips   sources   pairs  find, s assign, s audit, s total, s     MiB       gap  closest")
    for size in options.sizes:
        with multiprocessing.get_context("spawn").Pool(1) as pool:
            print(pool.apply(measure, ((size, options.captions),)), flush=True)


if __name__ == "__main__":
    main()
