"""Pre-filter of pairs of a video and a caption by stemmed unigram precision (Hodosh et al., JAIR 2013, section 4.2).

A pool of n videos and n captions has n * n pairs, nearly all of which nobody needs to look at. A caption is compared
with all captions of the video; precision is a fraction of whole numbers and is never rounded, since many pairs are
exactly at a threshold.
"""

from __future__ import annotations

import functools
import re
from collections import Counter
from collections.abc import Callable, Sequence
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

STOP_WORDS = frozenset(
    """
    i me my myself we our ours ourselves you your yours yourself yourselves he him his himself she her hers herself it
    its itself they them their theirs themselves what which who whom this that these those am is are was were be been
    being have has had having do does did doing a an the and but if or because as until while of at by for with about
    against between into through during before after above below to from up down in out on off over under again further
    then once here there when where why how all any both each few more most other some such no nor not only own same so
    than too very s t can will just don should now
    """.split()
)
"""NLTK's list of the paper's years."""

Words = list[str]
Counts = NDArray[np.int64]


def alphanumeric_words(text: str) -> Words:
    """Return words as the paper prepares them: letters and digits in lower case, hyphens split."""
    return re.findall("[a-z0-9]+", text.lower())


def make_stemmer() -> Callable[[str], Words]:
    """Return a function from a text to Porter's stems of its words, without stop words.

    Raises:
        ModuleNotFoundError: without snowballstemmer; the message names the extra that brings it.
    """
    import snowballstemmer

    stem = functools.cache(snowballstemmer.stemmer("porter").stemWord)
    return lambda text: [stem(word) for word in alphanumeric_words(text) if word not in STOP_WORDS]


def pool_precision(references: Sequence[Sequence[Words]], candidates: Sequence[Words]) -> tuple[Counts, Counts]:
    """Return the clipped unigram precision of every candidate against every video's references, as fractions.

    A word that occurs k times counts as k different ones, so that clipped matches are a product of matrices. For n
    videos, each with prepared captions, and m candidates, matches and numbers of words of the candidates are (n, m).
    """
    columns: dict[tuple[str, int], int] = {}

    def occurrences(words: Words) -> set[int]:
        counts = Counter(words)
        return {columns.setdefault((word, k), len(columns)) for word, number in counts.items() for k in range(number)}

    of_videos = [set().union(*map(occurrences, texts)) for texts in references]
    of_candidates = [occurrences(words) for words in candidates]
    matrices = []
    for rows in (of_videos, of_candidates):
        matrix = np.zeros((len(rows), len(columns)), dtype=np.float32)
        for row, present in zip(matrix, rows, strict=True):
            row[list(present)] = 1
        matrices.append(matrix)
    matches = (matrices[0] @ matrices[1].T).astype(np.int64)
    return matches, np.broadcast_to(matrices[1].sum(axis=1).astype(np.int64), matches.shape)


def reaches(fractions: tuple[Counts, Counts], threshold: Fraction) -> NDArray[np.bool_]:
    """Return which fractions are at least a threshold, without rounding; those of no words are not."""
    matches, words = fractions
    return (words > 0) & (matches * threshold.denominator >= threshold.numerator * words)
