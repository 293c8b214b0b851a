"""Measure intervals of system means from a judge and some people's ratings, on judgments that are known in full.

Each draw takes the videos of a set of judgments with replacement, and of each system's captions a number as rated; the
truth is the mean over the whole set. With ``--target items`` videos stay as they are. Printed are, over systems and
draws: coverage of 95 % intervals, corrected and by people alone; the ratio of their squared widths, which is the share
of ratings that the corrected mean needs; and the share of pairs of systems in the true order. ``random`` is a judge
that knows nothing, and ``biased`` gives one system a standard deviation more.

``--rounds N`` measures instead, over N campaigns, how many ratings in rounds of 300 decide the order of systems that
are .15 standard deviations apart at least: assigned to undecided systems, and spread evenly; and how often that order
is wrong.
"""

from __future__ import annotations

import argparse
import itertools
import math
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from vttdata.evaluate.evaluation import load_metrics
from vttdata.evaluate.meta.inputs import read_inputs
from vttdata.evaluate.meta.judgments import JudgmentTable
from vttdata.evaluate.meta.scoring import look_up_scores, read_scores, score_table
from vttdata.evaluate.metric import MetricInputs
from vttdata.load.local_builds import builds_folder
from vttdata.statistics.arrays import Floats, Integers
from vttdata.statistics.assignment import assign_evenly, assign_ratings, level_of_round
from vttdata.statistics.corrected_means import CorrectedMeans, correct_means, pool_rounds
from vttdata.statistics.hypothesis_tests import holm


class Known(NamedTuple):
    """Rated captions: people's score and those of k judges, ``(n, k)``, system and video of each."""

    people: Floats
    judge: Floats
    systems: Integers
    videos: Integers

    @classmethod
    def of(cls, table: JudgmentTable, scores: Floats) -> Known:
        """Take the rows with all scores, ``(n, k)``, and ratings."""
        people = table.human_scores[table.headline.human if table.headline.human in table.human_scores else "raw"]
        rows = np.isfinite(scores).all(axis=1) & ~np.isnan(people)
        _, systems = np.unique(np.array(table.systems)[rows], return_inverse=True)
        _, videos = np.unique(table.sources[rows], return_inverse=True)
        return cls(people[rows], scores[rows], systems.astype(np.int64), videos.astype(np.int64))

    def redraw(self, random: np.random.Generator) -> Known:
        """Draw videos with replacement; a video that is drawn twice is two."""
        by_video = np.argsort(self.videos, kind="stable")
        number = int(self.videos.max()) + 1
        starts = np.searchsorted(self.videos[by_video], np.arange(number + 1))
        drawn = random.integers(0, number, number)
        rows = np.concatenate([by_video[starts[video] : starts[video + 1]] for video in drawn])
        videos = np.repeat(np.arange(number), np.diff(starts)[drawn])
        return Known(self.people[rows], self.judge[rows], self.systems[rows], videos)


