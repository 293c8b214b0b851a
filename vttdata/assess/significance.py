"""Which systems are significantly better than which: pairwise rank-sum tests, clusters and ranges of ranks.

It compares captions' scores and knows nothing of who gave them; SciPy does the test.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from vttdata.assess.paired_tests import scipy_stats
from vttdata.assess.scores import Floats, system_scores
from vttdata.records import CaptionScore

Over = Literal["all", "shared"]
"""Which captions of two systems are compared: ``all`` of both (Graham et al., PLOS ONE 2018), or those of the videos
that were judged of both, ``shared`` (the Appraise evaluation system of WMT)."""


@dataclass(frozen=True, slots=True)
class Significance:
    """Pairwise tests between systems, best first.

    Fields:
        systems: their names by mean z, highest first.
        p: p[i][j] is the one-sided p-value of the rank-sum test for system i above system j; NaN on the diagonal and
            where there is nothing to compare.
        alpha: a win is a p-value below this.
    """

    systems: tuple[str, ...]
    p: tuple[tuple[float, ...], ...]
    alpha: float = 0.05

    def wins(self, row: int, column: int) -> bool:
        """Whether the system of the row is significantly better than that of the column."""
        return self.p[row][column] < self.alpha

    def clusters(self) -> tuple[tuple[str, ...], ...]:
        """Runs of systems, each system of which beats all systems of all later runs.

        Appraise only counts wins, so it can draw a line where one of them was over a system of the same run.
        """
        size = len(self.systems)
        ends = [
            end
            for end in range(1, size)
            if all(self.wins(row, column) for row in range(end) for column in range(end, size))
        ]
        return tuple(self.systems[start:end] for start, end in zip([0, *ends], [*ends, size], strict=True) if end)

    def rank_range(self, row: int) -> tuple[int, int]:
        """The best and the worst rank a system may have: (losses + 1, systems - wins)."""
        others = range(len(self.systems))
        losses = sum(self.wins(other, row) for other in others)
        return losses + 1, len(self.systems) - sum(self.wins(row, other) for other in others)


def significance(scores: Iterable[CaptionScore], *, alpha: float = 0.05, over: Over = "all") -> Significance:
    """Test every ordered pair of systems by the one-sided Wilcoxon rank-sum test on the z scores of their captions.

    U's normal approximation is corrected for ties and continuity, as R and SciPy do it for samples of this size.

    Args:
        scores: of captions; see `vttdata.assess.scores.caption_scores`.
        alpha: a win is a p-value below this (0.05 in Graham et al., PLOS ONE 2018).
        over: which captions of a pair are compared.

    Raises:
        VttdataError: when SciPy is not installed.
    """
    scores = list(scores)
    own: dict[str, dict[tuple[str, str], float]] = {}
    for score in scores:
        own.setdefault(score.system, {})[score.video_id, score.campaign] = score.z
    systems = tuple(system.system for system in system_scores(scores))
    p = np.full((len(systems), len(systems)), np.nan)
    for row, first in enumerate(systems):
        for column in range(row + 1, len(systems)):
            x, y = _samples(own[first], own[systems[column]], over)
            p[row, column], p[column, row] = _rank_sum(x, y)
    return Significance(systems, tuple(tuple(map(float, line)) for line in p), alpha)


def _samples(
    first: dict[tuple[str, str], float], second: dict[tuple[str, str], float], over: Over
) -> tuple[Sequence[float], Sequence[float]]:
    if over == "all":
        return list(first.values()), list(second.values())
    both = [video for video in first if video in second]
    return [first[video] for video in both], [second[video] for video in both]


def _rank_sum(x: Sequence[float], y: Sequence[float]) -> tuple[float, float]:
    """The p-values of x above y and of y above x; NaN without data."""
    if not x or not y:
        return float("nan"), float("nan")
    a: Floats = np.asarray(x, np.float64)
    test = scipy_stats().mannwhitneyu
    above, below = (test(a, y, alternative=side, method="asymptotic").pvalue for side in ("greater", "less"))
    return float(above), float(below)
