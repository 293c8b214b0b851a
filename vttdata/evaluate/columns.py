"""Columns of an evaluation: each is one score, computed from values of rows that belong to items."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from vttdata.statistics.arrays import Integers
from vttdata.statistics.scores import ColumnScores, MedianScores


@dataclass(frozen=True, slots=True, eq=False)
class ScoreColumn:
    """Values of a score.

    Fields:
        scores: values of r rows: captions, queries, videos or pairs.
        items: number of the item that each row belongs to, r.
        lower_is_better: True for ranks.
        binary: every row is a hit or none, so that McNemar's test applies.
        queries: id of the query that each row is about, r; None where rows are items.
    """

    scores: ColumnScores | MedianScores
    items: Integers
    lower_is_better: bool = False
    binary: bool = False
    queries: Sequence[str] | None = None