def measure(known: Known, number: int, target: str, draws: int, seed: int) -> dict[str, float]:
    """Return coverage, widths and orders over draws with `number` rated captions of each system."""
    random = np.random.default_rng(seed)
    systems = int(known.systems.max()) + 1
    truth = np.array([known.people[known.systems == system].mean() for system in range(systems)])
    pairs = list(itertools.combinations(range(systems), 2))
    sums = dict.fromkeys(("covered", "people", "differences", "share", "ratio", "order", "order_people", "judge"), 0.0)
    for _ in range(draws):
        drawn = known.redraw(random) if target == "population" else known
        rated = np.full(len(drawn.people), math.nan)
        for system in range(systems):
            rows = np.flatnonzero(drawn.systems == system)
            chosen = random.choice(rows, min(number, len(rows)), replace=False)
            rated[chosen] = drawn.people[chosen]
        result = correct_means(drawn.judge, rated, drawn.systems, drawn.videos, target=target)  # type: ignore[arg-type]
        for mean, true in zip(result.means, truth, strict=True):
            sums["covered"] += mean.corrected.low <= true <= mean.corrected.high
            sums["people"] += mean.people.low <= true <= mean.people.high
            sums["share"] += mean.share if mean.people.error > 0 else 1.0
            widths = [one.high - one.low for one in (mean.corrected, mean.people)]
            sums["ratio"] += widths[0] / widths[1] if widths[1] > 0 else 1.0
        for a, b in pairs:
            difference = result.difference(a, b)
            sums["differences"] += difference.low <= truth[a] - truth[b] <= difference.high
            sums["order"] += (difference.value > 0) == (truth[a] > truth[b])
            sums["order_people"] += (result.means[a].people.value > result.means[b].people.value) == (
                truth[a] > truth[b]
            )
            sums["judge"] += (result.means[a].judge > result.means[b].judge) == (truth[a] > truth[b])
    of_pairs = ("differences", "order", "order_people", "judge")
    return {name: total / draws / (len(pairs) if name in of_pairs else systems) for name, total in sums.items()}


def keep_apart(known: Known, gap: float = 0.15) -> Known:
    """Keep systems whose means are some standard deviations apart, from the best one down."""
    means = {system: known.people[known.systems == system].mean() for system in set(known.systems.tolist())}
    deviation = float(np.mean([known.people[known.systems == system].std() for system in means]))
    kept: list[int] = []
    for system in sorted(means, key=lambda system: -means[system]):
        if not kept or means[kept[-1]] - means[system] >= gap * deviation:
            kept.append(system)
    rows = np.isin(known.systems, kept)
    systems = np.unique(known.systems[rows], return_inverse=True)[1].astype(np.int64)
    return Known(known.people[rows], known.judge[rows], systems, known.videos[rows])


def decide(known: Known, *, assigned: bool, seed: int, number: int = 300, rounds: int = 60) -> tuple[int, bool | None]:
    """Return the ratings until the order is decided, and whether it is right; None where it never is."""
    random = np.random.default_rng(seed)
    systems = int(known.systems.max()) + 1
    truth = [known.people[known.systems == system].mean() for system in range(systems)]
    counts, used, parts = assign_evenly(systems, number), 0, list[CorrectedMeans]()
    for done in range(1, rounds + 1):
        place = random.permutation(int(known.videos.max()) + 1)[known.videos]
        rated = np.full(len(known.people), math.nan)
        for system in range(systems):
            rows = np.flatnonzero(known.systems == system)
            drawn = rows[np.argsort(place[rows])][: counts[system]]
            rated[drawn] = known.people[drawn]
            used += len(drawn)
        power = np.array([mean.power for mean in parts[0].means]) if parts else None
        parts.append(correct_means(known.judge, rated, known.systems, known.videos, target="items", power=power))
        pooled = pool_rounds(parts)
        pairs = {pair: pooled.difference(*pair) for pair in itertools.combinations(range(systems), 2)}
        p = holm({str(pair): value.p for pair, value in pairs.items() if not math.isnan(value.p)})
        undecided = [
            (*pair, value) for pair, value in pairs.items() if not p.get(str(pair), 1.0) < level_of_round(done)
        ]
        if not undecided:
            return used, all((value.value > 0) == (truth[a] > truth[b]) for (a, b), value in pairs.items())
        counts = assign_ratings(undecided, systems, number) if assigned else assign_evenly(systems, number)
    return used, None


def print_rounds(cases: Sequence[tuple[str, str, Known]], campaigns: int) -> None:
    """Print a line for each set and judge."""
    print("set, judge, systems: median and mean ratings assigned, spread evenly | undecided | decided wrongly")
    for name, judge, known in cases:
        apart = keep_apart(known)
        found = {
            assigned: [decide(apart, assigned=assigned, seed=seed) for seed in range(campaigns)]
            for assigned in (True, False)
        }
        ratings = [
            f"{np.median(used):,.0f} {np.mean(used):,.0f}" for used in ([n for n, _ in each] for each in found.values())
        ]
        ends = [[sum(right is end for _, right in each) for each in found.values()] for end in (None, False)]
        print(
            f"{name}, {judge}, {int(apart.systems.max()) + 1}: {', '.join(ratings)} | {ends[0]} | {ends[1]}", flush=True
        )


