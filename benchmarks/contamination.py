"""Time, memory and recall of finding a benchmark in a corpus: ``python benchmarks/contamination.py [ROWS]``.

The corpus is a CSV file of ROWS (10 million) random YouTube videos with times and captions. 1,000 of 2,000 clips of a
drawn benchmark are planted: a quarter by address at the same time, a quarter by address at another time, the others in
the same way by names such as ``<id>_000010_000020``. The search runs in a process of its own.
"""

from __future__ import annotations

import json
import random
import resource
import string
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from vttdata.dataset import Metadata, write_dataset
from vttdata.ids import youtube_url
from vttdata.records import Caption, Clip

PLANTED = 1_000
LETTERS = string.ascii_letters + string.digits + "-_"


def draw_id(draw: random.Random) -> str:
    """Draw a YouTube id."""
    bits = draw.getrandbits(66)
    return "".join(LETTERS[bits >> 6 * position & 63] for position in range(11))


def write_benchmark(folder: Path, draw: random.Random) -> list[str]:
    """Write a dataset of 2,000 clips from 10 to 20 s, and return the ids of their sources."""
    ids = [draw_id(draw) for _ in range(2 * PLANTED)]
    clips = [
        Clip(f"video{number}", own, 10.0, 20.0, None, None, None, youtube_url(own), split="test")
        for number, own in enumerate(ids)
    ]
    captions = [Caption(clip.video_id, 0, f"a person does {clip.video_id}") for clip in clips]
    write_dataset(folder, clips=clips, captions=captions, sources=(), metadata=Metadata("me/drawn"), media=None)
    return ids


def write_corpus(path: Path, rows: int, planted: list[str], draw: random.Random) -> None:
    """Write the corpus with the planted sources at random places."""
    places = dict(zip(draw.sample(range(rows), len(planted)), enumerate(planted), strict=True))
    with path.open("w", encoding="utf-8") as stream:
        stream.write("video_id,url,start,end,caption\n")
        for row in range(rows):
            if row not in places:
                own = draw_id(draw)
                start = draw.randrange(600)
                stream.write(f"{own},{youtube_url(own)},{start}.5,{start + 9}.25,a person does thing {row}\n")
                continue
            number, own = places[row]
            start = 12 if number % 2 else 500
            name, url = (
                (f"row{row}", f"https://youtu.be/{own}") if number % 4 < 2 else (f"{own}_{start:06d}_000900", "")
            )
            stream.write(f"{name},{url},{start},{start + 5},something else\n")


def main() -> None:
    """Write the corpus, search it, and print a line."""
    rows = int(sys.argv[1]) if len(sys.argv) > 1 else 10_000_000
    draw = random.Random(22)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        ids = write_benchmark(folder / "benchmark", draw)
        write_corpus(folder / "corpus.csv", rows, ids[:PLANTED], draw)
        command = [
            "-m",
            "vttdata",
            "audit",
            str(folder / "benchmark"),
            "--against",
            str(folder / "corpus.csv"),
            "--json",
        ]
        start = time.monotonic()
        done = subprocess.run([sys.executable, *command], capture_output=True, text=True, check=False)
        seconds = time.monotonic() - start
        usage = resource.getrusage(resource.RUSAGE_CHILDREN)
        found = json.loads(done.stdout)["shared"]
        size = (folder / "corpus.csv").stat().st_size / 2**20
        print(
            f"{rows:,} rows, {size:,.0f} MiB: {seconds:.1f} s, {usage.ru_utime + usage.ru_stime:.1f} CPU s, "
            f"{usage.ru_maxrss / 1024:,.0f} MiB; sources {found['source']['test']:,} of {PLANTED:,}, "
            f"overlaps {found['overlap']['test']:,} of {PLANTED // 2:,}"
        )


if __name__ == "__main__":
    main()
