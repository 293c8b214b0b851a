"""Which workers can be trusted: each one's scores of degraded captions against those of the same captions unharmed.

Every worker gets a verdict in words, those who cannot be tested included. It decides nothing about rewards, and it
leaves no judgment out by itself: `reliable_only` does that when asked.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Literal

import numpy as np
from annotated_types import Gt, Lt

from vttdata.assess.paired_tests import PairedTest, Side, paired_p_values
from vttdata.records import Judgment, JudgmentKind
from vttdata.settings import STRICT, PositiveCount, Seconds

Verdict = Literal["reliable", "unreliable", "constant", "too_few_pairs", "not_a_number", "undefined"]

VERDICTS: dict[Verdict, str] = {
    "reliable": "scores degraded captions significantly lower",
    "unreliable": "does not score degraded captions significantly lower",
    "constant": "gave every item the same score",
    "too_few_pairs": "met too few degraded captions together with the unharmed ones to be tested",
    "not_a_number": "has a score that is no finite number",
    "undefined": "the chosen test has no value for these pairs, as where all differences are 0",
}
"""What each verdict means. Only `reliable` workers are to be kept."""

_SIDES: dict[JudgmentKind, Side] = {"degraded": "less", "reference": "greater", "repeat": "two-sided"}


@dataclass(frozen=True, slots=True)
class ReliabilitySettings:
    """When a worker counts as reliable.

    Fields:
        test: the test whose p-value decides. The video paper says only "paired" (Graham et al., PLOS ONE 2018); the
            scripts of its author use the paired t-test, Appraise uses ``mann_whitney``.
        alpha: the p-value must be below it; 0.05 in the paper.
        min_pairs: a worker with fewer pairs of degraded and unharmed captions is not judged; the paper collects at
            least 10 of each worker.
        fast_seconds: a worker who in some HIT took less than this for an item, on average, is flagged; Graham's
            scripts flag less than 300 s for a HIT of 100.
        longest_run: a worker who gave one score more often than this in a row is flagged; 8 in Graham's scripts.
    """

    __pydantic_config__: ClassVar[dict[str, Any]] = STRICT

    test: PairedTest = "paired_t"
    alpha: Annotated[float, Gt(0), Lt(1)] = 0.05
    min_pairs: PositiveCount = 10
    fast_seconds: Seconds = 3.0
    longest_run: PositiveCount = 8


@dataclass(frozen=True, slots=True)
class Comparison:
    """A worker's control items of one kind against the captions they belong to.

    `original` and `control` are mean scores, `difference` is the mean of control - original, `distance` that of its
    absolute value; NaN without pairs. The p-values are NaN where a test has none. The alternatives: degraded lower than
    original, reference higher than original, repeats different.
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
        """The p-value of one of the tests."""
        return {"paired_t": self.paired_t, "wilcoxon": self.wilcoxon, "mann_whitney": self.mann_whitney}[test]


