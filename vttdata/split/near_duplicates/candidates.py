"""Finds samples of different sources that look alike without comparing all with all.

Samples are sorted by some bits of their words, again and again by others; those that agree meet. A copy needs to be
met in one sample only. Whether sources really are copies is decided in `vttdata.split.near_duplicates.alignment`.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from vttdata.errors import VttdataError
from vttdata.split.near_duplicates.samples import MIRROR, Indices, Samples, Words

ALIKE = 36
"""Samples of 128 bits that differ in more are not followed up; unrelated ones differ in 64, rarely in fewer than 46."""

_FEW_SAMPLES = 2**12  # 8 million comparisons, a second
_SOME_SAMPLES = 2**20  # keys of 16 bits: 8 pairs a sample meet by chance; above, keys of 24 bits: one or two
_SHARD = 2**25  # keys sorted at a time, 256 MB
_CHUNK = 2**20
_STEADY_NEWS = 0.4  # a sample is looked up for every so much of news: a picture that stands still, hardly ever
_BUDGET = 1024  # comparisons in a bucket
_ALWAYS = 2  # but so many for each sample, linear in the number of videos that share an intro
_SOURCE_BITS, _OFFSET_BITS = 22, 19  # a day has 172,800 samples
_NO_OFFSET = 2 ** (_OFFSET_BITS - 1)
_HALF_WORD = np.uint64(32)


@dataclass(frozen=True, slots=True)
class Candidates:
    """Pairs of sources to be looked at more closely; all arrays are equally long and sorted by their columns.

    Attributes:
        one, other: numbers of sources, one < other.
        offset: sample s of `one` seems to be sample s + offset of `other`.
        mirrored: whether they resemble each other as mirror images.
    """

    one: Indices
    other: Indices
    offset: Indices
    mirrored: NDArray[np.bool_]

    def __len__(self) -> int:
        return len(self.one)


def find_candidates(samples: Samples) -> Candidates:
    """Every pair of sources of which some samples look alike, with each offset at which they do.

    Up to 4,096 samples all are compared. Beyond, samples meet that agree in two of the four bytes of half a word (its
    upper 32 bits are those that a mirror keeps); beyond a million samples, in three. In a bucket of more than 32
    samples each is compared with fewer, down to two neighbours: copies of one video are then still connected over each
    other, while an intro that thousands of videos share costs a few comparisons for each.

    Raises:
        VttdataError: when there are more than four million sources.
    """
    if len(samples.ids) > 2**_SOURCE_BITS:
        raise VttdataError(f"{len(samples.ids)} sources cannot be compared at once; the limit is {2**_SOURCE_BITS}.")
    few = len(samples.words) <= _FEW_SAMPLES
    meetings = _all_pairs(len(samples.words)) if few else _meetings(samples)
    found: Words = np.empty(0, np.uint64)
    waiting: list[Words] = []
    for one, other in meetings:
        waiting.append(_seeds(samples, one, other))
        if sum(map(len, waiting)) > max(len(found), _CHUNK):
            found, waiting = np.unique(np.concatenate([found, *waiting])), []
    return _unpacked(np.unique(np.concatenate([found, *waiting])))


def _all_pairs(count: int) -> Iterator[tuple[Indices, Indices]]:
    rows = max(_CHUNK // max(count, 1), 1)
    for first in range(0, count, rows):
        one, other = np.meshgrid(np.arange(first, min(first + rows, count)), np.arange(first, count), indexing="ij")
        later = other > one
        yield one[later], other[later]


def _meetings(samples: Samples) -> Iterator[tuple[Indices, Indices]]:
    """Pairs of samples that agree in enough bits of one half, the lower index first."""
    steps = np.floor(np.cumsum(samples.news, dtype=np.float64) / _STEADY_NEWS)
    worth = np.diff(steps, prepend=-1) > 0
    worth[samples.starts[:-1][samples.counts() > 0]] = True
    agreeing = 2 if len(samples.words) <= _SOME_SAMPLES else 3
    for half, shift in itertools.product((0, 1), (_HALF_WORD, np.uint64(0))):
        chosen = np.flatnonzero(worth & (samples.words[:, half] != 0)).astype(np.uint64)
        four_bytes = (samples.words[chosen, half] >> shift) & MIRROR
        for places in itertools.combinations(range(4), agreeing):
            mask = np.uint64(sum(0xFF << 8 * place for place in places))
            yield from _buckets(four_bytes & mask, chosen)


def _buckets(keys: Words, chosen: Words) -> Iterator[tuple[Indices, Indices]]:
    shards = -(-len(keys) // _SHARD) | 1  # odd, so that every byte of a key counts
    for shard in range(shards):
        own = keys % np.uint64(shards) == shard if shards > 1 else slice(None)
        entries = (keys[own] << _HALF_WORD) | chosen[own]
        entries.sort()
        first = 0
        while first < len(entries):
            key = entries[min(first + _CHUNK, len(entries)) - 1] >> _HALF_WORD
            after = np.searchsorted(entries, (key << _HALF_WORD) | MIRROR, side="right")
            yield from _neighbours(entries[first:after])
            first = int(after)


def _neighbours(entries: Words) -> Iterator[tuple[Indices, Indices]]:
    """Pairs within each run of equal keys: all of them in short runs, the nearest in long ones."""
    keys = (entries >> _HALF_WORD).astype(np.uint32)
    here = np.flatnonzero(keys[1:] == keys[:-1])
    for step in range(1, _BUDGET):
        for first in range(0, len(here), _CHUNK):
            one = here[first : first + _CHUNK]
            yield (entries[one] & MIRROR).astype(np.int64), (entries[one + step] & MIRROR).astype(np.int64)
        here = here[here + step + 1 < len(keys)]
        here = here[keys[here + step + 1] == keys[here]]
        if step >= _ALWAYS:
            sizes = np.searchsorted(keys, keys[here], side="right") - np.searchsorted(keys, keys[here])
            here = here[sizes * (step + 1) <= _BUDGET]
        if not len(here):
            return


def _seeds(samples: Samples, one: Indices, other: Indices) -> Words:
    """Of pairs of samples (the lower index first) those that look alike, each as one number, sorted."""
    apart = samples.owner[one] != samples.owner[other]
    one, other = one[apart], other[apart]
    kept, turned, halves = (np.zeros(len(one), np.uint8) for _ in range(3))
    for half in (0, 1):
        mine, theirs = samples.words[one, half], samples.words[other, half]
        seen = (mine != 0) & (theirs != 0)
        changed = (mine ^ theirs) * seen
        kept += np.bitwise_count(changed >> _HALF_WORD)
        turned += np.bitwise_count(changed & MIRROR)
        halves += seen
    plain = kept + turned <= ALIKE // 2 * halves
    mirror = kept + 32 * halves - turned <= ALIKE // 2 * halves
    seeds = [_packed(samples, one[like], other[like], flag) for flag, like in enumerate((plain, mirror))]
    return np.unique(np.concatenate(seeds))


def _packed(samples: Samples, one: Indices, other: Indices, mirrored: int) -> Words:
    first, second = samples.owner[one].astype(np.int64), samples.owner[other].astype(np.int64)
    offset = (other - samples.starts[second]) - (one - samples.starts[first])
    value = (((first << _SOURCE_BITS) | second) << _OFFSET_BITS) | (offset + _NO_OFFSET)
    packed: Words = (value.astype(np.uint64) << np.uint64(1)) | np.uint64(mirrored)
    return packed


def _unpacked(packed: Words) -> Candidates:
    value = (packed >> np.uint64(1)).astype(np.int64)
    offset = (value & (2 * _NO_OFFSET - 1)) - _NO_OFFSET
    other = (value >> _OFFSET_BITS) & (2**_SOURCE_BITS - 1)
    mirrored = (packed & np.uint64(1)).astype(bool)
    return Candidates(value >> (_OFFSET_BITS + _SOURCE_BITS), other, offset, mirrored)
