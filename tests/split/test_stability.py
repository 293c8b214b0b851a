"""Stability of splits when a dataset grows, with and without pins."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.helpers.msrvtt_records import read_msrvtt
from vttdata.errors import VttdataError
from vttdata.records import Clip
from vttdata.split import SplitSettings, assign_splits, group_clips

ROWS = st.lists(st.tuples(st.integers(0, 12), st.sampled_from([None, "music", "sport"])), min_size=1, max_size=40)
PAIRS = [("s1", "s2"), ("s2", "s3"), ("s8", "gone")]
TOGETHER = SplitSettings(together=("source", "near_duplicate"))


def clip(number: int, source: str, category: str | None = None) -> Clip:
    return Clip(f"v{number}", source, 0.0, 1.0, 0, 1, 1, category=category)


def clips_of(rows: list[tuple[int, str | None]]) -> list[Clip]:
    return [clip(number, f"s{source}", category) for number, (source, category) in enumerate(rows)]


@pytest.fixture(scope="module")
def msrvtt(shared: Path) -> list[Clip]:
    return read_msrvtt(shared)[0]


class TestGrowth:
    @pytest.mark.parametrize(("more", "most_moved"), [(0.01, 0.01), (0.1, 0.02), (1.0, 0.05)])
    def test_added_sources_move_few_clips(self, msrvtt: list[Clip], more: float, most_moved: float) -> None:
        sources = sorted({clip.source_id for clip in msrvtt})
        first = set(Random(7).sample(sources, round(len(sources) / (1 + more))))
        earlier = [clip for clip in msrvtt if clip.source_id in first]
        before = assign_splits(earlier, SplitSettings(), seed=1).split_of
        after = assign_splits(msrvtt, SplitSettings(), seed=1).split_of
        moved = sum(before[clip.video_id] != after[clip.video_id] for clip in earlier)
        assert moved / len(earlier) < most_moved

    def test_source_added_to_a_query_moves_no_clip(self) -> None:
        settings = SplitSettings(together=("source", "query"))
        clips = [Clip(f"v{n}", f"s{n}", 0, 1, 0, 1, 1, query=f"q{n % 100}") for n in range(1000)]
        later = [Clip(f"a{n}", f"a{n}", 0, 1, 0, 1, 1, query=f"q{n}") for n in range(100)]
        before = assign_splits(clips, settings, seed=0).split_of
        assert assign_splits([*later, *clips], settings, seed=0).split_of.items() >= before.items()


class TestPins:
    @given(ROWS, st.integers(0, 9), st.data())
    def test_pinned_clips_stay_with_their_groups(self, rows, seed, data) -> None:  # type: ignore[no-untyped-def]
        clips = clips_of(rows)
        groups = group_clips(clips, TOGETHER.together, PAIRS)
        names = sorted(set(groups.values()))
        pinned = data.draw(st.dictionaries(st.sampled_from(names), st.sampled_from(["train", "validation", "test"])))
        result = assign_splits(clips, TOGETHER, seed=seed, pairs=PAIRS, pins=pinned)
        for video_id, group in groups.items():
            assert result.split_of[video_id] == result.split_of[group]
            if group in pinned:
                assert result.split_of[video_id] == pinned[group]
            elif set(pinned.values()) < {"train", "validation", "test"}:
                assert result.split_of[video_id] not in pinned.values()
        assert assign_splits(clips[::-1], TOGETHER, seed=seed, pairs=PAIRS, pins=pinned).split_of == result.split_of

    def test_pinned_test_set_stays_and_other_clips_match_ratios(self, msrvtt: list[Clip]) -> None:
        pins = {clip.video_id: "test" for clip in msrvtt if clip.split == "test"}
        result = assign_splits(msrvtt, SplitSettings(), seed=5, pins=pins)
        assert {video_id for video_id, split in result.split_of.items() if split == "test"} == pins.keys()
        assert result.counts["validation"] == pytest.approx(7010 * 0.05 / 0.70, abs=1)

    def test_pinned_earlier_version_stays_and_added_sources_fill_gaps(self, msrvtt: list[Clip]) -> None:
        sources = sorted({clip.source_id for clip in msrvtt})
        first = set(sources[: len(sources) // 2])
        earlier = [clip for clip in msrvtt if clip.source_id in first]
        pins = assign_splits(earlier, SplitSettings(), seed=1).split_of
        result = assign_splits(msrvtt, SplitSettings(), seed=1, pins=pins)
        assert result.split_of.items() >= pins.items()
        assert result.counts == {"train": 6500, "validation": 500, "test": 3000}

    def test_group_pinned_to_two_splits_is_rejected_with_its_ids(self) -> None:
        with pytest.raises(VttdataError, match="'v0' and 'v1' belong together, but 'v0' is pinned to test"):
            assign_splits([clip(0, "a"), clip(1, "a")], SplitSettings(), seed=0, pins={"v0": "test", "v1": "train"})

    def test_lost_pins_are_reported_and_rejected_if_all_are_lost(self) -> None:
        clips = [clip(number, f"s{number}") for number in range(9)]
        result = assign_splits(clips, SplitSettings(), seed=0, pins={"v3": "test", "b": "test", "a": "train"})
        assert result.lost_pins == ("a", "b")
        with pytest.raises(VttdataError, match="None of the 2 pinned clips exists, such as 'a'"):
            assign_splits(clips, SplitSettings(), seed=0, pins={"b": "test", "a": "train"})

    def test_pin_to_unknown_split_is_rejected(self) -> None:
        with pytest.raises(VttdataError, match="'v0' is pinned to 'dev'; the splits are train, validation, test"):
            assign_splits([clip(0, "a")], SplitSettings(), seed=0, pins={"v0": "dev"})


class TestUploaders:
    def test_clips_of_one_uploader_share_a_split(self) -> None:
        clips = [clip(number, f"s{number}") for number in range(60)]
        uploaders = {f"s{number}": f"u{number % 20}" for number in range(50)}
        settings = SplitSettings(together=("source", "uploader"))
        split_of = assign_splits(clips, settings, seed=0, uploaders=uploaders).split_of
        splits = Counter((uploaders[f"s{n}"], split_of[f"v{n}"]) for n in range(50))
        assert len(splits) == 20

    def test_keeping_uploaders_together_requires_known_uploaders(self) -> None:
        with pytest.raises(VttdataError, match="no source has an uploader"):
            assign_splits([clip(0, "a")], SplitSettings(together=("uploader",)), seed=0)
