"""Clips are drawn evenly over categories, whatever their order."""

from __future__ import annotations

from collections import Counter
from random import Random

from hypothesis import given
from hypothesis import strategies as st

from vttdata.records import Clip
from vttdata.split.sample import sample_clips


def make_clips(sizes: list[int]) -> list[Clip]:
    return [
        Clip(f"c{category}-{n}", f"s{category}-{n}", 0, 10, 0, 1, 1, category=f"k{category}" if category else None)
        for category, size in enumerate(sizes)
        for n in range(size)
    ]


def test_category_with_few_clips_gives_all_and_the_others_share_the_rest() -> None:
    drawn = Counter(video_id.split("-")[0] for video_id in sample_clips(make_clips([2, 30, 40, 50]), 32, seed=1))
    assert drawn == {"c0": 2, "c1": 10, "c2": 10, "c3": 10}


@given(st.lists(st.integers(0, 12), min_size=1, max_size=6), st.integers(1, 40), st.integers(0, 9))
def test_no_category_gets_two_more_than_one_that_has_clips_left(sizes: list[int], number: int, seed: int) -> None:
    clips = make_clips(sizes)
    drawn = sample_clips(clips, number, seed)
    assert len(drawn) == min(number, len(clips))
    counts = Counter(video_id.split("-")[0] for video_id in drawn)
    unfinished = [counts[f"c{n}"] for n, size in enumerate(sizes) if counts[f"c{n}"] < size]
    assert all(count <= least + 1 for least in unfinished for count in counts.values())
    Random(seed).shuffle(clips)
    assert sample_clips(clips, number, seed) == drawn


def test_further_clips_of_a_category_replace_few() -> None:
    before = sample_clips(make_clips([100, 100]), 100, seed=3)
    after = sample_clips(make_clips([100, 105]), 100, seed=3)
    assert len(before - after) <= 10
