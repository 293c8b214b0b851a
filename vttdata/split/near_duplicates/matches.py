"""Search for sources that are copies of each other, wholly or in part, by their fingerprints alone.

Also says which pair of two sides comes closest to being copies where none are, so that "no leak" has a margin. Media
is not read here, and of clips only their sources are known.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from vttdata.records import HASHES_PER_SECOND, Fingerprint
from vttdata.split.near_duplicates.alignment import Alignments, align
from vttdata.split.near_duplicates.candidates import find_candidates
from vttdata.split.near_duplicates.samples import ORIENTATIONS, Samples, collect_samples, naming_temporary_folder

# Evidence that the samples of a shared stretch must add up to. Unrelated real videos reached 22, and 29 where both bore
# the same large logo. A still picture has at most 44: then all but 4 of its 128 bits must agree.
MIN_EVIDENCE = 40.0

# Seconds that two sources must share, so that an intro of three seconds makes no copies; where the shorter source has
# less than twice this, half of it.
MIN_SECONDS = 5.0


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


@dataclass(frozen=True, slots=True)
class Matches:
    """All pairs of sources that look alike somewhere, near-duplicates or not, from `match_sources`.

    Fields:
        samples: of all sources.
        alignments: n pairs.
        similarity: (n,); see `NearDuplicate.similarity`.
    """

    samples: Samples
    alignments: Alignments
    similarity: NDArray[np.float64]

    def duplicates(self) -> list[NearDuplicate]:
        """Return the near-duplicates, sorted by their ids."""
        return [self._pair(index) for index in np.flatnonzero(self.similarity >= 1)]

    def closest(self, side: Mapping[str, Hashable]) -> NearDuplicate | None:
        """Return the most similar pair of sources of different sides, near-duplicate or not.

        `side` maps source ids to sides, such as splits; other sources take no part. The pair is None where no two
        pictures of different sides look alike.
        """
        numbers = {name: number for number, name in enumerate(sorted({*map(repr, side.values())}), 1)}
        sides = np.array([numbers[repr(side[name])] if name in side else 0 for name in self.samples.ids], np.int64)
        side_a, side_b = sides[self.alignments.a], sides[self.alignments.b]
        across = np.flatnonzero((side_a != side_b) & (side_a > 0) & (side_b > 0))
        if not len(across):
            return None
        distance, evidence = self.alignments.distance[across], self.alignments.evidence[across]
        order = np.lexsort((distance, -evidence, -self.similarity[across]))
        return self._pair(across[order[0]])

    def similar_sources(self, side: Mapping[str, Hashable]) -> SimilarSources:
        """Return the near-duplicates, and the closest pair of different sides; see `closest`."""
        return SimilarSources(self.duplicates(), self.closest(side))

    def _pair(self, index: np.intp) -> NearDuplicate:
        alignments = self.alignments
        mirrored, rotation = ORIENTATIONS[alignments.orientation[index]]
        return NearDuplicate(
            source_a=self.samples.ids[alignments.a[index]],
            source_b=self.samples.ids[alignments.b[index]],
            offset_seconds=round(float(alignments.offset[index]) / HASHES_PER_SECOND, 3),
            speed=round(float(alignments.speed[index]), 4),
            start_seconds=float(alignments.first[index]) / HASHES_PER_SECOND,
            overlap_seconds=float(alignments.length[index]) / HASHES_PER_SECOND,
            mirrored=mirrored,
            rotation=rotation,
            distance=round(float(alignments.distance[index]), 4),
            similarity=round(float(self.similarity[index]), 4),
        )


def match_sources(sources: Iterable[tuple[str, Fingerprint]]) -> Matches:
    """Compare sources, each an id and its fingerprint; their order makes no difference.

    Raises:
        VttdataError: when an id is duplicated, or a fingerprint cannot be read.
        OSError: when the disk of temporary files is full.
    """
    return match_samples(collect_samples(sources))


@naming_temporary_folder()
def match_samples(samples: Samples) -> Matches:
    """Compare sources by their samples.

    Raises:
        OSError: when the disk of temporary files is full.
    """
    alignments = align(samples, find_candidates(samples), likely=MIN_EVIDENCE / 2)
    shorter = np.minimum(samples.counts(alignments.a), samples.counts(alignments.b))
    min_length = np.minimum(MIN_SECONDS * HASHES_PER_SECOND, np.maximum(shorter / 2, 1))
    similarity = np.minimum(alignments.evidence / MIN_EVIDENCE, alignments.length / min_length)
    return Matches(samples, alignments, similarity)
