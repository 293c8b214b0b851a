"""Measure the benefit of quality control on simulated crowds with bad workers.

Each seed draws captions, HITs of 100 items as made by `make_hits`, and workers. For the number of HITs that detects a
difference see `vttdata people plan`. `--rows` times all steps on a number of judgments instead.
"""

from __future__ import annotations

import argparse
import time
from collections import Counter

from vttdata.people import (
    ReliabilitySettings,
    caption_scores,
    judge_workers,
    reliable_only,
    significance,
    standardise,
    system_scores,
)
from vttdata.people.scoring.power import GOOD, crowd, placeholder_hits
from vttdata.people.scoring.simulation import Behaviour, simulate
from vttdata.records import Judgment
from vttdata.statistics.correlation import correlate

HUMAN = "human"
MIXED: tuple[Behaviour, ...] = ("lazy", "random", "lazy", "random", "colluding")


def compare_with_truth(truth: dict[str, float], judgments: list[Judgment]) -> tuple[int, float, int]:
    """Return the pairs of systems in wrong order, Pearson's r with the truth, and false significant wins."""
    captions = caption_scores(standardise(judgments))
    systems = system_scores(captions)
    order = [system.system for system in systems]
    wrong = sum(truth[a] < truth[b] for n, a in enumerate(order) for b in order[n + 1 :])
    tested = significance(captions)
    false = sum(
        tested.wins(row, column) and truth[tested.systems[row]] < truth[tested.systems[column]]
        for row in range(len(order))
        for column in range(len(order))
    )
    return wrong, correlate([truth[name] for name in order], [system.z for system in systems]).pearson, false


def run(options: argparse.Namespace, mix: tuple[Behaviour, ...], test: str) -> None:
    """Print one line for a mix of bad workers and a test."""
    worth = {f"system{n + 1}": 35 + options.gap * n for n in range(options.systems)} | {HUMAN: 85.0}
    seen: Counter[str] = Counter()
    passed: Counter[str] = Counter()
    sums = [[0.0] * 3, [0.0] * 3]
    for seed in range(options.seeds):
        workers = crowd(options.workers, options.bad, mix)
        hits = placeholder_hits(options.systems, options.videos, seed=seed)
        simulated = simulate(hits, worth, workers, seed=seed)
        reports = judge_workers(simulated.judgments, ReliabilitySettings(test=test))  # type: ignore[arg-type]
        seen.update(workers.values())
        passed.update(workers[report.worker] for report in reports if report.verdict == "reliable")
        kept = reliable_only(simulated.judgments, reports)
        for total, judgments in zip(sums, (list(simulated.judgments), kept), strict=True):
            for column, value in enumerate(compare_with_truth(dict(simulated.truth), judgments)):
                total[column] += value / options.seeds
    shares = ", ".join(f"{name} {passed[name] / seen[name]:.1%}" for name in dict.fromkeys([*GOOD, *mix]))
    bad, good = set(mix), set(GOOD)
    caught = 1 - sum(passed[name] for name in bad) / sum(seen[name] for name in bad)
    lost = 1 - sum(passed[name] for name in good) / sum(seen[name] for name in good)
    print(
        f"| {', '.join(dict.fromkeys(mix))} | {test} | {caught:.1%} | {lost:.1%} | {sums[0][0]:.2f} | {sums[1][0]:.2f} "
        f"| {sums[0][1]:.4f} | {sums[1][1]:.4f} | {sums[0][2]:.2f} | {sums[1][2]:.2f} | {shares} |",
        flush=True,
    )


def time_steps(rows: int) -> None:
    """Time each step on `rows` judgments, a hundred per worker."""
    worth = {f"system{n + 1}": 40.0 + 4 * n for n in range(10)} | {HUMAN: 85.0}
    judgments = simulate(placeholder_hits(10, 700), worth, crowd(rows // 100, 0.2, MIXED)).judgments
    begun = time.perf_counter()
    reports = judge_workers(judgments)
    judged = time.perf_counter()
    captions = caption_scores(standardise(reliable_only(judgments, reports)))
    scored = time.perf_counter()
    significance(captions)
    tested = time.perf_counter()
    print(
        f"{len(judgments)} judgments of {len(reports)} workers: workers judged in {judged - begun:.2f} s, "
        f"scored in {scored - judged:.2f} s, systems tested in {tested - scored:.2f} s"
    )


def main() -> None:
    """Print a table, or the times of the steps."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=100)
    parser.add_argument("--systems", type=int, default=8)
    parser.add_argument("--gap", type=float, default=3.0, help="points of 0..100 between neighbouring systems")
    parser.add_argument("--videos", type=int, default=70)
    parser.add_argument("--workers", type=int, default=40, help="each answers one HIT")
    parser.add_argument("--bad", type=float, default=0.2, help="share of bad workers")
    parser.add_argument("--rows", type=int, help="time the steps on this number of judgments")
    options = parser.parse_args()
    if options.rows:
        time_steps(options.rows)
        return
    print(
        "| bad workers | test | bad caught | good lost | swapped pairs, all | swapped, controlled | r, all "
        "| r, controlled | false wins, all | false wins, controlled | share that passes |"
    )
    print("|" + " --- |" * 11)
    for mix, test in [
        (MIXED, "paired_t"),
        (MIXED, "wilcoxon"),
        (MIXED, "mann_whitney"),
        (("random",), "paired_t"),
        (("lazy",), "paired_t"),
        (("colluding",), "paired_t"),
    ]:
        run(options, mix, test)  # type: ignore[arg-type]


if __name__ == "__main__":
    main()
