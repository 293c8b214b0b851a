"""Fingerprints of many sources side by side in flat arrays, 40 bytes for each sample, in the order of source ids."""

from __future__ import annotations

import base64
import itertools
from collections.abc import Iterable
from dataclasses import dataclass

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

_CHUNK_SAMPLES = 2**20

# Differing bits, of 128, between a sample and the next: a talking head has 5-15, a walk 30-50.
_NOISE_BITS, _FULLY_NEW_BITS = 4, 20


@dataclass(frozen=True, slots=True)
class Samples:
    """Samples of n sources, m in all.

    Fields:
        ids: n source ids, sorted.
        starts: n + 1 indices: source k has the samples starts[k] to starts[k + 1].
        words: (m, 4), as from `decode_words`; 0 where there is nothing to see.
        owner: m indices of sources.
        novelty: m ratios 0..1: how much a sample differs from the one before in its source; 0 for a still picture.
    """

    ids: tuple[str, ...]
    starts: Indices
    words: Words
    owner: NDArray[np.uint32]
    novelty: NDArray[np.float32]

    def counts(self) -> Indices:
        """Return the number of samples of each source."""
        return np.diff(self.starts)

    def oriented_words(self, index: Indices, orientation: Indices | int) -> Words:
        """Return the words of the upper and the lower half of pictures in another orientation.

        Args:
            index: (...) samples.
            orientation: of each, see `ORIENTATIONS`; broadcast to them.

        Returns:
            (..., 2) words.
        """
        orientation = np.asarray(orientation)
        upper = orientation >> 1
        inversion = np.where(orientation & 2, FLIP, np.uint64(0)) ^ np.where(orientation & 1, MIRROR, np.uint64(0))
        words = np.stack([self.words[index, upper], self.words[index, upper ^ 1]], -1)
        return np.where(words != 0, words ^ inversion[..., None], np.uint64(0))


def collect_samples(sources: Iterable[tuple[str, Fingerprint]]) -> Samples:
    """Decode fingerprints and put them side by side.

    Args:
        sources: id and fingerprint, in any order.

    Raises:
        VttdataError: when an id is duplicated, or a fingerprint cannot be read; the message names the source.
    """
    decoded: list[tuple[str, Words]] = []
    for source_id, fingerprint in sources:
        try:
            decoded.append((source_id, decode_words(fingerprint)))
        except ValueError as error:
            raise VttdataError(f"The fingerprint of source '{source_id}' cannot be used: {error}.") from error
    decoded.sort(key=lambda pair: pair[0])
    ids = tuple(source_id for source_id, _ in decoded)
    for source_id, next_id in itertools.pairwise(ids):
        if source_id == next_id:
            raise VttdataError(f"The source id '{source_id}' has two fingerprints; each source must have one.")
    starts = np.cumsum([0, *(len(words) for _, words in decoded)])
    words = np.concatenate([np.empty((0, HASHES_PER_SAMPLE), np.uint64), *(words for _, words in decoded)])
    owner = np.arange(len(ids), dtype=np.uint32).repeat(np.diff(starts))
    return Samples(ids, starts, words, owner, measure_novelty(words, starts))


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
    """Count the bits that differ between samples.

    Args:
        words_a: (..., 2).
        words_b: (..., 2).

    Returns:
        (...) numbers of differing bits, and (...) numbers of bits compared: 128, 64, or 0 where a half shows nothing.
    """
    seen = (words_a != 0) & (words_b != 0)
    bits = np.where(seen, np.bitwise_count(words_a ^ words_b), np.uint8(0))
    return bits.sum(-1, dtype=np.int16), seen.sum(-1, dtype=np.int16) * np.int16(64)


def measure_novelty(words: Words, starts: Indices) -> NDArray[np.float32]:
    """Return how much each sample differs from the one before in its source; see `Samples.novelty`."""
    novelty = np.ones(len(words), np.float32)
    for first in range(1, len(words), _CHUNK_SAMPLES):
        chunk = slice(first, min(first + _CHUNK_SAMPLES, len(words)))
        bits, _ = differing_bits(words[chunk, :2], words[chunk.start - 1 : chunk.stop - 1, :2])
        novelty[chunk] = np.clip((bits - np.float32(_NOISE_BITS)) / (_FULLY_NEW_BITS - _NOISE_BITS), 0, 1)
    # The first sample of a source has none before it.
    novelty[starts[:-1][np.diff(starts) > 0]] = 1
    return novelty
