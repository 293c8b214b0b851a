"""Captions come in the order of their clips, whether they are sorted in memory or on disk."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import pytest

from vttdata.dataset import sorted_captions
from vttdata.dataset.sorted_captions import SortedCaptions
from vttdata.records import Caption

POSITIONS = {"b": 0, "none": 1, "a": 2}
CAPTIONS = [
    Caption("a", 2, "é"),
    Caption("b", 7, "x"),
    Caption("a", 1, "y"),
    Caption("a", 2, "z"),
    Caption("b", 3, "w"),
]


@pytest.mark.parametrize("limit", [0, 4, 5])
def test_captions_are_in_the_order_of_clips_and_numbers(
    limit: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sorted_captions, "IN_MEMORY", limit)
    path = tmp_path / "scratch"
    with closing(SortedCaptions(path, POSITIONS, iter(CAPTIONS), duplicates=True)) as captions:
        assert [caption.caption for caption in captions.between(0, 3)] == ["w", "x", "y", "é", "z"]
        assert [caption.caption for caption in captions.between(2, 3)] == ["y", "é", "z"]
        assert list(captions.between(1, 2)) == []
    assert path.exists() == (limit < len(CAPTIONS))
