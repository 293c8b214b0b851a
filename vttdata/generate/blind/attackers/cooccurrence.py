"""Pointwise mutual information of the swapped words and all other words of the text, near or far."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from vttdata.generate.blind.attacker import AttackedPairs, BlindAttacker, scaled_columns
from vttdata.generate.blind.learning import Floats, Integers

if TYPE_CHECKING:
    from scipy import sparse


# Added to both the observed and the expected number of texts with two words.
_SMOOTHING = 1.0
# The most frequent words are a class of their own: pronouns, auxiliaries and numerals, which tell gender and number.
_FREQUENT_WORDS = 100


def measure_association(attacked: AttackedPairs) -> Floats:
    """Return how much more the true words than the false ones go with the shared words.

    The columns are means of pointwise mutual information with the frequent and with the other shared words, counted in
    single texts and in all texts of a video.
    """
    margins = np.zeros((4, len(attacked.pairs)))
    for group, videos in attacked.training_texts():
        tried = np.flatnonzero(group).tolist()
        ids: dict[str, int] = {}
        terms = [
            (index, sign / len(side) / max(1, len(attacked.shared[index])), ids.setdefault(word, len(ids)), shared)
            for index in tried
            for side, sign in zip(attacked.surplus[index], (1, -1), strict=True)
            for word, _ in side
            for shared in attacked.shared[index]
        ]
        if not terms:
            continue
        swapped = len(ids)
        others = np.array([ids.setdefault(word, len(ids)) for *_, word in terms], dtype=np.int64)
        index, weights, words = (np.array(column) for column in zip(*[term[:3] for term in terms], strict=True))
        cut = [[{ids[word] for word in attacked.cut(text) if word in ids} for text in texts] for texts in videos]
        singly = [words for texts in cut for words in texts]
        together = [set().union(*texts) for texts in cut]
        for level, texts in enumerate((singly, together)):
            counts = _count(texts, len(ids))
            information = _mutual_information(counts, swapped, words, others)
            totals = np.asarray(counts.sum(axis=0)).ravel()
            frequent = totals[others] >= np.sort(totals)[-_FREQUENT_WORDS:][0]
            for offset, chosen in enumerate((frequent, ~frequent)):
                margins[2 * level + offset] += np.bincount(
                    index[chosen], (weights * information)[chosen], minlength=len(attacked.pairs)
                )
    return scaled_columns(margins.tolist())


def _count(texts: Sequence[set[int]], words: int) -> sparse.csr_matrix:
    """Return a sparse matrix, texts x words, with 1 where a text has a word."""
    from scipy import sparse

    ends = np.cumsum([0, *(len(text) for text in texts)])
    indices = np.fromiter((word for text in texts for word in text), dtype=np.int32, count=int(ends[-1]))
    return sparse.csr_matrix((np.ones(len(indices), np.float32), indices, ends), shape=(len(texts), words))


def _mutual_information(counts: sparse.csr_matrix, swapped: int, words: Integers, others: Integers) -> Floats:
    """Return the smoothed pointwise mutual information of words and others, in nats; the words are the first ids."""
    joint = (counts[:, :swapped].T @ counts).tocsr()
    totals = np.asarray(counts.sum(axis=0)).ravel()
    expected = totals[words] * totals[others] / max(1, counts.shape[0])
    observed = np.asarray(joint[words, others]).ravel()
    information: Floats = np.log((observed + _SMOOTHING) / (expected + _SMOOTHING))
    return information


ATTACKER = BlindAttacker(measure_association, reads_texts=True)
