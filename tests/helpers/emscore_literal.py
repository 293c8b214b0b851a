"""EMScore written down from the formulas of Shi et al. (CVPR 2022) in loops over plain lists, for comparison."""

from __future__ import annotations

import math
from collections.abc import Sequence

Vector = Sequence[float]
Text = tuple[Sequence[int], Sequence[Vector]]
"""Tokens and their vectors; the last one is the text's."""


def dot(a: Vector, b: Vector) -> float:
    return math.fsum(x * y for x, y in zip(a, b, strict=True))


def unit(a: Vector) -> list[float]:
    return [x / math.sqrt(dot(a, a)) for x in a]


def idf(corpus: Sequence[Sequence[int]], convention: str) -> dict[int, float]:
    """Weights of tokens up to 999; the end token, last of each text, has the mean of the corpus's tokens."""
    n = len(corpus)
    padded = [[*text, 0] for text in corpus] if convention == "code" else [list(text) for text in corpus]
    known, weights = set(), {}
    for token in range(1000):
        c = 0
        for text in padded:
            if token in text:
                c += 1
        if c:
            known.add(token)
        if convention == "code":
            weights[token] = math.log((n + 1) / (c + 1))
        else:
            weights[token] = -math.log(max(c, 1) / n)
    weights[corpus[0][-1]] = math.fsum(weights[token] for token in known) / len(known)
    return weights


def fine(
    x: Text, targets: Sequence[Vector], x_weights: Sequence[float], target_weights: Sequence[float]
) -> list[float]:
    """Precision, recall and F: equations 9, 6 and 7."""
    precision = math.fsum(
        w * max(dot(token, target) for target in targets) for w, token in zip(x_weights, x[1], strict=True)
    ) / math.fsum(x_weights)
    recall = math.fsum(
        w * max(dot(token, target) for token in x[1]) for w, target in zip(target_weights, targets, strict=True)
    ) / math.fsum(target_weights)
    return [precision, recall, 2 * precision * recall / (precision + recall)]


def emscore(
    x: Text, frames: Sequence[Vector], references: Sequence[Text], weights: dict[int, float], convention: str
) -> tuple[list[float], list[float]]:
    """EMScore, coarse score, F, precision and recall with the video alone, and with video and references."""
    mean = unit([math.fsum(column) / len(frames) for column in zip(*frames, strict=True)])
    p, r, f = fine(x, frames, [weights[token] for token in x[0]], [1.0] * len(frames))
    c = dot(x[1][-1], mean)
    of_video = [(c + f) / 2, c, f, p, r]
    of_references = []
    for reference in references:
        p, r, f = fine(x, reference[1], [weights[token] for token in x[0]], [weights[token] for token in reference[0]])
        c = dot(x[1][-1], reference[1][-1])
        of_references.append([(c + f) / 2, c, f, p, r])
    if convention == "paper":
        best = max(of_references)
    else:
        best = [max(column) for column in zip(*of_references, strict=True)]
        best[0] = (best[1] + best[2]) / 2
    return of_video, [(a + b) / 2 for a, b in zip(of_video, best, strict=True)]
