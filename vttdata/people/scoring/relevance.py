"""Decide from people's votes which captions are relevant to a video, and compare the votes with expert scores."""

from __future__ import annotations

import math
from collections.abc import Collection
from fractions import Fraction
from typing import NamedTuple

from vttdata.statistics.agreement import cohen_kappa

RELEVANT = Fraction(66, 100)
"""Share of yes from which on a pair is relevant (Hodosh et al., JAIR 2013, section 4.2.2)."""


def is_relevant(yes: int, judgments: int) -> bool:
    """Return whether a share of yes makes a pair relevant; two of three do."""
    return judgments > 0 and Fraction(yes, judgments) >= RELEVANT


class LayAgreement(NamedTuple):
    """How well votes of lay people find what experts call relevant (Hodosh et al., JAIR 2013, table 10).

    Fields:
        expert: least expert score of a relevant pair.
        lay: least share of yes of a pair that votes call relevant.
        precision, recall, f1, kappa: of the votes against the experts, NaN where undefined.
    """

    expert: float
    lay: float
    precision: float
    recall: float
    f1: float
    kappa: float


def lay_against_expert(
    pairs: Collection[tuple[int, int, float]],
    expert_thresholds: Collection[float],
    lay_thresholds: Collection[Fraction],
) -> list[LayAgreement]:
    """Compare votes with expert scores at every two thresholds.

    `pairs` have, for each pair of a caption and a video that both judged, the number of yes, of judgments, and the
    expert score. Shares are compared as exact fractions.
    """
    results = []
    for least in sorted(expert_thresholds):
        truth = [score >= least for _, _, score in pairs]
        for share in sorted(lay_thresholds):
            votes = [Fraction(yes, judgments) >= share for yes, judgments, _ in pairs]
            both = sum(vote and right for vote, right in zip(votes, truth, strict=True))
            precision = both / sum(votes) if any(votes) else math.nan
            recall = both / sum(truth) if any(truth) else math.nan
            f1 = 2 * both / (sum(votes) + sum(truth)) if any(votes) or any(truth) else math.nan
            results.append(LayAgreement(least, float(share), precision, recall, f1, cohen_kappa(votes, truth)))
    return results
