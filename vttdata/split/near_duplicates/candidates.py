"""Search for samples of different sources that look alike, without comparing all with all.

Samples are sorted by some bits of their words, again and again by others; those that agree are compared. A copy needs
to be met in one sample only. `vttdata.split.near_duplicates.matches` decides how much two sources really share.

The records of samples that are looked up are written into a temporary file by one byte of their words, so that those
whose keys begin with the same byte lie side by side: a bucket of them is read and compared by itself, in little memory.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from vttdata.errors import VttdataError
from vttdata.split.near_duplicates.samples import CHUNK_SAMPLES, MIRROR, Indices, Samples, Words

# Samples of which more of the 128 bits differ are not followed up; unrelated ones differ in 64, rarely in less than 46.
MAX_DIFFERING_BITS = 36

# Keys grow by a bit as samples double, so that with one of them each sample meets about this many others by chance.
_MET_BY_CHANCE = 4
_BITS_OF_KEYS = (16, 24)
# Longer keys agree more rarely in a copy, and are made from all four bytes of half a word in the place of two.
_MAX_BITS_FROM_TWO_BYTES = 18
# Steps between the bits that a key has besides its first byte, of the 24 others: such keys have few bits in common.
_BIT_STEP = 5

_CHUNK_PAIRS = 2**16

# Records of a bucket, of 24 bytes, unless more have the same byte.
_RECORDS_PER_BUCKET = 2**19

# A sample is looked up each time this much novelty has added up: a still picture, hardly ever.
_NOVELTY_PER_LOOKUP = 0.4

# Comparisons in a bucket of samples with the same key, except that each sample is compared with so many neighbours,
# which is linear in the number of videos that share an intro.
_MAX_COMPARISONS_PER_BUCKET = 1024
_MIN_NEIGHBOURS = 2

# Pictures are looked up transposed and flipped too; mirrored ones meet them by the bits that a mirror keeps.
_LOOKED_UP_ORIENTATIONS = (0, 2, 4, 6)
# Copies in other orientations are rare: of more samples than this every third is looked up.
_MAX_SAMPLES_ALL_TURNED = 2**17
_NOVELTY_PER_TURNED_LOOKUP = 1.2

# A pair of sources with offset and orientation is packed into 64 bits; a day of video has 172,800 samples.
_SOURCE_BITS, _OFFSET_BITS, _ORIENTATION_BITS = 21, 19, 3
_OFFSET_BIAS = 2 ** (_OFFSET_BITS - 1)

# Number of drawn sources -> share of the copies among them that is found: `python benchmarks/near_duplicates.py scale`.
_FOUND = {10_000: 0.975, 30_000: 0.968, 100_000: 0.972, 1_000_000: 0.935}

HALF_WORD = np.uint64(32)

# 2**64 over the golden ratio: spreads the bits of a key over the upper half of the product (Knuth, The Art of Computer
# Programming, volume 3, section 6.4).
_MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)


@dataclass(frozen=True, slots=True)
class Candidates:
    """Pairs of sources to be aligned; all arrays are equally long and sorted by their columns.

    Fields:
        a, b: indices of sources, a < b.
        offset: sample s of source a seems to be sample s + offset of source b.
        orientation: of source b when it resembles source a; see `ORIENTATIONS`.
    """

    a: Indices
    b: Indices
    offset: Indices
    orientation: Indices

    def __len__(self) -> int:
        return len(self.a)


def find_candidates(samples: Samples) -> Candidates:
    """Return every pair of sources of which some samples look alike, with each offset and orientation at which they do.

    Samples meet that agree in one of some keys of 16 to 24 bits of half a word (its upper 32 bits are those that a
    mirror keeps), which grow with the number of samples: of drawn copies with 2 to 20 % of their bits changed, at
    least 98 % are met among up to 100,000 sources of 20 s. Of other sources only their number makes a difference to
    which samples meet, except in a bucket of more than 32 samples, where each is compared with fewer, down to two
    neighbours: copies of one video are then still connected over each other, while an intro that thousands of videos
    share costs a few comparisons for each.

    Raises:
        VttdataError: when there are more than two million sources.
    """
    if len(samples.ids) > 2**_SOURCE_BITS:
        raise VttdataError(f"{len(samples.ids)} sources cannot be compared at once; the limit is {2**_SOURCE_BITS}.")
    merged: Words = np.empty(0, np.uint64)
    pending: list[Words] = []
    waiting = 0
    for alike in compare_equal_keys(samples):
        pending.append(alike)
        waiting += len(alike)
        # Merging as often as the result doubles keeps memory and time in proportion to it.
        if waiting > max(len(merged), _CHUNK_PAIRS):
            merged, pending, waiting = np.unique(np.concatenate([merged, *pending])), [], 0
    return unpack_pairs(np.unique(np.concatenate([merged, *pending])))


def measured_recall(sources: int) -> tuple[int, float]:
    """Return the size of the measurement that is nearest to so many sources from above, and the recall in it, 0..1.

    Of its sources one in fifty is a copy of another with 2 to 20 % of its bits changed, trimmed by up to 30 % at either
    end. Copies of still pictures (3 %) are not among those found: too few of their bits tell.
    """
    size = next((size for size in _FOUND if size >= sources), max(_FOUND))
    return size, _FOUND[size]


def compare_equal_keys(samples: Samples) -> Iterator[Words]:
    """Compare samples that agree in a key, and yield packed pairs that look alike."""
    is_looked_up: NDArray[np.bool_] = samples.arrays.allocate((len(samples), 2), np.bool_)
    mark_lookups(samples, _NOVELTY_PER_LOOKUP, is_looked_up[:, 0])
    are_many = len(samples) > _MAX_SAMPLES_ALL_TURNED
    mark_lookups(samples, _NOVELTY_PER_TURNED_LOOKUP if are_many else _NOVELTY_PER_LOOKUP, is_looked_up[:, 1])
    lookups = LookupFile(samples, is_looked_up, _LOOKED_UP_ORIENTATIONS)
    bits = min(max((len(samples) // _MET_BY_CHANCE).bit_length(), _BITS_OF_KEYS[0]), _BITS_OF_KEYS[1])
    # A word has its lowest byte first; a key has the whole byte by which samples are divided into buckets.
    for half, lowest, first in itertools.product((0, 1), (4, 0), range(2 if bits <= _MAX_BITS_FROM_TWO_BYTES else 4)):
        for bucket in lookups.buckets(half, lowest + first, _LOOKED_UP_ORIENTATIONS if first < 2 else (0,)):
            for orientation, records in bucket:
                for key in keys_with_byte(first, bits):
                    mask = key << np.uint64(8 * lowest)
                    for a, b in pairs_of_equal_keys(records, half, mask, turned=orientation > 0):
                        yield select_alike(samples, records.take(a, 0), records.take(b, 0), orientation)


def keys_with_byte(first: int, bits: int) -> Iterator[np.uint64]:
    """Yield two keys, as masks of that many bits of 32: a byte (the lowest is 0) and as many others as are wanted."""
    others = [bit for bit in range(32) if bit // 8 != first]
    chosen = [others[(_BIT_STEP * number + first) % len(others)] for number in range(2 * (bits - 8))]
    for own in (chosen[: bits - 8], chosen[bits - 8 :]):
        yield np.uint64(sum((1 << bit for bit in own), 0xFF << 8 * first))


def mark_lookups(samples: Samples, novelty: float, is_looked_up: NDArray[np.bool_]) -> None:
    """Mark the first sample of each source, and those with which so much novelty has added up since."""
    total = last = start = 0.0
    sources = np.flatnonzero(samples.counts())
    starts = samples.starts[sources]
    for first in range(0, len(samples), CHUNK_SAMPLES):
        chunk = slice(first, min(first + CHUNK_SAMPLES, len(samples)))
        # Novelty is a multiple of 1/16, so that sums and differences of them are exact.
        totals = total + np.cumsum(samples.novelty[chunk], dtype=np.float64)
        own = starts[slice(*np.searchsorted(starts, [chunk.start, chunk.stop]))] - first
        before = np.concatenate([[start], totals[own]])
        since = totals - np.repeat(before, np.diff(np.concatenate([[0], own, [len(totals)]])))
        lookups = np.floor(since / novelty)
        marks = np.diff(lookups, prepend=last) > 0
        marks[own] = True
        is_looked_up[chunk] = marks
        total, last, start = totals[-1], lookups[-1], before[-1]
        samples.arrays.release_pages()


def pairs_of_equal_keys(
    records: Words, half: int, mask: np.uint64, *, turned: bool
) -> Iterator[tuple[Indices, Indices]]:
    """Yield pairs of samples with equal keys, some at a time: all of them in short runs, the nearest in long ones.

    Args:
        records: from `look_up`, in the order of numbers; pairs are indices of them.
        half: of pictures, upper (0) or lower (1), from whose words keys are made.
        mask: has the bits of the key.
        turned: whether only pairs of a sample as it is and a later one that is turned are wanted.
    """
    # Integers of 16 bits are sorted by counting, which keeps the order of equal ones. Different keys rarely have the
    # same product, and then only some more samples are compared.
    keys = (((records[:, half] & mask) * _MULTIPLIER) >> HALF_WORD).astype(np.uint32)
    order = np.lexsort([keys.astype(np.uint16), (keys >> np.uint32(16)).astype(np.uint16)])
    keys = keys.take(order)
    ends = np.append(np.flatnonzero(keys[1:] != keys[:-1]), len(keys) - 1)
    sizes = np.diff(ends, prepend=-1)
    # Number of later records of the same run that each is compared with.
    most = np.maximum(_MAX_COMPARISONS_PER_BUCKET // sizes, _MIN_NEIGHBOURS)
    partners = np.minimum(np.repeat(ends, sizes) - np.arange(len(keys)), np.repeat(most, sizes))
    if turned:
        is_turned = (records[:, 2] & np.uint64(1)).astype(np.bool_).take(order)
        partners[is_turned] = 0
    before = np.cumsum(partners) - partners
    pairs = int(before[-1] + partners[-1])
    blocks = np.searchsorted(before, np.arange(0, pairs, _CHUNK_PAIRS))
    for first, end in itertools.pairwise([*blocks, len(keys)]):
        chunk = slice(int(first), int(end))
        a = np.repeat(np.arange(chunk.start, chunk.stop), partners[chunk])
        b = a + 1 + np.arange(len(a)) - np.repeat(before[chunk] - before[first], partners[chunk])
        if turned:
            wanted = is_turned[b]
            a, b = a[wanted], b[wanted]
        yield order.take(a), order.take(b)


def select_alike(samples: Samples, a: Words, b: Words, orientation: int) -> Words:
    """Return those pairs of samples (the lower index first) that look alike, packed and sorted.

    `a` are samples as they are, from `look_up`, and `b` in an even orientation, in which they are compared, and also
    mirrored.
    """
    of_different_sources = (a[:, 2] ^ b[:, 2]) >> HALF_WORD != 0
    a, b = a[of_different_sources], b[of_different_sources]
    # Differing bits among those that a mirror keeps and those that it inverts, and the number of halves compared.
    kept, inverted, halves = (np.zeros(len(a), np.uint8) for _ in range(3))
    for half in (0, 1):
        words_a, words_b = a[:, half], b[:, half]
        seen = (words_a != 0) & (words_b != 0)
        changed = (words_a ^ words_b) * seen
        kept += np.bitwise_count(changed >> HALF_WORD)
        inverted += np.bitwise_count(changed & MIRROR)
        halves += seen
    plain = kept + inverted <= MAX_DIFFERING_BITS // 2 * halves
    mirrored = kept + 32 * halves - inverted <= MAX_DIFFERING_BITS // 2 * halves
    alikes = ((orientation, plain), (orientation | 1, mirrored))
    return np.unique(np.concatenate([pack_pairs(samples, a[alike, 2], b[alike, 2], turn) for turn, alike in alikes]))


def pack_pairs(samples: Samples, a: Words, b: Words, orientation: int) -> Words:
    """Pack pairs of samples into source a, source b, offset and orientation, from the highest bits to the lowest."""
    source_a, source_b = ((sample >> HALF_WORD).astype(np.int64) for sample in (a, b))
    index_a, index_b = ((sample & MIRROR).astype(np.int64) >> 1 for sample in (a, b))
    offset = (index_b - samples.starts[source_b]) - (index_a - samples.starts[source_a])
    value = (((source_a << _SOURCE_BITS) | source_b) << _OFFSET_BITS) | (offset + _OFFSET_BIAS)
    packed: Words = (value.astype(np.uint64) << np.uint64(_ORIENTATION_BITS)) | np.uint64(orientation)
    return packed


def unpack_pairs(packed: Words) -> Candidates:
    """Return the candidates that `pack_pairs` packed."""
    value = (packed >> np.uint64(_ORIENTATION_BITS)).astype(np.int64)
    offset = (value & (2 * _OFFSET_BIAS - 1)) - _OFFSET_BIAS
    source_b = (value >> _OFFSET_BITS) & (2**_SOURCE_BITS - 1)
    orientation = (packed & np.uint64(2**_ORIENTATION_BITS - 1)).astype(np.int64)
    return Candidates(value >> (_OFFSET_BITS + _SOURCE_BITS), source_b, offset, orientation)


def look_up(samples: Samples, number: Indices, orientation: int) -> Words:
    """Return what a comparison needs of samples, in (n, 3) words: upper half, lower half, source and number.

    The number of a sample is twice its index, plus 1 if it is to be turned into the orientation. The last word has 32
    bits of source and 32 bits of number.
    """
    index = number >> 1
    words = samples.oriented_words(index, orientation * (number & 1))
    owner = (np.searchsorted(samples.starts, index, side="right") - 1).astype(np.uint64)
    owner_and_number = (owner << HALF_WORD) | number.astype(np.uint64)
    return np.concatenate([words, owner_and_number[:, None]], 1)


class LookupFile:
    """Records of samples in a temporary file, for one byte of their words after another.

    `is_looked_up` are flags, (m, 2), of samples as they are, which is orientation 0, and turned into the others.
    """

    def __init__(self, samples: Samples, is_looked_up: NDArray[np.bool_], orientations: tuple[int, ...]) -> None:
        self._samples, self._is_looked_up = samples, is_looked_up
        plain, turned = is_looked_up.sum(0)
        capacity = plain + turned * np.count_nonzero(orientations)
        self._records: Words = samples.arrays.allocate((int(capacity), 3), np.uint64)

    def buckets(self, half: int, byte: int, orientations: tuple[int, ...]) -> Iterator[Iterator[tuple[int, Words]]]:
        """Divide the samples by a byte (the lowest is 0) of the word of one half, and yield them a bucket at a time.

        Samples of which that half, upper (0) or lower (1), shows nothing are in no bucket. The first orientation is 0.

        Returns:
            Each orientation with its records, from `look_up`, in the order of numbers. With those that are turned are
            those of the same samples, and of others, as they are.
        """
        counts = np.zeros((256, len(orientations)), np.int64)
        for column, _, values in self._read(half, byte, orientations):
            counts[:, column] += np.bincount(values, minlength=256)
        totals = counts.sum(1)
        numbers, bucket_of = np.unique((np.cumsum(totals) - totals) // _RECORDS_PER_BUCKET, return_inverse=True)
        sizes = np.zeros((len(numbers), len(orientations)), np.int64)
        np.add.at(sizes, bucket_of, counts)
        ends = np.cumsum(sizes).reshape(sizes.shape)
        # The records of each bucket are written from its place on, one orientation after the other.
        positions, bucket_of = ends - sizes, bucket_of.astype(np.uint8)
        for column, index, values in self._read(half, byte, orientations):
            orientation = orientations[column]
            buckets = bucket_of[values]
            order = np.argsort(buckets, kind="stable")
            records = look_up(self._samples, 2 * index + (orientation > 0), orientation).take(order, 0)
            bounds = np.cumsum([0, *np.bincount(buckets, minlength=len(positions))])
            for bucket, (first, end) in enumerate(itertools.pairwise(bounds)):
                position = positions[bucket, column]
                self._records[position : position + end - first] = records[first:end]
                positions[bucket, column] += end - first
        for starts, bucket_ends in zip(ends - sizes, ends, strict=True):
            parts = [self._records[first:end] for first, end in zip(starts, bucket_ends, strict=True)]
            yield merge_orientations(orientations, parts)
            self._samples.arrays.release_pages()

    def _read(
        self, half: int, byte: int, orientations: tuple[int, ...]
    ) -> Iterator[tuple[int, Indices, NDArray[np.uint8]]]:
        """Yield the position of an orientation, indices of samples and the byte of each, some samples at a time."""
        for first in range(0, len(self._samples), CHUNK_SAMPLES):
            chunk = slice(first, first + CHUNK_SAMPLES)
            for column, orientation in enumerate(orientations):
                words = self._samples.oriented_half(chunk, orientation, half)
                index = np.flatnonzero(self._is_looked_up[chunk, int(orientation > 0)] & (words != 0))
                yield column, first + index, (words[index] >> np.uint64(8 * byte)).astype(np.uint8)
            self._samples.arrays.release_pages()


def merge_orientations(orientations: tuple[int, ...], parts: list[Words]) -> Iterator[tuple[int, Words]]:
    """Yield the records of each orientation, in the order of numbers, and with turned ones those as they are."""
    plain = np.array(parts[0])
    for orientation, part in zip(orientations, parts, strict=True):
        records = np.concatenate([plain, part]) if orientation else plain
        if orientation:
            records = records.take(np.argsort(records[:, 2], kind="stable"), 0)
        if len(records):
            yield orientation, records
