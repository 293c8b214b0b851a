"""Logistic regression on the 2- to 5-grams of characters by which the texts differ, within words and across them."""

from __future__ import annotations

import functools
import math
from collections import Counter
from collections.abc import Iterator, Mapping
from itertools import takewhile
from typing import TYPE_CHECKING

from vttdata.generate.blind.attacker import AttackedPairs, BlindAttacker
from vttdata.generate.blind.learning import sparse_matrix

if TYPE_CHECKING:
    from vttdata.generate.blind.learning import Matrix


_LENGTHS = range(2, 6)
# Length of the vector of a pair, which sets how far single pairs are trusted: with 1 to 3, of the published sets that
# were tried, those of many kinds of changes are told best.
_NORM = 3.0


def compare_characters(attacked: AttackedPairs) -> Matrix:
    """Return how many more of each n-gram of lower-cased characters the true text has, the rows of equal length.

    N-grams within words, of each word with a space on either side, are told apart from those across words, of the text
    as it is, spaces at its ends included.
    """

    @functools.cache
    def difference(true: str, foil: str) -> Mapping[str, float]:
        counts = Counter(_list_ngrams(true))
        counts.subtract(_list_ngrams(foil))
        weight = _NORM / math.sqrt(sum(count * count for count in counts.values()) or 1)
        return {ngram: weight * count for ngram, count in counts.items() if count}

    return sparse_matrix(difference(*differing_parts(pair.true.lower(), pair.foil.lower())) for pair in attacked.pairs)


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


def _list_ngrams(text: str) -> Iterator[str]:
    padded = [f" {word} " for word in text.split()]
    for length in _LENGTHS:
        for index in range(len(text) - length + 1):
            yield text[index : index + length]
        for word in padded:
            for index in range(len(word) - length + 1):
                yield "|" + word[index : index + length]


ATTACKER = BlindAttacker(compare_characters)
