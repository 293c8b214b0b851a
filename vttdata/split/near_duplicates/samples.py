"""Fingerprints of many sources side by side in flat arrays, 36 bytes for each sample, in the order of source ids.

The arrays of many samples are temporary files that are mapped into memory, of which the process holds those pages that
it is at.
"""

from __future__ import annotations

import base64
import contextlib
import itertools
import mmap
import os
import sys
import tempfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vttdata.errors import VttdataError
from vttdata.records import HASH_SCHEME, HASHES_PER_SAMPLE, Fingerprint

Words = NDArray[np.uint64]
Indices = NDArray[np.int64]

# Bits of a word that are inverted when a picture is mirrored left to right (odd horizontal frequencies) and when it is
# flipped upside down (odd vertical frequencies), which also swaps the words of its halves.
MIRROR = np.uint64(0xFFFFFFFF)
FLIP = np.uint64(0x0BF2AF2151AC3358)

# An orientation is a number of three bits: 4 if a picture is transposed, then 2 if it is flipped, then 1 if it is
# mirrored. If source b shows source a after that, b shows a mirrored or not and turned clockwise by these degrees.
ORIENTATIONS = (
    (False, 0), (True, 0), (True, 180), (False, 180), (True, 270), (False, 270), (False, 90), (True, 90),
)  # fmt: skip

# Bits that are inverted in each orientation.
_INVERSIONS = np.array([FLIP * (number >> 1 & 1) ^ MIRROR * (number & 1) for number in range(8)], np.uint64)

CHUNK_SAMPLES = 2**18

# Larger arrays are files.
_MAX_BYTES_IN_MEMORY = 2**24
_ZEROS_AT_ONCE = 2**16

# Differing bits, of 128, between a sample and the next: a talking head has 5-15, a walk 30-50.
_NOISE_BITS, _FULLY_NEW_BITS = 4, 20


class Arrays:
    """Arrays with room for any number of samples."""

    def __init__(self) -> None:
        self._maps: list[mmap.mmap] = []

    def allocate(self, shape: tuple[int, ...], dtype: type[np.generic]) -> NDArray[Any]:
        """Return an array of zeros; a large one is a temporary file."""
        size = int(np.prod(shape)) * np.dtype(dtype).itemsize
        if size <= _MAX_BYTES_IN_MEMORY:
            return np.zeros(shape, dtype)
        with tempfile.TemporaryFile() as stream:
            # With a sparse file, a disk that is full later would end the process with a signal.
            if hasattr(os, "posix_fallocate"):
                os.posix_fallocate(stream.fileno(), 0, size)
            else:
                for first in range(0, size, _ZEROS_AT_ONCE):
                    stream.write(bytes(min(_ZEROS_AT_ONCE, size - first)))
                stream.flush()
            self._maps.append(mmap.mmap(stream.fileno(), size))
        return np.frombuffer(self._maps[-1], dtype).reshape(shape)

    def release_pages(self) -> None:
        """Take pages of files out of the memory of this process; the system keeps them as long as it has room."""
        for pages in self._maps:
            if sys.platform != "win32":
                pages.madvise(mmap.MADV_DONTNEED)


@dataclass(frozen=True, slots=True)
class Samples:
    """Samples of n sources, m in all.

    Fields:
        ids: n source ids, sorted.
        starts: n + 1 indices: source k has the samples starts[k] to starts[k + 1].
        words: (m, 4), as from `decode_words`; 0 where there is nothing to see.
        novelty: m ratios 0..1: how much a sample differs from the one before in its source; 0 for a still picture.
        arrays: hold these, and others of this size.
    """

    ids: tuple[str, ...]
    starts: Indices
    words: Words
    novelty: NDArray[np.float32]
    arrays: Arrays = field(compare=False)

    def __len__(self) -> int:
        return len(self.words)

    def counts(self, source: Indices | slice = slice(None)) -> Indices:
        """Return the number of samples of each of some sources, by their indices; without any, of all."""
        counts: Indices = self.starts[1:][source] - self.starts[:-1][source]
        return counts

    def oriented_words(self, index: Indices, orientation: Indices | int) -> Words:
        """Return the words of the upper and the lower half of (...) samples in another orientation, (..., 2).

        The orientation of each, see `ORIENTATIONS`, is broadcast to the samples.
        """
        return np.stack([self.oriented_half(index, orientation, half) for half in (0, 1)], -1)

    def oriented_half(self, index: Indices | slice, orientation: Indices | int, half: int) -> Words:
        """Return one half, upper (0) or lower (1), of `oriented_words`."""
        orientation = np.asarray(orientation)
        words: Words = self.words[index, (orientation >> 1) ^ half]
        inverted: Words = words ^ _INVERSIONS[orientation] * (words != 0)
        return inverted


