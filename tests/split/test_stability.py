"""Stability of splits when a dataset grows, with and without pins."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.helpers.msrvtt_records import read_msrvtt
from vttdata.compose.earlier_dataset import EarlierDataset, report_split_changes
from vttdata.errors import VttdataError, VttdataWarning
from vttdata.pipeline.build_folder import Build
from vttdata.pipeline.stages.split import Split
from vttdata.records import Clip
from vttdata.split import SplitSettings, assign_splits, group_clips

ROWS = st.lists(st.tuples(st.integers(0, 12), st.sampled_from([None, "music", "sport"])), min_size=1, max_size=40)
PAIRS = [("s1", "s2"), ("s2", "s3"), ("s8", "gone")]
BALANCED = SplitSettings(method="balanced")
TOGETHER = SplitSettings(together=("source", "near_duplicate"))


def clip(number: int, source: str, category: str | None = None) -> Clip:
    return Clip(f"v{number}", source, 0.0, 1.0, 0, 1, 1, category=category)


def clips_of(rows: list[tuple[int, str | None]]) -> list[Clip]:
    return [clip(number, f"s{source}", category) for number, (source, category) in enumerate(rows)]


@pytest.fixture(scope="module")
def msrvtt(shared: Path) -> list[Clip]:
    return read_msrvtt(shared)[0]


def thousand_sources() -> list[Clip]:
    """Return 1 to 3 clips of each of 1,000 sources in 20 categories."""
    draw = Random(11)
    sources = [(f"s{n}", f"c{draw.randrange(20)}") for n in range(1000) for _ in range(draw.randint(1, 3))]
    return [clip(number, source, category) for number, (source, category) in enumerate(sources)]


class TestStableMethod:
    @pytest.mark.parametrize("number", [1, 10, 100])
    def test_sources_that_come_or_go_move_no_other_clip(self, number: int) -> None:
        clips = thousand_sources()
        everything = assign_splits(clips, SplitSettings(), seed=3)
        for trial in range(5):
            gone = {f"s{n}" for n in Random(trial).sample(range(1000), number)}
            rest = [clip for clip in clips if clip.source_id not in gone]
            fewer = assign_splits(rest, SplitSettings(), seed=3)
            assert fewer.split_of.items() <= everything.split_of.items()
            assert fewer.largest_gap == pytest.approx(everything.largest_gap, abs=0.02)

    @pytest.mark.long
    def test_closer_draw_stays_within_two_points_while_sources_come_and_go(self) -> None:
        clips = thousand_sources()
        order = Random(5).sample(range(1000), 1000)
        new = [clip(10_000 + n, f"new{n}") for n in range(100)]
        plain = []
        for seed in range(12):
            draw, gap = Split(SplitSettings(), seed).find_closer_draw(clips)
            settings = SplitSettings(draw=draw)
            before = assign_splits(clips, settings, seed=seed)
            assert before.largest_gap == gap <= 0.005
            plain.append(assign_splits(clips, SplitSettings(), seed=seed).largest_gap)
            for number in (1, 10, 100):
                gone = {f"s{n}" for n in order[:number]}
                fewer = assign_splits([clip for clip in clips if clip.source_id not in gone], settings, seed=seed)
                more = assign_splits([*clips, *new[:number]], settings, seed=seed)
                assert fewer.split_of.items() <= before.split_of.items() <= more.split_of.items()
                assert max(fewer.largest_gap, more.largest_gap) < 0.02
        assert max(plain) > 0.02, "the first draw is not always close"

    def test_build_names_the_draw_that_comes_close(self) -> None:
        clips = thousand_sources()
        seed = next(n for n in range(20) if assign_splits(clips, SplitSettings(), seed=n).largest_gap > 0.02)
        division = Split(SplitSettings(), seed)
        draw, gap = division.find_closer_draw(clips)
        split_of = division.assign(clips, SplitSettings()).split_of
        placed = [replace(clip, split=split_of[clip.video_id]) for clip in clips]
        said = f"split.draw={draw} brings each within {100 * gap:.1f} points"
        with pytest.warns(VttdataWarning, match=re.escape(said)):
            report_split_changes(cast(Build, None), EarlierDataset({}, [], {}), placed, [], division)

    def test_shares_come_out_by_the_ratios_and_by_chance(self) -> None:
        clips = [clip(number, f"s{number}", f"c{number % 2}") for number in range(1000)]
        results = [assign_splits(clips, SplitSettings(), seed=seed) for seed in range(40)]
        for split, ratio in SplitSettings().ratios.items():
            shares = [result.achieved[split] for result in results]
            expected = (ratio * (1 - ratio) / 1000) ** 0.5
            assert sum(shares) / 40 == pytest.approx(ratio, abs=3 * expected / 40**0.5)
            assert 0.6 < (sum((share - ratio) ** 2 for share in shares) / 40) ** 0.5 / expected < 1.5
        assert set(results[0].by_category) == {"c0", "c1"}

    @given(ROWS, st.integers(0, 9), st.sampled_from([(), ("source",), ("source", "near_duplicate")]))
    def test_groups_stay_whole_and_no_split_is_empty_without_need(self, rows, seed, together) -> None:  # type: ignore[no-untyped-def]
        clips = clips_of(rows)
        groups = group_clips(clips, together, PAIRS)
        result = assign_splits(clips, SplitSettings(together=together), seed=seed, pairs=PAIRS)
        assert all(result.split_of[video_id] == result.split_of[group] for video_id, group in groups.items())
        assert sum(count > 0 for count in result.counts.values()) == min(3, len(set(groups.values())))
        again = assign_splits(clips[::-1], SplitSettings(together=together), seed=seed, pairs=PAIRS[::-1])
        assert again.split_of == result.split_of

    def test_changed_ratio_moves_clips_to_or_from_its_split_only(self) -> None:
        clips = thousand_sources()
        before = assign_splits(clips, SplitSettings(), seed=0).split_of
        with_dev = SplitSettings({"train": 0.6, "validation": 0.05, "test": 0.3, "dev": 0.05})
        after = assign_splits(clips, with_dev, seed=0).split_of
        moves = Counter((before[name], after[name]) for name in before if before[name] != after[name])
        assert moves
        assert all(start == "train" or end == "dev" for start, end in moves)

    def test_pinned_test_set_moves_no_clip_of_another_split(self) -> None:
        clips = thousand_sources()
        before = assign_splits(clips, SplitSettings(), seed=0).split_of
        pins = dict.fromkeys(list(before)[:50], "test")
        # What is tied to a pinned clip goes with it.
        pinned_sources = {clip.source_id for clip in clips if clip.video_id in pins}
        after = assign_splits(clips, SplitSettings(), seed=0, pins=pins).split_of
        others = [clip.video_id for clip in clips if clip.source_id not in pinned_sources]
        assert all(after[name] == before[name] for name in others if before[name] != "test")
        assert "test" not in {after[name] for name in others}

    def test_earlier_assignment_without_a_small_split_lets_every_split_grow(self) -> None:
        clips = thousand_sources()
        pins = {"v0": "train", "v900": "test"}
        counts = assign_splits(clips, SplitSettings(), seed=0, pins=pins).counts
        assert counts["validation"] < 0.1 * len(clips)

    def test_near_duplicates_win_over_stability(self) -> None:
        clips = [clip(number, f"s{number}") for number in range(100)]
        before = assign_splits(clips, TOGETHER, seed=0).split_of
        first = next(n for n in range(1, 100) if before[f"v{n}"] != before["v0"])
        after = assign_splits(clips, TOGETHER, seed=0, pairs=[("s0", f"s{first}")]).split_of
        assert after["v0"] == after[f"v{first}"]
        assert sum(after[name] != before[name] for name in before) == 1


class TestGrowth:
    @pytest.mark.parametrize(("more", "most_moved"), [(0.01, 0.01), (0.1, 0.02), (1.0, 0.05)])
    def test_added_sources_move_few_clips(self, msrvtt: list[Clip], more: float, most_moved: float) -> None:
        sources = sorted({clip.source_id for clip in msrvtt})
        first = set(Random(7).sample(sources, round(len(sources) / (1 + more))))
        earlier = [clip for clip in msrvtt if clip.source_id in first]
        before = assign_splits(earlier, BALANCED, seed=1).split_of
        after = assign_splits(msrvtt, BALANCED, seed=1).split_of
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
            elif pinned and "train" not in pinned.values():
                assert result.split_of[video_id] not in pinned.values()
        assert assign_splits(clips[::-1], TOGETHER, seed=seed, pairs=PAIRS, pins=pinned).split_of == result.split_of

    def test_pinned_test_set_stays_and_other_clips_match_ratios(self, msrvtt: list[Clip]) -> None:
        pins = {clip.video_id: "test" for clip in msrvtt if clip.split == "test"}
        result = assign_splits(msrvtt, BALANCED, seed=5, pins=pins)
        assert {video_id for video_id, split in result.split_of.items() if split == "test"} == pins.keys()
        assert result.counts["validation"] == pytest.approx(7010 * 0.05 / 0.70, abs=1)

    def test_pinned_earlier_version_stays_and_added_sources_fill_gaps(self, msrvtt: list[Clip]) -> None:
        sources = sorted({clip.source_id for clip in msrvtt})
        first = set(sources[: len(sources) // 2])
        earlier = [clip for clip in msrvtt if clip.source_id in first]
        pins = assign_splits(earlier, BALANCED, seed=1).split_of
        result = assign_splits(msrvtt, BALANCED, seed=1, pins=pins)
        assert result.split_of.items() >= pins.items()
        assert result.counts == {"train": 6500, "validation": 500, "test": 3000}

    @pytest.mark.parametrize("number", [1, 10, 100])
    def test_balanced_earlier_assignment_keeps_clips_and_ratios(self, number: int) -> None:
        clips = thousand_sources()
        new = {f"s{n}" for n in Random(number).sample(range(1000), number)}
        earlier = [clip for clip in clips if clip.source_id not in new]
        pins = assign_splits(earlier, BALANCED, seed=1).split_of
        grown = assign_splits(clips, BALANCED, seed=1, pins=pins)
        shrunk = assign_splits(earlier[number:], BALANCED, seed=1, pins=pins)
        assert grown.split_of.items() >= pins.items() >= shrunk.split_of.items()
        assert max(grown.largest_gap, shrunk.largest_gap) < 0.02

    def test_group_pinned_to_two_splits_is_rejected_with_its_ids(self) -> None:
        with pytest.raises(VttdataError, match="'v0' and 'v1' belong together, but 'v0' is pinned to test"):
            assign_splits([clip(0, "a"), clip(1, "a")], BALANCED, seed=0, pins={"v0": "test", "v1": "train"})

    def test_lost_pins_are_reported_and_rejected_if_all_are_lost(self) -> None:
        clips = [clip(number, f"s{number}") for number in range(9)]
        result = assign_splits(clips, BALANCED, seed=0, pins={"v3": "test", "b": "test", "a": "train"})
        assert result.lost_pins == ("a", "b")
        with pytest.raises(VttdataError, match="No pinned clip exists, of 2 such as 'a'; clips are called like '"):
            assign_splits(clips, BALANCED, seed=0, pins={"b": "test", "a": "train"})

    def test_pin_to_unknown_split_is_rejected(self) -> None:
        with pytest.raises(VttdataError, match="'v0' is pinned to 'dev'; the splits are train, validation, test"):
            assign_splits([clip(0, "a")], BALANCED, seed=0, pins={"v0": "dev"})


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
