"""Records of sources that look alike: pairs of near-duplicates, and the most similar pair in different splits.

`vttdata.split.near_duplicates.matches` finds them, and `vttdata.split.audit.leaks` judges splits by them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class NearDuplicate:
    """Two sources that show the same, at least for a while.

    Fields:
        source_a, source_b: ids, the smaller first.
        offset_seconds: source b shows at t * speed + offset_seconds, to about half a second, what source a shows at t.
        speed: 1.05 where b takes 5 % longer.
        start_seconds, overlap_seconds: start of the shared stretch in a, and its length.
        mirrored, rotation: b shows a's mirror image or a itself, turned clockwise by 0, 90, 180 or 270 degrees.
        distance: share (0..1) of the fingerprints' bits that differ in that stretch; unrelated videos have 0.5.
        similarity: lesser of evidence and overlap, each relative to what is required; from 1 on the two sources are
            near-duplicates.
    """

    source_a: str
    source_b: str
    offset_seconds: float
    speed: float
    start_seconds: float
    overlap_seconds: float
    mirrored: bool
    rotation: int
    distance: float
    similarity: float


@dataclass(frozen=True, slots=True)
class SimilarSources:
    """Sources that look alike, as far as is known.

    Fields:
        pairs: all near-duplicates, each pair once.
        closest: most similar pair of sources in different splits, near-duplicates or not; None where no two pictures
            of different splits look alike.
        without_fingerprint: number of sources that have no comparable fingerprint; nothing is known of them.
    """

    pairs: Sequence[NearDuplicate]
    closest: NearDuplicate | None = None
    without_fingerprint: int = 0
