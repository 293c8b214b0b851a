"""Adversarially matched candidates for rating: captions of other videos that fit a video as well as possible.

Adversarial matching (Zellers et al., CVPR 2019; Shi et al., CVPR 2022) gives every video a caption of another one that
fits its own captions as well as possible. Such a caption may be true: it is a candidate to be rated, and never a
negative by construction. Relevance is the cosine of TF-IDF vectors; a matrix of any other relevance can be given.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from vttdata.errors import VttdataError

Floats = npt.NDArray[np.float64]

# Forbidden pairs get this weight; real ones are between 0 and 1, so that one forbidden pair outweighs all others.
_FORBIDDEN = -1e6
_WORD = re.compile(r"\w+")


def tfidf_relevance(references: Sequence[Sequence[str]], captions: Sequence[str]) -> Floats:
    """Return the cosine of TF-IDF vectors of each video's references, taken together, and each caption.

    Words are those of the text in lower case; the weight of a word is ``(1 + log tf) * log((1 + n) / (1 + df))`` over
    the n videos. The cosines of m captions are (n, m), 0..1.
    """
    documents = [Counter(word for text in texts for word in _WORD.findall(text.lower())) for texts in references]
    frequency = Counter(word for document in documents for word in document)
    number = {word: index for index, word in enumerate(sorted(frequency))}
    rarity = np.array([math.log((1 + len(documents)) / (1 + frequency[word])) for word in number])

    def vectors(counts: Sequence[Counter[str]]) -> Floats:
        matrix = np.zeros((len(counts), len(number)))
        for row, count in zip(matrix, counts, strict=True):
            for word, times in count.items():
                if word in number:
                    row[number[word]] = (1 + math.log(times)) * rarity[number[word]]
        norms = np.linalg.norm(matrix, axis=1, keepdims=True)
        return matrix / np.where(norms > 0, norms, 1)

    candidates = [Counter(_WORD.findall(caption.lower())) for caption in captions]
    cosines: Floats = vectors(documents) @ vectors(candidates).T
    return np.clip(cosines, 0, 1)


def match_adversarially(
    relevance: Floats, sources: Sequence[str], rounds: int = 3, *, max_relevance: float = 0.9
) -> list[list[int]]:
    """Give every video captions of other videos by maximum-weight one-to-one matching, one matching a round.

    Guarantees: in every round each video gets one caption and each caption is used once; a caption is never of the
    video's own source; a video gets a caption once in all rounds; the total relevance falls from round to round.

    `relevance` is (n, n), of caption j for video i, and `sources` are those of the n videos. Captions that are more
    relevant than `max_relevance` are left out: they would say the same. The result has, for each round, the index of
    the caption of each video.

    Raises:
        VttdataError: when no such matching exists, or SciPy is not installed.
    """
    from scipy.optimize import linear_sum_assignment

    names = np.array(sources)
    forbidden = (names[:, None] == names[None, :]) | (relevance > max_relevance)
    matchings: list[list[int]] = []
    for number in range(rounds):
        videos, captions = linear_sum_assignment(np.where(forbidden, _FORBIDDEN, relevance), maximize=True)
        if forbidden[videos, captions].any():
            raise VttdataError(
                f"Only {number} captions of other sources can be matched with each of the {len(sources):,} videos of "
                f"{len(set(sources)):,} sources; ask for fewer, or add videos."
            )
        forbidden[videos, captions] = True
        matchings.append([int(caption) for caption in captions])
    return matchings
