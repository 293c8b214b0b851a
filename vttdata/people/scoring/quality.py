"""Quality of a campaign: workers judged by controls and flagged with evidence, and the agreement of their answers.

A flag is a hint for the requester and decides nothing; only the task's rule on controls (`Task.verdict`) does.
"""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median
from typing import NamedTuple

from vttdata.people.task import Answered, Task, Verdict
from vttdata.statistics.agreement import fleiss_kappa, krippendorff_alpha, pair_agreement
from vttdata.statistics.hypothesis_tests import scipy_stats

# A worker with fewer answers is not flagged.
_MIN_ANSWERS = 10
# Share of the crowd's median time on the same items below which a worker rushes.
_RUSH = 0.25
# Median share of the videos' lengths that was shown below which a worker does not watch.
_WATCHED = 0.25
# Chance below which a run of equal answers, or a share of answers equal to another worker's, is evidence. Workers and
# pairs of them are many, so that it is far below .05.
_CHANCE = 1e-6


@dataclass(frozen=True, slots=True)
class WorkerQuality:
    """Quality of a worker: number of answers, median time of one (None where none is known), and what controls tell.

    A flag is ``rushing``, ``straight_lining``, ``copying``, ``not_watching`` or one of `Task.flags`, and its evidence
    in a sentence.
    """

    worker: str
    answers: int
    median_seconds: float | None
    verdict: Verdict
    flags: tuple[tuple[str, str], ...]


class Agreement(NamedTuple):
    """Agreement of a campaign's workers on one of the things they judge; NaN where a measure is undefined."""

    name: str
    level: str
    items: int
    ratings: int
    alpha: float
    fleiss: float
    cohen: float
    spearman: float
    kendall: float


def worker_quality(task: Task, answers: Sequence[Answered]) -> list[WorkerQuality]:
    """Judge every worker, sorted by name."""
    by_worker: dict[str, list[Answered]] = {}
    for entry in answers:
        by_worker.setdefault(entry.worker, []).append(entry)
    seconds: dict[tuple[str, str], list[float]] = {}
    labels: dict[tuple[str, str], dict[str, str]] = {}
    for entry in answers:
        key = entry.unit, entry.item.item
        if entry.seconds is not None:
            seconds.setdefault(key, []).append(entry.seconds)
        # Right answers to a control are equal.
        if task.control_passed(entry.item, entry.answer) is None:
            labels.setdefault(key, {})[entry.worker] = task.label(entry.answer)
    typical = {key: median(values) for key, values in seconds.items()}
    copies = _find_copies(labels)
    controlled = {worker for worker, entries in by_worker.items() if task.control_results(entries)}
    reports = []
    for worker, entries in sorted(by_worker.items()):
        flags = []
        timed = {(entry.unit, entry.item.item): entry.seconds for entry in entries if entry.seconds is not None}
        middle = median(timed.values()) if timed else None
        of_all = median([typical[key] for key in timed]) if timed else 0.0
        if middle is not None and len(timed) >= _MIN_ANSWERS and middle < _RUSH * of_all:
            flags.append(("rushing", f"median {middle:.1f} s an answer, all workers {of_all:.1f} s on the same items"))
        flags += [("straight_lining", text) for text in _find_run(task, entries, labels)]
        flags += [("copying", text) for text in copies.get(worker, ())]
        shares = [entry.observed.shown for entry in entries if entry.observed is not None]
        if len(shares) >= _MIN_ANSWERS and median(shares) < _WATCHED:
            flags.append(("not_watching", f"median {median(shares):.0%} of a video's length was shown"))
        flags += task.flags(entries)
        verdict = task.verdict(entries)
        if controlled and worker not in controlled and verdict.name == "untested":
            # Who leaves before the first control is not known to be reliable, where others met some.
            verdict = verdict._replace(keep=False)
        reports.append(WorkerQuality(worker, len(entries), middle, verdict, tuple(flags)))
    return reports


def agreement(task: Task, answers: Sequence[Answered]) -> list[Agreement]:
    """Return the agreement on everything that a task's workers judge."""
    rows = []
    for name, level, values in task.ratings(answers):
        shared = {item: ratings for item, ratings in values.items() if len(ratings) > 1}
        numbers = {item: dict(ratings) for item, ratings in shared.items()}
        pairs = pair_agreement(numbers)
        rows.append(
            Agreement(
                name,
                level,
                len(shared),
                sum(map(len, shared.values())),
                krippendorff_alpha(numbers, level),
                fleiss_kappa(numbers) if level != "interval" else math.nan,
                pairs.cohen if level != "interval" else math.nan,
                pairs.spearman if level != "nominal" else math.nan,
                pairs.kendall if level != "nominal" else math.nan,
            )
        )
    return rows


def _find_run(task: Task, entries: Sequence[Answered], labels: dict[tuple[str, str], dict[str, str]]) -> list[str]:
    """Return the evidence of a run of equal answers that the shares of all answers make next to impossible."""
    counts = Counter(label for by_worker in labels.values() for label in by_worker.values())
    total = counts.total()
    ordered = sorted(entries, key=lambda entry: entry.saved)
    found = []
    for label, run in itertools.groupby(ordered, key=lambda entry: task.label(entry.answer)):
        length = len(list(run))
        # Each start of a run is a trial; one more of each kind, so that an answer that all give is no evidence.
        share = (counts[label] + 1) / (total + 2)
        if length >= _MIN_ANSWERS and len(entries) * share**length < _CHANCE:
            found.append(f"{length} answers '{label[:40]}' in a row; {100 * share:.0f} % of all answers are that")
    return found[:1]


def _find_copies(labels: dict[tuple[str, str], dict[str, str]]) -> dict[str, list[str]]:
    """Return the evidence of workers whose answers equal another's far oftener than those of other pairs do."""
    shared: Counter[tuple[str, str]] = Counter()
    equal: Counter[tuple[str, str]] = Counter()
    for by_worker in labels.values():
        for pair in itertools.combinations(sorted(by_worker), 2):
            shared[pair] += 1
            equal[pair] += by_worker[pair[0]] == by_worker[pair[1]]
    found: dict[str, list[str]] = {}
    binomial = scipy_stats().binom
    all_shared, all_equal = shared.total(), equal.total()
    for pair, number in shared.items():
        others = all_shared - number
        if number < _MIN_ANSWERS or not others:
            continue
        share = (all_equal - equal[pair] + 1) / (others + 2)
        if binomial.sf(equal[pair] - 1, number, share) * len(shared) < _CHANCE:
            for worker, other in (pair, pair[::-1]):
                text = (
                    f"{equal[pair]} of {number} answers equal those of {other}; {100 * share:.0f} % among other pairs"
                )
                found.setdefault(worker, []).append(text)
    return found
