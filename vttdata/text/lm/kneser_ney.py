"""Interpolated modified Kneser-Ney smoothing: probabilities from counts of n-grams.

Chen and Goodman, "An empirical study of smoothing techniques for language modeling" (Computer Speech and Language 13,
1999), section 3, with the treatment of sentence borders, unknown words and pruning of Heafield et al., "Scalable
modified Kneser-Ney language model estimation" (ACL 2013), section 3. It neither counts nor scores.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from vttdata.text.lm.counts import BEGIN, WORD_BITS, WORD_MASK, Integers, NgramCounts, find_ngrams

Floats = NDArray[np.float64]

# Discounts of counts 1, 2 and 3 or more where they cannot be estimated: those that lmplz, the estimator of Heafield et
# al., offers for this case.
FALLBACK_DISCOUNTS = (0.5, 1.0, 1.5)


class SmoothedNgrams(NamedTuple):
    """N-grams that are kept after pruning, with what scoring needs of them: an array for each order.

    Attributes:
        keys: as in `NgramCounts`, with indices among the kept n-grams.
        log_probabilities: natural logarithm of p(last word | words before it); minus infinity for ``<s>``, which is
            never predicted.
        log_weights: for orders below the highest, the natural logarithm of the backoff weight of each context, which
            is the share of the probability that goes to the lower order; 0 where nothing is known to follow it.
    """

    keys: tuple[Integers, ...]
    log_probabilities: tuple[Floats, ...]
    log_weights: tuple[Floats, ...]


def estimate_discounts(counts: Integers) -> tuple[float, float, float]:
    """Estimate D1, D2 and D3+ of one order from its counts of counts (Chen and Goodman 1999, equations 26).

    `FALLBACK_DISCOUNTS` where n1, n2 or n3 is zero or a discount is zero or less, as it may be on small corpora: the
    estimate then says nothing, and a discount of zero would leave no probability for unseen words.
    """
    counts_of_counts = np.bincount(np.minimum(counts, 5), minlength=6)
    n1, n2, n3, n4 = (int(counts_of_counts[count]) for count in (1, 2, 3, 4))
    if not (n1 and n2 and n3):
        return FALLBACK_DISCOUNTS
    y = n1 / (n1 + 2 * n2)
    estimated = 1 - 2 * y * n2 / n1, 2 - 3 * y * n3 / n2, 3 - 4 * y * n4 / n3
    return estimated if min(estimated) > 0 else FALLBACK_DISCOUNTS


def smooth(counts: NgramCounts, min_count: int = 1) -> SmoothedNgrams:
    """Return the interpolated probabilities of all n-grams, and their backoff weights.

    The highest order, and n-grams that begin with ``<s>``, go by their counts; all others by their continuation
    counts, the number of different words before them. The unigrams are interpolated with the uniform distribution over
    all words, ``</s>`` and ``<unk>``, so an unknown word has the minimum share of every known word.

    N-grams of two and more words that occur fewer than `min_count` times are dropped after the discounts are taken;
    their probability goes to the lower order, and every distribution still sums to one.
    """
    suffixes = find_suffixes(counts)
    kept = [np.ones(len(counts.words), bool), *(occurrences >= min_count for occurrences in counts.counts[1:])]
    probabilities = np.full(1, 1 / (len(counts.words) - 1))
    logs: list[Floats] = []
    weights: list[Floats] = []
    for level, adjusted in enumerate(adjusted_counts(counts, suffixes)):
        prefix = counts.keys[level] >> WORD_BITS
        weight, probabilities = interpolate(adjusted, prefix, kept[level], probabilities[suffixes[level]])
        if level:
            # Contexts after the last prefix have no continuation.
            padded = np.ones(len(logs[-1]))
            padded[: len(weight)] = weight
            weights.append(np.log(padded))
        else:
            probabilities[BEGIN] = 0
        with np.errstate(divide="ignore"):
            logs.append(np.log(probabilities))
    return SmoothedNgrams(
        prune_keys(counts.keys, kept),
        tuple(values[keep] for values, keep in zip(logs, kept, strict=True)),
        tuple(values[keep] for values, keep in zip(weights, kept, strict=False)),
    )


def find_suffixes(counts: NgramCounts) -> list[Integers]:
    """Return for each n-gram the index of the n-gram without its first word; for unigrams 0, the empty one."""
    suffixes = [np.zeros(len(counts.words), np.int64)]
    for level in range(1, counts.order):
        prefix, word = counts.keys[level] >> WORD_BITS, counts.keys[level] & WORD_MASK
        shorter = counts.keys[level - 1]
        suffixes.append(word if level == 1 else find_ngrams(shorter, suffixes[level - 1][prefix], word))
    return suffixes


def adjusted_counts(counts: NgramCounts, suffixes: list[Integers]) -> Iterator[Integers]:
    """Yield for each order the counts or continuation counts; 0 for the unigrams ``<s>`` and ``<unk>``."""
    begins = np.arange(len(counts.words)) == BEGIN
    for level, occurrences in enumerate(counts.counts):
        if level:
            begins = begins[counts.keys[level] >> WORD_BITS]
        adjusted = occurrences
        if level + 1 < counts.order:
            continuations = np.bincount(suffixes[level + 1], minlength=len(occurrences))
            adjusted = np.where(begins, occurrences, continuations)
        yield adjusted if level else np.where(begins, 0, adjusted)


def interpolate(adjusted: Integers, prefix: Integers, kept: NDArray[np.bool_], lower: Floats) -> tuple[Floats, Floats]:
    """Return the backoff weight of each prefix and the probability of each n-gram, given that of its suffix."""
    discount = np.array((0.0, *estimate_discounts(adjusted)))[np.minimum(adjusted, 3)]
    total = np.bincount(prefix, adjusted)
    backed_off = np.bincount(prefix, np.where(kept, discount, adjusted))
    weight = np.divide(backed_off, total, out=np.ones(len(total)), where=total > 0)
    discounted = np.where(kept, adjusted - discount, 0) / total[prefix]
    return weight, discounted + weight[prefix] * lower


def prune_keys(keys: tuple[Integers, ...], kept: list[NDArray[np.bool_]]) -> tuple[Integers, ...]:
    """Return the keys of the kept n-grams, with their prefixes renumbered."""
    pruned = [keys[0]]
    for level in range(1, len(keys)):
        remaining = keys[level][kept[level]]
        if level > 1:
            new_index = np.cumsum(kept[level - 1]) - 1
            remaining = new_index[remaining >> WORD_BITS] << WORD_BITS | remaining & WORD_MASK
        pruned.append(remaining)
    return tuple(pruned)
