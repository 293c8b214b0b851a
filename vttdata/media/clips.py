"""Chooses which runs of consecutive shots become clips, by the rule of MSR-VTT (section 3.2) and without its people.

Pure and deterministic; sees shots only, never a file.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from vttdata.records import Shot
from vttdata.settings import STRICT, PositiveCount, PositiveSeconds

_TOLERANCE = 1e-6  # seconds
_EASY_SHOTS = 3  # one sentence covers so many; MSR-VTT's median is 2
_USUAL_LENGTH = 0.25  # of the way from the shortest to the longest: 15 s, MSR-VTT's mean
_MOVING = 0.001  # colour change between frames that hand-held and moving footage passes, and still pictures do not
_STILL, _GRADUAL = 0.5, 0.5  # worth of a still run, and of a run whose both ends lie inside gradual transitions
_LIGHT = 0.01  # least worth of darkness: a dark run is better than none
_WORTHWHILE = 0.5  # of the best run's worth, for any further clip
_DIVERSITY = 0.5  # what complete difference adds, in units of worth
_ROUNDS = 20

Floats = NDArray[np.float64]
Places = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class ClipSettings:
    """Which clips are chosen; the defaults are those of MSR-VTT (section 3.2).

    Attributes:
        min_seconds: least length of a clip.
        max_seconds: greatest length of a clip.
        per_source: most clips of one source.
    """

    __pydantic_config__: ClassVar[dict[str, Any]] = STRICT

    min_seconds: PositiveSeconds = 10.0
    max_seconds: PositiveSeconds = 30.0
    per_source: PositiveCount = 3

    def __post_init__(self) -> None:
        if self.min_seconds > self.max_seconds:
            raise ValueError(f"min_seconds ({self.min_seconds:g}) must not exceed max_seconds ({self.max_seconds:g}).")


@dataclass(frozen=True, slots=True)
class ClipSpan:
    """A chosen run of `shots` shots: half-open in seconds, inclusive in frames."""

    start: float
    end: float
    first_frame: int
    last_frame: int
    shots: int


@dataclass(frozen=True, slots=True)
class _Runs:
    """Candidate runs, ordered by end, then start: shots `first` to `after` (exclusive), worth 0..1, mean colours."""

    first: Places
    after: Places
    worth: Floats
    middle: Floats
    colours: Floats

    def __getitem__(self, wanted: NDArray[np.bool_] | Places) -> _Runs:
        return _Runs(
            self.first[wanted], self.after[wanted], self.worth[wanted], self.middle[wanted], self.colours[wanted]
        )


def choose_clips(shots: Sequence[Shot], settings: ClipSettings = ClipSettings()) -> tuple[ClipSpan, ...]:
    """Choose up to `settings.per_source` clips of one source, none overlapping, ordered by start.

    A clip is a run of consecutive shots of fitting length. Its worth (0..1) is a product: the share of frames that are
    not dark; 1 for up to three shots and 3/n for n; 1 for a quarter of the way from the shortest to the longest length
    and less beside it; half for still pictures; half, or three quarters, where both ends or one lie in a gradual
    transition. Runs worth less than half of the best are left. Of the rest, that set is found whose total worth is
    greatest; then one clip after another is exchanged for as long as total worth and diversity grow together.
    Diversity is how far each clip is from the one most like it, in colours and in place.

    Args:
        shots: all shots of one source, in order and without gaps between them.
        settings: see `ClipSettings`.

    Returns:
        The clips; none where no run fits (`why_none` says why).
    """
    if not shots:
        return ()
    runs = _candidates(shots, settings)
    if not len(runs.worth):
        return ()
    runs = runs[runs.worth >= _WORTHWHILE * runs.worth.max()]
    chosen = _diversified(_most_worth(runs, len(shots), settings.per_source), runs)
    return tuple(_span(shots, int(runs.first[one]), int(runs.after[one])) for one in sorted(chosen))


def why_none(shots: Sequence[Shot], settings: ClipSettings = ClipSettings()) -> tuple[str, str]:
    """The reason (``too_short`` or ``no_fitting_run``) and one sentence on why `choose_clips` finds nothing."""
    seconds = shots[-1].end - shots[0].start if shots else 0.0
    if seconds < settings.min_seconds - _TOLERANCE:
        return "too_short", f"the source lasts {seconds:.2f} s and a clip at least {settings.min_seconds:g} s."
    return (
        "no_fitting_run",
        f"no run of its {len(shots)} shots lasts {settings.min_seconds:g} to {settings.max_seconds:g} s.",
    )


def _span(shots: Sequence[Shot], first: int, after: int) -> ClipSpan:
    one, last = shots[first], shots[after - 1]
    return ClipSpan(one.start, last.end, one.first_frame, last.last_frame, after - first)


def _candidates(shots: Sequence[Shot], settings: ClipSettings) -> _Runs:
    """Every run of fitting length, with its worth."""
    starts = np.array([shot.start for shot in shots])
    ends = np.array([shot.end for shot in shots])
    shortest = np.searchsorted(ends, starts + settings.min_seconds - _TOLERANCE) + 1
    longest = np.searchsorted(ends, starts + settings.max_seconds + _TOLERANCE, side="right")
    counts = np.maximum(longest - shortest + 1, 0)
    first = np.repeat(np.arange(len(shots)), counts)
    after = np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts) + np.repeat(shortest, counts)
    order = np.lexsort((first, after))
    first, after = first[order], after[order]
    seconds = ends[after - 1] - starts[first]
    means = _means(shots, first, after)
    worth = _worth(seconds, after - first, means, _gradual_ends(shots, first, after), settings)
    middle = (starts[first] + ends[after - 1]) / (2 * max(ends[-1] - starts[0], _TOLERANCE))
    return _Runs(first, after, worth, middle, means[:, 2:])


def _means(shots: Sequence[Shot], first: Places, after: Places) -> Floats:
    """Dark share, motion and colours of each run: the means of its shots, weighted by their frames."""
    bins = min(len(shot.colours) for shot in shots)
    frames = np.array([shot.last_frame - shot.first_frame + 1 for shot in shots], np.float64)
    values = np.array([(1.0, shot.dark, shot.motion, *shot.colours[:bins]) for shot in shots]) * frames[:, None]
    sums = np.concatenate((np.zeros((1, values.shape[1])), values.cumsum(0)))
    totals = sums[after] - sums[first]
    return np.asarray(totals[:, 1:] / totals[:, :1])


def _gradual_ends(shots: Sequence[Shot], first: Places, after: Places) -> Floats:
    """How many of each run's two ends lie inside a gradual transition."""
    gradual = np.array([shot.transition not in ("start", "cut") for shot in shots] + [False], np.float64)
    return np.asarray(gradual[first] + gradual[after])


