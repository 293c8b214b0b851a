"""Reader of captions who sees no video: an n-gram model as an outsider writes it, with no code of vttdata."""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterable


class Reader:
    """N-gram model of public captions with absolute discounting by .75."""

    def __init__(self, texts: Iterable[str], order: int) -> None:
        self.order = order
        self.follows: dict[tuple[str, ...], Counter[str]] = defaultdict(Counter)
        for text in texts:
            words = self.words(text)
            for end in range(1, len(words)):
                for begin in range(max(0, end - order + 1), end + 1):
                    self.follows[tuple(words[begin:end])][words[end]] += 1
        self.totals = {context: counts.total() for context, counts in self.follows.items()}

    @staticmethod
    def words(text: str) -> list[str]:
        """Return the words of a text between marks of its beginning and its end."""
        return ["<s>", *re.findall("[a-z0-9']+", text.lower()), "</s>"]

    def probability(self, context: tuple[str, ...], word: str) -> float:
        """Return the probability of a word after others."""
        counts = self.follows.get(context, Counter())
        if not context:
            return (counts[word] + 0.1) / (self.totals[()] + 0.1 * len(counts))
        shorter = self.probability(context[1:], word)
        if not counts:
            return shorter
        return (max(counts[word] - 0.75, 0) + 0.75 * len(counts) * shorter) / self.totals[context]

    def log_probabilities(self, text: str) -> list[float]:
        """Return the logarithm of the probability of each word and of the end."""
        words = self.words(text)
        return [
            math.log(self.probability(tuple(words[max(0, end - self.order + 1) : end]), words[end]))
            for end in range(1, len(words))
        ]
