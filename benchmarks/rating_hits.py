"""Measure how fast HITs are made, and how evenly systems, videos and controls are distributed.

Captions are random; seconds are CPU time. `--same` limits all systems to a number of sentences, the worst case for
keeping equal texts apart.
"""

from __future__ import annotations

import argparse
import random
import tempfile
import time
from collections import Counter
from collections.abc import Mapping
from pathlib import Path

from vttdata.people import HitPlan, HitSettings, make_hits
from vttdata.people.hits.write import write_hits
from vttdata.people.static_page import page_writer
from vttdata.records import Caption

_WORDS = "man woman dog runs walks car red blue park house plays sings guitar child water road tree".split()  # noqa: SIM905


def sentence(draw: random.Random, words: int) -> str:
    """Return random words."""
    return "a " + " ".join(draw.choice(_WORDS) for _ in range(words))


def campaign(systems: int, videos: int, same: int) -> tuple[dict[str, dict[str, str]], list[Caption]]:
    """Return captions of systems, and two human captions of each video."""
    draw = random.Random(1)
    stock = [sentence(draw, 6) for _ in range(same)]
    captions = {
        f"s{name}": {
            f"v{n}": draw.choice(stock) if stock else sentence(draw, draw.randint(5, 12)) for n in range(videos)
        }
        for name in range(systems)
    }
    return captions, [
        Caption(f"v{n}", annotator, sentence(draw, draw.randint(6, 14))) for n in range(videos) for annotator in (0, 1)
    ]


def distances(plan: HitPlan) -> list[int]:
    """Return the number of positions between each control item and its original."""
    gaps = []
    for hit in plan.hits:
        position = {
            (item.system, item.video_id): n for n, item in enumerate(hit.items) if item.kind in ("system", "human")
        }
        controls = [(n, item) for n, item in enumerate(hit.items) if item.kind in ("degraded", "repeat")]
        gaps += [abs(n - position[item.system, item.video_id]) for n, item in controls]
    return gaps


def spreads(plan: HitPlan, systems: Mapping[str, Mapping[str, str]]) -> tuple[Counter[int], Counter[int]]:
    """Count HITs by the range of items per system and per video, without control items."""
    videos = sorted({video for captions in systems.values() for video in captions})
    of_systems, of_videos = Counter[int](), Counter[int]()
    for hit in plan.hits:
        shares = Counter(item.system for item in hit.items if item.kind == "system")
        seen = Counter(item.video_id for item in hit.items if item.kind in ("system", "human"))
        of_systems[max(shares[name] for name in systems) - min(shares[name] for name in systems)] += 1
        of_videos[max(seen[video] for video in videos) - min(seen[video] for video in videos)] += 1
    return of_systems, of_videos


def main() -> None:
    """Print a line of a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--systems", type=int, default=30)
    parser.add_argument("--videos", type=int, default=2000)
    parser.add_argument("--assessments", type=int, default=1)
    parser.add_argument("--same", type=int, default=0, help="number of sentences to choose from (default: unlimited)")
    options = parser.parse_args()
    systems, human = campaign(options.systems, options.videos, options.same)
    begun = time.process_time()
    plan = make_hits(systems, human, settings=HitSettings(assessments=options.assessments))
    made = time.process_time()
    with tempfile.TemporaryDirectory() as folder:
        videos = {f"v{n}": f"https://example.org/v{n}.mp4" for n in range(options.videos)}
        write_hits(plan, Path(folder), videos, page_writer(videos))
    written = time.process_time()
    far = distances(plan)
    notes = {name: len(cases) for name, cases in plan.notes.items()}
    times = Counter(Counter((i.system, i.video_id) for h in plan.hits for i in h.items if i.kind == "system").values())
    spread = " | ".join(str(dict(counts)) for counts in spreads(plan, systems))
    print(
        f"| {options.systems} x {options.videos} x {options.assessments} | {len(plan.hits)} | {made - begun:.2f} s "
        f"| {written - made:.2f} s | {min(far)}-{max(far)} | {spread} "
        f"| {dict(times)} | {notes} |"
    )


if __name__ == "__main__":
    main()
