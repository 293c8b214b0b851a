"""Logistic regression on the 2- to 5-grams of characters by which the texts differ, within words and across them."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain, takewhile
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from vttdata.generate.blind.attacker import AttackedPairs, BlindAttacker

if TYPE_CHECKING:
    from scipy import sparse

    from vttdata.generate.blind.learning import Matrix


_LENGTHS = range(2, 6)
# Length of the vector of a pair, which sets how far single pairs are trusted: with 1 to 3, of the published sets that
# were tried, those of many kinds of changes are told best.
_NORM = 3.0


def compare_characters(attacked: AttackedPairs) -> Matrix:
    """Return how many more of each n-gram of lower-cased characters the true text has, the rows of equal length.

    N-grams within words, of each word with a space on either side, are told apart from those across words, of the text
    as it is, spaces at its ends included. Those of a single pair are left out.

    Raises:
        VttdataError: when SciPy is not installed.
    """
    from scipy import sparse

    parts = [differing_parts(pair.true.lower(), pair.foil.lower()) for pair in attacked.pairs]
    numbers = {sides: number for number, sides in enumerate(dict.fromkeys(parts))}
    texts = [text for sides in numbers for text in sides]
    words = [[f" {word} " for word in text.split()] for text in texts]
    owners = np.arange(len(texts))
    within = _count_ngrams(list(chain.from_iterable(words)), np.repeat(owners, [*map(len, words)]), len(texts))
    counts = sparse.hstack([_count_ngrams(texts, owners, len(texts)), within], "csr")
    differences = (counts[0::2] - counts[1::2])[[numbers[sides] for sides in parts]]
    differences.eliminate_zeros()
    squares = np.asarray(differences.multiply(differences).sum(axis=1)).ravel()
    weighted = sparse.diags(_NORM / np.sqrt(np.maximum(squares, 1))) @ differences
    return weighted[:, np.bincount(differences.indices, minlength=differences.shape[1]) > 1]


def _count_ngrams(pieces: Sequence[str], owners: npt.NDArray[np.int64], number: int) -> sparse.csr_matrix:
    """Return how often each n-gram of characters occurs in the pieces of each owner: owners x n-grams."""
    from scipy import sparse

    lengths = np.array([*map(len, pieces)], dtype=np.int64)
    points = np.frombuffer("".join(pieces).encode("utf-32-le", "surrogatepass"), dtype="<u4")
    found, characters = np.unique(points, return_inverse=True)
    owner, left = np.repeat(owners, lengths), np.repeat(np.cumsum(lengths), lengths) - np.arange(len(points))
    # Number of the n-gram that begins at a character: that of its first n - 1 characters, with the last one.
    ngrams, blocks = characters, []
    for length in _LENGTHS:
        starts = np.flatnonzero(left >= length)
        kinds, columns = np.unique(ngrams[starts] * len(found) + characters[starts + length - 1], return_inverse=True)
        ngrams = np.zeros(len(points), dtype=np.int64)
        ngrams[starts] = columns
        ones = np.ones(len(starts), dtype=np.int32)
        blocks.append(sparse.csr_matrix((ones, (owner[starts], columns)), shape=(number, len(kinds))))
    return sparse.hstack(blocks, "csr")


def differing_parts(text: str, other: str) -> tuple[str, str]:
    """Return two texts without the beginning and the end that they share, but for what n-grams of the rest may need.

    That is so many characters and whole words.
    """
    start = _shared_length(text, other)
    start = text.rfind(" ", 0, max(0, start - _LENGTHS[-1] + 1)) + 1
    rest, other_rest = text[start:], other[start:]
    same = _shared_length(rest[::-1], other_rest[::-1])
    end = rest.find(" ", len(rest) - same + _LENGTHS[-1] - 1) if same >= _LENGTHS[-1] else -1
    left_out = len(rest) - end if end >= 0 else 0
    return rest[: len(rest) - left_out], other_rest[: len(other_rest) - left_out]


def _shared_length(text: str, other: str) -> int:
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(text, other, strict=False)))


ATTACKER = BlindAttacker(compare_characters)
