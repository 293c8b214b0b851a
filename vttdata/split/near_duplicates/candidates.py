"""Search for samples of different sources that look alike, without comparing all with all.

Samples are sorted by some bits of their words, again and again by others; those that agree are compared. A copy needs
to be met in one sample only. `vttdata.split.near_duplicates.alignment` decides how much two sources really share.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from vttdata.errors import VttdataError
from vttdata.split.near_duplicates.samples import MIRROR, Indices, Samples, Words

# Samples of which more of the 128 bits differ are not followed up; unrelated ones differ in 64, rarely in less than 46.
MAX_DIFFERING_BITS = 36

# All pairs are compared up to so many samples: 8 million comparisons take a second.
_MAX_SAMPLES_COMPARED_DIRECTLY = 2**12

# With keys of 16 bits each sample meets 8 others by chance at this size; above, keys have 24 bits, and it is 1 or 2.
_MAX_SAMPLES_WITH_SHORT_KEYS = 2**20

# Keys that are sorted at a time; they take 256 MB.
_KEYS_PER_SHARD = 2**25

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
_HALF_WORD = np.uint64(32)


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
    number = len(samples.words)
    pairs = all_pairs(number) if number <= _MAX_SAMPLES_COMPARED_DIRECTLY else pairs_with_equal_keys(samples)
    merged: Words = np.empty(0, np.uint64)
    pending: list[Words] = []
    for a, b, orientation in pairs:
        pending.append(select_alike(samples, a, b, orientation))
        # Merging as often as the result doubles keeps memory and time in proportion to it.
        if sum(map(len, pending)) > max(len(merged), _CHUNK_PAIRS):
            merged, pending = np.unique(np.concatenate([merged, *pending])), []
    return unpack_pairs(np.unique(np.concatenate([merged, *pending])))


def all_pairs(count: int) -> Iterator[tuple[Indices, Indices, int]]:
    """Yield all pairs of so many samples, the lower index first, with each orientation that is looked up."""
    rows = max(_CHUNK_PAIRS // max(count, 1), 1)
    for first in range(0, count, rows):
        a, b = np.meshgrid(np.arange(first, min(first + rows, count)), np.arange(first, count), indexing="ij")
        a, b = a[b > a], b[b > a]
        yield from ((a, b, orientation) for orientation in _LOOKED_UP_ORIENTATIONS)


def pairs_with_equal_keys(samples: Samples) -> Iterator[tuple[Indices, Indices, int]]:
    """Yield pairs of samples that agree in enough bytes of half a word, the lower index first, and the orientation."""
    bytes_in_key = 2 if len(samples.words) <= _MAX_SAMPLES_WITH_SHORT_KEYS else 3
    looked_up, turned = (
        select_lookups(samples, novelty) for novelty in (_NOVELTY_PER_LOOKUP, _NOVELTY_PER_TURNED_LOOKUP)
    )
    for half, shift in itertools.product((0, 1), (_HALF_WORD, np.uint64(0))):
        for orientation in _LOOKED_UP_ORIENTATIONS:
            # Samples as they are get even numbers, turned ones odd numbers.
            numbers, words = [looked_up * 2], [samples.words[looked_up, half]]
            if orientation:
                numbers.append(turned * 2 + 1)
                words.append(samples.oriented_words(turned, orientation)[:, half])
            number, word = np.concatenate(numbers).astype(np.uint64), np.concatenate(words)
            number, word = number[word != 0], word[word != 0]
            for key_bytes in itertools.combinations(range(4), _BYTES_IN_TURNED_KEY if orientation else bytes_in_key):
                mask = np.uint64(sum(0xFF << 8 * byte for byte in key_bytes))
                for a, b in pairs_in_buckets((word >> shift) & mask, number):
                    wanted = (a & 1 == 0) & (b & 1 == 1) & (a < b - 1) if orientation else slice(None)
                    yield a[wanted] >> 1, b[wanted] >> 1, orientation


def select_lookups(samples: Samples, novelty: float) -> Indices:
    """Return the first sample of each source, and those with which so much novelty has added up."""
    lookups = np.floor(np.cumsum(samples.novelty, dtype=np.float64) / novelty)
    is_looked_up = np.diff(lookups, prepend=-1) > 0
    is_looked_up[samples.starts[:-1][samples.counts() > 0]] = True
    return np.flatnonzero(is_looked_up)


def pairs_in_buckets(keys: Words, selected: Words) -> Iterator[tuple[Indices, Indices]]:
    """Sort samples by their keys, and yield pairs of equal keys; in words of 32 bits of key and 32 of sample."""
    # An odd number of shards, so that every byte of a key counts.
    shards = -(-len(keys) // _KEYS_PER_SHARD) | 1
    for shard in range(shards):
        in_shard = keys % np.uint64(shards) == shard if shards > 1 else slice(None)
        entries = (keys[in_shard] << _HALF_WORD) | selected[in_shard]
        entries.sort()
        first = 0
        while first < len(entries):
            last_key = entries[min(first + _CHUNK_PAIRS, len(entries)) - 1] >> _HALF_WORD
            end = np.searchsorted(entries, (last_key << _HALF_WORD) | MIRROR, side="right")
            yield from neighbouring_pairs(entries[first:end])
            first = int(end)


def neighbouring_pairs(entries: Words) -> Iterator[tuple[Indices, Indices]]:
    """Yield pairs within each run of equal keys: all of them in short runs, the nearest in long ones."""
    keys = (entries >> _HALF_WORD).astype(np.uint32)
    # Entries that have a neighbour with the same key at the current distance.
    active = np.flatnonzero(keys[1:] == keys[:-1])
    for distance in range(1, _MAX_COMPARISONS_PER_BUCKET):
        for first in range(0, len(active), _CHUNK_PAIRS):
            a = active[first : first + _CHUNK_PAIRS]
            yield (entries[a] & MIRROR).astype(np.int64), (entries[a + distance] & MIRROR).astype(np.int64)
        active = active[active + distance + 1 < len(keys)]
        active = active[keys[active + distance + 1] == keys[active]]
        if distance >= _MIN_NEIGHBOURS:
            sizes = np.searchsorted(keys, keys[active], side="right") - np.searchsorted(keys, keys[active])
            active = active[sizes * (distance + 1) <= _MAX_COMPARISONS_PER_BUCKET]
        if not len(active):
            return


def select_alike(samples: Samples, a: Indices, b: Indices, orientation: int) -> Words:
    """Return those pairs of samples (the lower index first) that look alike, packed and sorted.

    Args:
        samples: of all sources.
        a: indices of samples.
        b: indices of samples.
        orientation: in which samples b are compared, and also mirrored.
    """
    of_different_sources = samples.owner[a] != samples.owner[b]
    a, b = a[of_different_sources], b[of_different_sources]
    oriented = samples.oriented_words(b, orientation)
    # Differing bits among those that a mirror keeps and those that it inverts, and the number of halves compared.
    kept, inverted, halves = (np.zeros(len(a), np.uint8) for _ in range(3))
    for half in (0, 1):
        words_a, words_b = samples.words[a, half], oriented[:, half]
        seen = (words_a != 0) & (words_b != 0)
        changed = (words_a ^ words_b) * seen
        kept += np.bitwise_count(changed >> _HALF_WORD)
        inverted += np.bitwise_count(changed & MIRROR)
        halves += seen
    plain = kept + inverted <= MAX_DIFFERING_BITS // 2 * halves
    mirrored = kept + 32 * halves - inverted <= MAX_DIFFERING_BITS // 2 * halves
    alikes = ((orientation, plain), (orientation | 1, mirrored))
    return np.unique(np.concatenate([pack_pairs(samples, a[alike], b[alike], turn) for turn, alike in alikes]))


def pack_pairs(samples: Samples, a: Indices, b: Indices, orientation: int) -> Words:
    """Pack pairs of samples into source a, source b, offset and orientation, from the highest bits to the lowest."""
    source_a, source_b = samples.owner[a].astype(np.int64), samples.owner[b].astype(np.int64)
    offset = (b - samples.starts[source_b]) - (a - samples.starts[source_a])
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
