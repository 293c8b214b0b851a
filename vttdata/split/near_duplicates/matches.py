"""Search for sources that are copies of each other, wholly or in part, by their fingerprints alone.

Also says which pair of two sides comes closest to being copies where none are, so that "no leak" has a margin. Media
is not read here, and of clips only their sources are known.

What two sources share is the stretch at one offset with the largest sum over its samples, its evidence. Every sample
counts for or against: 22 bits of 64 minus those that differ, and nearly nothing where a picture stands still.
"""

from __future__ import annotations

import itertools
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from vttdata.records import HASHES_PER_SECOND, Fingerprint
from vttdata.split.near_duplicates.candidates import Candidates, find_candidates
from vttdata.split.near_duplicates.samples import (
    ORIENTATIONS,
    Indices,
    Samples,
    collect_samples,
    differing_bits,
    naming_temporary_folder,
)

Floats = NDArray[np.float64]

# Evidence that the samples of a shared stretch must add up to. Unrelated real videos reached 22, and 29 where both bore
# the same large logo. A still picture has at most 44: then all but 4 of its 128 bits must agree.
MIN_EVIDENCE = 40.0

# Seconds that two sources must share, so that an intro of three seconds makes no copies; where the shorter source has
# less than twice this, half of it.
MIN_SECONDS = 5.0

# Share of bits that may differ in a copy: unrelated pictures differ in a half of the bits, those a quarter of a second
# apart in fast motion in a quarter.
_CREDIT = 22 / 64

# A still picture prolongs the stretch and hardly adds to the evidence.
_MIN_NOVELTY = 1e-4

# Cells of the comparison matrix, pairs x samples, in memory at a time.
_MAX_CELLS = 2**19

# Pairs of sources at an offset that are aligned before all but the best offset of each pair are dropped.
_BLOCK_CANDIDATES = 2**13

# Conversions between film and television, and changes that hide copies.
_SPEEDS = (0.8, 1 / 1.1, 1 / 1.05, 24 / 25, 25 / 24, 1.05, 1.1, 1.25)

# Drift in samples from which on other speeds are tried, and how much stronger their evidence must be.
_MIN_DRIFT = 0.75
_MIN_IMPROVEMENT = 1.1

# Neighbours in time that a sample is compared with; of equal ones the first counts.
_SHIFTS = np.array([0, -1, 1], np.int8)


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
class Alignments:
    """Stretches that pairs of sources share; all arrays are equally long.

    Fields:
        a, b: indices of sources.
        offset, speed: sample s of source a is sample s * speed + offset of source b.
        orientation: of source b when it shows source a; see `ORIENTATIONS`.
        first, length: the shared stretch in samples of source a.
        evidence: sum over the stretch; see the module.
        distance: share (0..1) of bits that differ in the stretch.
        drift: number of samples by which the two run apart along the stretch.
    """

    a: Indices
    b: Indices
    offset: Floats
    speed: Floats
    orientation: Indices
    first: Indices
    length: Indices
    evidence: Floats
    distance: Floats
    drift: Floats

    def __len__(self) -> int:
        return len(self.a)

    def __getitem__(self, selected: NDArray[np.bool_] | Indices | slice) -> Alignments:
        return Alignments(*(getattr(self, field.name)[selected] for field in fields(self)))


@dataclass(frozen=True, slots=True)
class Matches:
    """All pairs of sources that look alike somewhere, near-duplicates or not, from `match_sources`.

    There is an alignment for each of n pairs, and a similarity (n,) as that of `NearDuplicate`.
    """

    samples: Samples
    alignments: Alignments
    similarity: Floats

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


