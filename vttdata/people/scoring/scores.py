"""Turn judgments into scores: standardise by worker, average by caption, then by system (Graham et al., PLOS ONE 2018).

All judgments are scored; `vttdata.people.scoring.workers` decides which workers are reliable enough to be passed in.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np

from vttdata.ids import digest
from vttdata.records import CaptionScore, Judgment
from vttdata.statistics.bootstrap import resample_ratios
from vttdata.statistics.intervals import bootstrap_interval

Convention = Literal["all", "ranked"]
"""Items from which a worker's mean and standard deviation are computed: ``all`` items, controls included (Graham's
scripts: "that individual's mean and standard deviation score overall"), or only system captions and their repeats,
``ranked`` (the Appraise evaluation system of WMT). Both divide by n - 1. If the deviation is 0 or undefined, ``all``
leaves the worker out and ``ranked`` replaces it by 1, as those programs do."""

SCORED_KINDS = frozenset({"system", "repeat", "human"})
"""Kinds of judgments that count for a caption; the others only control the worker."""


class Moments(NamedTuple):
    """Mean and standard deviation of a worker's scores (n - 1 in the denominator; NaN for a single score)."""

    mean: float
    sd: float


@dataclass(frozen=True, slots=True)
class Standardised:
    """Judgments with their z-scores.

    Fields:
        judgments: judgments of all workers who could be standardised, in input order.
        z: z-score of each judgment.
        moments: worker -> mean and deviation that were used.
        left_out: sorted workers without a usable deviation; their judgments are not in `judgments`.
    """

    judgments: tuple[Judgment, ...]
    z: tuple[float, ...]
    moments: Mapping[str, Moments]
    left_out: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class SystemScore:
    """Mean of a system's caption scores, `raw` in 0..100 and `z`, with the numbers of captions and assessments."""

    system: str
    raw: float
    z: float
    captions: int
    assessments: int


def worker_moments(judgments: Iterable[Judgment], convention: Convention = "all") -> dict[str, Moments]:
    """Return each worker's mean and standard deviation of raw scores, NaN for workers without counted items."""
    scores: dict[str, list[float]] = {}
    for judgment in judgments:
        counted = scores.setdefault(judgment.worker, [])
        if convention == "all" or judgment.kind in ("system", "repeat"):
            counted.append(judgment.score)
    moments = {}
    for worker, counted in scores.items():
        values = np.asarray(counted, np.float64)
        mean = float(values.mean()) if len(values) else float("nan")
        moments[worker] = Moments(mean, float(values.std(ddof=1)) if len(values) > 1 else float("nan"))
    return moments


def standardise(
    judgments: Iterable[Judgment], convention: Convention = "all", moments: Mapping[str, Moments] | None = None
) -> Standardised:
    """Convert raw scores to z-scores: distances from the worker's mean in units of the worker's standard deviation.

    Args:
        judgments: all judgments, controls included.
        convention: which items determine a worker's mean and deviation, and how a deviation of 0 is treated.
        moments: published means and deviations to use instead of computed ones; workers without an entry are left out.
    """
    judgments = list(judgments)
    known = dict(moments) if moments is not None else worker_moments(judgments, convention)
    if convention == "ranked" and moments is None:
        known = {worker: Moments(mean, sd if sd > 0 else 1.0) for worker, (mean, sd) in known.items()}
    usable = {worker: known[worker] for worker in known if known[worker].sd > 0 and np.isfinite(known[worker].mean)}
    kept = [judgment for judgment in judgments if judgment.worker in usable]
    scores = np.array([judgment.score for judgment in kept], np.float64)
    mean = np.array([usable[judgment.worker].mean for judgment in kept], np.float64)
    sd = np.array([usable[judgment.worker].sd for judgment in kept], np.float64)
    left_out = sorted({judgment.worker for judgment in judgments} - usable.keys())
    z: list[float] = ((scores - mean) / sd).tolist()
    return Standardised(tuple(kept), tuple(z), usable, tuple(left_out))


def caption_scores(standardised: Standardised) -> list[CaptionScore]:
    """Average the judgments of each system's caption of each video, first by worker, then over workers.

    Averaging by worker first, as in Graham's scripts, keeps a repeat from giving its worker more weight. Controls do
    not count. Captions are returned in order of first appearance.
    """
    scores_by_caption: dict[tuple[str, str], dict[str, list[tuple[float, float]]]] = {}
    for judgment, z in zip(standardised.judgments, standardised.z, strict=True):
        if judgment.kind in SCORED_KINDS:
            scores_by_worker = scores_by_caption.setdefault((judgment.system, judgment.video_id), {})
            scores_by_worker.setdefault(judgment.worker, []).append((judgment.score, z))
    captions = []
    for (system, video_id), scores_by_worker in scores_by_caption.items():
        workers = list(scores_by_worker.values())
        raw, z = (
            sum(sum(score[column] for score in scores) / len(scores) for scores in workers) / len(workers)
            for column in (0, 1)
        )
        captions.append(CaptionScore(video_id, system, raw, z, sum(map(len, workers))))
    return captions


def system_scores(scores: Iterable[CaptionScore]) -> list[SystemScore]:
    """Average the captions of each system; systems are sorted by descending mean z-score, then by name."""
    systems = [
        SystemScore(
            system,
            sum(score.raw for score in captions) / len(captions),
            sum(score.z for score in captions) / len(captions),
            len(captions),
            sum(score.assessments for score in captions),
        )
        for system, captions in group_by_system(scores).items()
    ]
    return sorted(systems, key=lambda score: (-score.z, score.system))


def system_intervals(
    scores: Iterable[CaptionScore], *, seed: int = 0, samples: int = 1000, level: float = 0.95
) -> dict[str, tuple[float, float]]:
    """Return bootstrap intervals of each system's mean z-score, resampling its captions.

    Args:
        scores: scores of captions, in any order.
        seed: determines, with a system's name, the draws for this system, independently of other systems.
        samples: number of resamples.
        level: share of resampled means within the interval, 0..1.

    Returns:
        System -> lower and upper end.
    """
    intervals: dict[str, tuple[float, float]] = {}
    for system, captions in sorted(group_by_system(scores).items()):
        captions.sort(key=lambda score: (score.video_id, score.campaign, score.hit or "", score.z))
        values = np.array([[score.z for score in captions]])
        # Draws depend on the system's name, so that adding a system changes no other interval.
        generator = np.random.default_rng(int(digest([seed, system, "bootstrap"])[:16], 16))
        (means,) = resample_ratios(values, np.ones(len(captions)), generator, draws=samples)
        tail = (1 - level) / 2
        intervals[system] = bootstrap_interval(float(values.mean()), means, len(captions), tails=(tail, tail))
    return intervals


def group_by_system(scores: Iterable[CaptionScore]) -> dict[str, list[CaptionScore]]:
    """Return the caption scores of each system, in input order."""
    systems: dict[str, list[CaptionScore]] = {}
    for score in scores:
        systems.setdefault(score.system, []).append(score)
    return systems
