"""Test which systems are significantly better than which: pairwise rank-sum tests, clusters and ranges of ranks."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

import numpy as np

from vttdata.people.scoring.scores import system_scores
from vttdata.records import CaptionScore
from vttdata.statistics.hypothesis_tests import rank_sum_p_values

Over = Literal["all", "shared"]
"""Captions on which two systems are compared: ``all`` captions of both (Graham et al., PLOS ONE 2018), or those of the
videos for which both were judged, ``shared`` (the Appraise evaluation system of WMT)."""


@dataclass(frozen=True, slots=True)
class Significance:
    """Pairwise tests of systems.

    Fields:
        systems: names of the systems by descending mean z-score.
        p: p[i][j] is the one-sided p-value of the rank-sum test for system i being better than system j; NaN on the
            diagonal and for pairs without captions to compare.
        alpha: a win is a p-value below this level.
    """

    systems: tuple[str, ...]
    p: tuple[tuple[float, ...], ...]
    alpha: float = 0.05

    def wins(self, row: int, column: int) -> bool:
        """Return whether the system of the row is significantly better than that of the column."""
        return self.p[row][column] < self.alpha

    def clusters(self) -> tuple[tuple[str, ...], ...]:
        """Return runs of systems such that each system beats all systems of all later runs.

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
        """Return the best and the worst rank of a system: (losses + 1, number of systems - wins)."""
        size = len(self.systems)
        losses = sum(self.wins(rival, row) for rival in range(size))
        return losses + 1, size - sum(self.wins(row, rival) for rival in range(size))


def significance(scores: Iterable[CaptionScore], *, alpha: float = 0.05, over: Over = "all") -> Significance:
    """Test every ordered pair of systems by the one-sided Wilcoxon rank-sum test on the z-scores of their captions.

    Args:
        scores: scores of captions; see `vttdata.people.scoring.scores.caption_scores`.
        alpha: a win is a p-value below this level (0.05 in Graham et al., PLOS ONE 2018).
        over: captions on which two systems are compared.

    Raises:
        VttdataError: if SciPy is not installed.
    """
    scores = list(scores)
    z_by_system: dict[str, dict[tuple[str, str], float]] = {}
    for score in scores:
        z_by_system.setdefault(score.system, {})[score.video_id, score.campaign] = score.z
    systems = tuple(score.system for score in system_scores(scores))
    p = np.full((len(systems), len(systems)), np.nan)
    for row in range(len(systems)):
        for column in range(row + 1, len(systems)):
            first, second = z_by_system[systems[row]], z_by_system[systems[column]]
            if over == "shared":
                first = {video: z for video, z in first.items() if video in second}
                second = {video: second[video] for video in first}
            if first and second:
                x, y = np.array(list(first.values())), np.array(list(second.values()))
                p[row, column], p[column, row] = rank_sum_p_values(x, y)
    return Significance(systems, tuple(tuple(map(float, line)) for line in p), alpha)