def simulate(r: float, items: int, means: Sequence[float], seed: int) -> Known:
    """Return normal scores of systems with these means that correlate by `r`."""
    systems = len(means)
    random = np.random.default_rng(seed)
    people = random.normal(size=(systems, items))
    judge = r * people + math.sqrt(1 - r * r) * random.normal(size=(systems, items))
    people += np.array(means)[:, np.newaxis]
    numbers = np.indices((systems, items))
    return Known(people.ravel(), judge.reshape(-1, 1), numbers[0].ravel(), numbers[1].ravel())


def judges_of(table: JudgmentTable, metrics: Sequence[str], files: Sequence[Path]) -> dict[str, Floats]:
    """Return the scores of a table's rows by each judge."""
    scores = {file.stem: look_up_scores(file.stem, read_scores(file), table)[0].items[:, np.newaxis] for file in files}
    for metric in load_metrics(metrics, "ptb-3.4.1", builds_folder() / ".metrics", MetricInputs(), {}):
        scores |= {name: column.items[:, np.newaxis] for name, column in score_table(metric, table).items()}
    if len(scores) > 1:
        scores["together"] = np.concatenate(list(scores.values()), axis=1)
    return scores


def main() -> None:
    """Print a line for each set, judge and number of ratings."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("judgments", nargs="*", help="sets of judgments, as of 'vttdata metric judge'")
    parser.add_argument("--metric", action="append", default=[])
    parser.add_argument("--scores", action="append", default=[], type=Path)
    parser.add_argument("--ratings", type=int, action="append", default=[])
    parser.add_argument("--target", choices=["population", "items"], default="population")
    parser.add_argument("--draws", type=int, default=2000)
    parser.add_argument("--rounds", type=int, metavar="N", help="measure N campaigns in rounds instead")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    # In rounds two of six systems are close; else five are evenly apart.
    means = (0, 0.6, 0.75, 1.35, 1.95, 2.55) if options.rounds else (0, 0.125, 0.25, 0.375, 0.5)
    cases = [
        ("simulated, r .7", "judge", simulate(0.7, 2000, means, 1)),
        ("simulated, r .7", "random", simulate(0, 2000, means, 1)),
    ]
    for table in read_inputs(options.judgments).judgments:
        chosen = table.without([])
        for name, scores in judges_of(chosen, options.metric, options.scores).items():
            known = Known.of(chosen, scores)
            cases.append((table.name, name, known))
        noise = np.random.default_rng(options.seed).normal(size=(len(known.people), 1))
        cases.append((table.name, "random", known._replace(judge=noise)))
        lowest = min(range(int(known.systems.max()) + 1), key=lambda s: float(known.people[known.systems == s].mean()))
        judge = known.judge + known.judge.std(axis=0) * (known.systems == lowest)[:, np.newaxis]
        cases.append((table.name, f"{name} biased", known._replace(judge=judge)))
    if options.rounds:
        print_rounds(cases, options.rounds)
        return
    print("set, judge, ratings: coverage, people, differences | share, width | true order: corrected, people, judge")
    for name, judge, known in cases:
        for ratings in options.ratings or [100]:
            m = measure(known, ratings, options.target, options.draws, options.seed)
            print(
                f"{name}, {judge}, {ratings}: {m['covered']:.3f} {m['people']:.3f} {m['differences']:.3f} | "
                f"{m['share']:.3f} {m['ratio']:.3f} | {m['order']:.3f} {m['order_people']:.3f} {m['judge']:.3f}",
                flush=True,
            )


if __name__ == "__main__":
    main()
