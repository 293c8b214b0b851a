"""Why the published judgments of 2016 tie another pair of systems than the paper that describes them.

Graham et al. (PLOS ONE 2018, figure 7) find no difference between INF and DCU alone. The published scores of captions
are means of raw scores and of z-scores. A caption that one assessor judged lies on the line of this assessor,
raw = mean + deviation * z, so assessors can be told apart, left out, and standardised in another way.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from vttdata.annotations.trecvid.judgments import human_letter
from vttdata.people import significance, system_scores
from vttdata.records import CaptionScore
from vttdata.statistics.hypothesis_tests import scipy_stats

# A line through fewer different points may be one by chance.
_FEWEST_POINTS = 20
JUDGMENTS_A_HIT = 85
"""Of system captions and human captions, in each HIT of TRECVID: 65 once, 5 twice, 10 human ones."""


class Outcome(NamedTuple):
    """Ranking under one treatment of the judgments: pairs of systems without a difference, lowest and human score."""

    treatment: str
    ties: list[frozenset[str]]
    lowest: float
    human: float


def split_by_assessor(scores: Sequence[CaptionScore]) -> tuple[list[list[CaptionScore]], list[CaptionScore]]:
    """Return the captions that one assessor judged, by assessor, and those that several did."""
    captions: dict[tuple[float, float], list[CaptionScore]] = {}
    for score in scores:
        captions.setdefault((score.raw, score.z), []).append(score)
    points, held = np.array(list(captions)), list(captions.values())
    left = np.ones(len(points), dtype=bool)
    assessors = []
    for point in range(len(points)):
        if left[point]:
            raw_steps, z_steps = (points - points[point]).T
            slopes = np.divide(raw_steps, z_steps, out=np.zeros(len(points)), where=np.abs(z_steps) > 1e-9)
            values, numbers = np.unique(np.round(slopes[left], 5), return_counts=True)
            numbers[values <= 0] = 0
            if numbers.max() + 1 >= _FEWEST_POINTS:
                on_line = left & (np.abs(raw_steps - values[numbers.argmax()] * z_steps) < 1e-3)
                assessors.append([score for each in np.flatnonzero(on_line) for score in held[each]])
                left &= ~on_line
    return assessors, [score for each in np.flatnonzero(left) for score in held[each]]


def restandardise(assessors: Sequence[Sequence[CaptionScore]], *, human: bool) -> Iterator[CaptionScore]:
    """Yield captions with z-scores by the mean and deviation of each assessor's own captions, of systems or of all."""
    for own in assessors:
        raws = [score.raw for score in own if human or not human_letter(score.system)]
        if len(set(raws)) > 1:
            mean, deviation = float(np.mean(raws)), float(np.std(raws, ddof=1))
            yield from (replace(score, z=(score.raw - mean) / deviation) for score in own)


def rename(scores: Sequence[CaptionScore], names: Mapping[str, str]) -> Iterator[CaptionScore]:
    """Yield captions with other names of systems."""
    yield from (replace(score, system=names.get(score.system, score.system)) for score in scores)


def is_reliable(own: Sequence[CaptionScore], alpha: float) -> bool:
    """Return whether an assessor scores people's captions above those of systems, by a rank-sum test."""
    human = [score.z for score in own if human_letter(score.system)]
    systems = [score.z for score in own if not human_letter(score.system)]
    if not human or not systems:
        return False
    return bool(scipy_stats().mannwhitneyu(human, systems, alternative="greater").pvalue < alpha)


def rank(treatment: str, scores: Sequence[CaptionScore], over: str = "all") -> Outcome:
    """Rank the systems of captions."""
    tested = significance(scores, over="shared" if over == "shared" else "all")
    pairs = itertools.combinations(range(len(tested.systems)), 2)
    ties = [
        frozenset((tested.systems[first], tested.systems[second]))
        for first, second in pairs
        if not (tested.wins(first, second) or tested.wins(second, first))
    ]
    raw = {score.system: score.raw for score in system_scores(scores)}
    human = max((value for system, value in raw.items() if human_letter(system)), default=float("nan"))
    return Outcome(treatment, ties, min(raw.values()), human)


def try_causes(scores: Sequence[CaptionScore]) -> Iterator[Outcome]:
    """Yield the ranking of a campaign as it is published, and under each treatment that could explain another one."""
    yield rank("as published", scores)
    yield rank("captions that both systems have", scores, over="shared")
    yield rank("raw scores in place of z-scores", [replace(score, z=score.raw) for score in scores])
    assessors, shared = split_by_assessor(scores)
    alone = [score for own in assessors for score in own]
    yield rank("captions that one assessor judged", alone)
    yield rank("captions that several assessors judged", shared)
    yield rank("z-scores by an assessor's captions of systems", list(restandardise(assessors, human=False)))
    for alpha in (0.05, 0.001):
        kept = [score for own in assessors if is_reliable(own, alpha) for score in own]
        yield rank(f"assessors who score people above systems at p < {alpha}", kept)
    exchanged = rename(scores, {"INF-coco": "NII-resnet", "NII-resnet": "INF-coco"})
    yield rank("names of INF and NII exchanged", list(exchanged))
