"""Accuracy on pairs equals that of ActivityNet-FOIL's published script, with ties apart."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from vttdata.generate.blind.accuracy import pairwise_accuracy, paragraph_scores, select_references


def test_win_is_strictly_greater_and_ties_are_separate() -> None:
    found = pairwise_accuracy([1, 2, 3, 4], [0, 2, 4, 1], ["a", "a", "b", "b"])
    assert (found.pairs, found.wins, found.ties) == (4, 2, 1)
    assert (found.strict, found.half_credit) == (0.5, 0.625)
    assert {name: (own.pairs, own.wins, own.ties) for name, own in found.groups.items()} == {
        "a": (2, 1, 1),
        "b": (2, 1, 0),
    }


@pytest.mark.parametrize("scores", [([1.0], [1.0, 2.0]), ([float("nan")], [1.0])])
def test_scores_that_do_not_match_are_refused(scores: tuple[list[float], list[float]]) -> None:
    with pytest.raises(ValueError, match="score"):
        pairwise_accuracy(*scores)


def test_paragraph_score_is_the_mean_of_its_captions() -> None:
    assert paragraph_scores([[1.0, 2.0], [3.0]]) == [1.5, 3.0]


def test_references_of_real_paragraphs_equal_the_published_script(shared: Path) -> None:
    first, second = (
        json.loads((shared / "data" / "activitynet" / f"anet_entities_test_{number}.json").read_text())
        for number in (1, 2)
    )
    numbers = []
    for video in first.keys() & second.keys():
        spans = [tuple(span) for span in second[video]["timestamps"]]
        for span in first[video]["timestamps"]:
            names = [str(index) for index in range(len(spans))]
            numbers.append((len(select_references(tuple(span), spans, names)), len(spans)))
    assert len(numbers) == 8_685
    assert sum(found == 1 < published for found, published in numbers) <= 3_346
    assert sum(found == published for found, published in numbers) >= 2_503


def test_overlap_below_two_fifths_selects_nothing() -> None:
    spans, names = [(0.0, 9.9), (10.0, 19.0)], ["early", "late"]
    assert select_references((0.0, 5.0), spans, names) == ["early"]
    assert select_references((7.0, 8.0), spans, names) == ["early", "late"]
    assert select_references((6.0, 19.0), spans, names) == ["late"]
