"""Pointwise mutual information of the words by which the texts differ and all those that they share."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

import numpy as np

from vttdata.generate.blind.attacker import by_texts
from vttdata.generate.blind.choices import ChoiceSet, VideoCorpus
from vttdata.generate.blind.learning import Floats, Integers

if TYPE_CHECKING:
    from scipy import sparse


# Added to both the observed and the expected number of texts with two words.
_SMOOTHING = 1.0
# The most frequent words are a class of their own: pronouns, auxiliaries and numerals, which tell gender and number.
_FREQUENT_WORDS = 100


def measure_association(texts: VideoCorpus, choices: ChoiceSet) -> Floats:
    """Return how much an option's own words go with the words that all options of its choice share.

    The columns are means of pointwise mutual information with the frequent and with the other shared words, counted in
    single texts and in all texts of a video.
    """
    association = np.zeros((len(choices.owners), 4))
    ids: dict[str, int] = {}
    rows = itertools.count()
    terms = [
        (row, 1 / len(own) / max(1, len(shared)), ids.setdefault(word, len(ids)), other)
        for sides, shared in zip(choices.own_words, choices.shared_words, strict=True)
        for own, row in zip(sides, rows, strict=False)
        for word, _ in own
        for other in shared
    ]
    if not terms:
        return association
    swapped = len(ids)
    others = np.array([ids.setdefault(word, len(ids)) for *_, word in terms], dtype=np.int64)
    index, weights, words = (np.array(column) for column in zip(*[term[:3] for term in terms], strict=True))
    known = np.array([ids.get(word, -1) for word in texts.words.words], dtype=np.int64)[texts.words.ids]
    for level, owners in enumerate(texts.places):
        number = len(texts.videos) if level else len(texts.words.sizes)
        counts = _count(owners[known >= 0], known[known >= 0], (number, len(ids)))
        information = _mutual_information(counts, swapped, words, others)
        totals = np.asarray(counts.sum(axis=0)).ravel()
        frequent = totals[others] >= np.sort(totals)[-_FREQUENT_WORDS:][0]
        for offset, chosen in enumerate((frequent, ~frequent)):
            association[:, 2 * level + offset] = np.bincount(
                index[chosen], (weights * information)[chosen], minlength=len(association)
            )
    return association


def _count(texts: Integers, words: Integers, shape: tuple[int, int]) -> sparse.csr_matrix:
    """Return a sparse matrix, texts x words, with 1 where a text has a word, from the text of each word."""
    from scipy import sparse

    counts = sparse.csr_matrix((np.ones(len(words), np.float32), (texts, words)), shape=shape)
    counts.data[:] = 1
    return counts


def _mutual_information(counts: sparse.csr_matrix, swapped: int, words: Integers, others: Integers) -> Floats:
    """Return the smoothed pointwise mutual information of words and others, in nats; the words are the first ids."""
    joint = (counts[:, :swapped].T @ counts).tocsr()
    totals = np.asarray(counts.sum(axis=0)).ravel()
    expected = totals[words] * totals[others] / max(1, counts.shape[0])
    observed = np.asarray(joint[words, others]).ravel()
    information: Floats = np.log((observed + _SMOOTHING) / (expected + _SMOOTHING))
    return information


ATTACKER = by_texts(measure_association)
