"""Finds by which caption a numbered judgment is meant: the offset at which texts and human scores agree.

A caption that shares words with what people wrote about the same video is judged better than one that does not. If ids
point to the wrong lines, this is so at another offset, or at none.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

OFFSETS = range(-6, 7)
"""What is added to an id to get a line counted from 0."""

_WORD = re.compile(r"[^\W_]+(?:'\w+)?")
_CLEAR = 5.0
"""How many standard errors (1 / sqrt(n)) a peak must reach. The weakest real one, TRECVID 2016 with single annotators,
reaches 12; the highest elsewhere in the sets of 2016 and 2017 reaches 5, and it is 3 times lower than its peak."""
_ABOVE_THE_REST = 2.0
_ENOUGH = 500
"""Judged captions below which the absence of a peak says nothing."""


@dataclass(frozen=True, slots=True)
class OffsetScan:
    """One line of an alignment scan.

    Fields:
        campaign: which judgments.
        offset: what was added to each id to get a line counted from 0, modulo the number of lines.
        correlation: Pearson's r of word overlap and z score within systems; NaN where either does not vary.
        judgments: how many captions were compared; one that was judged several times counts once.
    """

    campaign: str
    offset: int
    correlation: float
    judgments: int


def scan_offsets(
    campaign: str,
    captions: Mapping[str, Sequence[str]],
    references: Sequence[Sequence[str]],
    scores: Iterable[tuple[str, int, float]],
) -> list[OffsetScan]:
    """Correlate overlap and scores at every offset of `OFFSETS`.

    Overlap is the cosine of the sets of words of caption and references, each word weighted by its inverse document
    frequency. Both sides are centred within each system, so that better systems make no peak.

    Args:
        campaign: a name for the judgments.
        captions: system -> its captions, line by line; all of one length.
        references: what people wrote, line by line, as one list a line; of the same length.
        scores: (system, id, z score) of each judgment.
    """
    judged: dict[tuple[str, int], list[float]] = {}
    for system, number, z in scores:
        if system in captions:
            judged.setdefault((system, number), []).append(z)
    words = [set().union(*map(_words, own)) for own in references]
    frequency = Counter(word for own in words for word in own)
    weight = {word: math.log((len(words) + 1) / (number + 1)) ** 2 for word, number in frequency.items()}
    unknown = math.log(len(words) + 1) ** 2
    overlap = {
        system: np.array([_cosine(_words(text), own, weight, unknown) for text, own in zip(lines, words, strict=True)])
        for system, lines in captions.items()
    }
    by_system: dict[str, list[tuple[int, float]]] = {}
    for (system, number), zs in judged.items():
        by_system.setdefault(system, []).append((number, sum(zs) / len(zs)))
    return [OffsetScan(campaign, offset, _correlation(by_system, overlap, offset), len(judged)) for offset in OFFSETS]


def _words(text: str) -> set[str]:
    return set(_WORD.findall(text.lower()))


def _cosine(first: set[str], second: set[str], weight: Mapping[str, float], unknown: float) -> float:
    """`math.fsum` gives one result in whatever order a set has its words."""
    shared = math.fsum(weight[word] for word in first & second)
    size = math.prod(math.fsum(weight.get(word, unknown) for word in own) for own in (first, second))
    return shared / math.sqrt(size) if size else 0.0


def _correlation(
    by_system: Mapping[str, Sequence[tuple[int, float]]], overlap: Mapping[str, np.ndarray], offset: int
) -> float:
    overlaps, zs = [], []
    for system, rows in by_system.items():
        own = overlap[system][[(number + offset) % len(overlap[system]) for number, _ in rows]]
        z = np.array([score for _, score in rows])
        overlaps.append(own - own.mean())
        zs.append(z - z.mean())
    x, y = (np.concatenate(parts) if parts else np.zeros(0) for parts in (overlaps, zs))
    spread = math.sqrt(float(x @ x) * float(y @ y))
    return float(x @ y) / spread if spread else math.nan


def peak(scans: Sequence[OffsetScan]) -> int | None:
    """The offset at which captions and scores agree, or None where no offset stands out."""
    known = sorted((own for own in scans if not math.isnan(own.correlation)), key=lambda own: -own.correlation)
    if not known:
        return None
    best, *rest = known
    clear = best.correlation * math.sqrt(best.judgments) >= _CLEAR
    alone = not rest or best.correlation >= _ABOVE_THE_REST * rest[0].correlation
    return best.offset if clear and alone else None


def can_tell(scans: Sequence[OffsetScan]) -> bool:
    """Whether there are enough judgments for a missing peak to mean misalignment."""
    return any(own.judgments >= _ENOUGH for own in scans)
