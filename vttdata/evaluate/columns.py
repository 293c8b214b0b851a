"""Columns of an evaluation: each is one score, computed from values of rows that belong to items."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from vttdata.statistics.arrays import Floats, Integers
from vttdata.statistics.scores import ColumnScores, MedianScores


@dataclass(frozen=True, slots=True, eq=False)
class ScoreColumn:
    """Values of a score.

    Fields:
        scores: values of r rows: captions, queries, videos or pairs.
        items: number of the item that each row belongs to, r.
        lower_is_better: True for ranks.
        binary: every row is a hit or none, so that McNemar's test applies.
        known: a fact of the items, such as what guessing reaches, which has no interval.
        queries: id of the query that each row is about, r; None where rows are items.
    """

    scores: ColumnScores | MedianScores
    items: Integers
    lower_is_better: bool = False
    binary: bool = False
    known: bool = False
    queries: Sequence[str] | None = None


# In standard errors, so that chance is taken for an error in one of 3,000 evaluations; the fewest values whose mean is
# near a normal distribution.
_FAR_BELOW, _LEAST_VALUES = 3.4, 20


def is_worse_than_guessing(values: Floats, guessed: Floats, variances: Floats) -> bool:
    """Return whether the mean of values, higher is better, is far below what guessing reaches.

    Args:
        values: n scores.
        guessed: mean of each score when guessing, n.
        variances: variance of each score when guessing, n.
    """
    error = math.sqrt(float(variances.sum()))
    return len(values) >= _LEAST_VALUES and float((guessed - values).sum()) > _FAR_BELOW * error > 0


def describe_guessing(what: str, reached: float, guessed: float, hint: str) -> str:
    """Return the sentence on scores that are worse than guessing."""
    return f"{what[:1].upper()}{what[1:]} is {reached:.3g}, worse than guessing ({guessed:.3g}); {hint}."
