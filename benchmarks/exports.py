"""Measure time, memory and output size of each export as a dataset grows.

Run nothing else meanwhile. Each export runs in a separate process, on a dataset of random captions with three splits
and a protocol, or on the dataset given by ``--dataset FOLDER``. ``MiB`` is the peak memory of the process beyond what
it had after its imports.
"""

from __future__ import annotations

import argparse
import csv
import multiprocessing
import random
import resource
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from vttdata.dataset import Metadata, OfficialLayout, write_dataset
from vttdata.export import export, export_formats
from vttdata.export.reader import CaptionCounts, DatasetReader
from vttdata.records import Caption, Clip, Source


def make_clip(number: int) -> Clip:
    """Make a clip; of ten, seven are for training and two for testing."""
    split = "train" if number % 10 < 7 else "test" if number % 10 < 9 else "validation"
    url = f"https://www.youtube.com/watch?v={number:011d}"
    return Clip(f"video{number}", f"{number:011d}", 1.5, 16.25, None, None, None, url, "music", split=split)


def random_captions(clips: int, captions: int) -> Iterator[Caption]:
    """Yield captions of 3-30 random words."""
    draw = random.Random(2016)
    words = [f"{draw.choice('bcdfgklmnprst')}{draw.choice('aeiou')}{n}" for n in range(30_000)]
    for number in range(clips * captions):
        text = " ".join(draw.choices(words, k=min(30, 3 + int(draw.expovariate(1 / 7)))))
        yield Caption(f"video{number // captions}", number, text)


def write_random_dataset(folder: Path, clips: int, captions: int) -> None:
    """Write a dataset of random captions."""
    all_clips = [make_clip(number) for number in range(clips)]
    sources = (Source(clip.source_id, "", "nowhere", "", 0) for clip in all_clips)
    protocols = {"tenth": {"test": [clip.video_id for clip in all_clips[::10]]}}
    layout = OfficialLayout(categories=("music",), protocols=protocols)
    records = {"clips": all_clips, "captions": random_captions(clips, captions), "sources": sources}
    write_dataset(folder, **records, metadata=Metadata("me/drawn"), media=None, official=layout)


def write_system_captions(folder: Path, path: Path) -> None:
    """Write captions of a system that repeats one reference of each clip of the test split."""
    with path.open("w", newline="", encoding="utf-8") as stream, tempfile.TemporaryDirectory() as scratch:
        rows = csv.writer(stream)
        rows.writerow(["video_id", "caption"])
        for clip, references, _ in DatasetReader(folder).references("clips", "test", Path(scratch), CaptionCounts()):
            rows.writerow([clip["video_id"], references[-1].text])


def measure(task: tuple[Path, str, Path, Path]) -> str:
    """Measure an export and return a line of the table."""
    folder, name, out, captions = task
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    wall, cpu = time.perf_counter(), time.process_time()
    written = export(folder, name, out, captions=captions if name == "coco-results" else None)
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    memory = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
    size = sum((out / file).stat().st_size for file in written.files) / 2**20
    return f"{name:<12} {wall:>8.2f} {cpu:>8.2f} {memory:>6.0f} {size:>11.1f}"


def main() -> None:
    """Print a table for each dataset."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--clips", type=int, nargs="+", default=[1_000, 10_000], help="sizes (default: %(default)s)")
    parser.add_argument("--captions", type=int, default=20, help="captions a clip (default: %(default)s)")
    parser.add_argument("--dataset", type=Path, help="measure on this dataset folder instead")
    options = parser.parse_args()
    spawn = multiprocessing.get_context("spawn")
    for clips in [0] if options.dataset else options.clips:
        with tempfile.TemporaryDirectory() as scratch:
            work = Path(scratch)
            folder = options.dataset or work / "dataset"
            if not options.dataset:
                with spawn.Pool(1) as pool:
                    pool.apply(write_random_dataset, (folder, clips, options.captions))
            with spawn.Pool(1) as pool:  # children inherit the peak memory of this process
                pool.apply(write_system_captions, (folder, work / "system.csv"))
            print(options.dataset or f"{clips:,} clips, {clips * options.captions:,} captions")
            print(f"{'format':<12} {'seconds':>8} {'CPU':>8} {'MiB':>6} {'MiB written':>11}")
            for name in export_formats():
                with spawn.Pool(1) as pool:
                    task = (folder, name, work / name, work / "system.csv")
                    print(pool.apply(measure, (task,)), flush=True)


if __name__ == "__main__":
    main()
