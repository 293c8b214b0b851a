"""Decides from a video's signals where its shots change: hard cuts, and dissolves and fades with their extent.

Pure functions on arrays; knows nothing of files, frames' contents or seconds.
"""

from __future__ import annotations

import bisect
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from vttdata.media.shots.signals import Flags, Floats, Signals
from vttdata.records import Transition

# Measured on a film trailer, home videos, single takes and drawn transitions of 3 to 60 frames.
_WINDOW = 6  # frames to either side that a cut is compared with
_NOISE = 0.005  # change between frames of a still scene, from coding noise and grain
_STANDING_OUT = 1.25  # a cut's change over that of the frames beside it
_BLENDED = 1.7  # how much clearer a change that adjacent frames share must be than one that stands alone
_UNEXPECTED = 1.75  # how much clearer a cut must be where packets give no sign of one
_BREADTH = 0.75  # a change of the whole picture: new scenes began at 0.81, texts over half of it ended at 0.71
_BREADTH_OVER_GAPS = 0.85  # the same from the last frame but one, or earlier: motion adds up; texts 0.79, scenes 0.91
_UNDONE = 0.27  # of two changes remains when one takes back the other: of texts at most 0.26, of jump cuts 0.29
_UNDONE_REACHES = 20  # ten seconds
_FEW_POINTS = 40  # a hundredth of those that a frame is looked at: a smaller change of colours tells nothing
_LASTING = 0.5  # of the change at a cut is still there a fifth of a second later
_RENEWAL = 0.42  # pictures further apart than this, relative to their contrast, may show different scenes
_LIKENESS = 0.75  # pictures that correlate more show one scene, unless one of them is blank
_MIXING, _MIXING_PEAK = 0.025, 0.035  # distance that mixing must bridge, everywhere and somewhere in a transition
_GAP = 3  # frames of a transition that may fail the tests in a row
_LENGTH = 3  # frames that must pass
_PURITY, _SURE_PURITY = 0.4, 0.6  # least of a gradual transition, and of what is surely a dissolve
_SURE_RENEWAL = 0.35  # enough for what is surely a dissolve
_WIPING = (0.15, 0.85)  # of the difference has changed over within a wipe
_WIPE_RISE, _WIPE_STEP = 0.25, 0.6  # least progress in a wipe, and most of it from one frame to the next
_BLANK_BETWEEN_FADES, _BLANK_BESIDE_CUT = 0.25, 0.5  # least share of blank frames inside one transition


@dataclass(frozen=True, slots=True)
class Boundary:
    """Where one shot gives way to the next: `frame` is the new shot's first, `first`..`last` the frames in change."""

    frame: int
    transition: Transition
    first: int
    last: int


def find_boundaries(
    signals: Signals,
    *,
    cut_ratio: float,
    reach: int,
    shortest: int,
    longest_blank: int,
    known: Flags | None = None,
    sudden: Flags | None = None,
) -> list[Boundary]:
    """The boundaries inside a video, in order, at least `shortest` frames from each other and from both ends.

    A hard cut is a change that stands out from the frames around it and lasts. A gradual transition is a run of
    frames that are mixtures of what lies before and after, or patchworks of it; its boundary is its middle. Blank
    frames between a fade-out and a fade-in belong to one transition, unless there are many; half as many do between
    a cut and a fade.

    Args:
        signals: of all the video's frames.
        cut_ratio: change at a cut over the mean change around it.
        reach: frames to either side that `signals.span` looks at.
        shortest: the least length of a shot, in frames.
        longest_blank: the most blank frames inside one transition.
        known: the frames that were seen, the first and the last among them; all, unless given.
        sudden: where a hard cut is to be expected, if more is known than the signals show; elsewhere a cut must be
            much clearer.
    """
    cuts = find_cuts(signals, cut_ratio, reach, known)
    if sudden is not None:
        clear = find_cuts(signals, _UNEXPECTED * cut_ratio, reach, known)
        cuts = sorted({*clear, *(cut for cut in cuts if sudden[cut])})
    found = [Boundary(frame, "cut", frame, frame) for frame in cuts]
    seen = np.ones(len(signals), bool) if known is None else _between_seen(known, reach)
    found += find_gradual(signals, found, reach, seen)
    found += find_wipes(signals, found, reach)
    found += find_dips(signals, found, reach)
    whole = _join_over_blanks(sorted(found, key=lambda one: one.first), signals.blank, longest_blank)
    return _apart(whole, signals, shortest)


