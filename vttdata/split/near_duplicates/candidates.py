"""Search for samples of different sources that look alike, without comparing all with all.

Samples are sorted by some bytes of their words, again and again by others; those that agree are compared. A copy needs
to be met in one sample only. `vttdata.split.near_duplicates.alignment` decides how much two sources really share.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from vttdata.errors import VttdataError
from vttdata.split.near_duplicates.lookups import HALF_WORD, LookupFile, look_up
from vttdata.split.near_duplicates.samples import CHUNK_SAMPLES, MIRROR, Indices, Samples, Words

# Samples of which more of the 128 bits differ are not followed up; unrelated ones differ in 64, rarely in less than 46.
MAX_DIFFERING_BITS = 36

# All pairs are compared up to so many samples: 8 million comparisons take a second.
_MAX_SAMPLES_COMPARED_DIRECTLY = 2**12

# With keys of 16 bits each sample meets 8 others by chance at this size; above, keys have 24 bits, and it is 1 or 2.
_MAX_SAMPLES_WITH_SHORT_KEYS = 2**20

_CHUNK_PAIRS = 2**16

# A sample is looked up each time this much novelty has added up: a still picture, hardly ever.
_NOVELTY_PER_LOOKUP = 0.4

# Comparisons in a bucket of samples with the same key, except that each sample is compared with so many neighbours,
# which is linear in the number of videos that share an intro.
_MAX_COMPARISONS_PER_BUCKET = 1024
_MIN_NEIGHBOURS = 2

# Pictures are looked up transposed and flipped too; mirrored ones meet them by the bits that a mirror keeps.
_LOOKED_UP_ORIENTATIONS = (0, 2, 4, 6)
# Copies in other orientations are rare: every third sample is looked up, with keys of 24 bits, to save time.
_NOVELTY_PER_TURNED_LOOKUP = 1.2
_BYTES_IN_TURNED_KEY = 3

# A pair of sources with offset and orientation is packed into 64 bits; a day of video has 172,800 samples.
_SOURCE_BITS, _OFFSET_BITS, _ORIENTATION_BITS = 21, 19, 3
_OFFSET_BIAS = 2 ** (_OFFSET_BITS - 1)


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

    Up to 4,096 samples all are compared. Beyond, samples meet that agree in two of the four bytes of half a word (its
    upper 32 bits are those that a mirror keeps); beyond a million samples, and in other orientations, in three. In a
    bucket of more than 32 samples each is compared with fewer, down to two neighbours: copies of one video are then
    still connected over each other, while an intro that thousands of videos share costs a few comparisons for each.

    Raises:
        VttdataError: when there are more than two million sources.
    """
    if len(samples.ids) > 2**_SOURCE_BITS:
        raise VttdataError(f"{len(samples.ids)} sources cannot be compared at once; the limit is {2**_SOURCE_BITS}.")
    few = len(samples) <= _MAX_SAMPLES_COMPARED_DIRECTLY
    pairs = compare_all(samples) if few else compare_equal_keys(samples)
    merged: Words = np.empty(0, np.uint64)
    pending: list[Words] = []
    waiting = 0
    for alike in pairs:
        pending.append(alike)
        waiting += len(alike)
        # Merging as often as the result doubles keeps memory and time in proportion to it.
        if waiting > max(len(merged), _CHUNK_PAIRS):
            merged, pending, waiting = np.unique(np.concatenate([merged, *pending])), [], 0
    return unpack_pairs(np.unique(np.concatenate([merged, *pending])))


def compare_all(samples: Samples) -> Iterator[Words]:
    """Compare each sample with all others, and yield packed pairs that look alike."""
    index = np.arange(len(samples))
    plain = look_up(samples, 2 * index, 0)
    turned = {orientation: look_up(samples, 2 * index + 1, orientation) for orientation in _LOOKED_UP_ORIENTATIONS}
    rows = max(_CHUNK_PAIRS // max(len(samples), 1), 1)
    for first in range(0, len(samples), rows):
        a, b = np.meshgrid(index[first : first + rows], index[first:], indexing="ij")
        a, b = a[b > a], b[b > a]
        for orientation, lookups in turned.items():
            yield select_alike(samples, plain[a], lookups[b], orientation)


def compare_equal_keys(samples: Samples) -> Iterator[Words]:
    """Compare samples that agree in enough bytes of half a word, and yield packed pairs that look alike."""
    bytes_in_key = 2 if len(samples) <= _MAX_SAMPLES_WITH_SHORT_KEYS else _BYTES_IN_TURNED_KEY
    is_looked_up: NDArray[np.bool_] = samples.arrays.allocate((len(samples), 2), np.bool_)
    mark_lookups(samples, _NOVELTY_PER_LOOKUP, is_looked_up[:, 0])
    mark_lookups(samples, _NOVELTY_PER_TURNED_LOOKUP, is_looked_up[:, 1])
    lookups = LookupFile(samples, is_looked_up, _LOOKED_UP_ORIENTATIONS)
    # A word has its lowest byte first; a key begins with the byte by which samples are divided into buckets.
    for half, lowest, first in itertools.product((0, 1), (4, 0), range(4)):
        keys = {
            orientation: list(itertools.combinations(range(lowest + first + 1, lowest + 4), length - 1))
            for orientation in _LOOKED_UP_ORIENTATIONS
            if first <= 4 - (length := _BYTES_IN_TURNED_KEY if orientation else bytes_in_key)
        }
        for bucket in lookups.buckets(half, lowest + first, tuple(keys)) if keys else ():
            for orientation, records in bucket:
                for others in keys[orientation]:
                    for a, b in pairs_of_equal_keys(records, half, (lowest + first, *others), turned=orientation > 0):
                        yield select_alike(samples, records.take(a, 0), records.take(b, 0), orientation)


def mark_lookups(samples: Samples, novelty: float, is_looked_up: NDArray[np.bool_]) -> None:
    """Mark the first sample of each source, and those with which so much novelty has added up."""
    total, last = 0.0, -1.0
    for first in range(0, len(samples), CHUNK_SAMPLES):
        chunk = slice(first, first + CHUNK_SAMPLES)
        totals = np.cumsum(np.concatenate([[total], samples.novelty[chunk]]), dtype=np.float64)
        lookups = np.floor(totals[1:] / novelty)
        is_looked_up[chunk] = np.diff(lookups, prepend=last) > 0
        total, last = totals[-1], lookups[-1]
        samples.arrays.release_pages()
    is_looked_up[samples.starts[:-1][samples.counts() > 0]] = True


def pairs_of_equal_keys(
    records: Words, half: int, key_bytes: tuple[int, ...], *, turned: bool
) -> Iterator[tuple[Indices, Indices]]:
    """Yield pairs of samples with equal keys, some at a time: all of them in short runs, the nearest in long ones.

    Args:
        records: from `look_up`, in the order of numbers.
        half: of pictures, upper (0) or lower (1), from whose words keys are made.
        key_bytes: of these words, the lowest is 0.
        turned: whether only pairs of a sample as it is and a later one that is turned are wanted.

    Returns:
        Indices of records.
    """
    words = records[:, half]
    # Bytes are sorted by counting, which keeps the order of equal ones.
    order = np.lexsort([(words >> np.uint64(8 * byte)).astype(np.uint8) for byte in key_bytes])
    keys = (words & np.uint64(sum(0xFF << 8 * byte for byte in key_bytes))).take(order)
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

    Args:
        samples: of all sources.
        a: samples as they are, from `look_up`.
        b: samples in an orientation, in which they are compared, and also mirrored.
        orientation: even; see `ORIENTATIONS`.
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
