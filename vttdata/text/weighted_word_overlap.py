"""Similarity of captions by the words that they share, weighted by how few items have them."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping

_WORD = re.compile(r"[^\W_]+(?:'\w+)?")


def distinct_words(text: str) -> set[str]:
    """Return the words of a text in lower case."""
    return set(_WORD.findall(text.lower()))


class WordWeights:
    """Squared inverse document frequency of words, given those of each item, such as of all captions of a clip."""

    def __init__(self, items: Iterable[set[str]]) -> None:
        frequency: Counter[str] = Counter()
        number = 0
        for words in items:
            frequency.update(words)
            number += 1
        self._unseen = math.log(number + 1) ** 2
        self._weights: Mapping[str, float] = {
            word: math.log((number + 1) / (count + 1)) ** 2 for word, count in frequency.items()
        }

    def sum(self, words: Iterable[str]) -> float:
        """Return the sum of the weights of words."""
        # fsum gives the same sum in whatever order a set has its words.
        return math.fsum(self._weights.get(word, self._unseen) for word in words)

    def cosine(self, first: set[str], second: set[str]) -> float:
        """Return the cosine of two sets of words, 0..1; 0 where one has no weight."""
        size = self.sum(first) * self.sum(second)
        return self.sum(first & second) / math.sqrt(size) if size else 0.0
