"""Samples that are looked up by keys of their words, as they are and turned, in a temporary file.

They are written by one byte of their words, so that those whose keys begin with the same byte lie side by side: a
bucket of them is read and compared by itself, in little memory.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from vttdata.split.near_duplicates.samples import CHUNK_SAMPLES, Indices, Samples, Words

HALF_WORD = np.uint64(32)

# Records of a bucket, of 24 bytes, unless more have the same byte.
_RECORDS_PER_BUCKET = 2**19


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
    owner_and_number = (samples.owners(index) << HALF_WORD) | number.astype(np.uint64)
    return np.concatenate([words, owner_and_number[:, None]], 1)


class LookupFile:
    """Records of samples in a temporary file, for one byte of their words after another.

    Args:
        samples: of all sources.
        is_looked_up: (m, 2): as they are, and turned.
        orientations: all that `buckets` is asked for; 0 is that of samples as they are.
    """

    def __init__(self, samples: Samples, is_looked_up: NDArray[np.bool_], orientations: tuple[int, ...]) -> None:
        self._samples, self._is_looked_up = samples, is_looked_up
        plain, turned = is_looked_up.sum(0)
        room = plain + turned * np.count_nonzero(orientations)
        self._records: Words = samples.arrays.allocate((int(room), 3), np.uint64)

    def buckets(self, half: int, byte: int, orientations: tuple[int, ...]) -> Iterator[Iterator[tuple[int, Words]]]:
        """Divide the samples by a byte of the word of one half, and yield them a bucket at a time.

        Samples of which that half shows nothing are in no bucket.

        Args:
            half: of pictures, upper (0) or lower (1).
            byte: of the word, the lowest is 0.
            orientations: of samples; the first is 0.

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
        self._write(half, byte, orientations, bucket_of.astype(np.uint8), ends - sizes)
        for bucket_sizes, bucket_ends in zip(sizes, ends, strict=True):
            bounds = zip(bucket_ends - bucket_sizes, bucket_ends, strict=True)
            yield merge_orientations(orientations, [self._records[first:end] for first, end in bounds])
            self._samples.arrays.release_pages()

    def _write(
        self, half: int, byte: int, orientations: tuple[int, ...], bucket_of: NDArray[np.uint8], places: Indices
    ) -> None:
        """Write the records of each bucket, one orientation after the other, from their places on."""
        places = places.copy()
        for column, index, values in self._read(half, byte, orientations):
            orientation = orientations[column]
            buckets = bucket_of[values]
            order = np.argsort(buckets, kind="stable")
            records = look_up(self._samples, 2 * index + (orientation > 0), orientation).take(order, 0)
            ends = np.cumsum(np.bincount(buckets, minlength=len(places)))
            for bucket, (first, end) in enumerate(zip([0, *ends[:-1]], ends, strict=True)):
                place = places[bucket, column]
                self._records[place : place + end - first] = records[first:end]
                places[bucket, column] += end - first

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
