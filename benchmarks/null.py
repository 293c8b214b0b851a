"""Say how often intervals hold a truth that is known, and how often tests reject one.

Run `python benchmarks/null.py [NAME...] [--times N]`. The experiments are those of `tests/helpers/null_experiments.py`,
on drawn data, and the table of `RESULTS.md` has a line for each quantity and a column for each number of sources.

With `--sets FILE...`, tables of questions or of pairs of texts as `vttdata audit` reads them, it says instead what
blind attackers reach where nothing can be found: with answers that are drawn, and with the real ones in another order.
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
    options = parser.parse_args()
    if options.sets:
        print("| set | key | draws | ensemble less guessing | all attackers | furthest attacker | cover | open |")
        print("|---|---|--:|--:|--:|---|--:|--:|")
        with ProcessPoolExecutor(options.processes) as pool:
            for rows in pool.map(attack_random_keys, options.sets, [options.times] * len(options.sets)):
                print("\n".join(rows), flush=True)
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


def attack_random_keys(table: str, times: int) -> list[str]:
    """Return rows on what blind attackers reach on a set whose key is drawn, and on one whose key is shuffled."""
    questions = read_questions(Path(table))
    if questions is not None:
        choices = ChoiceSet([Choice(each.options, each.video_id, each.question, each.group) for each in questions])
        key = np.array([each.answer for each in questions])
    else:
        choices, key = arrange_pairs(read_text_pairs(table, {})["foils"])
    videos = np.unique([item.video_id for item in choices.items], return_inverse=True)[1]
    guessing = float((1 / choices.sizes).mean())
    rows = []
    for name in ("drawn", "shuffled") if questions is not None else ("drawn",):
        reached: dict[str, list[float]] = defaultdict(list)
        held, called_open = [], []
        for time in range(times):
            rng = np.random.default_rng([time, len(key)])
            answers = (rng.random(len(key)) * choices.sizes).astype(np.int64)
            if name == "shuffled":
                for size in np.unique(choices.sizes):
                    same = choices.sizes == size
                    answers[same] = rng.permutation(key[same])
            for attacker, scores in try_attackers(load_attackers(), choices, answers).scores.items():
                right = answer_choices(scores, choices.starts, answers)
                reached[attacker].append(float(right.mean()) - guessing)
                if attacker == ENSEMBLE:
                    ((low, high),) = share_intervals(right, videos)
                    held.append(low <= guessing <= high)
                    called_open.append(low > guessing + MAX_GAIN)
        means = {attacker: float(np.mean(values)) for attacker, values in reached.items()}
        furthest = max(means, key=lambda attacker: abs(means[attacker]))
        every = float(np.mean(list(means.values())))
        rows.append(
            f"| {Path(table).stem} | {name} | {times} | {means[ENSEMBLE]:+.4f} | {every:+.4f} | {furthest} "
            f"{means[furthest]:+.4f} | {np.mean(held):.2f} | {np.mean(called_open):.2f} |"
        )
    return rows


if __name__ == "__main__":
    main()
