"""Logistic regression on the 2- to 5-grams of characters by which the texts differ, within words and across them."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from vttdata.generate.blind.attacker import by_features
from vttdata.generate.blind.choices import ChoiceSet
from vttdata.generate.blind.words import count_shared_start

if TYPE_CHECKING:
    from scipy import sparse

    from vttdata.generate.blind.learning import Matrix


_LENGTHS = range(2, 6)
# Length of the vector of a pair, which sets how far single pairs are trusted: with 1 to 3, of the published sets that
# were tried, those of many kinds of changes are told best.
_NORM = 3.0


def count_characters(choices: ChoiceSet) -> Matrix:
    """Return how often each n-gram of lower-cased characters occurs in an option, less what all options have.

    N-grams within words, of each word with a space on either side, are told apart from those across words, of the text
    as it is, spaces at its ends included. Those of a single choice are left out, and the rows of a choice are scaled to
    one length.

    Raises:
        VttdataError: when SciPy is not installed.
    """
    from scipy import sparse

    parts = [differing_parts([text.lower() for text in item.options]) for item in choices.items]
    numbers = {text: number for number, text in enumerate(dict.fromkeys(chain.from_iterable(parts)))}
    words = [[f" {word} " for word in text.split()] for text in numbers]
    owners = np.arange(len(numbers))
    within = _count_ngrams(list(chain.from_iterable(words)), np.repeat(owners, [*map(len, words)]), len(numbers))
    counts = sparse.hstack([_count_ngrams(list(numbers), owners, len(numbers)), within], "csr")
    counts = counts[[numbers[text] for of_choice in parts for text in of_choice]].astype(float)
    member = sparse.csr_matrix((np.ones(len(choices.owners)), (choices.owners, np.arange(len(choices.owners)))))
    sums = member @ counts
    squares = np.asarray(counts.multiply(counts).sum(axis=1)).ravel()
    spread = np.bincount(choices.owners, squares) - np.asarray(sums.multiply(sums).sum(axis=1)).ravel() / choices.sizes
    # Twice the mean square is the squared length of the difference of two options.
    lengths = np.sqrt(np.maximum(2 * spread / (choices.sizes - 1), 1))
    occurs = np.bincount(sums.indices, minlength=counts.shape[1]) > 1
    return (sparse.diags(_NORM / lengths[choices.owners]) @ counts[:, occurs]).tocsr()


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


def differing_parts(texts: Sequence[str]) -> list[str]:
    """Return texts without the beginning and the end that all share, but for what n-grams of the rest may need.

    That is so many characters and whole words.
    """
    start = count_shared_start(texts)
    start = texts[0].rfind(" ", 0, max(0, start - _LENGTHS[-1] + 1)) + 1
    rest = [text[start:] for text in texts]
    same = count_shared_start(text[::-1] for text in rest)
    end = rest[0].find(" ", len(rest[0]) - same + _LENGTHS[-1] - 1) if same >= _LENGTHS[-1] else -1
    left_out = len(rest[0]) - end if end >= 0 else 0
    return [text[: len(text) - left_out] for text in rest]


ATTACKER = by_features(count_characters)
