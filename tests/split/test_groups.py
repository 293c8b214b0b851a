"""Groups of clips that must stay in one split."""

from __future__ import annotations

import itertools

from hypothesis import given
from hypothesis import strategies as st

from vttdata.records import Clip
from vttdata.split import group_clips


def clip(video_id: str, source_id: str, query: str | None = None) -> Clip:
    return Clip(video_id, source_id, 0.0, 1.0, 0, 1, 1, query=query)


CLIPS = [clip("a1", "a", "cats"), clip("a2", "a", "cats"), clip("b1", "b", "cats"), clip("c1", "c"), clip("d1", "d")]


def test_clips_of_one_source_form_a_group_named_by_its_smallest_clip() -> None:
    assert group_clips(CLIPS, ["source"]) == {"a1": "a1", "a2": "a1", "b1": "b1", "c1": "c1", "d1": "d1"}


def test_shared_query_ties_clips_and_missing_query_does_not() -> None:
    assert group_clips(CLIPS, ["source", "query"]) == {"a1": "a1", "a2": "a1", "b1": "a1", "c1": "c1", "d1": "d1"}


def test_near_duplicates_tie_through_sources_without_clips() -> None:
    pairs = [("c", "gone"), ("gone", "b")]
    groups = group_clips(CLIPS, ["source", "near_duplicate"], pairs)
    assert groups == {"a1": "a1", "a2": "a1", "b1": "b1", "c1": "b1", "d1": "d1"}
    assert group_clips(CLIPS, ["source"], pairs)["c1"] == "c1"


def test_uploader_ties_its_known_sources() -> None:
    groups = group_clips(CLIPS, ["uploader"], uploaders={"c": "someone", "d": "someone"})
    assert groups == {"a1": "a1", "a2": "a2", "b1": "b1", "c1": "c1", "d1": "c1"}


def test_query_source_and_clip_of_the_same_name_are_distinct() -> None:
    clips = [clip("x", "y", "z"), clip("y", "z", "x"), clip("z", "x", "y")]
    assert len(set(group_clips(clips, ["source", "query"]).values())) == 3


NAMES = st.sampled_from("abcdef")
ROWS = st.lists(st.tuples(NAMES, st.none() | NAMES), max_size=12)


@given(ROWS, st.lists(st.tuples(NAMES, NAMES), max_size=5), st.randoms())
def test_groups_are_connected_components_in_any_order(rows, pairs, random) -> None:  # type: ignore[no-untyped-def]
    uploaders = {"a": "u", "b": "u", "c": "w"}
    clips = [clip(f"v{index}", source, query) for index, (source, query) in enumerate(rows)]
    groups = group_clips(clips, ["source", "query", "uploader", "near_duplicate"], pairs, uploaders)
    for a, b in itertools.product(clips, clips):
        tied = a.source_id == b.source_id or (a.query is not None and a.query == b.query)
        near = {(a.source_id, b.source_id), (b.source_id, a.source_id)} & set(pairs)
        same_uploader = len({uploaders.get(clip.source_id, clip.video_id) for clip in (a, b)}) == 1
        if tied or near or same_uploader:
            assert groups[a.video_id] == groups[b.video_id]
    shuffled = random.sample(clips, len(clips))
    together = ["source", "query", "uploader", "near_duplicate"]
    assert group_clips(shuffled, together, pairs[::-1], uploaders) == groups
    assert all(name == min(v for v, group in groups.items() if group == name) for name in groups.values())
