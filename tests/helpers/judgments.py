"""Judgments made up for tests."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from vttdata.records import Judgment, JudgmentKind


def hit(
    worker: str,
    scores: Iterable[tuple[JudgmentKind, float]],
    *,
    name: str = "h1",
    system: str = "A",
    seconds: float | None = None,
) -> list[Judgment]:
    """One HIT of one worker: the n-th item of each kind is about video n."""
    numbers: Counter[str] = Counter()
    judgments = []
    for place, (kind, score) in enumerate(scores):
        video = f"v{numbers[kind]}"
        numbers[kind] += 1
        judgments.append(Judgment(name, worker, f"{name}-{place}", video, system, kind, score, place, seconds))
    return judgments
