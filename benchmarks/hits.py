"""Making HITs: how long it takes, how far controls lie from their originals, how evenly systems and videos are spread.

Captions are made up; seconds are those of one core. `--same` lets every system say one of so many sentences, the worst
case for keeping texts apart.
"""

from __future__ import annotations

import argparse
import random
import tempfile
import time
from collections import Counter
from collections.abc import Mapping
from pathlib import Path

from vttdata.annotate.da_page import page_writer
from vttdata.assess import HitPlan, HitSettings, make_hits
from vttdata.assess.hits.write import write_hits
from vttdata.records import Caption

_WORDS = "man woman dog runs walks car red blue park house plays sings guitar child water road tree".split()  # noqa: SIM905


def sentence(draw: random.Random, words: int) -> str:
    """Words that stand in no order."""
    return "a " + " ".join(draw.choice(_WORDS) for _ in range(words))


def campaign(systems: int, videos: int, same: int) -> tuple[dict[str, dict[str, str]], list[Caption]]:
    """Captions of systems and two human ones of each video."""
    draw = random.Random(1)
    stock = [sentence(draw, 6) for _ in range(same)]
    captions = {
        f"s{name}": {
            f"v{n}": draw.choice(stock) if stock else sentence(draw, draw.randint(5, 12)) for n in range(videos)
        }
        for name in range(systems)
    }
    return captions, [
        Caption(f"v{n}", own, sentence(draw, draw.randint(6, 14))) for n in range(videos) for own in (0, 1)
    ]


def distances(plan: HitPlan) -> list[int]:
    """How many places lie from each control to its original."""
    found = []
    for hit in plan.hits:
        place = {(own.system, own.video_id): n for n, own in enumerate(hit.items) if own.kind in ("system", "human")}
        controls = [(n, own) for n, own in enumerate(hit.items) if own.kind in ("degraded", "repeat")]
        found += [abs(n - place[own.system, own.video_id]) for n, own in controls]
    return found


def spreads(plan: HitPlan, systems: Mapping[str, Mapping[str, str]]) -> tuple[Counter[int], Counter[int]]:
    """HIT by HIT the most minus the fewest items that a system has, and that a video has; controls not counted."""
    videos = sorted({video for captions in systems.values() for video in captions})
    of_systems, of_videos = Counter[int](), Counter[int]()
    for hit in plan.hits:
        shares = Counter(own.system for own in hit.items if own.kind == "system")
        seen = Counter(own.video_id for own in hit.items if own.kind in ("system", "human"))
        of_systems[max(shares[name] for name in systems) - min(shares[name] for name in systems)] += 1
        of_videos[max(seen[video] for video in videos) - min(seen[video] for video in videos)] += 1
    return of_systems, of_videos


def main() -> None:
    """Print one line of a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--systems", type=int, default=30)
    parser.add_argument("--videos", type=int, default=2000)
    parser.add_argument("--assessments", type=int, default=1)
    parser.add_argument("--same", type=int, default=0, help="sentences that all systems choose from (default: any)")
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
    told = {kind: len(cases) for kind, cases in plan.notes.items()}
    times = Counter(Counter((i.system, i.video_id) for h in plan.hits for i in h.items if i.kind == "system").values())
    spread = " | ".join(str(dict(own)) for own in spreads(plan, systems))
    print(
        f"| {options.systems} x {options.videos} x {options.assessments} | {len(plan.hits)} | {made - begun:.2f} s "
        f"| {written - made:.2f} s | {min(far)}-{max(far)} | {spread} "
        f"| {dict(times)} | {told} |"
    )


if __name__ == "__main__":
    main()
