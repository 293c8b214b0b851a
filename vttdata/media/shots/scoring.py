"""Scores of detected shot boundaries against annotated ones, by the convention of the published shot detectors.

Works on frame numbers alone: knows nothing of files, detectors or seconds.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from vttdata.records import Shot


class Change(NamedTuple):
    """Change from one shot to the next.

    `first` is the first frame that no longer shows the old shot alone, `last` the first that shows the new shot alone;
    of a hard cut both are the new shot's first frame.
    """

    first: int
    last: int

    @property
    def is_cut(self) -> bool:
        """Return whether no frame shows both shots or neither."""
        return self.first == self.last


@dataclass(frozen=True, slots=True)
class Score:
    """Counts of true positives, false positives and false negatives; those of several videos are added up before F1."""

    tp: int = 0
    fp: int = 0
    fn: int = 0

    def __add__(self, other: Score) -> Score:
        return Score(self.tp + other.tp, self.fp + other.fp, self.fn + other.fn)

    @property
    def precision(self) -> float:
        """Return the share of the predicted changes that are true; 0 when nothing was predicted."""
        return self.tp / max(self.tp + self.fp, 1)

    @property
    def recall(self) -> float:
        """Return the share of the true changes that were predicted; 0 when there is none."""
        return self.tp / max(self.tp + self.fn, 1)

    @property
    def f1(self) -> float:
        """Return the harmonic mean of precision and recall; 0 when nothing matches."""
        return 2 * self.tp / max(2 * self.tp + self.fp + self.fn, 1)


def changes_of_scenes(scenes: Iterable[Sequence[int]]) -> list[Change]:
    """Return the changes between annotated scenes, as TransNetV2 and AutoShot write them.

    Args:
        scenes: ``[first frame, last frame]`` of each, in order; frames between two scenes belong to a gradual change.

    Raises:
        ValueError: when a scene does not end before the next begins.
    """
    listed = [tuple(scene) for scene in scenes]
    changes = [Change(before[1] + 1, after[0]) for before, after in itertools.pairwise(listed)]
    _check_order(changes)
    return changes


def changes_of_shots(shots: Sequence[Shot]) -> list[Change]:
    """Return the changes between detected shots, each at the first frame of the new shot."""
    return [Change(shot.first_frame, shot.first_frame) for shot in shots[1:]]


def score(truth: Sequence[Change], predicted: Sequence[Change], tolerance: int = 2) -> Score:
    """Match annotated and predicted changes one to one and count.

    Two changes match when they share a frame or are at most `tolerance` frames apart. This is the convention of
    TransNetV2 (Soucek and Lokoc 2020, evaluate_scenes), which AutoShot and later detectors report.

    Args:
        truth: annotated changes of one video, in order and without overlap.
        predicted: detected changes, likewise.
        tolerance: in frames, 0 or more.

    Raises:
        ValueError: when changes are out of order.
    """
    matches = sum(1 for _ in match(truth, predicted, tolerance))
    return Score(matches, len(predicted) - matches, len(truth) - matches)


def score_by_kind(truth: Sequence[Change], predicted: Sequence[Change], tolerance: int = 1) -> tuple[Score, Score]:
    """Score hard cuts and gradual changes separately, for detectors that only say where a shot begins.

    All changes are matched together, so that each prediction counts once; then the true cuts and the true gradual
    changes are counted separately. A prediction that matches neither counts as false for both.

    Args:
        truth: as for `score`.
        predicted: as for `score`; whether they claim to be cuts or gradual does not matter.
        tolerance: in frames; a gradual change is hit inside its extent or this near to it.
    """
    matched_cuts = [truth[index].is_cut for index, _ in match(truth, predicted, tolerance)]
    false_positives = len(predicted) - len(matched_cuts)
    cuts, cut_hits = sum(change.is_cut for change in truth), sum(matched_cuts)
    gradual_hits = len(matched_cuts) - cut_hits
    return (
        Score(cut_hits, false_positives, cuts - cut_hits),
        Score(gradual_hits, false_positives, len(truth) - cuts - gradual_hits),
    )


def match(truth: Sequence[Change], predicted: Sequence[Change], tolerance: int) -> Iterator[tuple[int, int]]:
    """Match changes one to one and yield the pairs, as indices in `truth` and `predicted`.

    Raises:
        ValueError: when changes are out of order or the tolerance is negative.
    """
    _check_order(truth)
    _check_order(predicted)
    if tolerance < 0:
        raise ValueError("the tolerance must be 0 frames or more")
    true_index = predicted_index = 0
    while true_index < len(truth) and predicted_index < len(predicted):
        if predicted[predicted_index].last + tolerance < truth[true_index].first:
            predicted_index += 1
        elif truth[true_index].last + tolerance < predicted[predicted_index].first:
            true_index += 1
        else:
            yield true_index, predicted_index
            true_index, predicted_index = true_index + 1, predicted_index + 1


def _check_order(changes: Sequence[Change]) -> None:
    for change in changes:
        if change.last < change.first:
            raise ValueError(f"a change cannot end at frame {change.last} before it begins at {change.first}")
    for before, after in itertools.pairwise(changes):
        if after.first <= before.last:
            raise ValueError(f"the change at frame {after.first} does not come after the one at {before.last}")
