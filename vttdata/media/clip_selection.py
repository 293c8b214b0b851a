"""Choice of runs of consecutive shots as clips, by the rule of MSR-VTT (section 3.2) and without its annotators.

Deterministic; works on shots and never opens a file.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from vttdata.records import Shot
from vttdata.settings import PositiveCount, PositiveSeconds, Strict

_SECONDS_TOLERANCE = 1e-6
# Shots that one sentence can cover; MSR-VTT's median is 2.
_DESCRIBABLE_SHOTS = 3
# Best length, as a part of the way from the shortest to the longest: 15 s by default, MSR-VTT's mean.
_BEST_LENGTH = 0.25
# Colour change between frames that hand-held and moving footage exceeds, and still pictures do not.
_MIN_MOTION = 0.001
# Factors on the score of a still run, and of a run both ends of which lie inside gradual transitions.
_STILL_FACTOR, _GRADUAL_FACTOR = 0.5, 0.5
# Least factor of darkness: a dark run is better than none.
_MIN_LIGHT = 0.01
# Least score of any clip, relative to the best one.
_MIN_RELATIVE_SCORE = 0.5
# Score that complete dissimilarity from the other clips adds.
_DIVERSITY_WEIGHT = 0.5
_MAX_EXCHANGE_ROUNDS = 20
_COLOUR_CHANNELS = 3

Floats = NDArray[np.float64]
Indices = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class ClipSettings(Strict):
    """Settings of the choice of clips (recipe section `clips`); the defaults are those of MSR-VTT (section 3.2).

    Attributes:
        min_seconds: least length of a clip.
        max_seconds: greatest length of a clip.
        per_source: most clips of one source.
        whole: every source is one clip from its first frame to its last, whatever its shots and its length.
        total: most clips of all sources, drawn evenly over categories; None for no limit. Sources are read alone, so
            `choose_clips` knows nothing of it.
    """

    min_seconds: PositiveSeconds = 10.0
    max_seconds: PositiveSeconds = 30.0
    per_source: PositiveCount = 3
    whole: bool = False
    total: PositiveCount | None = None

    def __post_init__(self) -> None:
        if self.min_seconds > self.max_seconds:
            raise ValueError(f"min_seconds ({self.min_seconds:g}) must not exceed max_seconds ({self.max_seconds:g}).")


@dataclass(frozen=True, slots=True)
class ClipSpan:
    """Chosen run of `shots` shots: half-open in seconds, inclusive in frames."""

    start: float
    end: float
    first_frame: int
    last_frame: int
    shots: int


@dataclass(frozen=True, slots=True)
class Runs:
    """Candidate runs, ordered by end, then start.

    Attributes:
        first, end: indices of the first shot and of the one after the last.
        score: 0..1.
        middle: position in the video, 0..1.
        colours: mean colour histograms.
    """

    first: Indices
    end: Indices
    score: Floats
    middle: Floats
    colours: Floats

    def __getitem__(self, kept: NDArray[np.bool_]) -> Runs:
        return Runs(self.first[kept], self.end[kept], self.score[kept], self.middle[kept], self.colours[kept])


def choose_clips(shots: Sequence[Shot], settings: ClipSettings = ClipSettings()) -> tuple[ClipSpan, ...]:
    """Choose up to `settings.per_source` clips of one source, none overlapping, ordered by start.

    A clip is a run of consecutive shots of allowed length. Its score (0..1) is a product: the share of frames that are
    not dark; 1 for up to three shots and 3/n for n; 1 for a quarter of the way from the shortest to the longest length
    and less beside it; half for still pictures; half, or three quarters, where both ends or one lie in a gradual
    transition. Runs with less than half of the best score are dropped. Of the rest, the set of highest total score is
    found (weighted interval scheduling); then one clip after another is exchanged for as long as the sum of score and
    diversity grows. Diversity is the distance of each clip to the most similar other one, in colours and position.

    The shots are all of one source, in order and without gaps between them. There are no clips where no run has an
    allowed length (`why_none` says why).
    """
    if not shots:
        return ()
    if settings.whole:
        first, last = shots[0], shots[-1]
        return (ClipSpan(first.start, last.end, first.first_frame, last.last_frame, len(shots)),)
    runs = find_good_runs(shots, settings)
    if not len(runs.score):
        return ()
    chosen = diversify(find_best_set(runs, len(shots), settings.per_source), runs)
    spans = []
    for run in sorted(chosen):
        first, last = shots[int(runs.first[run])], shots[int(runs.end[run]) - 1]
        count = int(runs.end[run]) - int(runs.first[run])
        spans.append(ClipSpan(first.start, last.end, first.first_frame, last.last_frame, count))
    return tuple(spans)


def count_clips(shots: Sequence[Shot], settings: ClipSettings) -> int:
    """Return the number of clips that `choose_clips` chooses, in half the time."""
    if not shots or settings.whole:
        return min(len(shots), 1)
    runs = find_good_runs(shots, settings)
    # An exchange for the sake of diversity leaves their number.
    return len(find_best_set(runs, len(shots), settings.per_source)) if len(runs.score) else 0


def why_none(shots: Sequence[Shot], settings: ClipSettings = ClipSettings()) -> tuple[str, str]:
    """Return the reason (``too_short`` or ``no_fitting_run``) and one sentence on why `choose_clips` finds no clip."""
    seconds = shots[-1].end - shots[0].start if shots else 0.0
    if seconds < settings.min_seconds - _SECONDS_TOLERANCE:
        return "too_short", f"the source lasts {seconds:.2f} s and a clip at least {settings.min_seconds:g} s."
    return (
        "no_fitting_run",
        f"no run of its {len(shots)} shots lasts {settings.min_seconds:g} to {settings.max_seconds:g} s.",
    )


def find_good_runs(shots: Sequence[Shot], settings: ClipSettings) -> Runs:
    """Return the runs of allowed length that have at least half of the best one's score."""
    runs = find_runs(shots, settings)
    return runs[runs.score >= _MIN_RELATIVE_SCORE * runs.score.max()] if len(runs.score) else runs