@contextlib.contextmanager
def naming_temporary_folder() -> Iterator[None]:
    """Name the folder of temporary files, which have no names, in an error of theirs, such as that the disk is full."""
    try:
        yield
    except OSError as error:
        error.filename = error.filename or tempfile.gettempdir()
        raise


@naming_temporary_folder()
def collect_samples(sources: Iterable[tuple[str, Fingerprint]]) -> Samples:
    """Decode the fingerprints of sources, each an id with its fingerprint in any order, and put them side by side.

    Raises:
        VttdataError: when an id is duplicated, or a fingerprint cannot be read; the message names the source.
        OSError: when the disk of temporary files is full.
    """
    names: list[str] = []
    counts: list[int] = []
    with tempfile.SpooledTemporaryFile(_MAX_BYTES_IN_MEMORY) as stream:
        for source_id, fingerprint in sources:
            try:
                decoded = decode_words(fingerprint)
            except ValueError as error:
                raise VttdataError(f"The fingerprint of source '{source_id}' cannot be used: {error}.") from error
            names.append(source_id)
            counts.append(len(decoded))
            stream.write(decoded.tobytes())
        order = sorted(range(len(names)), key=names.__getitem__)
        ids = tuple(names[index] for index in order)
        for source_id, next_id in itertools.pairwise(ids):
            if source_id == next_id:
                raise VttdataError(f"The source id '{source_id}' has two fingerprints; each source must have one.")
        places, starts = np.cumsum([0, *counts]), np.cumsum([0, *(counts[index] for index in order)])
        arrays = Arrays()
        # Each of the four words of all samples lies by itself, since most steps read one or two of them.
        words = arrays.allocate((HASHES_PER_SAMPLE, int(starts[-1])), np.uint64).T
        since_release = 0
        for index, start, end in zip(order, starts[:-1], starts[1:], strict=True):
            stream.seek(int(places[index]) * 8 * HASHES_PER_SAMPLE)
            content = stream.read(int(end - start) * 8 * HASHES_PER_SAMPLE)
            words[start:end] = np.frombuffer(content, np.uint64).reshape(-1, HASHES_PER_SAMPLE)
            since_release += int(end - start)
            if since_release > CHUNK_SAMPLES:
                arrays.release_pages()
                since_release = 0
    return Samples(ids, starts, words, measure_novelty(words, starts, arrays), arrays)


def decode_words(fingerprint: Fingerprint) -> Words:
    """Return the samples of a fingerprint: (n, 4) words of upper and lower half, then of the transposed picture's.

    0 means that there is nothing to see. For other orientations see `Samples.oriented_words`.

    Raises:
        ValueError: when the scheme is another one or the text is damaged.
    """
    if fingerprint.hash_scheme != HASH_SCHEME:
        raise ValueError(f"its scheme is '{fingerprint.hash_scheme}', and only '{HASH_SCHEME}' can be read here")
    try:
        data = base64.b64decode(fingerprint.hashes, validate=True)
    except ValueError as error:
        raise ValueError(f"its text is damaged ({error})") from error
    if len(data) % (8 * HASHES_PER_SAMPLE):
        raise ValueError(
            f"its text is damaged (it holds {len(data)} bytes, and a sample takes {8 * HASHES_PER_SAMPLE})"
        )
    return np.frombuffer(data, ">u8").reshape(-1, HASHES_PER_SAMPLE).astype(np.uint64)


def differing_bits(words_a: Words, words_b: Words) -> tuple[NDArray[np.int16], NDArray[np.int16]]:
    """Count the bits that differ between samples, (..., 2) words each.

    Returns:
        (...) numbers of differing bits, and (...) numbers of bits compared: 128, 64, or 0 where a half shows nothing.
    """
    seen = (words_a != 0) & (words_b != 0)
    bits = np.where(seen, np.bitwise_count(words_a ^ words_b), np.uint8(0))
    return bits.sum(-1, dtype=np.int16), seen.sum(-1, dtype=np.int16) * np.int16(64)


def measure_novelty(words: Words, starts: Indices, arrays: Arrays) -> NDArray[np.float32]:
    """Return how much each sample differs from the one before in its source; see `Samples.novelty`."""
    novelty: NDArray[np.float32] = arrays.allocate((len(words),), np.float32)
    for first in range(1, len(words), CHUNK_SAMPLES):
        chunk = slice(first, min(first + CHUNK_SAMPLES, len(words)))
        bits, _ = differing_bits(words[chunk, :2], words[chunk.start - 1 : chunk.stop - 1, :2])
        novelty[chunk] = np.clip((bits - np.float32(_NOISE_BITS)) / (_FULLY_NEW_BITS - _NOISE_BITS), 0, 1)
        arrays.release_pages()
    # The first sample of a source has none before it.
    novelty[starts[:-1][np.diff(starts) > 0]] = 1
    return novelty
