"""What comparing two versions of a dataset costs as its captions grow in number.

Run it alone: ``python benchmarks/differences.py``. Each size runs in a process of its own, on drawn captions of 3-30
words, 20 a clip; of the newer version one in a hundred is changed, one in a hundred is in another split, one in a
hundred is gone, and as many are new. ``MiB`` is what the process holds at most, and what it holds before it begins.
``--folders OLD NEW`` compares these instead.
"""

from __future__ import annotations

import argparse
import multiprocessing
import random
import resource
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from vttdata.dataset import Metadata
from vttdata.dataset.columns import CAPTIONS, arrow_schema
from vttdata.dataset.front_matter import format_front_matter
from vttdata.dataset.shards import write_split
from vttdata.publish.diff import compare_datasets


def rows(number: int, split: str, *, newer: bool) -> Iterator[dict[str, Any]]:
    """The captions of a split of the older or the newer version."""
    draw = random.Random(2016)
    words = [f"{draw.choice('bcdfgklmnprst')}{draw.choice('aeiou')}{n}" for n in range(30_000)]
    for place in range(number):
        text = " ".join(draw.choices(words, k=min(30, 3 + int(draw.expovariate(1 / 7)))))
        kind, name = place % 100, place
        if newer and kind == 0:
            text += " indeed"
        if newer and kind == 1:
            name += number
        home = "train" if place < number * 0.65 else "test"
        if newer and kind == 2:
            home = "test" if home == "train" else "train"
        if home == split:
            row = {"video_id": f"video{name // 20}", "sen_id": name, "caption": text, "annotator": f"w{name % 977}"}
            yield row | {"language": "en", "author": "human"}


def write(folder: Path, number: int, *, newer: bool) -> None:
    """A dataset folder of captions only."""
    folder.mkdir()
    schema = arrow_schema(CAPTIONS, ())
    written = [
        write_split(folder, "captions", split, schema, rows(number, split, newer=newer)) for split in ("train", "test")
    ]
    head = format_front_matter({"captions": [own for own in written if own]}, (), Metadata("local/drawn"))
    (folder / "README.md").write_text(head, encoding="utf-8")


def peak() -> float:
    """The most memory that this process held, in MiB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def measure(old: Path, new: Path, results: Any) -> None:
    """Compare two folders and send the seconds and memory it took."""
    before = peak()
    start = time.perf_counter()
    found = compare_datasets(old, new)
    results.put((time.perf_counter() - start, before, peak(), found.as_lines()))


def report(label: str, old: Path, new: Path) -> None:
    """Measure in a fresh process and print a line."""
    context = multiprocessing.get_context("spawn")
    results = context.Queue()
    process = context.Process(target=measure, args=(old, new, results))
    process.start()
    seconds, before, most, lines = results.get()
    process.join()
    print(f"{label:>10} {seconds:>8.2f} s {most:>7.0f} MiB ({before:.0f} before)", flush=True)
    for line in lines:
        print(f"           {line[:150]}")


def main() -> None:
    """Print a line for each size."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sizes", type=int, nargs="+", default=[20_000, 200_000, 1_000_000])
    parser.add_argument("--folders", type=Path, nargs=2, metavar=("OLD", "NEW"))
    options = parser.parse_args()
    if options.folders:
        report("folders", *options.folders)
        return
    for size in options.sizes:
        with tempfile.TemporaryDirectory() as place:
            old, new = Path(place, "old"), Path(place, "new")
            write(old, size, newer=False)
            write(new, size, newer=True)
            report(f"{size:,}", old, new)


if __name__ == "__main__":
    main()