def find_runs(shots: Sequence[Shot], settings: ClipSettings) -> Runs:
    """Return every run of allowed length with its score."""
    starts = np.array([shot.start for shot in shots])
    ends = np.array([shot.end for shot in shots])
    shortest = np.searchsorted(ends, starts + settings.min_seconds - _SECONDS_TOLERANCE) + 1
    longest = np.searchsorted(ends, starts + settings.max_seconds + _SECONDS_TOLERANCE, side="right")
    counts = np.maximum(longest - shortest + 1, 0)
    first = np.repeat(np.arange(len(shots)), counts)
    end = np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts) + np.repeat(shortest, counts)
    order = np.lexsort((first, end))
    first, end = first[order], end[order]
    means = _run_means(shots, first, end)
    is_gradual = np.array([shot.transition not in ("start", "cut") for shot in shots] + [False], np.float64)
    gradual_ends = np.asarray(is_gradual[first] + is_gradual[end])
    score = score_runs(ends[end - 1] - starts[first], end - first, means, gradual_ends, settings)
    middle = (starts[first] + ends[end - 1]) / (2 * max(ends[-1] - starts[0], _SECONDS_TOLERANCE))
    return Runs(first, end, score, middle, means[:, 2:])


def _run_means(shots: Sequence[Shot], first: Indices, end: Indices) -> Floats:
    """Return the dark share, motion and colours of each run: means of its shots, weighted by their frames."""
    bins = min(len(shot.colours) for shot in shots)
    frames = np.array([shot.last_frame - shot.first_frame + 1 for shot in shots], np.float64)
    values = np.array([(1.0, shot.dark, shot.motion, *shot.colours[:bins]) for shot in shots]) * frames[:, None]
    sums = np.concatenate((np.zeros((1, values.shape[1])), values.cumsum(0)))
    totals = sums[end] - sums[first]
    return np.asarray(totals[:, 1:] / totals[:, :1])