def _worth(seconds: Floats, shots: Places, means: Floats, gradual: Floats, settings: ClipSettings) -> Floats:
    room = max(settings.max_seconds - settings.min_seconds, _TOLERANCE)
    length = 1 - np.abs(seconds - settings.min_seconds - _USUAL_LENGTH * room) / room
    light = np.maximum(1 - means[:, 0], _LIGHT)
    moving = _STILL + (1 - _STILL) * np.minimum(means[:, 1] / _MOVING, 1)
    clean = 1 - (1 - _GRADUAL) * gradual / 2
    easy = np.minimum(_EASY_SHOTS / shots, 1)
    return np.asarray(np.maximum(np.round(length * light * moving * clean * easy, 6), 1e-6))


def _most_worth(runs: _Runs, shots: int, most: int) -> list[int]:
    """The set of at most so many runs without overlap that is worth most (weighted interval scheduling)."""
    ends, begins = np.unique(runs.after, return_index=True)
    tables, values = [np.zeros(shots + 1)], []
    for _ in range(min(most, shots)):
        value = runs.worth + tables[-1][runs.first]
        best = np.zeros(shots + 1)
        best[ends] = np.maximum.reduceat(value, begins)
        table = np.maximum.accumulate(best)
        if np.array_equal(table, tables[-1]):
            break
        tables.append(table)
        values.append(value)
    chosen: list[int] = []
    place = shots
    for table, value in zip(reversed(tables[1:]), reversed(values), strict=True):
        place = int(np.searchsorted(table, table[place]))
        if place == 0:
            break
        ending = np.flatnonzero(runs.after == place)
        chosen.append(int(ending[value[ending].argmax()]))
        place = int(runs.first[chosen[-1]])
    return chosen


def _diversified(chosen: list[int], runs: _Runs) -> list[int]:
    """Exchange one run at a time for the one that adds most worth and diversity, until none adds any."""
    for _ in range(_ROUNDS if len(chosen) > 1 else 0):
        before = list(chosen)
        for place in range(len(chosen)):
            others = np.array(chosen[:place] + chosen[place + 1 :])
            gain = runs.worth + _DIVERSITY * _difference(runs, others)
            apart = (runs.after[:, None] <= runs.first[others]) | (runs.first[:, None] >= runs.after[others])
            gain[~apart.all(1)] = -1
            if round(float(gain.max()), 6) > round(float(gain[chosen[place]]), 6):
                chosen[place] = int(gain.argmax())
        if chosen == before:
            break
    return chosen


def _difference(runs: _Runs, others: Places) -> Floats:
    """How unlike each run is to the most similar of the others (0..1): half by colours, half by place."""
    nearest = np.ones(len(runs.worth))
    channels = 3
    for other in others:
        colours = np.abs(runs.colours - runs.colours[other]).sum(1) / (2 * channels)
        nearest = np.minimum(nearest, (colours + np.minimum(np.abs(runs.middle - runs.middle[other]), 1)) / 2)
    return nearest
