"""Finds sources that are copies of each other, wholly or in part, from their fingerprints alone.

Also says which pair of two sides comes closest to being copies where none are, so that "no leak" has a margin. Media
is not read here, and clips are not known except for their spans.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from vttdata.records import HASHES_PER_SECOND, Fingerprint, Source
from vttdata.split.near_duplicates.alignment import Alignments, align
from vttdata.split.near_duplicates.candidates import find_candidates
from vttdata.split.near_duplicates.records import NearDuplicate, Resemblance
from vttdata.split.near_duplicates.samples import Samples, collect_samples

EVIDENCE = 40.0
"""What the samples of a shared stretch must say together. Unrelated real videos reached 22, and 29 where both bore the
same large logo. A still picture says at most 44: then all but 4 of its 128 bits must agree."""

MIN_SECONDS = 5.0
"""How much two sources must share, so that an intro of three seconds makes no copies; where the shorter one has less
than twice this, half of it."""


@dataclass(frozen=True, slots=True)
class Matches:
    """All pairs of sources that look alike somewhere, near-duplicates or not, from `match_sources`."""

    samples: Samples
    found: Alignments
    similarity: NDArray[np.float64]

    def duplicates(self) -> list[NearDuplicate]:
        """The near-duplicates, sorted by their ids."""
        return [self._pair(index) for index in np.flatnonzero(self.similarity >= 1)]

    def closest(self, side: Mapping[str, Hashable]) -> NearDuplicate | None:
        """The pair of highest similarity among sources of different sides.

        Args:
            side: source id -> its side (a split, say); sources that are not named take no part.

        Returns:
            A pair, near-duplicate or not; None where no two pictures of different sides look alike.
        """
        numbers = {name: number for number, name in enumerate(sorted({*map(repr, side.values())}), 1)}
        sides = np.array([numbers[repr(side[name])] if name in side else 0 for name in self.samples.ids], np.int64)
        one, other = sides[self.found.one], sides[self.found.other]
        across = np.flatnonzero((one != other) & (one > 0) & (other > 0))
        if not len(across):
            return None
        rank = np.lexsort((self.found.distance[across], -self.found.evidence[across], -self.similarity[across]))
        return self._pair(across[rank[0]])

    def resemblance(self, side: Mapping[str, Hashable]) -> Resemblance:
        """The near-duplicates, and the closest pair of different sides; see `closest`."""
        return Resemblance(self.duplicates(), self.closest(side))

    def _pair(self, index: np.intp) -> NearDuplicate:
        found = self.found
        return NearDuplicate(
            source_a=self.samples.ids[found.one[index]],
            source_b=self.samples.ids[found.other[index]],
            offset_seconds=round(float(found.offset[index]) / HASHES_PER_SECOND, 3),
            speed=round(float(found.speed[index]), 4),
            start_seconds=float(found.first[index]) / HASHES_PER_SECOND,
            overlap_seconds=float(found.length[index]) / HASHES_PER_SECOND,
            mirrored=bool(found.mirrored[index]),
            distance=round(float(found.distance[index]), 4),
            similarity=round(float(self.similarity[index]), 4),
        )


def match_sources(sources: Iterable[tuple[str, Fingerprint]]) -> Matches:
    """Compare sources by their fingerprints; the order in which they come makes no difference.

    Args:
        sources: id and fingerprint of each.

    Raises:
        VttdataError: when an id comes twice, or a fingerprint cannot be read.
    """
    return match_samples(collect_samples(sources))


def match_samples(samples: Samples) -> Matches:
    """Compare sources whose samples lie side by side already."""
    found = align(samples, find_candidates(samples), EVIDENCE / 2)
    counts = samples.counts()
    shorter = np.minimum(counts[found.one], counts[found.other])
    needed = np.minimum(MIN_SECONDS * HASHES_PER_SECOND, np.maximum(shorter / 2, 1))
    return Matches(samples, found, np.minimum(found.evidence / EVIDENCE, found.length / needed))


def find_near_duplicates(sources: Iterable[Source]) -> list[NearDuplicate]:
    """The near-duplicates among those sources that have a fingerprint, sorted by their ids.

    Raises:
        VttdataError: when an id comes twice, or a fingerprint cannot be read.
    """
    known = ((source.source_id, source.fingerprint) for source in sources if source.fingerprint is not None)
    return match_sources(known).duplicates()
