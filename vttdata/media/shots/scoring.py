"""Scores detected shot boundaries against annotated ones, by the convention of the published shot detectors.

Works on frame numbers alone: knows nothing of files, detectors or seconds.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from vttdata.records import Shot


class Change(NamedTuple):
    """Where one shot gives way to the next.

    `first` is the first frame that no longer shows the old shot alone, `last` the first that shows the new shot alone;
    of a hard cut both are the new shot's first frame.
    """

    first: int
    last: int

    @property
    def is_cut(self) -> bool:
        """Whether the shots meet without a frame that shows both or neither."""
        return self.first == self.last


@dataclass(frozen=True, slots=True)
class Score:
    """Counts of found, falsely found and missed changes; scores of several videos are added up before F1 is taken."""

    tp: int = 0
    fp: int = 0
    fn: int = 0

    def __add__(self, other: Score) -> Score:
        return Score(self.tp + other.tp, self.fp + other.fp, self.fn + other.fn)

    @property
    def precision(self) -> float:
        """Share of the predicted changes that are true; 0 when nothing was predicted."""
        return self.tp / max(self.tp + self.fp, 1)

    @property
    def recall(self) -> float:
        """Share of the true changes that were predicted; 0 when there is none."""
        return self.tp / max(self.tp + self.fn, 1)

    @property
    def f1(self) -> float:
        """Harmonic mean of precision and recall; 0 when nothing was found."""
        return 2 * self.tp / max(2 * self.tp + self.fp + self.fn, 1)


def changes_of_scenes(scenes: Iterable[Sequence[int]]) -> list[Change]:
    """The changes between annotated scenes, as TransNetV2 and AutoShot write them.

    Args:
        scenes: ``[first frame, last frame]`` of each, in order; frames between two scenes belong to a gradual change.

    Raises:
        ValueError: when a scene does not end before the next begins.
    """
    listed = [tuple(scene) for scene in scenes]
    changes = [Change(before[1] + 1, after[0]) for before, after in itertools.pairwise(listed)]
    _check(changes)
    return changes


def changes_of_shots(shots: Sequence[Shot]) -> list[Change]:
    """The changes between detected shots, each at the frame where the new shot begins."""
    return [Change(shot.first_frame, shot.first_frame) for shot in shots[1:]]


def score(truth: Sequence[Change], predicted: Sequence[Change], tolerance: int = 2) -> Score:
    """Match annotated and predicted changes one to one and count.

    Two changes match when they share a frame or are at most `tolerance` frames apart. This is the convention of
    TransNetV2 (Soucek and Lokoc 2020, evaluate_scenes), which AutoShot and later detectors report.

    Args:
        truth: the annotated changes of one video, in order and apart from each other.
        predicted: the detector's, likewise.
        tolerance: in frames, 0 or more.

    Raises:
        ValueError: when changes are out of order.
    """
    matches = sum(1 for _ in match(truth, predicted, tolerance))
    return Score(matches, len(predicted) - matches, len(truth) - matches)


def score_by_kind(truth: Sequence[Change], predicted: Sequence[Change], tolerance: int = 1) -> tuple[Score, Score]:
    """The scores of hard cuts and of gradual changes, for detectors that only say where a shot begins.

    All changes are matched together, so that each prediction counts once; then each kind's truth is counted by
    itself. What matches truth of the other kind is left out, what matches none counts as false for both.

    Args:
        truth: as for `score`.
        predicted: as for `score`; whether they claim to be cuts or gradual does not matter.
        tolerance: in frames; a gradual change is hit inside its extent or this near to it.
    """
    found = [truth[place].is_cut for place, _ in match(truth, predicted, tolerance)]
    false = len(predicted) - len(found)
    cuts = sum(one.is_cut for one in truth)
    hits = sum(found)
    return (
        Score(hits, false, cuts - hits),
        Score(len(found) - hits, false, len(truth) - cuts - (len(found) - hits)),
    )


def match(truth: Sequence[Change], predicted: Sequence[Change], tolerance: int) -> Iterator[tuple[int, int]]:
    """The matched pairs, as places in `truth` and `predicted`, each place once at most.

    Raises:
        ValueError: when changes are out of order or the tolerance is negative.
    """
    _check(truth)
    _check(predicted)
    if tolerance < 0:
        raise ValueError("the tolerance must be 0 frames or more")
    ours, theirs = 0, 0
    while ours < len(truth) and theirs < len(predicted):
        if predicted[theirs].last + tolerance < truth[ours].first:
            theirs += 1
        elif truth[ours].last + tolerance < predicted[theirs].first:
            ours += 1
        else:
            yield ours, theirs
            ours, theirs = ours + 1, theirs + 1


def _check(changes: Sequence[Change]) -> None:
    for change in changes:
        if change.last < change.first:
            raise ValueError(f"a change cannot end at frame {change.last} before it begins at {change.first}")
    for before, after in itertools.pairwise(changes):
        if after.first <= before.last:
            raise ValueError(f"the change at frame {after.first} does not come after the one at {before.last}")
