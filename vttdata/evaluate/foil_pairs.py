"""Score how often a system prefers a true text to its foil (FOIL-COCO, ActivityNet-FOIL)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from vttdata.evaluate.columns import ScoreColumn
from vttdata.evaluate.items import Items
from vttdata.evaluate.metric import CaptioningMetric, ColumnScores


def score_pairs(scores: Sequence[tuple[float, float] | None]) -> tuple[dict[str, ScoreColumn], list[str]]:
    """Return the accuracies of scores of a true text and its foil, and findings.

    Args:
        scores: of each pair; None where the prediction is missing, which counts as wrong.

    Returns:
        ``accuracy``, in which a tie is wrong as in ActivityNet-FOIL's published scoring, and ``accuracy-half``, in
        which it counts half, as often as guessing is right.
    """
    wins = np.array([float(pair is not None and pair[0] > pair[1]) for pair in scores])
    ties = np.array([float(pair is not None and pair[0] == pair[1]) for pair in scores])
    items = np.arange(len(scores))
    columns = {
        "accuracy": ScoreColumn(ColumnScores.from_means(wins), items, binary=True),
        "accuracy-half": ScoreColumn(ColumnScores.from_means(wins + ties / 2), items),
    }
    findings = [f"{int(ties.sum()):,} of {len(ties):,} pairs are ties."] if ties.any() else []
    return columns, findings


def score_by_metric(metric: CaptioningMetric, items: Items) -> dict[str, list[tuple[float, float]]]:
    """Score the texts of each pair against its references by a captioning metric.

    A paragraph's score is the mean of its captions' scores, each against the sentences of the other paragraph about its
    time, or all of them where there are none (ActivityNet-FOIL's published scoring).

    Returns:
        Column of the metric -> scores of the true text and of the foil, n.

    Raises:
        VttdataError: if a pair has no references, or the metric cannot be computed.
    """
    lengths = [len(texts) for texts in items.truths]
    references = [texts for pair in items.references for texts in pair]
    truths, foils = (
        metric.score_videos([text for texts in side for text in texts], references, items.videos)
        for side in (items.truths, items.foils)
    )
    starts = np.cumsum([0, *lengths[:-1]])
    scores = {}
    for column in truths:
        true, foil = (np.add.reduceat(side[column].items, starts) / lengths for side in (truths, foils))
        # Captions whose scores add up in another order differ in the last bits, and are ties.
        foil = np.where(np.isclose(true, foil, rtol=1e-15, atol=0), true, foil)
        scores[column] = list(zip(true.tolist(), foil.tolist(), strict=True))
    return scores