def align(samples: Samples, candidates: Candidates, likely: float) -> Alignments:
    """Return the best alignment of each pair of sources among the candidates, in the order of pairs.

    `likely` is the evidence from which on an alignment is also tried at other speeds than 1.
    """
    # All offsets of a pair are in one block, and only the best is kept.
    pair_starts = np.flatnonzero((np.diff(candidates.a, prepend=-1) != 0) | (np.diff(candidates.b, prepend=-1) != 0))
    blocks = np.searchsorted(pair_starts, np.arange(0, len(candidates), _BLOCK_CANDIDATES))
    bounds = np.unique([*pair_starts[blocks[blocks < len(pair_starts)]], len(candidates)])
    parts = []
    for block in (slice(*bound) for bound in itertools.pairwise([0, *bounds])):
        offset = candidates.offset[block].astype(np.float64)
        a, b, orientation = candidates.a[block], candidates.b[block], candidates.orientation[block]
        parts.append(best_of_pairs(align_at(samples, a, b, offset, np.ones(len(offset)), orientation)))
        samples.arrays.release_pages()
    best = concatenate_alignments(parts)
    is_likely = best.evidence >= likely
    plain = best[is_likely]
    # Each pair that is likely has its best alignment here, in the same order.
    at_best_speed = best_of_pairs(concatenate_alignments([plain, *try_speeds(samples, plain)]))
    for field in fields(Alignments):
        getattr(best, field.name)[is_likely] = getattr(at_best_speed, field.name)
    return best


def try_speeds(samples: Samples, plain: Alignments) -> Iterator[Alignments]:
    """Yield alignments at other speeds that are clearly better than at speed 1."""
    for speed in _SPEEDS:
        drifting = plain[plain.drift * np.sign(speed - 1) >= _MIN_DRIFT]
        # The middle of the stretch stays where it is.
        offset = drifting.offset + (drifting.first + drifting.length / 2) * (1 - speed)
        speeds = np.full(len(drifting), speed)
        aligned = align_at(samples, drifting.a, drifting.b, offset, speeds, drifting.orientation)
        yield aligned[aligned.evidence > _MIN_IMPROVEMENT * drifting.evidence]


def concatenate_alignments(parts: list[Alignments]) -> Alignments:
    """Return the alignments of all parts, one after the other."""
    return Alignments(*(np.concatenate([getattr(part, field.name) for part in parts]) for field in fields(Alignments)))


def best_of_pairs(alignments: Alignments) -> Alignments:
    """Return the alignment with the most evidence of each pair, in the order of pairs, if it has any evidence."""
    # The last key counts most; all of them together leave nothing to the order of candidates.
    keys = (
        alignments.speed,
        alignments.orientation,
        alignments.offset,
        np.abs(alignments.offset),
        -alignments.evidence,
        alignments.b,
        alignments.a,
    )
    alignments = alignments[np.lexsort(keys)]
    is_first_of_pair = (np.diff(alignments.a, prepend=-1) != 0) | (np.diff(alignments.b, prepend=-1) != 0)
    return alignments[is_first_of_pair & (alignments.evidence > 0)]


