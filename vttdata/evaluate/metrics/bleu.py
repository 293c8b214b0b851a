"""BLEU-1 to BLEU-4 as coco-caption computes them: closest reference length, counts summed over items."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from vttdata.evaluate.metric import CaptioningMetric, check_texts
from vttdata.evaluate.reference_index import ORDERS, index_candidates, index_references
from vttdata.statistics.arrays import Floats
from vttdata.statistics.scores import ColumnScores, Formula

# Coco-caption's constants against division by zero. They keep a caption without a match just above 0.
TINY, SMALL = 1e-15, 1e-9


def bleu_scores(statistics: Floats) -> Floats:
    """Return BLEU-1 to BLEU-4, ``(..., 4)``.

    Args:
        statistics: matches and numbers of n-grams of each order, length of the caption, and length of the closest
            reference, ``(..., 10)``.
    """
    precisions = (statistics[..., :4] + TINY) / (statistics[..., 4:8] + SMALL)
    ratio = (statistics[..., 8] + TINY) / (statistics[..., 9] + SMALL)
    penalty = np.exp(np.minimum(0.0, 1 - 1 / ratio))
    scores: Floats = np.cumprod(precisions, axis=-1) ** (1 / np.array(ORDERS)) * penalty[..., np.newaxis]
    return scores


class Bleu(CaptioningMetric):
    """BLEU of Papineni et al. (2002) without smoothing."""

    columns = tuple(f"bleu{order}" for order in ORDERS)

    def options(self) -> Mapping[str, str]:
        """Return which reference length is compared with, and that there is no smoothing."""
        return {"reflen": "closest", "smooth": "none"}

    def score(self, candidates: Sequence[str], references: Sequence[Sequence[str]]) -> dict[str, ColumnScores]:
        """Score captions; the corpus score follows from counts and lengths summed over items."""
        check_texts(candidates, references)
        index = index_references(references, self.tokenizer, self.cache)
        indexed = index_candidates(index, candidates, self.tokenizer)
        words = indexed.words
        statistics = np.zeros((len(candidates), 10))
        for order, matches in zip(ORDERS, indexed.matches, strict=True):
            best = np.zeros(len(matches.candidate_count), dtype=np.int64)
            np.maximum.at(best, matches.row, matches.reference_count)
            clipped = np.minimum(best, matches.candidate_count)
            statistics[:, order - 1] = np.bincount(matches.item, clipped, minlength=len(candidates))
            statistics[:, 3 + order] = np.maximum(words.lengths - order + 1, 0)
        statistics[:, 8] = words.lengths
        if len(candidates):
            lengths = index.words.lengths
            distances = np.abs(lengths - np.repeat(words.lengths, np.diff(index.item_starts)))
            # Of equally close lengths the shorter one counts.
            ranks = distances * (int(lengths.max()) + 1) + lengths
            closest = np.minimum.reduceat(ranks, index.item_starts[:-1]) % (int(lengths.max()) + 1)
            statistics[:, 9] = closest
        items = bleu_scores(statistics)

        def formula(number: int) -> Formula:
            return lambda sums, _: bleu_scores(sums)[..., number]

        return {
            column: ColumnScores(items[:, number], statistics, formula(number))
            for number, column in enumerate(self.columns)
        }
