"""From judgments to scores: standardised by worker, averaged by caption, then by system (Graham et al., PLOS ONE 2018).

It takes the judgments it is given: leaving unreliable workers out is `vttdata.assess.workers`'s decision.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from vttdata.ids import digest
from vttdata.records import CaptionScore, Judgment

Floats = NDArray[np.float64]

Convention = Literal["all", "ranked"]
"""Which of a worker's items give mean and standard deviation: ``all`` items, controls included (Graham's scripts: "that
individual's mean and standard deviation score overall"), or system captions and their repeats only, ``ranked`` (the
Appraise evaluation system of WMT). Both divide by n - 1. Where the deviation is 0 or unknown, ``all`` leaves the worker
out and ``ranked`` puts 1 in its place, as those programs do."""

SCORED = frozenset({"system", "repeat", "human"})
"""The kinds of judgments that count for a caption; the others only control the worker."""


class Moments(NamedTuple):
    """A worker's mean and standard deviation (n - 1 in the denominator; NaN for one item)."""

    mean: float
    sd: float


@dataclass(frozen=True, slots=True)
class Standardised:
    """Judgments with their z scores.

    Fields:
        judgments: those whose worker could be standardised, in their order.
        z: the z score of each.
        moments: of each worker, as used.
        left_out: workers without a usable deviation, sorted; their judgments are not among `judgments`.
    """

    judgments: tuple[Judgment, ...]
    z: tuple[float, ...]
    moments: Mapping[str, Moments]
    left_out: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class SystemScore:
    """A system's mean over its captions: `raw` of 0..100 and `z`; how many captions and assessments are behind it."""

    system: str
    raw: float
    z: float
    captions: int
    assessments: int


def worker_moments(judgments: Iterable[Judgment], convention: Convention = "all") -> dict[str, Moments]:
    """Each worker's mean and standard deviation of raw scores; a worker without such items has NaN for both."""
    own: dict[str, list[float]] = {}
    for judgment in judgments:
        scores = own.setdefault(judgment.worker, [])
        if convention == "all" or judgment.kind in ("system", "repeat"):
            scores.append(judgment.score)
    return {worker: _moments(scores) for worker, scores in own.items()}


def _moments(scores: Sequence[float]) -> Moments:
    values = np.asarray(scores, np.float64)
    mean = float(values.mean()) if len(values) else float("nan")
    return Moments(mean, float(values.std(ddof=1)) if len(values) > 1 else float("nan"))


def standardise(
    judgments: Iterable[Judgment], convention: Convention = "all", moments: Mapping[str, Moments] | None = None
) -> Standardised:
    """Turn raw scores into z scores: how many of the worker's own standard deviations from the worker's own mean.

    Args:
        judgments: all of them, controls included.
        convention: which items give a worker's mean and deviation, and what happens where the deviation is 0.
        moments: means and deviations that were published, in the place of computed ones; workers without an entry are
            left out.
    """
    judgments = list(judgments)
    known = dict(moments) if moments is not None else worker_moments(judgments, convention)
    if convention == "ranked" and moments is None:
        known = {worker: Moments(own.mean, own.sd if own.sd > 0 else 1.0) for worker, own in known.items()}
    usable = {worker: own for worker, own in known.items() if own.sd > 0 and np.isfinite(own.mean)}
    kept = [judgment for judgment in judgments if judgment.worker in usable]
    scores = np.array([judgment.score for judgment in kept], np.float64)
    mean = np.array([usable[judgment.worker].mean for judgment in kept], np.float64)
    sd = np.array([usable[judgment.worker].sd for judgment in kept], np.float64)
    left_out = sorted({judgment.worker for judgment in judgments} - usable.keys())
    z: list[float] = ((scores - mean) / sd).tolist()
    return Standardised(tuple(kept), tuple(z), usable, tuple(left_out))


def caption_scores(standardised: Standardised) -> list[CaptionScore]:
    """Average what each system's caption of each video got: first within a worker, then over workers.

    The mean within a worker comes first, as in Graham's scripts, so that a repeat does not give its worker more weight.
    Controls do not count. Captions come in the order in which they first appear.
    """
    own: dict[tuple[str, str], dict[str, list[tuple[float, float]]]] = {}
    for judgment, z in zip(standardised.judgments, standardised.z, strict=True):
        if judgment.kind in SCORED:
            workers = own.setdefault((judgment.system, judgment.video_id), {})
            workers.setdefault(judgment.worker, []).append((judgment.score, z))
    return [_caption_score(*caption, list(workers.values())) for caption, workers in own.items()]


def _caption_score(system: str, video_id: str, workers: Sequence[Sequence[tuple[float, float]]]) -> CaptionScore:
    raw, z = (
        sum(sum(score[column] for score in scores) / len(scores) for scores in workers) / len(workers)
        for column in (0, 1)
    )
    return CaptionScore(video_id, system, raw, z, sum(map(len, workers)))


def system_scores(scores: Iterable[CaptionScore]) -> list[SystemScore]:
    """Average the captions of each system; the highest mean z comes first, then by name."""
    own: dict[str, list[CaptionScore]] = {}
    for score in scores:
        own.setdefault(score.system, []).append(score)
    found = [
        SystemScore(
            system,
            sum(score.raw for score in captions) / len(captions),
            sum(score.z for score in captions) / len(captions),
            len(captions),
            sum(score.assessments for score in captions),
        )
        for system, captions in own.items()
    ]
    return sorted(found, key=lambda score: (-score.z, score.system))


def bootstrap(
    scores: Iterable[CaptionScore], *, seed: int = 0, samples: int = 1000, level: float = 0.95
) -> dict[str, tuple[float, float]]:
    """Percentile intervals of each system's mean z, its captions drawn again with replacement.

    Args:
        scores: of captions, in any order.
        seed: with a system's name it decides the draws of this system, whatever other systems there are.
        samples: how many times captions are drawn.
        level: the share of draws between the two ends, 0..1.

    Returns:
        System -> lower and upper end.
    """
    own: dict[str, list[CaptionScore]] = {}
    for score in scores:
        own.setdefault(score.system, []).append(score)
    ends = (100 * (1 - level) / 2, 100 * (1 + level) / 2)
    intervals: dict[str, tuple[float, float]] = {}
    for system, captions in sorted(own.items()):
        ordered = sorted(captions, key=lambda score: (score.video_id, score.campaign, score.hit or "", score.z))
        means = _drawn_means(np.array([score.z for score in ordered]), [seed, system, "bootstrap"], samples)
        lower, upper = np.percentile(means, ends)
        intervals[system] = (float(lower), float(upper))
    return intervals


_DRAWN_AT_ONCE = 2**20


def _drawn_means(values: Floats, purpose: Any, samples: int) -> Floats:
    random = np.random.default_rng(int(digest(purpose)[:16], 16))
    step = max(_DRAWN_AT_ONCE // len(values), 1)
    sizes = [min(step, samples - start) for start in range(0, samples, step)]
    means = [values[random.integers(len(values), size=(size, len(values)))].mean(axis=1).tolist() for size in sizes]
    return np.array(list(itertools.chain.from_iterable(means)))