def align_at(
    samples: Samples, a: Indices, b: Indices, offset: Floats, speed: Floats, orientation: Indices
) -> Alignments:
    """Return the shared stretch of each pair at its offset and speed."""
    first = np.maximum(np.ceil(-offset / speed), 0).astype(np.int64)
    last = np.minimum(samples.counts(a) - 1, np.floor((samples.counts(b) - 1 - offset) / speed)).astype(np.int64)
    length = np.maximum(last + 1 - first, 0)
    # Pairs with overlaps of similar length share a matrix, so that few of its cells are empty.
    order = np.argsort(length, kind="stable")
    overlaps = Alignments(a, b, offset, speed, orientation, first, length, offset, offset, offset)[order]
    parts, done = [overlaps[:0]], 0
    while done < len(overlaps):
        width = int(overlaps.length[min(done + _MAX_CELLS // 64, len(overlaps)) - 1])
        rows = slice(done, done + max(_MAX_CELLS // max(width, 64), 1))
        parts.append(best_stretches(samples, overlaps[rows]))
        done += len(parts[-1])
    return concatenate_alignments(parts)[np.argsort(order, kind="stable")]


def best_stretches(samples: Samples, overlaps: Alignments) -> Alignments:
    """Return the stretch with the largest sum of each overlap, after Kadane (Bentley, Programming Pearls, 1984)."""
    steps = np.arange(max(int(overlaps.length.max()), 1))
    step_evidence, differing, seen, shift = compare_samples(samples, overlaps, steps)
    total = np.pad(np.cumsum(step_evidence, 1), ((0, 0), (1, 0)))
    gain = total - np.minimum.accumulate(total, 1)
    rows, end = np.arange(len(overlaps)), gain.argmax(1)
    evidence = gain[rows, end]
    is_lowest = total <= (total[rows, end] - evidence)[:, None]
    start = np.where(is_lowest & (np.arange(len(steps) + 1) <= end[:, None]), np.arange(len(steps) + 1), 0).max(1)
    inside = (steps >= start[:, None]) & (steps < end[:, None])
    return replace(
        overlaps,
        first=overlaps.first + start,
        length=end - start,
        evidence=evidence,
        distance=(differing * inside).sum(1) / np.maximum((seen * inside).sum(1), 1),
        drift=measure_drift(shift, inside & (step_evidence > 0), steps - (start + end - 1)[:, None] / 2),
    )


def measure_drift(shift: NDArray[np.int8], inside: NDArray[np.bool_], position: Floats) -> Floats:
    """Return the rise of the line fitted to the shifts, over twice the largest distance from the stretch's middle."""
    number = np.maximum(inside.sum(1), 1)
    centred = np.where(inside, position - ((position * inside).sum(1) / number)[:, None], 0)
    slope: Floats = (centred * shift).sum(1) / np.maximum((centred**2).sum(1), 1)
    return np.asarray(slope * 2 * np.abs(position * inside).max(1))


class SampleComparison(NamedTuple):
    """Comparison of samples with the most similar neighbour of their partner, each pairs x steps.

    Fields:
        evidence: that they show the same.
        differing, seen: bits that differ, and bits that were compared.
        shift: of the neighbour.
    """

    evidence: Floats
    differing: NDArray[np.int16]
    seen: NDArray[np.int16]
    shift: NDArray[np.int8]


def compare_samples(samples: Samples, overlaps: Alignments, steps: Indices) -> SampleComparison:
    """Compare each sample with three neighbours in time, of which the most similar counts.

    So neither the position of the half seconds in a trimmed copy matters, nor a speed that is slightly off.
    """
    beyond_end = steps >= overlaps.length[:, None]
    sample_a = np.where(beyond_end, 0, overlaps.first[:, None] + steps)
    sample_b = np.rint(overlaps.offset[:, None] + overlaps.speed[:, None] * sample_a).astype(np.int64)
    last_b = samples.counts(overlaps.b)[:, None] - 1
    start_b = samples.starts[overlaps.b][:, None]
    sample_a += samples.starts[overlaps.a][:, None]
    words_a = samples.words[sample_a, :2]
    differing, seen = np.empty((3, *sample_a.shape), np.int16), np.empty((3, *sample_a.shape), np.int16)
    for index, shift in enumerate(_SHIFTS):
        shifted = start_b + np.clip(sample_b + shift, 0, last_b)
        words_b = samples.oriented_words(shifted, overlaps.orientation[:, None])
        differing[index], seen[index] = differing_bits(words_a, words_b)
    evidence = _CREDIT * seen - differing
    best = evidence.argmax(0)[None]
    novelty = np.minimum(samples.novelty[sample_a], samples.novelty[start_b + np.clip(sample_b, 0, last_b)])
    weighted = np.take_along_axis(evidence, best, 0)[0] * np.maximum(novelty, _MIN_NOVELTY)
    return SampleComparison(
        np.where(beyond_end, -1.0, weighted),
        np.take_along_axis(differing, best, 0)[0],
        np.take_along_axis(seen, best, 0)[0],
        _SHIFTS[best[0]],
    )