def find_cuts(signals: Signals, cut_ratio: float, reach: int, known: Flags | None = None) -> list[int]:
    """The frames at which something new begins at once, or within a few blended frames.

    A change of part of the picture counts too (a jump cut), unless it is taken back within ten seconds (a caption).
    """
    change = signals.change
    before, after = _shifted(change, 1), _shifted(change, -1)
    around = sum((_shifted(change, lag) for lag in range(-_WINDOW, _WINDOW + 1) if lag), np.zeros_like(change))
    further = (around - before - after) / (2 * _WINDOW - 2)
    alone = (change > cut_ratio * (around / (2 * _WINDOW) + _NOISE)) & (
        change > _STANDING_OUT * np.maximum(before, after)
    )
    blended = (change > _BLENDED * cut_ratio * (further + _NOISE)) & (change > before) & (change >= after)
    lasting = signals.lasting > _LASTING * change
    frames = [int(frame) for frame in np.flatnonzero((alone | blended) & lasting)]
    seen = np.ones(len(change), bool) if known is None else known
    broad = signals.breadth > np.where(np.r_[True, seen[:-1]], _BREADTH, _BREADTH_OVER_GAPS)
    places = np.flatnonzero(seen)
    return [one for one in frames if broad[one] or not _is_undone(signals, one, reach, places)]


def _is_undone(signals: Signals, frame: int, reach: int, known: NDArray[np.int64]) -> bool:
    """Whether another change takes back what changed at a frame: something lies over the scene for a while.

    Changes are those from one of the `known` frames to the next; between them a change would be spread.
    """
    far = _UNDONE_REACHES * reach
    at, first, after = (int(place) for place in np.searchsorted(known, (frame, frame - far, frame + far + 1)))
    first = max(first - 1, 0)
    steps = np.diff(signals.colours[known[first : max(after, at + 1)]].astype(np.int32), axis=0)
    own = steps[at - first - 1]
    size = np.abs(own).sum()
    remaining = np.abs(steps + own).sum((1, 2)) / (np.abs(steps).sum((1, 2)) + size + 1)
    return bool(size >= _FEW_POINTS and remaining.min() < _UNDONE)


def _shifted(values: Floats, lag: int) -> Floats:
    """The values `lag` frames earlier, the ends mirrored."""
    places = np.abs(np.arange(len(values)) - lag)
    last = len(values) - 1
    return np.asarray(values[np.clip(last - np.abs(last - places), 0, last)])


