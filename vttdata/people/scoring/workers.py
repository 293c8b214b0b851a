"""Judge the reliability of workers by their scores of degraded captions compared with the original captions.

Every worker gets a verdict, including those who cannot be tested. Nothing is decided about payment, and judgments are
left out only by `reliable_only`.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Annotated, Literal

import numpy as np
from annotated_types import Gt, Lt

from vttdata.people.task import saw_enough
from vttdata.records import Judgment, JudgmentKind
from vttdata.settings import PositiveCount, Ratio, Seconds, Strict
from vttdata.statistics.hypothesis_tests import Alternative, PairedTest, paired_p_values

Verdict = Literal["reliable", "unreliable", "constant", "not_shown", "too_few_pairs", "not_a_number", "undefined"]

VERDICTS: dict[Verdict, str] = {
    "reliable": "scores degraded captions significantly lower",
    "unreliable": "does not score degraded captions significantly lower",
    "constant": "gave every item the same score",
    "not_shown": "gave most answers before enough of the video was shown",
    "too_few_pairs": "met too few degraded captions together with the unharmed ones to be tested",
    "not_a_number": "has a score that is no finite number",
    "undefined": "the chosen test has no value for these pairs, as where all differences are 0",
}
"""Meaning of each verdict. Only `reliable` workers should be kept."""

_ALTERNATIVES: dict[JudgmentKind, Alternative] = {"degraded": "less", "reference": "greater", "repeat": "two-sided"}


@dataclass(frozen=True, slots=True)
class ReliabilitySettings(Strict):
    """Conditions under which a worker counts as reliable.

    Fields:
        test: test whose p-value decides. The video paper says only "paired" (Graham et al., PLOS ONE 2018); the
            scripts of its author use the paired t-test, Appraise uses ``mann_whitney``.
        alpha: level below which the p-value must be; 0.05 in the paper.
        min_pairs: workers with fewer pairs of degraded and original captions are not judged; the paper collects at
            least 10 from each worker.
        fast_seconds: a worker who in some HIT took less than this per item, on average, is flagged; Graham's
            scripts flag less than 300 s for a HIT of 100.
        longest_run: a worker who gave the same score more often than this in a row is flagged; 8 in Graham's scripts.
        min_shown: at least half of a worker's answers must be given after this share of the video was shown, 0..1,
            where it is known. Who reads captions and watches nothing may guess which are degraded.
    """

    test: PairedTest = "paired_t"
    alpha: Annotated[float, Gt(0), Lt(1)] = 0.05
    min_pairs: PositiveCount = 10
    fast_seconds: Seconds = 3.0
    longest_run: PositiveCount = 8
    min_shown: Ratio = 0.5


@dataclass(frozen=True, slots=True)
class Comparison:
    """Comparison of a worker's control items of one kind with the captions they were made from.

    The alternatives: degraded lower than original, reference higher than original, repeats different.

    Fields:
        pairs: number of pairs.
        original, control: mean scores; NaN without pairs.
        difference, distance: mean of control - original and of its absolute value; NaN without pairs.
        paired_t, wilcoxon, mann_whitney: p-values; NaN where a test is undefined.
    """

    pairs: int
    original: float
    control: float
    difference: float
    distance: float
    paired_t: float
    wilcoxon: float
    mann_whitney: float

    def p(self, test: PairedTest) -> float:
        """Return the p-value of a test."""
        return {"paired_t": self.paired_t, "wilcoxon": self.wilcoxon, "mann_whitney": self.mann_whitney}[test]


@dataclass(frozen=True, slots=True)
class WorkerReport:
    """Statistics and verdict of a worker.

    Fields:
        worker: id of the worker.
        hits, items: numbers of HITs and items with an answer.
        mean, sd: mean and standard deviation of all scores, with n - 1 in the denominator.
        verdict: see `VERDICTS`.
        p: p-value of the deciding test, NaN if undefined.
        degraded, reference, repeat: comparisons of the control items.
        consistent: repeats were not scored significantly differently; None if undefined. It decides nothing.
        seconds_per_item: mean over the items with a known time, None if there are none.
        longest_run: longest run of equal scores.
        shown: median share of the videos' lengths that was shown, None if none is known.
        flags: hints that decide nothing: ``fast``, ``constant_run``, ``degraded_not_lower``.
    """

    worker: str
    hits: int
    items: int
    mean: float
    sd: float
    verdict: Verdict
    p: float
    degraded: Comparison
    reference: Comparison
    repeat: Comparison
    consistent: bool | None
    seconds_per_item: float | None
    longest_run: int
    flags: tuple[str, ...]
    shown: float | None = None


def judge_workers(judgments: Iterable[Judgment], settings: ReliabilitySettings | None = None) -> list[WorkerReport]:
    """Report on every worker, sorted by name; a worker's pairs are pooled over HITs.

    A control item is compared with the worker's score, in the same HIT, of the same system's caption of the same
    video: the ``system`` item, or the ``human`` item if there is none.

    Raises:
        VttdataError: if SciPy is not installed.
    """
    settings = settings or ReliabilitySettings()
    by_worker: dict[str, list[Judgment]] = {}
    for judgment in judgments:
        by_worker.setdefault(judgment.worker, []).append(judgment)
    return [_report(worker, by_worker[worker], settings) for worker in sorted(by_worker)]


def reliable_only(judgments: Iterable[Judgment], reports: Iterable[WorkerReport]) -> list[Judgment]:
    """Return the judgments of the workers whose verdict is `reliable`."""
    reliable = {report.worker for report in reports if report.verdict == "reliable"}
    return [judgment for judgment in judgments if judgment.worker in reliable]


def _report(worker: str, judgments: list[Judgment], settings: ReliabilitySettings) -> WorkerReport:
    judgments.sort(key=lambda judgment: (judgment.hit, judgment.position, judgment.item))
    pairs = _pairs(judgments)
    comparisons = {kind: _compare(pairs[kind], alternative) for kind, alternative in _ALTERNATIVES.items()}
    degraded, repeat = comparisons["degraded"], comparisons["repeat"]
    scores = np.array([judgment.score for judgment in judgments])
    repeat_p = repeat.p(settings.test)
    hits = [list(items) for _, items in itertools.groupby(judgments, key=lambda judgment: judgment.hit)]
    runs = (itertools.groupby(items, key=lambda judgment: judgment.score) for items in hits)
    longest_run = max(len(list(run)) for runs_of_hit in runs for _, run in runs_of_hit)
    seconds = [[item.seconds for item in items if item.seconds is not None] for items in hits]
    known = list(itertools.chain.from_iterable(seconds))
    shares = [judgment.shown for judgment in judgments if judgment.shown is not None]
    flags = {
        "fast": any(sum(times) / len(times) < settings.fast_seconds for times in seconds if times),
        "constant_run": longest_run > settings.longest_run,
        "degraded_not_lower": degraded.pairs > 0 and degraded.difference >= 0,
    }
    return WorkerReport(
        worker=worker,
        hits=len(hits),
        items=len(judgments),
        mean=float(scores.mean()),
        sd=float(scores.std(ddof=1)) if len(scores) > 1 else float("nan"),
        verdict=_verdict(scores.tolist(), shares, degraded, settings),
        p=degraded.p(settings.test),
        degraded=degraded,
        reference=comparisons["reference"],
        repeat=repeat,
        consistent=None if np.isnan(repeat_p) else bool(repeat_p >= settings.alpha),
        seconds_per_item=sum(known) / len(known) if known else None,
        longest_run=longest_run,
        flags=tuple(name for name, is_set in flags.items() if is_set),
        shown=median(shares) if shares else None,
    )


def _verdict(
    scores: Sequence[float], shares: Sequence[float], degraded: Comparison, settings: ReliabilitySettings
) -> Verdict:
    if not np.isfinite(scores).all():
        return "not_a_number"
    # A single score does not vary, but says nothing about the worker either.
    if len(scores) > 1 and min(scores) == max(scores):
        return "constant"
    if not saw_enough(shares, settings.min_shown):
        return "not_shown"
    if degraded.pairs < settings.min_pairs:
        return "too_few_pairs"
    p = degraded.p(settings.test)
    if np.isnan(p):
        return "undefined"
    return "reliable" if p < settings.alpha else "unreliable"


def _pairs(judgments: Iterable[Judgment]) -> dict[JudgmentKind, list[tuple[float, float]]]:
    """Return, by kind of control, the scores of control items with those of their originals."""
    judgments = list(judgments)
    # System items come first, so that a human item is an original only where there is no system item.
    originals: dict[tuple[str, str, str], float] = {}
    for kind in ("system", "human"):
        for judgment in judgments:
            if judgment.kind == kind:
                originals.setdefault((judgment.hit, judgment.system, judgment.video_id), judgment.score)
    pairs: dict[JudgmentKind, list[tuple[float, float]]] = {kind: [] for kind in _ALTERNATIVES}
    for judgment in judgments:
        original = originals.get((judgment.hit, judgment.system, judgment.video_id))
        if judgment.kind in pairs and original is not None:
            pairs[judgment.kind].append((judgment.score, original))
    return pairs


def _compare(pairs: Sequence[tuple[float, float]], alternative: Alternative) -> Comparison:
    nan = float("nan")
    if not pairs:
        return Comparison(0, nan, nan, nan, nan, nan, nan, nan)
    control, original = np.array(pairs, np.float64).T
    difference = control - original
    paired_t, wilcoxon, mann_whitney = paired_p_values(control, original, alternative)
    return Comparison(
        pairs=len(pairs),
        original=float(original.mean()),
        control=float(control.mean()),
        difference=float(difference.mean()),
        distance=float(np.abs(difference).mean()),
        paired_t=paired_t,
        wilcoxon=wilcoxon,
        mann_whitney=mann_whitney,
    )
