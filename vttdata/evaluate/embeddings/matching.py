"""EMScore's arithmetic: a caption's tokens matched greedily with a video's frames or a reference's tokens.

Shi et al., "EMScore: Evaluating Video Captioning via Coarse-Grained and Fine-Grained Embedding Matching", CVPR 2022,
section 3. Their published code differs from the paper, so there are two conventions:

* A token that c of N texts have weighs ``log(N / c)`` in the ``paper`` and ``log((N + 1) / (c + 1))`` in the ``code``,
  which also counts token 0, its padding, in every text. The ``paper`` leaves open what a token weighs that no text has;
  here it counts as if one text had it.
* Of several references the ``paper`` takes the one with the highest score; the ``code`` takes the greatest precision,
  recall, F and coarse score of any reference, each by itself.

Nothing here needs a model: vectors come in, scores go out.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

Vectors = NDArray[np.floating]
Tokens = NDArray[np.int64]
Convention = Literal["paper", "code"]

# What the published code's tokenizer fills texts up with.
_PADDING = 0


class Match(NamedTuple):
    """Scores of a caption and what it is compared with, -1..1."""

    precision: float
    recall: float
    f: float
    coarse: float

    @property
    def score(self) -> float:
        """EMScore: the mean of the coarse and the fine score (equation 10)."""
        return (self.coarse + self.f) / 2


@dataclass(frozen=True, slots=True)
class TokenWeights:
    """Inverse document frequencies of the tokens that texts have, and of any other one."""

    weights: Mapping[int, float]
    unseen: float

    def of(self, tokens: Tokens) -> NDArray[np.float64]:
        """Return the weight of each token."""
        return np.array([self.weights.get(token, self.unseen) for token in tokens.tolist()])


def weigh_tokens(texts: Iterable[Tokens], convention: Convention) -> TokenWeights:
    """Return the inverse document frequencies of tokens in texts, the end token of each last.

    The end token, which every text has, gets the mean of all weights instead of 0 (section 3.2). See the module for
    conventions.
    """
    counts: Counter[int] = Counter()
    number, end = 0, None
    for tokens in texts:
        number += 1
        counts.update(set(tokens.tolist()))
        end = int(tokens[-1])
    if convention == "code":
        counts[_PADDING] = number
        weights = {token: math.log((number + 1) / (count + 1)) for token, count in counts.items()}
        unseen = math.log(number + 1)
    else:
        weights = {token: math.log(number / count) for token, count in counts.items()}
        unseen = math.log(max(number, 1))
    if end is not None:
        weights[end] = math.fsum(weights.values()) / len(weights)
    return TokenWeights(weights, unseen)


def match_vectors(
    tokens: Vectors,
    targets: Vectors,
    coarse: float,
    weights: Vectors | None = None,
    target_weights: Vectors | None = None,
) -> Match:
    """Match the tokens of a caption with frames, or with the tokens of a reference (equations 4 to 9).

    Weights whose sum is 0, as of texts that are all the same, count as equal.

    Args:
        tokens: unit vectors of the caption's tokens, (t, d).
        targets: unit vectors of frames or tokens, (v, d).
        coarse: cosine of the two as a whole.
        weights: of the tokens, (t,); equal by default.
        target_weights: of the targets, (v,); equal by default.
    """
    similarity = tokens @ targets.T
    precision = _weighted_mean(similarity.max(axis=1), weights)
    recall = _weighted_mean(similarity.max(axis=0), target_weights)
    total = precision + recall
    return Match(precision, recall, 2 * precision * recall / total if total else 0.0, coarse)


def best_reference(matches: Sequence[Match], convention: Convention) -> Match:
    """Return the scores that count of those with several references."""
    if convention == "paper":
        return max(matches, key=lambda match: match.score)
    return Match(*map(max, zip(*matches, strict=True)))


def combine(video: Match, reference: Match) -> Match:
    """Return the scores of EMScore_ref: means of those with the video and with the references (equation 11)."""
    return Match(*((one + other) / 2 for one, other in zip(video, reference, strict=True)))


def video_vector(frames: Vectors) -> Vectors:
    """Return the unit vector of a video: the direction of the mean of its frames' unit vectors (equation 2)."""
    mean: Vectors = unit_vectors(frames.mean(axis=0, keepdims=True))[0]
    return mean


def unit_vectors(vectors: Vectors) -> Vectors:
    """Return vectors, (n, d), divided by their lengths; a vector of zeros stays."""
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    units: Vectors = np.divide(vectors, lengths, out=np.zeros_like(vectors), where=lengths > 0)
    return units


def _weighted_mean(values: Vectors, weights: Vectors | None) -> float:
    total = 0.0 if weights is None else float(weights.sum())
    return float(values.mean()) if weights is None or total == 0 else float(weights @ values) / total