def find_gradual(signals: Signals, cuts: Sequence[Boundary], reach: int, seen: Flags) -> list[Boundary]:
    """The dissolves and fades, each at its middle; near a cut, at the ends and where not `seen` there is none."""
    mixing = signals.span * signals.purity
    sure = signals.purity > _SURE_PURITY
    passing = (mixing > _MIXING) & (signals.renewal > np.where(sure, _SURE_RENEWAL, _RENEWAL))
    passing &= seen & ~_near(cuts, reach, len(signals))
    passing[:reach] = passing[-reach:] = False
    found = []
    for first, last in _runs(passing):
        peak = first + int(mixing[first : last + 1].argmax())
        faded = signals.blank[max(first - reach, 0) : last + reach + 1].any()
        renewed = signals.likeness[peak] < _LIKENESS
        clear = last - first + 1 >= _LENGTH and mixing[peak] >= _MIXING_PEAK and signals.purity[peak] >= _PURITY
        if clear and (faded or renewed):
            kind: Transition = "fade" if faded else "dissolve" if sure[peak] else "gradual"
            found.append(Boundary((first + last + 1) // 2, kind, first, last))
    return found


def find_wipes(signals: Signals, known: Sequence[Boundary], reach: int) -> list[Boundary]:
    """The wipes away from known boundaries, each at its middle: the new scene takes over part by part, step by step."""
    least, most = _WIPING
    passing = (signals.wiped > least) & (signals.wiped < most)
    passing &= (signals.renewal > _RENEWAL) & (signals.likeness < _LIKENESS) & ~_near(known, reach, len(signals))
    passing[:reach] = passing[-reach:] = False
    found = []
    for first, last in _runs(passing):
        steps = np.diff(signals.wiped[first : last + 1][passing[first : last + 1]])
        if len(steps) + 1 >= _LENGTH and steps.sum() > _WIPE_RISE and steps.max() < _WIPE_STEP * steps.sum():
            found.append(Boundary((first + last + 1) // 2, "gradual", first, last))
    return found


def _between_seen(known: Flags, most: int) -> Flags:
    """The frames that are known or lie between known ones at most so far apart.

    In longer gaps frames are filled in by mixtures, which look like a dissolve.
    """
    places = np.flatnonzero(known)
    after = np.searchsorted(places, np.arange(len(known)))
    last = len(places) - 1
    apart = places[np.minimum(after, last)] - places[np.clip(after - 1, 0, last)]
    return np.asarray(known | ((apart > 0) & (apart <= most)))


def _near(known: Sequence[Boundary], reach: int, count: int) -> Flags:
    """The frames of known boundaries and `reach` frames to either side."""
    near = np.zeros(count, bool)
    for boundary in known:
        near[max(boundary.first - reach, 0) : boundary.last + reach + 1] = True
    return near


def find_dips(signals: Signals, known: Sequence[Boundary], reach: int) -> list[Boundary]:
    """Short blank stretches between different scenes, away from known boundaries: fades too quick to show mixtures."""
    taken = _near(known, reach, len(signals))
    found = []
    for first, last in _runs(signals.blank):
        middle = (first + last + 1) // 2
        renewed = signals.renewal[middle] > _RENEWAL and signals.likeness[middle] < _LIKENESS
        lasting = signals.lasting[first] > _LASTING * signals.change[first]
        if last - first < reach and renewed and lasting and not taken[first : last + 1].any():
            found.append(Boundary(middle, "fade", first, last))
    return found


def _runs(passing: Flags) -> Iterator[tuple[int, int]]:
    """First and last index of each run of true values; gaps of up to `_GAP` are bridged."""
    places = np.flatnonzero(passing)
    if len(places):
        breaks = np.flatnonzero(np.diff(places) > _GAP + 1)
        yield from zip(
            places[np.r_[0, breaks + 1]].tolist(), places[np.r_[breaks, len(places) - 1]].tolist(), strict=True
        )


def _join_over_blanks(found: list[Boundary], blank: Flags, longest_blank: int) -> list[Boundary]:
    """Make one of neighbours with little but blank frames between them; the video's ends swallow the fades there."""
    count = len(blank)
    joined = [Boundary(0, "start", 0, 0)]
    for one in [*found, Boundary(count, "start", count, count)]:
        before = joined[-1]
        between = blank[before.last : one.first + 1]
        beside_cut = "cut" in (before.transition, one.transition)
        most, share = (longest_blank / 2, _BLANK_BESIDE_CUT) if beside_cut else (longest_blank, _BLANK_BETWEEN_FADES)
        together = 0 < between.sum() < most and between.mean() >= share
        if together and "start" in (before.transition, one.transition):
            joined[-1] = before if before.transition == "start" else one
        elif together:
            joined[-1] = Boundary((before.first + one.last + 1) // 2, "fade", before.first, one.last)
        else:
            joined.append(one)
    return [one for one in joined if one.transition != "start"]


def _apart(found: list[Boundary], signals: Signals, shortest: int) -> list[Boundary]:
    """Drop boundaries that would make a shot too short: cuts stay before gradual ones, stronger before weaker."""

    def strength(one: Boundary) -> tuple[bool, float]:
        return one.transition == "cut", float((signals.change if one.transition == "cut" else signals.span)[one.frame])

    kept: list[int] = [0, len(signals)]
    chosen = []
    for one in sorted(found, key=strength, reverse=True):
        place = bisect.bisect(kept, one.frame)
        if one.frame - kept[place - 1] >= shortest and kept[place] - one.frame >= shortest:
            kept.insert(place, one.frame)
            chosen.append(one)
    return sorted(chosen, key=lambda one: one.frame)
