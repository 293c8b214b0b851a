"""Assignment of clips to splits: whole groups, bounds, edge cases, and the real MSR-VTT."""

from __future__ import annotations

import dataclasses
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.helpers.msrvtt_records import read_msrvtt
from vttdata.errors import VttdataError
from vttdata.records import Clip
from vttdata.split import Assignment, SplitSettings, assign_splits, group_clips


def clip(number: int, source: str, category: str | None = None, query: str | None = None) -> Clip:
    return Clip(f"v{number}", source, 0.0, 1.0, 0, 1, 1, category=category, query=query)


def clips_in_groups(*sizes: int) -> list[Clip]:
    sources = [f"s{index}" for index, size in enumerate(sizes) for _ in range(size)]
    return [clip(number, source) for number, source in enumerate(sources)]


ROWS = st.lists(
    st.tuples(st.integers(0, 15), st.sampled_from([None, "music", "sport", "food"]), st.sampled_from([None, "q", "r"])),
    min_size=1,
    max_size=60,
)
SETTINGS = st.builds(
    SplitSettings,
    ratios=st.sampled_from(
        [
            {"train": 0.65, "validation": 0.05, "test": 0.30},
            {"test": 0.5, "train": 0.5},
            {"train": 1.0},
            {"train": 0.97, "validation": 0.01, "test": 0.02},
        ]
    ),
    together=st.sampled_from(
        [
            (),
            ("source",),
            ("source", "query"),
            ("source", "near_duplicate"),
            ("uploader", "source", "query", "near_duplicate"),
        ]
    ),
    method=st.just("balanced"),
    stratify=st.sampled_from([None, "category"]),
)
BALANCED = SplitSettings(method="balanced")
UPLOADERS = {"s4": "u", "s5": "u", "s6": "w", "s7": "w"}


class TestProperties:
    @settings(deadline=None)
    @given(ROWS, SETTINGS, st.integers(0, 9), st.randoms())
    def test_groups_stay_whole_and_counts_stay_within_bounds_for_any_input(self, rows, case, seed, random) -> None:  # type: ignore[no-untyped-def]
        clips = [clip(number, f"s{source}", category, query) for number, (source, category, query) in enumerate(rows)]
        pairs = [("s1", "s2"), ("s2", "s3")]
        result = assign_splits(clips, case, seed=seed, pairs=pairs, uploaders=UPLOADERS)

        groups = group_clips(clips, case.together, pairs, UPLOADERS)
        split_of_group: dict[str, str] = {}
        for member in clips:
            split = result.split_of[member.video_id]
            assert split_of_group.setdefault(groups[member.video_id], split) == split, "a group crosses a split"

        counts = Counter(result.split_of.values())
        largest = max(Counter(groups.values()).values())
        nonempty = sorted(case.ratios, key=lambda name: (-case.ratios[name], name))[: len(split_of_group)]
        assert set(counts) == set(nonempty), "a split is empty without need"
        reachable = all(ratio * len(clips) >= largest for ratio in case.ratios.values())
        bound = largest if reachable else largest * max(len(case.ratios) - 1, 1)
        for name, ratio in case.ratios.items():
            assert abs(counts[name] - ratio * len(clips)) <= bound + 1e-9

        shuffled = random.sample(clips, len(clips))
        reordered = dataclasses.replace(case, ratios=dict(reversed(case.ratios.items())))
        assert (
            assign_splits(shuffled, reordered, seed=seed, pairs=pairs[::-1], uploaders=UPLOADERS).split_of
            == result.split_of
        )


class TestEdgeCases:
    def test_single_group_goes_to_split_with_highest_ratio(self) -> None:
        result = assign_splits(clips_in_groups(50), BALANCED, seed=0)
        assert result.counts == {"train": 50, "validation": 0, "test": 0}
        assert result.largest_gap == pytest.approx(0.35)

    def test_two_groups_go_to_the_two_largest_splits(self) -> None:
        result = assign_splits(clips_in_groups(3, 3), BALANCED, seed=0)
        assert result.counts == {"train": 3, "validation": 0, "test": 3}

    def test_dominant_group_leaves_no_split_empty(self) -> None:
        result = assign_splits(clips_in_groups(100, 1, 1), BALANCED, seed=0)
        assert result.counts == {"train": 100, "validation": 1, "test": 1}

    def test_no_clips_give_an_empty_assignment(self) -> None:
        result = assign_splits([], BALANCED, seed=0)
        assert (result.split_of, result.groups, result.largest_gap) == ({}, 0, 0.0)

    def test_categories_of_one_clip_do_not_distort_ratios(self) -> None:
        clips = [clip(number, f"s{number}", f"category {number}") for number in range(100)]
        assert assign_splits(clips, BALANCED, seed=3).counts == {"train": 65, "validation": 5, "test": 30}

    def test_duplicated_ids_are_rejected(self) -> None:
        with pytest.raises(VttdataError, match="'v1' is duplicated"):
            assign_splits([clip(1, "a"), clip(1, "b")], BALANCED, seed=0)


class TestReport:
    def test_report_has_ratios_overall_and_by_category(self) -> None:
        clips = [clip(n, f"s{n}", "music" if n < 20 else None) for n in range(60)]
        result = assign_splits(clips, SplitSettings({"train": 0.75, "test": 0.25}, method="balanced"), seed=0)
        assert result.requested == {"train": 0.75, "test": 0.25}
        assert result.achieved == {"train": 0.75, "test": 0.25}
        assert result.by_category == {
            "(none)": {"train": 0.75, "test": 0.25},
            "music": {"train": 0.75, "test": 0.25},
        }
        assert (result.groups, result.largest_group, result.largest_gap) == (60, 1, 0.0)

    def test_different_seeds_give_different_splits(self) -> None:
        clips = clips_in_groups(*[1] * 60)
        first, second = (assign_splits(clips, BALANCED, seed=seed).split_of for seed in (0, 1))
        assert first != second


class TestSettings:
    @pytest.mark.parametrize(
        ("ratios", "message"),
        [
            ({"train": 0.6, "test": 0.3}, r"train, test add up to 0\.9, not to 1"),
            ({"all": 1.0}, "'all' is not a name for a split"),
            ({"test-a": 1.0}, "'test-a' is not a name for a split"),
            ({"train": 1.0, "test": 0.0}, "leave out a split"),
            ({"train": float("nan")}, "leave out a split"),
            ({}, "no splits add up to 0"),
        ],
    )
    def test_invalid_ratios_raise_with_a_message(self, ratios: dict[str, float], message: str) -> None:
        with pytest.raises(ValueError, match=message):
            SplitSettings(ratios)


@pytest.fixture(scope="module")
def msrvtt(shared: Path) -> list[Clip]:
    return read_msrvtt(shared)[0]


class TestMsrVtt:
    def test_msrvtt_sources_match_ratios_in_every_category(self, msrvtt: list[Clip]) -> None:
        result: Assignment = assign_splits(msrvtt, BALANCED, seed=2016)
        assert result.groups == 7180
        assert result.counts == {"train": 6500, "validation": 500, "test": 3000}
        sizes = Counter(clip.category for clip in msrvtt)
        for category, shares in result.by_category.items():
            for split, share in shares.items():
                assert abs(share - result.requested[split]) * sizes[category] < 1
