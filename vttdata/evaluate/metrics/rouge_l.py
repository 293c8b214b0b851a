"""ROUGE-L as coco-caption defines it: longest common subsequence with the references, beta 1.2."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from vttdata.evaluate.metric import CaptioningMetric, ColumnScores, check_texts
from vttdata.text.tokenizers import load_tokenizer

BETA = 1.2


class RougeL(CaptioningMetric):
    """ROUGE-L of Lin (2004) with coco-caption's maximum over references of precision and of recall."""

    columns = ("rouge-l",)

    def options(self) -> Mapping[str, str]:
        """Return the weight of recall."""
        return {"beta": str(BETA)}

    def score(self, candidates: Sequence[str], references: Sequence[Sequence[str]]) -> dict[str, ColumnScores]:
        """Score captions; the corpus score is the mean of the items' scores."""
        check_texts(candidates, references)
        tokenize = load_tokenizer(self.tokenizer)
        items = np.empty(len(candidates))
        for item, (candidate, texts) in enumerate(zip(candidates, references, strict=True)):
            tokens = tokenize(candidate)
            lengths = [(_common(tokens, other), len(other)) for other in map(tokenize, texts)]
            precision = max(common for common, _ in lengths) / max(len(tokens), 1)
            recall = max(common / max(length, 1) for common, length in lengths)
            product = (1 + BETA**2) * precision * recall
            items[item] = product / (recall + BETA**2 * precision) if product else 0.0
        return {"rouge-l": ColumnScores.from_means(items)}


def _common(first: Sequence[str], second: Sequence[str]) -> int:
    """Return the length of the longest common subsequence, with bits for positions (Hyyrö 2004)."""
    positions: dict[str, int] = {}
    for index, token in enumerate(first):
        positions[token] = positions.get(token, 0) | 1 << index
    row = full = (1 << len(first)) - 1
    for token in second:
        matches = row & positions.get(token, 0)
        row = ((row + matches) | (row - matches)) & full
    return len(first) - row.bit_count()
