"""Search for samples of different sources that look alike, without comparing all with all.

Samples are sorted by some bits of their words, again and again by others; those that agree are compared. A copy needs
to be met in one sample only. `vttdata.split.near_duplicates.alignment` decides how much two sources really share.
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

# All pairs are compared up to so many samples: 8 million comparisons take a second.
_MAX_SAMPLES_COMPARED_DIRECTLY = 2**12

# With keys of 16 bits each sample meets 8 others by chance at this size; above, keys have 24 bits, and it is 1 or 2.
_MAX_SAMPLES_WITH_SHORT_KEYS = 2**20

# Keys that are sorted at a time, with the words of their samples; they take 450 MiB.
_KEYS_PER_SHARD = 2**23

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
_KEY_FACTOR = np.uint64(0x9E3779B97F4A7C15)


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
    for alike in pairs:
        pending.append(alike)
        # Merging as often as the result doubles keeps memory and time in proportion to it.
        if sum(map(len, pending)) > max(len(merged), _CHUNK_PAIRS):
            merged, pending = np.unique(np.concatenate([merged, *pending])), []
    return unpack_pairs(np.unique(np.concatenate([merged, *pending])))


def look_up(samples: Samples, number: Indices, orientation: int) -> Words:
    """Return what a comparison needs of samples, in (n, 3) words.

    Args:
        samples: of all sources.
        number: twice the index of each sample, plus 1 if it is to be turned.
        orientation: of those that are to be turned.

    Returns:
        The words of the upper and of the lower half; 32 bits of source and 32 bits of number.
    """
    index = number >> 1
    words = samples.oriented_words(index, orientation * (number & 1))
    owner_and_number = (samples.owners(index) << _HALF_WORD) | number.astype(np.uint64)
    return np.concatenate([words, owner_and_number[:, None]], 1)


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
    bytes_in_key = 2 if len(samples) <= _MAX_SAMPLES_WITH_SHORT_KEYS else 3
    is_looked_up: NDArray[np.bool_] = samples.arrays.allocate((len(samples), 2), np.bool_)
    mark_lookups(samples, _NOVELTY_PER_LOOKUP, is_looked_up[:, 0])
    mark_lookups(samples, _NOVELTY_PER_TURNED_LOOKUP, is_looked_up[:, 1])
    counts = is_looked_up.sum(0)
    collector = KeyCollector(samples, is_looked_up)
    for half, shift, orientation in itertools.product((0, 1), (_HALF_WORD, np.uint64(0)), _LOOKED_UP_ORIENTATIONS):
        shards = int(-(-(counts.sum() if orientation else counts[0]) // _KEYS_PER_SHARD))
        for key_bytes in itertools.combinations(range(4), _BYTES_IN_TURNED_KEY if orientation else bytes_in_key):
            mask = np.uint64(sum(0xFF << 8 * byte for byte in key_bytes))
            for shard in range(shards):
                share = Share(half, shift, mask, shard, shards)
                keys, lookups = collector.collect(share, orientation)
                for a, b in pairs_of_equal_keys(keys):
                    if orientation:
                        # Of turned samples, those that are met by an earlier one as it is.
                        number_a, number_b = lookups[a, 2] & MIRROR, lookups[b, 2] & MIRROR
                        wanted = (number_a & 1 == 0) & (number_b & 1 == 1) & (number_a + 1 < number_b)
                        yield select_alike(samples, lookups[a[wanted]], lookups[b[wanted]], orientation)
                    else:
                        yield select_alike(samples, lookups[a], lookups[b], orientation)


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


@dataclass(frozen=True, slots=True)
class Share:
    """Some of the keys of samples.

    Fields:
        half: of pictures, upper (0) or lower (1), from whose words keys are made.
        shift: bits of a word below those that keys are made from.
        mask: of the 32 bits above those, which are the key.
        number: of the share, from 0.
        count: of all shares.
    """

    half: int
    shift: np.uint64
    mask: np.uint64
    number: int
    count: int


class KeyCollector:
    """Collects the keys of samples, a share at a time, in the same memory.

    Args:
        samples: of all sources.
        is_looked_up: (m, 2): as it is, and turned.
    """

    def __init__(self, samples: Samples, is_looked_up: NDArray[np.bool_]) -> None:
        self._samples, self._is_looked_up = samples, is_looked_up
        room = min(int(is_looked_up.sum()), _KEYS_PER_SHARD * 5 // 4)
        self._entries, self._lookups = np.empty(room, np.uint64), np.empty((room, 3), np.uint64)

    def collect(self, share: Share, orientation: int) -> tuple[Words, Words]:
        """Return those keys of a share that occur again, sorted, and of each what `look_up` returns.

        Equal keys are in the order of numbers.

        Args:
            share: says which keys.
            orientation: of turned samples; where it is 0, there are none.
        """
        used = 0
        orientations = (0, orientation) if orientation else (0,)
        for first in range(0, len(self._samples), CHUNK_SAMPLES):
            chunk = slice(first, first + CHUNK_SAMPLES)
            words = np.stack([self._samples.oriented_half(chunk, turn, share.half) for turn in orientations], 1)
            key = (words >> share.shift) & share.mask
            # A half that shows nothing has no key.
            in_share = self._is_looked_up[chunk, : len(orientations)] & (words != 0)
            if share.count > 1:
                # Multiplied, all bits of a key count.
                in_share &= ((key * _KEY_FACTOR) >> _HALF_WORD) % np.uint64(share.count) == share.number
            number = np.flatnonzero(in_share) * (2 // len(orientations)) + 2 * first
            filled = slice(used, used := used + len(number))
            if used > len(self._entries):
                self._entries = np.append(self._entries, np.empty_like(self._entries))
                self._lookups = np.append(self._lookups, np.empty_like(self._lookups), 0)
            self._entries[filled] = (key[in_share] << _HALF_WORD) | np.arange(filled.start, used, dtype=np.uint64)
            self._lookups[filled] = look_up(self._samples, number, orientation)
            self._samples.arrays.release_pages()
        entries = self._entries[:used]
        entries.sort()
        is_next_equal = np.diff(entries >> _HALF_WORD) == 0
        entries = entries[np.append(is_next_equal, False) | np.insert(is_next_equal, 0, False)]
        return entries >> _HALF_WORD, self._lookups.take((entries & MIRROR).astype(np.int64), axis=0)


def pairs_of_equal_keys(keys: Words) -> Iterator[tuple[Indices, Indices]]:
    """Yield the indices of pairs of equal keys, which are sorted, some at a time."""
    first = 0
    while first < len(keys):
        end = int(np.searchsorted(keys, keys[min(first + _CHUNK_PAIRS, len(keys)) - 1], side="right"))
        for a, b in neighbouring_pairs(keys[first:end]):
            yield first + a, first + b
        first = end


def neighbouring_pairs(keys: Words) -> Iterator[tuple[Indices, Indices]]:
    """Yield pairs within each run of equal keys: all of them in short runs, the nearest in long ones."""
    # Entries that have a neighbour with the same key at the current distance.
    active = np.flatnonzero(keys[1:] == keys[:-1])
    for distance in range(1, _MAX_COMPARISONS_PER_BUCKET):
        for first in range(0, len(active), _CHUNK_PAIRS):
            a = active[first : first + _CHUNK_PAIRS]
            yield a, a + distance
        active = active[active + distance + 1 < len(keys)]
        active = active[keys[active + distance + 1] == keys[active]]
        if distance >= _MIN_NEIGHBOURS:
            sizes = np.searchsorted(keys, keys[active], side="right") - np.searchsorted(keys, keys[active])
            active = active[sizes * (distance + 1) <= _MAX_COMPARISONS_PER_BUCKET]
        if not len(active):
            return


def select_alike(samples: Samples, a: Words, b: Words, orientation: int) -> Words:
    """Return those pairs of samples (the lower index first) that look alike, packed and sorted.

    Args:
        samples: of all sources.
        a: samples as they are, from `look_up`.
        b: samples in an orientation, in which they are compared, and also mirrored.
        orientation: even; see `ORIENTATIONS`.
    """
    of_different_sources = (a[:, 2] ^ b[:, 2]) >> _HALF_WORD != 0
    a, b = a[of_different_sources], b[of_different_sources]
    # Differing bits among those that a mirror keeps and those that it inverts, and the number of halves compared.
    kept, inverted, halves = (np.zeros(len(a), np.uint8) for _ in range(3))
    for half in (0, 1):
        words_a, words_b = a[:, half], b[:, half]
        seen = (words_a != 0) & (words_b != 0)
        changed = (words_a ^ words_b) * seen
        kept += np.bitwise_count(changed >> _HALF_WORD)
        inverted += np.bitwise_count(changed & MIRROR)
        halves += seen
    plain = kept + inverted <= MAX_DIFFERING_BITS // 2 * halves
    mirrored = kept + 32 * halves - inverted <= MAX_DIFFERING_BITS // 2 * halves
    alikes = ((orientation, plain), (orientation | 1, mirrored))
    return np.unique(np.concatenate([pack_pairs(samples, a[alike, 2], b[alike, 2], turn) for turn, alike in alikes]))


def pack_pairs(samples: Samples, a: Words, b: Words, orientation: int) -> Words:
    """Pack pairs of samples into source a, source b, offset and orientation, from the highest bits to the lowest."""
    source_a, source_b = ((sample >> _HALF_WORD).astype(np.int64) for sample in (a, b))
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
