from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from vttdata.records import Clip
from vttdata.split import group_clips


def clip(video_id: str, source_id: str, query: str | None = None) -> Clip:
    return Clip(video_id, source_id, 0.0, 1.0, 0, 1, 1, query=query)


CLIPS = [clip("a1", "a", "cats"), clip("a2", "a", "cats"), clip("b1", "b", "cats"), clip("c1", "c"), clip("d1", "d")]


def test_clips_of_one_source_are_one_group_named_by_its_smallest_clip() -> None:
    assert group_clips(CLIPS, ["source"]) == {"a1": "a1", "a2": "a1", "b1": "b1", "c1": "c1", "d1": "d1"}


def test_a_shared_query_ties_and_a_missing_one_does_not() -> None:
    assert group_clips(CLIPS, ["source", "query"]) == {"a1": "a1", "a2": "a1", "b1": "a1", "c1": "c1", "d1": "d1"}


def test_near_duplicates_tie_over_sources_that_have_no_clips() -> None:
    pairs = [("c", "gone"), ("gone", "b")]
    groups = group_clips(CLIPS, ["source", "near_duplicate"], pairs)
    assert groups == {"a1": "a1", "a2": "a1", "b1": "b1", "c1": "b1", "d1": "d1"}
    assert group_clips(CLIPS, ["source"], pairs)["c1"] == "c1"


def test_an_uploader_ties_the_sources_it_is_known_for() -> None:
    groups = group_clips(CLIPS, ["uploader"], uploaders={"c": "someone", "d": "someone"})
    assert groups == {"a1": "a1", "a2": "a2", "b1": "b1", "c1": "c1", "d1": "c1"}


def test_a_query_a_source_and_a_clip_of_one_name_are_not_confused() -> None:
    clips = [clip("x", "y", "z"), clip("y", "z", "x"), clip("z", "x", "y")]
    assert len(set(group_clips(clips, ["source", "query"]).values())) == 3


NAMES = st.sampled_from("abcdef")
ROWS = st.lists(st.tuples(NAMES, st.none() | NAMES), max_size=12)


@given(ROWS, st.lists(st.tuples(NAMES, NAMES), max_size=5), st.randoms())
def test_groups_are_the_connected_components_whatever_the_order(rows, pairs, random) -> None:  # type: ignore[no-untyped-def]
    uploaders = {"a": "u", "b": "u", "c": "w"}
    clips = [clip(f"v{index}", source, query) for index, (source, query) in enumerate(rows)]
    groups = group_clips(clips, ["source", "query", "uploader", "near_duplicate"], pairs, uploaders)
    for one in clips:
        for other in clips:
            tied = one.source_id == other.source_id or (one.query is not None and one.query == other.query)
            near = {(one.source_id, other.source_id), (other.source_id, one.source_id)} & set(pairs)
            known = {uploaders.get(clip.source_id, clip.video_id) for clip in (one, other)}
            if tied or near or len(known) == 1:
                assert groups[one.video_id] == groups[other.video_id]
    shuffled = random.sample(clips, len(clips))
    every = ["source", "query", "uploader", "near_duplicate"]
    assert group_clips(shuffled, every, pairs[::-1], uploaders) == groups
    assert all(name == min(v for v, other in groups.items() if other == name) for name in groups.values())
