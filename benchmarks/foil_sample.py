"""Print a random sample of foils with all captions of their videos, for manual inspection.

Run `python benchmarks/foil_sample.py --seed 1 --number 200 DATASET`; the dataset is a folder that `vttdata build` or
`vttdata foil` wrote. Questions for the reader: is the foil grammatical, does it name a visibly different thing,
is it plausible, and is the thing that it names absent from the video? Lines start with `+` for captions, `-` for their
foils, and `=` for captions of another annotator.
"""

from __future__ import annotations

import argparse
import hashlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pyarrow import parquet

Row = dict[str, Any]


def main() -> None:
    """Print the sampled pairs."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("dataset", type=Path, help="folder with foils/ and optionally paragraphs/")
    parser.add_argument("--seed", type=int, default=1, help="seed of the sample (default 1)")
    parser.add_argument("--number", type=int, default=200, help="number of videos (default 200)")
    options = parser.parse_args()
    foils: dict[str, list[Row]] = {}
    for row in read_rows(options.dataset / "foils"):
        foils.setdefault(row["video_id"], []).append(row)
    paragraphs = {row["video_id"]: row for row in read_rows(options.dataset / "paragraphs")}
    sample = sorted(foils, key=lambda video: hashlib.sha256(f"{options.seed}\0{video}".encode()).digest())
    for number, video in enumerate(sample[: options.number], 1):
        show(number, foils[video], paragraphs.get(video))


def read_rows(folder: Path) -> Iterator[Row]:
    """Yield the rows of a configuration, none if it does not exist."""
    for path in sorted(folder.glob("*.parquet")):
        yield from parquet.read_table(path).to_pylist()


def show(number: int, changed: list[Row], paragraph: Row | None) -> None:
    """Print a video: the swap, its captions with their foils, and the second annotator's captions."""
    first = changed[0]
    print(f"\n[{number}] {first['video_id']}  {first['concept']} > {first['foil_concept']}  ({first['supercategory']})")
    texts = paragraph["captions"] if paragraph else [row["caption"] for row in changed]
    foil_by_caption = {row["caption"]: mark_replacement(row) for row in changed}
    for text in texts:
        print(f"  + {text}" + (f"\n  - {foil_by_caption[text]}" if text in foil_by_caption else ""))
    for text in paragraph["references"] if paragraph else ():
        print(f"  = {text}")


def mark_replacement(row: Row) -> str:
    """Return the foil with the replacement in brackets."""
    start, end = row["start"], row["start"] + len(row["replacement"])
    return f"{row['foil'][:start]}[{row['foil'][start:end]}]{row['foil'][end:]}"


if __name__ == "__main__":
    main()
