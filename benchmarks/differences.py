"""Measure time and memory of comparing two versions of a dataset.

Run nothing else meanwhile. Each size runs in a separate process, on random captions of 3-30 words, 20 per clip. In the
newer version 1 % of the captions are changed, 1 % are in another split, 1 % are removed, and as many are added. ``MiB``
is the peak memory of the process, and its memory before the comparison. ``--folders OLD NEW`` compares two folders
instead.
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
from vttdata.dataset.columns import columns_of, table_schema
from vttdata.dataset.front_matter import format_front_matter
from vttdata.dataset.shards import write_split
from vttdata.publish.diff import compare_datasets


def rows(number: int, split: str, *, newer: bool) -> Iterator[dict[str, Any]]:
    """Yield the captions of a split of the older or newer version."""
    draw = random.Random(2016)
    words = [f"{draw.choice('bcdfgklmnprst')}{draw.choice('aeiou')}{n}" for n in range(30_000)]
    for index in range(number):
        text = " ".join(draw.choices(words, k=min(30, 3 + int(draw.expovariate(1 / 7)))))
        change, name = index % 100, index
        if newer and change == 0:
            text += " indeed"
        if newer and change == 1:
            name += number
        current = "train" if index < number * 0.65 else "test"
        if newer and change == 2:
            current = "test" if current == "train" else "train"
        if current == split:
            row = {"video_id": f"video{name // 20}", "sen_id": name, "caption": text, "annotator": f"w{name % 977}"}
            yield row | {"language": "en", "author": "human"}


def write(folder: Path, number: int, *, newer: bool) -> None:
    """Write a dataset folder with captions only."""
    folder.mkdir()
    schema = table_schema(columns_of("captions"), ())
    written = [
        write_split(folder, "captions", split, schema, rows(number, split, newer=newer)) for split in ("train", "test")
    ]
    head = format_front_matter({"captions": [files for files in written if files]}, (), Metadata("local/drawn"))
    (folder / "README.md").write_text(head, encoding="utf-8")


def peak() -> float:
    """Return the peak memory of this process in MiB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def measure(old: Path, new: Path, results: Any) -> None:
    """Compare two folders and send seconds, memory and differences."""
    before = peak()
    start = time.perf_counter()
    difference = compare_datasets(old, new)
    results.put((time.perf_counter() - start, before, peak(), difference.as_lines()))


def report(label: str, old: Path, new: Path) -> None:
    """Measure in a new process and print a line."""
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
        with tempfile.TemporaryDirectory() as folder:
            old, new = Path(folder, "old"), Path(folder, "new")
            write(old, size, newer=False)
            write(new, size, newer=True)
            report(f"{size:,}", old, new)


if __name__ == "__main__":
    main()
