"""Splits by the day of upload: the test split has later sources only, whatever the method."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vttdata.errors import VttdataError
from vttdata.records import Clip
from vttdata.split import SplitSettings, assign_splits

DAY = "2025-01-01"
DAYS = st.sampled_from(["2024-12-31", DAY, "2026-06-30", None])


def clips_of(sources: list[str]) -> list[Clip]:
    return [Clip(f"c{number}", source, 0.0, 9.0, None, None, None) for number, source in enumerate(sources)]


@given(
    st.lists(st.tuples(st.sampled_from("abcdefghijklmnop"), DAYS), min_size=1, max_size=40),
    st.sampled_from(["stable", "balanced"]),
    st.lists(st.tuples(st.sampled_from("abcdefghijklmnop"), st.sampled_from("abcdefghijklmnop")), max_size=4),
)
@settings(max_examples=150, deadline=None)
def test_test_has_exactly_the_groups_of_later_sources(
    listed: list[tuple[str, str | None]], method: str, pairs: list[tuple[str, str]]
) -> None:
    days = dict(listed)
    clips = clips_of([source for source, _ in listed])
    # By brute force: sources that pairs connect are one group, which is as early as its earliest one.
    group = {source: {source} for source in "abcdefghijklmnop"}
    for one, other in pairs:
        joined = group[one] | group[other]
        for source in joined:
            group[source] = joined
    later = {source for source in days if all((days.get(each) or "") >= DAY for each in group[source] & days.keys())}
    wanted = SplitSettings(method=method, after=DAY)  # type: ignore[arg-type]
    uploaded = {source: day for source, day in days.items() if day is not None}
    if not later:
        with pytest.raises(VttdataError, match="test would be empty"):
            assign_splits(clips, wanted, seed=1, pairs=pairs, uploaded=uploaded)
        return
    split_of = assign_splits(clips, wanted, seed=1, pairs=pairs, uploaded=uploaded).split_of
    assert {clip.source_id for clip in clips if split_of[clip.video_id] == "test"} == later


def test_a_pin_that_the_day_contradicts_is_refused() -> None:
    clips = clips_of(["a", "b", "c"])
    with pytest.raises(VttdataError, match="contradicts"):
        assign_splits(clips, SplitSettings(after=DAY), seed=1, uploaded={"a": "2026-01-01"}, pins={"c1": "test"})


def test_after_needs_a_day_and_a_test_split() -> None:
    for wrong in ({"after": "soon"}, {"after": DAY, "ratios": {"train": 1.0}}):
        with pytest.raises(ValueError, match=r"found 'soon'|needs the split"):
            SplitSettings(**wrong)  # type: ignore[arg-type]
