"""CIDEr-D as coco-caption computes it: document frequencies of the given references, sigma 6, at most 10."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from vttdata.evaluate.metric import CaptioningMetric, check_texts
from vttdata.evaluate.reference_index import ORDERS, gram_weights, index_candidates, index_references
from vttdata.statistics.scores import ColumnScores

SIGMA = 6.0


class CiderD(CaptioningMetric):
    """CIDEr-D of Vedantam et al. (2015).

    An n-gram's weight depends on how many of the given items have it in a reference, so that an item's score depends
    on all items. The weights stay those of all items when items are resampled; scores of a subset that is scored on its
    own are other numbers.
    """

    columns = ("cider-d",)
    depends_on_items = True

    def options(self) -> Mapping[str, str]:
        """Return the width of the length penalty, and what document frequencies are of."""
        return {"sigma": f"{SIGMA:g}", "df": "references"}

    def score(self, candidates: Sequence[str], references: Sequence[Sequence[str]]) -> dict[str, ColumnScores]:
        """Score captions; the corpus score is the mean of the items' scores."""
        check_texts(candidates, references)
        index = index_references(references, self.tokenizer, self.cache)
        indexed = index_candidates(index, candidates, self.tokenizer)
        per_item = np.diff(index.item_starts)
        item_of = np.repeat(np.arange(len(candidates)), per_item)
        penalty = np.exp(-((indexed.words.lengths[item_of] - index.words.lengths) ** 2) / (2 * SIGMA**2))
        similarity = np.zeros(len(item_of))
        for order, matches in zip(ORDERS, indexed.matches, strict=True):
            # Grams that no reference has come after the known ones.
            frequencies = np.append(index.frequencies[order], 0)
            weight = gram_weights(frequencies[np.minimum(matches.gram, len(frequencies) - 1)], len(candidates))
            values = matches.candidate_count * weight
            norms = np.sqrt(np.bincount(matches.item, values**2, minlength=len(candidates)))
            reference_values = matches.reference_count * weight[matches.row]
            products = np.minimum(values[matches.row], reference_values) * reference_values
            dots = np.bincount(matches.reference, products, minlength=len(item_of)).astype(np.float64)
            scale = norms[item_of] * index.norms[order]
            similarity += np.divide(dots, scale, out=np.zeros_like(dots), where=scale != 0)
        sums = np.bincount(item_of, similarity * penalty, minlength=len(candidates))
        return {"cider-d": ColumnScores.from_means(10 * sums / len(ORDERS) / per_item)}

    def describe(self, references: Sequence[Sequence[str]]) -> list[str]:
        """Return a sentence where no n-gram of an item's references has a weight, so that any caption scores 0."""
        index = index_references(references, self.tokenizer, self.cache)
        lengths = np.maximum.reduceat(np.max([index.norms[order] for order in ORDERS], axis=0), index.item_starts[:-1])
        zero = int((lengths == 0).sum())
        finding = (
            f"CIDEr-D can only be 0 for {zero:,} of {len(references):,} items: all n-grams of their references are in "
            "the references of every item, and so have no weight."
        )
        return [finding] if zero else []
