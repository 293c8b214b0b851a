"""Find the line that a numbered judgment is about: the offset at which captions and human scores agree.

A caption that shares words with what people wrote about the same video is judged better than one that does not. If ids
point to the wrong lines, this is so at another offset, or at none.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from vttdata.text.weighted_word_overlap import WordWeights, distinct_words

# Numbers that are added to an id to get a line counted from 0.
OFFSETS = range(-6, 7)

# Standard errors (1 / sqrt(n)) that a peak must reach. The weakest real one, TRECVID 2016 with single annotators,
# reaches 12; the highest elsewhere in the sets of 2016 and 2017 reaches 5, and is 3 times lower than its peak.
_MIN_STANDARD_ERRORS = 5.0
_MIN_RATIO_TO_SECOND = 2.0
# Judged captions below which the absence of a peak says nothing.
_MIN_JUDGMENTS = 500


@dataclass(frozen=True, slots=True)
class OffsetScan:
    """Agreement of captions and scores at an offset of ids.

    Fields:
        campaign: name of the judgments.
        offset: added to each id to get a line counted from 0, modulo the number of lines.
        correlation: Pearson's r of word overlap and z score within systems; NaN where either does not vary.
        judgments: number of captions that were compared; a caption that was judged several times counts once.
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
    """Correlate word overlap and scores at every offset of `OFFSETS`.

    Overlap is the cosine of the sets of words of caption and references, each word weighted by its inverse document
    frequency. Both sides are centred within each system, so that better systems make no peak.

    Args:
        campaign: name of the judgments.
        captions: system -> its captions, line by line; all of one length.
        references: for each line what people wrote; of the same length.
        scores: (system, id, z score) of each judgment.
    """
    judged: dict[tuple[str, int], list[float]] = {}
    for system, caption_id, z in scores:
        if system in captions:
            judged.setdefault((system, caption_id), []).append(z)
    words = [set[str]().union(*map(distinct_words, texts)) for texts in references]
    weights = WordWeights(words)
    overlap = {
        system: np.array([weights.cosine(distinct_words(text), line) for text, line in zip(texts, words, strict=True)])
        for system, texts in captions.items()
    }
    mean_scores: dict[str, list[tuple[int, float]]] = {}
    for (system, caption_id), zs in judged.items():
        mean_scores.setdefault(system, []).append((caption_id, sum(zs) / len(zs)))
    return [OffsetScan(campaign, offset, _correlate(mean_scores, overlap, offset), len(judged)) for offset in OFFSETS]


def _correlate(
    mean_scores: Mapping[str, Sequence[tuple[int, float]]], overlap: Mapping[str, np.ndarray], offset: int
) -> float:
    overlaps, scores = [], []
    for system, rows in mean_scores.items():
        lines = [(caption_id + offset) % len(overlap[system]) for caption_id, _ in rows]
        x, y = overlap[system][lines], np.array([z for _, z in rows])
        overlaps.append(x - x.mean())
        scores.append(y - y.mean())
    x, y = (np.concatenate(parts) if parts else np.zeros(0) for parts in (overlaps, scores))
    spread = math.sqrt(float(x @ x) * float(y @ y))
    return float(x @ y) / spread if spread else math.nan


def peak(scans: Sequence[OffsetScan]) -> int | None:
    """Return the offset at which captions and scores agree, or None where no offset stands out."""
    known = sorted((scan for scan in scans if not math.isnan(scan.correlation)), key=lambda scan: -scan.correlation)
    if not known:
        return None
    best, *rest = known
    significant = best.correlation * math.sqrt(best.judgments) >= _MIN_STANDARD_ERRORS
    alone = not rest or best.correlation >= _MIN_RATIO_TO_SECOND * rest[0].correlation
    return best.offset if significant and alone else None


def can_tell(scans: Sequence[OffsetScan]) -> bool:
    """Return True if there are enough judgments for a missing peak to mean misalignment."""
    return any(scan.judgments >= _MIN_JUDGMENTS for scan in scans)
