"""Turns counts of n-grams into probabilities: interpolated modified Kneser-Ney smoothing.

Chen and Goodman, "An empirical study of smoothing techniques for language modeling" (Computer Speech and Language 13,
1999), section 3, with the treatment of sentence borders, unknown words and pruning of Heafield et al., "Scalable
modified Kneser-Ney language model estimation" (ACL 2013), section 3. It neither counts nor scores.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from vttdata.text.lm.counts import BEGIN, WORD_BITS, WORD_MASK, Integers, NgramCounts, find

Floats = NDArray[np.float64]

FALLBACK = (0.5, 1.0, 1.5)
"""The discounts of counts 1, 2 and 3 or more where they cannot be estimated; the ones that lmplz, the estimator of
Heafield et al., offers for this case."""


@dataclass(frozen=True, slots=True)
class Smoothed:
    """The n-grams that are kept and what scoring needs of them, one array an order.

    Fields:
        keys: as in `NgramCounts`, with indices among the kept n-grams.
        log_probabilities: natural logarithm of p(last word | words before it); minus infinity for ``<s>``, which is
            never predicted.
        log_weights: for orders below the highest, the natural logarithm of the share of the probability that goes
            to the lower order after this n-gram; 0 where nothing is known to follow it.
    """

    keys: tuple[Integers, ...]
    log_probabilities: tuple[Floats, ...]
    log_weights: tuple[Floats, ...]


def discounts(counts: Integers) -> tuple[float, float, float]:
    """D1, D2 and D3+ of one order, from its counts of counts (Chen and Goodman 1999, equations 26).

    `FALLBACK` where n1, n2 or n3 is zero or a discount comes out at zero or less, as it may on small corpora: the
    estimate then says nothing, and a discount of zero would leave no probability for what was not seen.
    """
    times = np.bincount(np.minimum(counts, 5), minlength=6)
    n1, n2, n3, n4 = (int(times[count]) for count in (1, 2, 3, 4))
    if not (n1 and n2 and n3):
        return FALLBACK
    y = n1 / (n1 + 2 * n2)
    estimated = 1 - 2 * y * n2 / n1, 2 - 3 * y * n3 / n2, 3 - 4 * y * n4 / n3
    return estimated if min(estimated) > 0 else FALLBACK


def smooth(counts: NgramCounts, min_count: int = 1) -> Smoothed:
    """The interpolated probabilities of all n-grams, and the weights of their lower orders.

    The highest order, and n-grams that begin with ``<s>``, go by how often they occur; all others by how many
    different words come before them. The unigrams are interpolated with the uniform distribution over all words,
    ``</s>`` and ``<unk>`` together, so an unknown word has the share that every known word gets at the least.

    N-grams of two and more words that occur fewer than `min_count` times are dropped after the discounts are taken;
    their probability goes to the lower order, and every distribution still sums to one.
    """
    suffixes = _suffixes(counts)
    kept = [np.ones(len(counts.words), bool), *(times >= min_count for times in counts.counts[1:])]
    probabilities = np.full(1, 1 / (len(counts.words) - 1))
    logs: list[Floats] = []
    weights: list[Floats] = []
    for level, times in enumerate(_adjusted(counts, suffixes)):
        prefix = counts.keys[level] >> WORD_BITS
        share, probabilities = _interpolate(times, prefix, kept[level], probabilities[suffixes[level]])
        if level:
            following = np.ones(len(logs[-1]))
            following[: len(share)] = share
            weights.append(np.log(following))
        else:
            probabilities[BEGIN] = 0
        with np.errstate(divide="ignore"):
            logs.append(np.log(probabilities))
    return Smoothed(
        _prune(counts.keys, kept),
        tuple(values[keep] for values, keep in zip(logs, kept, strict=True)),
        tuple(values[keep] for values, keep in zip(weights, kept, strict=False)),
    )


def _suffixes(counts: NgramCounts) -> list[Integers]:
    """For each n-gram the index of the n-gram without its first word; for unigrams 0, the empty one."""
    suffixes = [np.zeros(len(counts.words), np.int64)]
    for level in range(1, counts.order):
        prefix, word = counts.keys[level] >> WORD_BITS, counts.keys[level] & WORD_MASK
        suffixes.append(word if level == 1 else find(counts.keys[level - 1], suffixes[level - 1][prefix], word))
    return suffixes


def _adjusted(counts: NgramCounts, suffixes: list[Integers]) -> Iterator[Integers]:
    """For each order the counts that smoothing goes by; 0 for the unigrams ``<s>`` and ``<unk>``."""
    begins = np.arange(len(counts.words)) == BEGIN
    for level, occurring in enumerate(counts.counts):
        if level:
            begins = begins[counts.keys[level] >> WORD_BITS]
        if level + 1 < counts.order:
            preceded = np.bincount(suffixes[level + 1], minlength=len(occurring))
            times = np.where(begins, occurring, preceded)
        else:
            times = occurring
        yield times if level else np.where(begins, 0, times)


def _interpolate(times: Integers, prefix: Integers, kept: NDArray[np.bool_], lower: Floats) -> tuple[Floats, Floats]:
    """The share of the lower order after each prefix, and the probability of each n-gram; `lower` is its suffix's."""
    discount = np.array((0.0, *discounts(times)))[np.minimum(times, 3)]
    total = np.bincount(prefix, times)
    given = np.bincount(prefix, np.where(kept, discount, times))
    share = np.divide(given, total, out=np.ones(len(total)), where=total > 0)
    own = np.where(kept, times - discount, 0) / total[prefix]
    return share, own + share[prefix] * lower


def _prune(keys: tuple[Integers, ...], kept: list[NDArray[np.bool_]]) -> tuple[Integers, ...]:
    pruned = [keys[0]]
    for level in range(1, len(keys)):
        own = keys[level][kept[level]]
        if level > 1:
            place = np.cumsum(kept[level - 1]) - 1
            own = place[own >> WORD_BITS] << WORD_BITS | own & WORD_MASK
        pruned.append(own)
    return tuple(pruned)
