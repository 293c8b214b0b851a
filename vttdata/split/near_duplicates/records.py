"""What is said of sources that look alike: pairs of near-duplicates, and which pair of two splits comes closest.

Plain values; who looks for them is `vttdata.split.near_duplicates.matches`, who judges by them
`vttdata.split.audit.leaks`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class NearDuplicate:
    """Two sources that show the same, at least for a while.

    Attributes:
        source_a, source_b: ids, the smaller first.
        offset_seconds: what source a shows at time t, source b shows at t * speed + offset_seconds, to about half a
            second.
        speed: 1.05 where b takes 5 % longer.
        start_seconds, overlap_seconds: where in a the shared stretch starts, and how long it is.
        mirrored: whether b is a's mirror image.
        distance: share (0..1) of the fingerprints' bits that differ in that stretch; unrelated videos have 0.5.
        similarity: how far the evidence and the overlap reach what is asked for, the lesser of both: from 1 on the two
            are near-duplicates.
    """

    source_a: str
    source_b: str
    offset_seconds: float
    speed: float
    start_seconds: float
    overlap_seconds: float
    mirrored: bool
    distance: float
    similarity: float


@dataclass(frozen=True, slots=True)
class Resemblance:
    """What is known of sources that look alike.

    Attributes:
        pairs: all near-duplicates, each pair once.
        closest: the most similar pair of sources in different splits, near-duplicates or not; None where no two
            pictures of different splits look alike.
        unseen: how many sources have no fingerprint that could be compared; nothing is known of them.
    """

    pairs: Sequence[NearDuplicate]
    closest: NearDuplicate | None = None
    unseen: int = 0
