"""Generate judgments for tests."""

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
    """Return a worker's judgments of a HIT, in which the n-th item of each kind is about video n."""
    numbers: Counter[str] = Counter()
    judgments = []
    for position, (kind, score) in enumerate(scores):
        video = f"v{numbers[kind]}"
        numbers[kind] += 1
        judgments.append(Judgment(name, worker, f"{name}-{position}", video, system, kind, score, position, seconds))
    return judgments
