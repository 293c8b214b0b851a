"""Interpolated modified Kneser-Ney smoothing directly by its formulas, in exact fractions and slow.

Chen and Goodman (1999), section 3. It shares nothing with the code under test but the names of the marks.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from fractions import Fraction

Gram = tuple[str, ...]


class LiteralKneserNey:
    """Model that computes p(word | context) by recursion over the lengths of contexts."""

    def __init__(self, sentences: Sequence[Sequence[str]], order: int, min_count: int = 1) -> None:
        self.order, self.min_count = order, min_count
        self.occurs: Counter[Gram] = Counter()
        for sentence in sentences:
            marked = ("<s>", *sentence, "</s>")
            for length in range(1, order + 1):
                self.occurs.update(marked[at : at + length] for at in range(len(marked) - length + 1))
        self.vocabulary = {gram[0] for gram in self.occurs if len(gram) == 1} - {"<s>"} | {"<unk>"}
        self.preceded = Counter(gram[1:] for gram in self.occurs)
        self.discounts = [self._discounts(length) for length in range(1, order + 1)]

    def count(self, gram: Gram) -> int:
        """Count occurrences at the highest order and after ``<s>``, elsewhere the different words before."""
        if gram == ("<s>",):
            return 0
        return self.occurs[gram] if len(gram) == self.order or gram[0] == "<s>" else self.preceded[gram]

    def _discounts(self, length: int) -> dict[int, Fraction]:
        counts = Counter(self.count(gram) for gram in self.occurs if len(gram) == length)
        fallback = {0: Fraction(0), 1: Fraction(1, 2), 2: Fraction(1), 3: Fraction(3, 2)}
        if not (counts[1] and counts[2] and counts[3]):
            return fallback
        y = Fraction(counts[1], counts[1] + 2 * counts[2])
        estimated = {k: k - (k + 1) * y * Fraction(counts[k + 1], counts[k]) for k in (1, 2, 3)}
        return {0: Fraction(0)} | estimated if min(estimated.values()) > 0 else fallback

    def probability(self, word: str, context: Gram) -> Fraction:
        """Return p(word | context); of longer contexts only the last words count."""
        context = context[len(context) - self.order + 1 :] if len(context) >= self.order else context
        lower = self.probability(word, context[1:]) if context else Fraction(1, len(self.vocabulary))
        counts = {other: self.count((*context, other)) for other in self.vocabulary}
        total = sum(counts.values())
        if not total:
            return lower
        discount = self.discounts[len(context)]
        backed_off = Fraction(0)
        for other, count in counts.items():
            backed_off += discount[min(count, 3)] if self._kept((*context, other)) else count
        discounted = counts[word] - discount[min(counts[word], 3)] if self._kept((*context, word)) else 0
        return Fraction(discounted, 1) / total + backed_off / total * lower

    def _kept(self, gram: Gram) -> bool:
        return len(gram) == 1 or self.occurs[gram] >= self.min_count
