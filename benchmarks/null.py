"""Say how often intervals hold a truth that is known, and how often tests reject one.

Run `python benchmarks/null.py [NAME...] [--times N]`. The experiments are those of `tests/helpers/null_experiments.py`,
on drawn data, and the table of `RESULTS.md` has a line for each quantity and a column for each number of sources.
"""

from __future__ import annotations

import argparse
import sys
from collections import defaultdict
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from tests.helpers.null_experiments import EXPERIMENTS, needing_video, repeat

_SOURCES = (5, 10, 15, 30, 60, 200)
_ITEMS, _LISTS = 1_500, 200


def main() -> None:
    """Print the table, and the share of items that are listed falsely as needing the video."""
    parser = argparse.ArgumentParser()
    parser.add_argument("names", nargs="*", default=list(EXPERIMENTS), metavar="NAME")
    parser.add_argument("--times", type=int, default=1_000)
    parser.add_argument("--processes", type=int, default=1)
    options = parser.parse_args()
    shares: dict[str, dict[int, float]] = defaultdict(dict)
    runs = [(name, number) for name in options.names for number in EXPERIMENTS[name].sources]
    with ProcessPoolExecutor(options.processes) as pool:
        names, numbers = zip(*runs, strict=True)
        for number, counts in zip(numbers, pool.map(repeat, names, numbers, [options.times] * len(runs)), strict=True):
            for quantity, (yes, tried) in counts.items():
                shares[quantity][number] = yes / tried
    print(f"| sources | {' | '.join(map(str, _SOURCES))} |\n|---|{'--:|' * len(_SOURCES)}")
    for quantity, by_number in shares.items():
        cells = (f"{by_number[number]:.3f}" if number in by_number else "" for number in _SOURCES)
        print(f"| {quantity} | {' | '.join(cells)} |")
    listed = np.array([needing_video(np.random.default_rng([7, time]), _ITEMS) for time in range(_LISTS)])
    false_share = (listed[:, 1] / np.maximum(listed[:, 0], 1)).mean()
    print(f"\nitems that need the video: {listed[:, 0].mean():.0f} of {_ITEMS:,} listed, {false_share:.3f} falsely")


if __name__ == "__main__":
    main()
