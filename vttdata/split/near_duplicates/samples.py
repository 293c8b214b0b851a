"""The fingerprints of many sources side by side in flat arrays, 24 bytes a sample, in the order of source ids."""

from __future__ import annotations

import base64
import itertools
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from vttdata.errors import VttdataError
from vttdata.records import HASH_SCHEME, Fingerprint

Words = NDArray[np.uint64]
Indices = NDArray[np.int64]

MIRROR = np.uint64(0xFFFFFFFF)
"""The bits of a word that turn round when a picture is mirrored."""

_CHUNK = 2**20
_NOISE, _FULLY_NEW = 4, 20  # differing bits of 128: half a second of a talking head has 5-15, of a walk 30-50


@dataclass(frozen=True, slots=True)
class Samples:
    """What n sources show, in all m samples.

    Attributes:
        ids: the n source ids, sorted.
        starts: n + 1 indices: source k has the samples starts[k] to starts[k + 1].
        words: (m, 2), as in `words_of`; 0 where there is nothing to see.
        owner: m numbers of sources.
        news: m ratios 0..1: how much a sample differs from the one before in its source; 0 where it stands still.
    """

    ids: tuple[str, ...]
    starts: Indices
    words: Words
    owner: NDArray[np.uint32]
    news: NDArray[np.float32]

    def counts(self) -> Indices:
        """How many samples each source has."""
        return np.diff(self.starts)


def collect_samples(sources: Iterable[tuple[str, Fingerprint]]) -> Samples:
    """Bring fingerprints together.

    Args:
        sources: id and fingerprint, in any order.

    Raises:
        VttdataError: when an id comes twice, or a fingerprint cannot be read; the message names the source.
    """
    parts = sorted(((source_id, _words(source_id, fingerprint)) for source_id, fingerprint in sources), key=_id)
    for (one, _), (other, _) in itertools.pairwise(parts):
        if one == other:
            raise VttdataError(f"The source id '{one}' comes with two fingerprints; each source has one.")
    starts = np.cumsum([0, *(len(words) for _, words in parts)])
    joined = np.concatenate([np.empty((0, 2), np.uint64), *(words for _, words in parts)])
    return samples_of(tuple(source_id for source_id, _ in parts), starts, joined)


def samples_of(ids: tuple[str, ...], starts: Indices, words: Words) -> Samples:
    """`Samples` from arrays that are already side by side; see its attributes."""
    owner = np.arange(len(ids), dtype=np.uint32).repeat(np.diff(starts))
    return Samples(ids, starts, words, owner, _news(words, starts))


def _id(part: tuple[str, Words]) -> str:
    return part[0]


def _words(source_id: str, fingerprint: Fingerprint) -> Words:
    try:
        return words_of(fingerprint)
    except ValueError as error:
        raise VttdataError(f"The fingerprint of source '{source_id}' cannot be used: {error}.") from error


def words_of(fingerprint: Fingerprint) -> Words:
    """The samples of a fingerprint: (n, 2) words of the upper and the lower half, 0 where there is nothing to see.

    The upper 32 bits of a word stay when a picture is mirrored, the lower 32 turn round.

    Raises:
        ValueError: when the scheme is another one or the text is damaged.
    """
    if fingerprint.hash_scheme != HASH_SCHEME:
        raise ValueError(f"its scheme is '{fingerprint.hash_scheme}', and only '{HASH_SCHEME}' can be read here")
    try:
        data = base64.b64decode(fingerprint.hashes, validate=True)
    except ValueError as error:
        raise ValueError(f"its text is damaged ({error})") from error
    if len(data) % 16:
        raise ValueError(f"its text is damaged (it holds {len(data)} bytes, and a sample takes 16)")
    return np.frombuffer(data, ">u8").reshape(-1, 2).astype(np.uint64)


def differing(one: Words, other: Words) -> tuple[NDArray[np.int16], NDArray[np.int16]]:
    """How many bits differ between samples (..., 2), and of how many: 128, 64, or 0 where a half shows nothing."""
    seen = (one != 0) & (other != 0)
    bits = np.where(seen, np.bitwise_count(one ^ other), np.uint8(0))
    return bits.sum(-1, dtype=np.int16), seen.sum(-1, dtype=np.int16) * np.int16(64)


def _news(words: Words, starts: Indices) -> NDArray[np.float32]:
    news = np.ones(len(words), np.float32)
    for first in range(1, len(words), _CHUNK):
        chunk = slice(first, min(first + _CHUNK, len(words)))
        bits, _ = differing(words[chunk], words[chunk.start - 1 : chunk.stop - 1])
        news[chunk] = np.clip((bits - np.float32(_NOISE)) / (_FULLY_NEW - _NOISE), 0, 1)
    own = starts[:-1][np.diff(starts) > 0]
    news[own] = 1
    return news
