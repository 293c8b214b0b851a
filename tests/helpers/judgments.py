"""Generate judgments for tests."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterable

from vttdata.records import CaptionScore, Judgment, JudgmentKind


def hit(
    worker: str,
    scores: Iterable[tuple[JudgmentKind, float]],
    *,
    name: str = "h1",
    system: str = "A",
    seconds: float | None = None,
) -> list[Judgment]:
    """Return a worker's judgments of a HIT, in which the n-th item of each kind is about video n."""
    numbers: Counter[str] = Counter()
    judgments = []
    for position, (kind, score) in enumerate(scores):
        video = f"v{numbers[kind]}"
        numbers[kind] += 1
        judgments.append(Judgment(name, worker, f"{name}-{position}", video, system, kind, score, position, seconds))
    return judgments


def caption_scores_around(**means: float) -> list[CaptionScore]:
    """Return scores of 100 captions per system, with z-scores normally distributed around its mean."""
    random.seed(7)
    return [
        CaptionScore(f"v{n}", system, 50 + 10 * z, z, 1)
        for system, mean in means.items()
        for n in range(100)
        for z in [random.gauss(mean, 1)]
    ]