@dataclass(frozen=True, slots=True)
class WorkerReport:
    """What is known of one worker.

    Fields:
        worker, hits, items: who, and how much was answered.
        mean, sd: of all scores; the deviation has n - 1 in the denominator.
        verdict: see `VERDICTS`; `p` is the p-value of the deciding test, NaN where there is none.
        degraded, reference, repeat: the comparisons.
        consistent: whether repeats were not scored significantly differently; None where that cannot be tested. It is
            reported and decides nothing.
        seconds_per_item: mean over the items whose time is known, None where none is.
        longest_run: how many times in a row one score was given, at most.
        flags: advice that decides nothing: ``fast``, ``constant_run``, ``degraded_not_lower``.
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


def judge_workers(judgments: Iterable[Judgment], settings: ReliabilitySettings | None = None) -> list[WorkerReport]:
    """Report on every worker, sorted by name; pairs of a worker are pooled over HITs.

    A control item is compared with the worker's own score, in the same HIT, of the same system's caption of the same
    video: the ``system`` item, or the ``human`` one where there is no such.

    Raises:
        VttdataError: when SciPy is not installed.
    """
    settings = settings or ReliabilitySettings()
    own: dict[str, list[Judgment]] = {}
    for judgment in judgments:
        own.setdefault(judgment.worker, []).append(judgment)
    in_hits = {
        worker: sorted(items, key=lambda item: (item.hit, item.position, item.item)) for worker, items in own.items()
    }
    return [_report(worker, in_hits[worker], settings) for worker in sorted(in_hits)]


def reliable_only(judgments: Iterable[Judgment], reports: Iterable[WorkerReport]) -> list[Judgment]:
    """The judgments of those workers whose verdict is `reliable`."""
    reliable = {report.worker for report in reports if report.verdict == "reliable"}
    return [judgment for judgment in judgments if judgment.worker in reliable]


def _report(worker: str, judgments: Sequence[Judgment], settings: ReliabilitySettings) -> WorkerReport:
    pairs = _pairs(judgments)
    comparisons = {kind: _compare(pairs[kind], side) for kind, side in _SIDES.items()}
    degraded, repeat = comparisons["degraded"], comparisons["repeat"]
    scores = np.array([judgment.score for judgment in judgments])
    again = repeat.p(settings.test)
    hits: dict[str, list[Judgment]] = {}
    for judgment in judgments:
        hits.setdefault(judgment.hit, []).append(judgment)
    known = [judgment.seconds for judgment in judgments if judgment.seconds is not None]
    longest = max(_longest_run(items) for items in hits.values())
    return WorkerReport(
        worker=worker,
        hits=len(hits),
        items=len(judgments),
        mean=float(scores.mean()),
        sd=float(scores.std(ddof=1)) if len(scores) > 1 else float("nan"),
        verdict=_verdict(scores.tolist(), degraded, settings),
        p=degraded.p(settings.test),
        degraded=degraded,
        reference=comparisons["reference"],
        repeat=repeat,
        consistent=None if np.isnan(again) else bool(again >= settings.alpha),
        seconds_per_item=sum(known) / len(known) if known else None,
        longest_run=longest,
        flags=tuple(_flags(hits.values(), longest, degraded, settings)),
    )


def _verdict(scores: Sequence[float], degraded: Comparison, settings: ReliabilitySettings) -> Verdict:
    if not np.isfinite(scores).all():
        return "not_a_number"
    if len(scores) > 1 and min(scores) == max(scores):
        return "constant"
    if degraded.pairs < settings.min_pairs:
        return "too_few_pairs"
    p = degraded.p(settings.test)
    if np.isnan(p):
        return "undefined"
    return "reliable" if p < settings.alpha else "unreliable"


def _flags(
    hits: Iterable[Sequence[Judgment]], longest: int, degraded: Comparison, settings: ReliabilitySettings
) -> Iterable[str]:
    times = [[item.seconds for item in items if item.seconds is not None] for items in hits]
    if any(sum(own) / len(own) < settings.fast_seconds for own in times if own):
        yield "fast"
    if longest > settings.longest_run:
        yield "constant_run"
    if degraded.pairs and degraded.difference >= 0:
        yield "degraded_not_lower"


def _longest_run(items: Iterable[Judgment]) -> int:
    return max(len(list(run)) for _, run in itertools.groupby(items, key=lambda item: item.score))


def _pairs(judgments: Iterable[Judgment]) -> dict[JudgmentKind, list[tuple[float, float]]]:
    """By kind of control: the score of the control item and that of its original."""
    judgments = list(judgments)
    originals: dict[tuple[str, str, str], float] = {}
    for kind in ("system", "human"):
        for own in judgments:
            if own.kind == kind:
                originals.setdefault((own.hit, own.system, own.video_id), own.score)
    pairs: dict[JudgmentKind, list[tuple[float, float]]] = {kind: [] for kind in _SIDES}
    for own in judgments:
        original = originals.get((own.hit, own.system, own.video_id))
        if own.kind in pairs and original is not None:
            pairs[own.kind].append((own.score, original))
    return pairs


def _compare(pairs: Sequence[tuple[float, float]], side: Side) -> Comparison:
    nan = float("nan")
    if not pairs:
        return Comparison(0, nan, nan, nan, nan, nan, nan, nan)
    control, original = np.array(pairs, np.float64).T
    difference = control - original
    paired_t, wilcoxon, mann_whitney = paired_p_values(control, original, side)
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
