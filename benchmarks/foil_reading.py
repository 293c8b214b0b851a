"""Draws pairs of a set of foils by a seed and prints each with all that is written of its video, to be read by eye.

Run `python benchmarks/foil_reading.py --seed 1 --number 200 DATASET`; the dataset is a folder that `vttdata build` or
`vttdata foil` wrote. What a person should ask of each: is the foil grammatical, does it name a visibly different thing,
is it plausible, and is what it names truly absent? A line `+` is a caption, `-` its foil, `=` another annotator's.
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
    """Print the drawn pairs."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("dataset", type=Path, help="a folder with foils/ and, where there are any, paragraphs/")
    parser.add_argument("--seed", type=int, default=1, help="of the draw (default 1)")
    parser.add_argument("--number", type=int, default=200, help="videos to draw (default 200)")
    given = parser.parse_args()
    foils: dict[str, list[Row]] = {}
    for row in rows_of(given.dataset / "foils"):
        foils.setdefault(row["video_id"], []).append(row)
    paragraphs = {row["video_id"]: row for row in rows_of(given.dataset / "paragraphs")}
    drawn = sorted(foils, key=lambda video: hashlib.sha256(f"{given.seed}\0{video}".encode()).digest())
    for number, video in enumerate(drawn[: given.number], 1):
        show(number, foils[video], paragraphs.get(video))


def rows_of(folder: Path) -> Iterator[Row]:
    """The rows of a configuration; none where it is not there."""
    for path in sorted(folder.glob("*.parquet")):
        yield from parquet.read_table(path).to_pylist()


def show(number: int, changed: list[Row], paragraph: Row | None) -> None:
    """Print one video: the swap, its captions with their foils, and the other annotator's."""
    first = changed[0]
    print(f"\n[{number}] {first['video_id']}  {first['concept']} > {first['foil_concept']}  ({first['supercategory']})")
    texts = paragraph["captions"] if paragraph else [row["caption"] for row in changed]
    false = {row["caption"]: marked(row) for row in changed}
    for text in texts:
        print(f"  + {text}" + (f"\n  - {false[text]}" if text in false else ""))
    for text in paragraph["references"] if paragraph else ():
        print(f"  = {text}")


def marked(row: Row) -> str:
    """The foil with what is changed in brackets."""
    start, end = row["start"], row["start"] + len(row["replacement"])
    return f"{row['foil'][:start]}[{row['foil'][start:end]}]{row['foil'][end:]}"


if __name__ == "__main__":
    main()
