"""Detected boundaries are counted as the published shot detectors count them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vttdata.media.shots.scoring import Change, Score, changes_of_scenes, changes_of_shots, match, score, score_by_kind
from vttdata.records import Shot


def cuts(*frames: int) -> list[Change]:
    return [Change(frame, frame) for frame in frames]


@st.composite
def changes(draw: st.DrawFn) -> list[Change]:
    ends = sorted(draw(st.sets(st.integers(1, 200), max_size=24)))
    found, rest = [], list(ends)
    while rest:
        first = rest.pop(0)
        last = rest.pop(0) if rest and draw(st.booleans()) else first
        found.append(Change(first, last))
    return found


def best_matching(truth: list[Change], predicted: list[Change], tolerance: int) -> int:
    """The most pairs that any one-to-one matching can have, by augmenting paths."""
    taken: dict[int, int] = {}

    def match_boundary(one: int, seen: set[int]) -> bool:
        for other, candidate in enumerate(predicted):
            near = candidate.first <= truth[one].last + tolerance and truth[one].first <= candidate.last + tolerance
            if near and other not in seen:
                seen.add(other)
                if other not in taken or match_boundary(taken[other], seen):
                    taken[other] = one
                    return True
        return False

    return sum(match_boundary(one, set()) for one in range(len(truth)))


@pytest.mark.parametrize(
    ("tolerance", "counts", "f1"),
    [(2, Score(2098, 378, 418), 0.8405), (1, Score(2092, 384, 424), 0.8381), (0, Score(2073, 403, 443), 0.8305)],
)
def test_counts_published_by_autoshot_are_reproduced(shared: Path, tolerance: int, counts: Score, f1: float) -> None:
    folder = shared / "data/shot-boundaries"
    truth, predicted = (json.loads((folder / f"autoshot_{name}.json").read_text()) for name in ("truth", "predicted"))
    total = Score()
    for video, scenes in truth.items():
        total += score(changes_of_scenes(scenes), changes_of_scenes(predicted[video]), tolerance)
    assert round(total.f1, 4) == f1
    if tolerance == 2:
        assert total == counts  # the other two have only their F1 published


def test_frames_between_two_scenes_are_a_gradual_change() -> None:
    assert changes_of_scenes([[0, 9], [10, 19], [25, 30]]) == [Change(10, 10), Change(20, 25)]
    assert changes_of_scenes([[0, 9]]) == []


def test_scenes_that_overlap_are_refused() -> None:
    with pytest.raises(ValueError, match="cannot end at frame 10 before it begins at 12"):
        changes_of_scenes([[0, 11], [10, 19]])


def test_changes_of_shots_are_their_first_frames() -> None:
    shots = [Shot("", 0, 0.0, 1.0, 0, 24, "start"), Shot("", 1, 1.0, 2.0, 25, 49, "dissolve")]
    assert changes_of_shots(shots) == cuts(25)


@pytest.mark.parametrize(("off", "hits"), [(0, 1), (1, 1), (2, 1), (3, 0), (-2, 1), (-3, 0)])
def test_cut_matches_within_the_tolerance(off: int, hits: int) -> None:
    assert score(cuts(100), cuts(100 + off), tolerance=2) == Score(hits, 1 - hits, 1 - hits)


def test_second_prediction_of_a_cut_is_false() -> None:
    assert score(cuts(100), cuts(99, 101), tolerance=2) == Score(1, 1, 0)


def test_one_prediction_does_not_find_two_cuts() -> None:
    assert score(cuts(99, 101), cuts(100), tolerance=2) == Score(1, 0, 1)


def test_gradual_change_matches_inside_its_extent_or_beside_it() -> None:
    fade = [Change(50, 60)]
    assert [score(fade, cuts(frame), 1).tp for frame in (48, 49, 55, 61, 62)] == [0, 1, 1, 1, 0]


def test_false_predictions_count_for_cuts_and_gradual_changes() -> None:
    truth = [*cuts(10), Change(50, 60), *cuts(90), Change(120, 130)]
    by_cuts, by_gradual = score_by_kind(truth, cuts(10, 30, 52, 58, 125), tolerance=1)
    assert by_cuts == Score(tp=1, fp=2, fn=1)
    assert by_gradual == Score(tp=2, fp=2, fn=0)


def test_scores_add_up_before_ratios_are_taken() -> None:
    total = Score(1, 0, 0) + Score(1, 2, 2)
    assert (total.precision, total.recall, total.f1) == (0.5, 0.5, 0.5)
    assert (Score().precision, Score().recall, Score().f1) == (0, 0, 0)


def test_changes_out_of_order_and_a_negative_tolerance_are_refused() -> None:
    with pytest.raises(ValueError, match="frame 5 does not come after the one at 9"):
        score(cuts(9, 5), [])
    with pytest.raises(ValueError, match="0 frames or more"):
        score([], [], -1)


@given(changes(), changes(), st.integers(0, 4))
def test_all_changes_are_counted_once(truth: list[Change], predicted: list[Change], tolerance: int) -> None:
    found = score(truth, predicted, tolerance)
    assert found.tp + found.fn == len(truth)
    assert found.tp + found.fp == len(predicted)


@given(changes(), changes(), st.integers(0, 4))
def test_score_is_symmetric(truth: list[Change], predicted: list[Change], tolerance: int) -> None:
    forward, backward = score(truth, predicted, tolerance), score(predicted, truth, tolerance)
    assert (forward.tp, forward.fp, forward.fn) == (backward.tp, backward.fn, backward.fp)


@given(changes(), st.integers(0, 4))
def test_truth_scores_perfectly_against_itself(truth: list[Change], tolerance: int) -> None:
    assert score(truth, truth, tolerance) == Score(len(truth), 0, 0)


@given(changes(), changes(), st.integers(0, 4))
def test_matching_is_maximal(truth: list[Change], predicted: list[Change], tolerance: int) -> None:
    assert score(truth, predicted, tolerance).tp == best_matching(truth, predicted, tolerance)


@given(changes(), changes(), st.integers(0, 4))
def test_scores_by_kind_add_up_to_the_whole(truth: list[Change], predicted: list[Change], tolerance: int) -> None:
    whole = score(truth, predicted, tolerance)
    kinds = score_by_kind(truth, predicted, tolerance)
    assert sum(kind.tp for kind in kinds) == whole.tp
    assert sum(kind.fn for kind in kinds) == whole.fn
    assert [kind.fp for kind in kinds] == [whole.fp, whole.fp]
    pairs = list(match(truth, predicted, tolerance))
    assert len({one for one, _ in pairs}) == len({other for _, other in pairs}) == len(pairs)