def score_runs(
    seconds: Floats, shot_count: Indices, means: Floats, gradual_ends: Floats, settings: ClipSettings
) -> Floats:
    """Return the scores of n runs, above 0 and at most 1; see `choose_clips`.

    All arrays are (n,), but `means` are (n, 2 or more): dark share and motion. `gradual_ends` says how many of the two
    ends lie in a gradual transition.
    """
    length_range = max(settings.max_seconds - settings.min_seconds, _SECONDS_TOLERANCE)
    length = 1 - np.abs(seconds - settings.min_seconds - _BEST_LENGTH * length_range) / length_range
    light = np.maximum(1 - means[:, 0], _MIN_LIGHT)
    motion = _STILL_FACTOR + (1 - _STILL_FACTOR) * np.minimum(means[:, 1] / _MIN_MOTION, 1)
    clean_ends = 1 - (1 - _GRADUAL_FACTOR) * gradual_ends / 2
    simplicity = np.minimum(_DESCRIBABLE_SHOTS / shot_count, 1)
    return np.asarray(np.maximum(np.round(length * light * motion * clean_ends * simplicity, 6), 1e-6))


def find_best_set(runs: Runs, shot_count: int, max_clips: int) -> list[int]:
    """Return the set of runs without overlap of highest total score (weighted interval scheduling)."""
    # tables[k][i] is the highest total of at most k runs that end before shot i; runs are sorted by end.
    ends, group_starts = np.unique(runs.end, return_index=True)
    tables, values = [np.zeros(shot_count + 1)], []
    for _ in range(min(max_clips, shot_count)):
        value = runs.score + tables[-1][runs.first]
        best = np.zeros(shot_count + 1)
        best[ends] = np.maximum.reduceat(value, group_starts)
        table = np.maximum.accumulate(best)
        if np.array_equal(table, tables[-1]):
            break
        tables.append(table)
        values.append(value)
    chosen: list[int] = []
    end = shot_count
    for table, value in zip(reversed(tables[1:]), reversed(values), strict=True):
        end = int(np.searchsorted(table, table[end]))
        if end == 0:
            break
        candidates = np.flatnonzero(runs.end == end)
        chosen.append(int(candidates[value[candidates].argmax()]))
        end = int(runs.first[chosen[-1]])
    return chosen


def diversify(chosen: list[int], runs: Runs) -> list[int]:
    """Exchange one run at a time for the one that adds most score and diversity, until none adds any."""
    for _ in range(_MAX_EXCHANGE_ROUNDS if len(chosen) > 1 else 0):
        before = list(chosen)
        for index in range(len(chosen)):
            others = np.array(chosen[:index] + chosen[index + 1 :])
            gain = runs.score + _DIVERSITY_WEIGHT * _dissimilarity(runs, others)
            is_apart = (runs.end[:, None] <= runs.first[others]) | (runs.first[:, None] >= runs.end[others])
            gain[~is_apart.all(1)] = -1
            # Rounded, so that differences of floating point between machines do not decide.
            if round(float(gain.max()), 6) > round(float(gain[chosen[index]]), 6):
                chosen[index] = int(gain.argmax())
        if chosen == before:
            break
    return chosen


def _dissimilarity(runs: Runs, others: Indices) -> Floats:
    """Return the distance of each run to the most similar of the others (0..1): half by colours, half by position."""
    nearest = np.ones(len(runs.score))
    for other in others:
        colours = np.abs(runs.colours - runs.colours[other]).sum(1) / (2 * _COLOUR_CHANNELS)
        nearest = np.minimum(nearest, (colours + np.minimum(np.abs(runs.middle - runs.middle[other]), 1)) / 2)
    return nearest
