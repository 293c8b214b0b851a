"""How the predicted segments of videos lie beside the annotated ones: tIoU, precision and recall, and alignment.

Precision is the share of predicted segments that overlap by more than a tIoU with an annotated one, recall that of
annotated segments, of the best annotator, averaged over videos and over tIoU of .3, .5, .7 and .9, as in the program of
the ActivityNet challenge (Krishna et al., ICCV 2017).

SODA (Fujita et al., ECCV 2020) aligns both sequences of segments in order, so that the sum of tIoU times a similarity
of sentences is greatest; that sum over the number of predicted, and of annotated, segments is its precision and recall.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from typing import Any, NamedTuple

import numpy as np

from vttdata.statistics.arrays import Floats
from vttdata.statistics.scores import ColumnScores

TIOUS = (0.3, 0.5, 0.7, 0.9)

# Of the official programs, against division by zero.
_EPSILON = 1e-8


class Segment(NamedTuple):
    """Part of a video from `start` to `end`, seconds, and the sentence about it."""

    start: float
    end: float
    sentence: str


Paragraph = Sequence[Segment]


def overlaps(predicted: Paragraph, truths: Paragraph) -> Floats:
    """Return the tIoU of predicted and annotated segments as the official programs have it, n x m."""
    first, second = (
        np.array([each[:2] for each in segments], dtype=float).reshape(-1, 2) for segments in (predicted, truths)
    )
    starts, ends = first[:, None, 0], first[:, None, 1]
    shared = np.maximum(np.minimum(ends, second[:, 1]) - np.maximum(starts, second[:, 0]), 0)
    hull = np.maximum(ends, second[:, 1]) - np.minimum(starts, second[:, 0])
    found: Floats = shared / (np.minimum(hull, ends - starts + second[:, 1] - second[:, 0]) + _EPSILON)
    return found


def average_tious(name: str, by_tiou: Sequence[Floats]) -> dict[str, ColumnScores]:
    """Return the columns of the values of n videos: their mean over tIoU, and at each tIoU."""
    at = {f"{name}@{tiou}": ColumnScores.from_means(values) for tiou, values in zip(TIOUS, by_tiou, strict=True)}
    return {name: ColumnScores.from_means(np.mean(by_tiou, axis=0)), **at}


def score_extents(matrices: Sequence[Floats], references: Sequence[Sequence[Paragraph]]) -> dict[str, ColumnScores]:
    """Return ``precision`` and ``recall`` of segments, of the best annotator of a video at each tIoU, and ``f1``.

    ``f1`` is the mean over videos of that of their mean precision and recall, as Vid2Seq has it (Yang et al., CVPR
    2023).
    """
    reached = np.zeros((2, len(TIOUS), len(matrices)))
    for video, (matrix, paragraphs) in enumerate(zip(matrices, references, strict=True)):
        bounds = np.cumsum([len(each) for each in paragraphs])[:-1]
        for part in np.split(matrix, bounds, axis=1) if len(matrix) else ():
            for place, tiou in enumerate(TIOUS):
                shares = (part > tiou).any(axis=1).mean(), (part > tiou).any(axis=0).mean()
                reached[:, place, video] = np.maximum(reached[:, place, video], shares)
    precision, recall = reached.mean(axis=1)
    f1 = ColumnScores.from_means(_harmonic_mean(precision, recall))
    return {**average_tious("precision", [*reached[0]]), **average_tious("recall", [*reached[1]]), "f1": f1}


def score_alignments(
    matrices: Sequence[Floats],
    predictions: Sequence[Paragraph],
    references: Sequence[Sequence[Paragraph]],
    similarity: Floats | None = None,
) -> tuple[ColumnScores, ColumnScores, ColumnScores]:
    """Return SODA's F-measures of the alignment of predicted and annotated segments.

    Args:
        matrices: tIoU of the predicted and the annotated segments of each video, n.
        predictions: segments of each video.
        references: segments of each annotator of each video.
        similarity: of the sentences of each pair of segments that overlap, by video and predicted segment; 1 by
            default.

    Returns:
        With the segments of all annotators as one sequence, as by default in SODA's program; of the best annotator of a
        video, as with its option for several references, where annotated segments stay in the order of the dataset; and
        the mean over first annotators, second ones and so on, each over their own videos, as in the program of PDVC
        (Wang et al., ICCV 2021).
    """
    joined, best = [], []
    by_rank = np.zeros((len(matrices), 2, max(map(len, references))))
    used = 0
    for video, (matrix, given, paragraphs) in enumerate(zip(matrices, predictions, references, strict=True)):
        weights, met = np.maximum(matrix, 0), matrix > 0
        if similarity is not None:
            weights[met] *= similarity[used : used + int(met.sum())]
            used += int(met.sum())
        weights = weights[order_of_starts(given)]
        joined.append(best_alignment(weights[:, order_of_starts([*chain(*paragraphs)])]))
        parts = np.split(weights, np.cumsum([len(each) for each in paragraphs])[:-1], axis=1)
        best.append(max(map(best_alignment, parts)))
        for rank, (part, paragraph) in enumerate(zip(parts, paragraphs, strict=True)):
            by_rank[video, :, rank] = best_alignment(part[:, order_of_starts(paragraph)]), 1.0
    mean = by_rank[:, 0].sum(axis=1) / by_rank[:, 1].sum(axis=1)
    return (
        ColumnScores.from_means(np.array(joined)),
        ColumnScores.from_means(np.array(best)),
        ColumnScores(mean, by_rank.reshape(len(matrices), -1), _mean_of_ranks),
    )


def best_alignment(weights: Floats) -> float:
    """Return SODA's F-measure of n predicted and m annotated segments in order, with weights of 0 or more, n x m.

    The greatest sum of weights of pairs that keep both orders is divided by n, and by m; 0 without a segment.
    """
    if not weights.size:
        return 0.0
    best = np.zeros(weights.shape[0] + 1)
    for column in weights.T:
        best[1:] = np.maximum.accumulate(np.maximum(best[1:], best[:-1] + column))
    precision, recall = best[-1] / np.array(weights.shape)
    return float(_harmonic_mean(precision, recall))


def _harmonic_mean(first: Any, second: Any) -> Any:
    total = np.asarray(first + second)
    return np.divide(2 * first * second, total, out=np.zeros_like(total), where=total > 0)


def _mean_of_ranks(sums: Floats, count: Floats) -> Floats:  # noqa: ARG001
    total, number = np.moveaxis(sums.reshape(*sums.shape[:-1], 2, -1), -2, 0)
    with np.errstate(invalid="ignore"):
        means: Floats = (total / number).mean(axis=-1)
    return means


def order_of_starts(segments: Paragraph) -> list[int]:
    """Return the segments in the order of their starts."""
    return sorted(range(len(segments)), key=lambda index: segments[index].start)
