"""Test which systems are significantly better than which: pairwise tests, clusters and ranges of ranks."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import combinations
from typing import Literal, NamedTuple

import numpy as np

from vttdata.files.results import Interval
from vttdata.people.scoring.scores import group_by_system, system_scores
from vttdata.records import CaptionScore
from vttdata.statistics.bootstrap import resample_scores
from vttdata.statistics.hypothesis_tests import holm, rank_sum_p_values
from vttdata.statistics.randomisation import randomise_systems
from vttdata.statistics.scores import ColumnScores, ScoredRows

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


FEW_VIDEOS = 100
"""Videos below which a ranking of systems says so."""


class RatedDifference(NamedTuple):
    """Mean difference of two systems, `ahead` in the ranking and `behind`, over the videos of which both were rated.

    The interval is of bootstrap draws of videos, and `p` of paired randomisation of videos, two-sided; `p_holm` is
    corrected for the number of pairs of systems.
    """

    ahead: str
    behind: str
    videos: int
    difference: Interval
    p: float
    p_holm: float


def system_differences(scores: Iterable[CaptionScore], *, seed: int = 0) -> list[RatedDifference]:
    """Compare every two systems by their captions' raw scores of the same videos, in the order of the ranking."""
    scores = list(scores)
    by_system = {
        system: {score.video_id: score.raw for score in of_system}
        for system, of_system in group_by_system(scores).items()
    }
    found: dict[str, RatedDifference] = {}
    for ahead, behind in combinations([score.system for score in system_scores(scores)], 2):
        videos = sorted(by_system[ahead].keys() & by_system[behind].keys())
        if not videos:
            continue
        each = np.arange(len(videos))
        first, second = (np.array([by_system[name][video] for video in videos]) for name in (ahead, behind))
        rows, ours, theirs = (
            {"": ScoredRows(ColumnScores.from_means(values), each)} for values in (first - second, first, second)
        )
        resampled = resample_scores(rows, len(videos), seed=seed)[""]
        p = randomise_systems(ours, theirs, len(videos), seed=seed)[""]
        difference = Interval(resampled.score, *resampled.interval())
        found[f"{len(found)}"] = RatedDifference(ahead, behind, len(videos), difference, p, math.nan)
    corrected = holm({name: one.p for name, one in found.items()})
    return [one._replace(p_holm=corrected[name]) for name, one in found.items()]
