"""Say how often intervals hold a truth that is known, and how often tests reject one.

Run `python benchmarks/null.py [NAME...] [--times N]`. The experiments are those of `tests/helpers/null_experiments.py`,
on drawn data, and the table of `RESULTS.md` has a line for each quantity and a column for each number of sources.

With `--sets FILE...`, tables of questions or of pairs of texts as `vttdata audit` reads them, it says instead what
blind attackers reach where nothing can be found: with the answers in another order.
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
from vttdata.compose.foils import read_questions, read_text_pairs
from vttdata.generate.blind.attacker import load_attackers
from vttdata.generate.blind.choices import Choice, ChoiceSet, arrange_pairs
from vttdata.generate.blind.questions import MAX_GAIN
from vttdata.generate.blind.trial import ENSEMBLE, answer_choices, try_attackers
from vttdata.statistics.bootstrap import share_intervals

_SOURCES = (5, 10, 15, 30, 60, 200)
_ITEMS, _LISTS = 1_500, 200


def main() -> None:
    """Print the table, and the share of items that are listed falsely as needing the video."""
    parser = argparse.ArgumentParser()
    parser.add_argument("names", nargs="*", default=list(EXPERIMENTS), metavar="NAME")
    parser.add_argument("--times", type=int, default=1_000)
    parser.add_argument("--processes", type=int, default=1)
    parser.add_argument("--sets", nargs="+", default=(), metavar="FILE")
    parser.add_argument("--most", type=int, default=10**6, help="choices of each set, those about its first videos")
    options = parser.parse_args()
    if options.sets:
        print("| set | choices | keys | ensemble less guessing | mean of all | furthest | held | open | open, of all |")
        print("|---|--:|--:|--:|--:|---|--:|--:|--:|")
        number = len(options.sets)
        with ProcessPoolExecutor(options.processes) as pool:
            limits = [options.times] * number, [options.most] * number
            for row in pool.map(attack_random_keys, options.sets, *limits):
                print(row, flush=True)
        return
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


def attack_random_keys(table: str, times: int, most: int) -> str:
    """Return a row on what blind attackers reach on a set whose key is shuffled: of its first videos, `most` choices.

    The key of questions is shuffled among those with as many options; the sides of pairs are drawn.
    """
    questions = read_questions(Path(table))
    if questions is not None:
        items = [Choice(each.options, each.video_id, each.question, each.group) for each in questions]
        key = np.array([each.answer for each in questions])
    else:
        pairs, key = arrange_pairs(read_text_pairs(table, {})["foils"])
        items = list(pairs.items)
    by_video = np.argsort([item.video_id for item in items], kind="stable")[:most]
    choices, key = ChoiceSet([items[index] for index in by_video]), key[by_video]
    videos = np.unique([item.video_id for item in choices.items], return_inverse=True)[1]
    guessing = float((1 / choices.sizes).mean())
    reached: dict[str, list[float]] = defaultdict(list)
    opened: dict[str, list[bool]] = defaultdict(list)
    held = []
    for time in range(times):
        rng = np.random.default_rng([time, len(key)])
        answers = rng.integers(0, choices.sizes)
        if questions is not None:
            for size in np.unique(choices.sizes):
                same = choices.sizes == size
                answers[same] = rng.permutation(key[same])
        scores = try_attackers(load_attackers(), choices, answers).scores
        right = np.array([answer_choices(values, choices.starts, answers) for values in scores.values()])
        for name, values, (low, high) in zip(scores, right, share_intervals(right, videos), strict=True):
            reached[name].append(float(values.mean()) - guessing)
            opened[name].append(low > guessing + MAX_GAIN)
            if name == ENSEMBLE:
                held.append(low <= guessing <= high)
    means = {name: float(np.mean(values)) for name, values in reached.items()}
    furthest = max(means, key=lambda name: abs(means[name]))
    of_all = np.mean([np.mean(values) for values in opened.values()])
    return (
        f"| {Path(table).stem} | {len(key):,} | {times} | {means[ENSEMBLE]:+.4f} | {np.mean([*means.values()]):+.4f} | "
        f"{furthest} {means[furthest]:+.4f} | {np.mean(held):.2f} | {np.mean(opened[ENSEMBLE]):.2f} | {of_all:.2f} |"
    )


if __name__ == "__main__":
    main()
