"""Drift of the shares of splits, and clips that move, when sources come and go: for many seeds.

Run it alone: ``python benchmarks/split_drift.py --seeds 500``. 1,000 sources, of one clip or of one to three, get 1, 10
or 100 more, or lose as many. Printed is in how many seeds all three default shares are within 2 points, the largest gap
in points, and how many clips moved that were there before: with the first draw, and with the one that a build names.
"""

from __future__ import annotations

import argparse
from itertools import chain
from random import Random

from vttdata.pipeline.stages.split import Split
from vttdata.records import Clip
from vttdata.split import SplitSettings, assign_splits

SOURCES = 1000
CHANGES = {"as it is": (0, SOURCES)} | {
    name: span for n in (1, 10, 100) for name, span in ((f"+{n}", (0, SOURCES + n)), (f"-{n}", (n, SOURCES)))
}
LIMIT = 0.02


def draw_clips(seed: int, most: int) -> list[list[Clip]]:
    """Draw one to `most` clips of each source, a list for each."""
    draw = Random(seed)
    return [
        [Clip(f"v{source}-{number}", f"s{seed}-{source}", 0.0, 1.0, 0, 1, 1) for number in range(draw.randint(1, most))]
        for source in range(SOURCES + max(end - SOURCES for _, end in CHANGES.values()))
    ]


def main() -> None:
    """Print a row for each size of sources, draw and change."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=500)
    seeds = parser.parse_args().seeds
    print(f"{'clips':<8}{'draw':<8}{'change':<10}{'within 2 points':>16}{'largest gap':>13}{'moved':>7}")
    for most in (1, 3):
        for kind in ("first", "named"):
            gaps: dict[str, list[float]] = {name: [] for name in CHANGES}
            moved = dict.fromkeys(CHANGES, 0)
            for seed in range(seeds):
                drawn = draw_clips(seed, most)
                before = [*chain.from_iterable(drawn[:SOURCES])]
                draw = Split(SplitSettings(), seed).find_closer_draw(before)[0] if kind == "named" else 0
                settings = SplitSettings(draw=draw)
                split_of = assign_splits(before, settings, seed=seed).split_of
                for name, (start, end) in CHANGES.items():
                    after = assign_splits([*chain.from_iterable(drawn[start:end])], settings, seed=seed)
                    gaps[name].append(after.largest_gap)
                    moved[name] += sum(split_of.get(clip, split) != split for clip, split in after.split_of.items())
            for name, values in gaps.items():
                within = f"{sum(gap <= LIMIT for gap in values)} of {seeds}"
                size = "1" if most == 1 else f"1 to {most}"
                print(f"{size:<8}{kind:<8}{name:<10}{within:>16}{100 * max(values):>13.2f}{moved[name]:>7}", flush=True)


if __name__ == "__main__":
    main()
