"""What an audit counts, against brute force and against figures found without it."""

from __future__ import annotations

import itertools
from collections import Counter
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from tests.helpers import msrvtt_records as official
from vttdata.records import Caption, Clip
from vttdata.split import NearDuplicate, SimilarSources, SplitSettings, assign_splits, audit


def alike(one: str, other: str, similarity: float = 1.5) -> NearDuplicate:
    return NearDuplicate(*sorted((one, other)), 0.0, 1.0, 0.0, 5.0, False, 0.1, similarity)


def clip(video_id: str, source: str, start: float, end: float, split: str) -> Clip:
    return Clip(video_id, source, start, end, None, None, 1, split=split)


SPLITS = st.sampled_from(["train", "validation", "test"])
CLIPS = st.lists(
    st.tuples(st.sampled_from("abcde"), st.integers(0, 9), st.integers(-1, 6), SPLITS), min_size=1, max_size=25
)
TEXTS = st.lists(st.tuples(st.integers(0, 24), st.sampled_from(["a man", "A man", "a dog", "a dog "])), max_size=40)
PAIRS = st.lists(st.tuples(st.sampled_from("abcdef"), st.sampled_from("abcdef")), max_size=5)


def by_split(clips: list[Clip], chosen: set[str]) -> dict[str, int]:
    counts = Counter(one.split for one in clips if one.video_id in chosen)
    return {split: counts[split] for split in sorted({one.split or "" for one in clips})}


@given(CLIPS, TEXTS, PAIRS)
def test_all_counts_are_those_of_comparing_every_pair(rows, texts, pairs) -> None:  # type: ignore[no-untyped-def]
    clips = [
        clip(f"v{n}", source, start, start + length, split) for n, (source, start, length, split) in enumerate(rows)
    ]
    captions = [Caption(f"v{n}", place, text) for place, (n, text) in enumerate(texts)]
    found = audit(clips, captions, SimilarSources([alike(*pair) for pair in pairs]))

    leaks: dict[str, set[str]] = {"source": set(), "overlap": set(), "near_duplicate": set(), "caption": set()}
    within, across, near, sources = 0, 0, set(), set()
    copies = {frozenset(pair) for pair in pairs if pair[0] != pair[1]}
    for one, other in itertools.combinations(clips, 2):
        both, same = {one.video_id, other.video_id}, one.source_id == other.source_id
        meet = same and max(one.start, other.start) < min(one.end, other.end)
        meet = meet and one.end > one.start and other.end > other.start
        if one.split == other.split:
            within += meet
            continue
        across += meet
        leaks["overlap"] |= both if meet else set()
        if same:
            leaks["source"] |= both
            sources.add(one.source_id)
        if {one.source_id, other.source_id} in copies:
            leaks["near_duplicate"] |= both
            near.add(frozenset({one.source_id, other.source_id}))
    assert {kind: leak["clips"] for kind, leak in found.leaks.items() if kind != "caption"} == {
        kind: by_split(clips, ids) for kind, ids in leaks.items() if kind != "caption"
    }
    assert found.leaks["source"]["sources"] == len(sources)
    assert found.leaks["overlap"]["pairs"] == across
    assert found.within["overlap_pairs"] == within
    assert found.leaks["near_duplicate"]["pairs"] == len(near)
    assert found.ok == (not sources and not near)

    said = [(one, c.caption) for one in clips for c in captions if c.video_id == one.video_id]
    splits_of = {text: {one.split for one, other in said if other == text} for _, text in said}
    shared = {text for text, splits in splits_of.items() if len(splits) > 1}
    leak = found.leaks["caption"]
    assert (leak["captions"], leak["sentences"]) == (len(shared), sum(text in shared for _, text in said))
    assert leak["clips"] == by_split(clips, {one.video_id for one, text in said if text in shared})
    assert found.within["duplicate_captions"] == len(said) - len({(one.video_id, text) for one, text in said})
    assert found.within["duplicate_captions_in_split"] == len(said) - len({(one.split, text) for one, text in said})
    assert {example["caption"] for example in found.examples["caption"]} == shared


@given(CLIPS, PAIRS, st.integers(0, 5))
def test_what_assign_splits_divides_has_no_leak(rows, pairs, seed) -> None:  # type: ignore[no-untyped-def]
    clips = [clip(f"v{n}", source, start, start + length, "") for n, (source, start, length, _) in enumerate(rows)]
    wanted = SplitSettings(together=("source", "near_duplicate"))
    split_of = assign_splits(clips, wanted, seed=seed, pairs=pairs).split_of
    divided = [clip(c.video_id, c.source_id, c.start, c.end, split_of[c.video_id]) for c in clips]
    assert audit(divided, (), SimilarSources([alike(*pair) for pair in pairs])).ok


def test_the_official_msrvtt_split_as_counted_without_this_code(shared: Path) -> None:
    """The figures come from comparing all pairs of a source and counting texts with plain dictionaries."""
    found = audit(*official.msrvtt(shared))
    assert found.ok
    assert found.leaks["source"]["sources"] == 0
    assert found.leaks["overlap"]["pairs"] == 0
    assert found.leaks["caption"] == {
        "captions": 3119,
        "sentences": 21147,
        "clips": {"test": 2072, "train": 4183, "validate": 364},
    }
    assert found.within == {
        "overlap_pairs": 355,
        "duplicate_captions": 14632,
        "duplicate_captions_in_split": 29551,
    }
    assert found.splits["train"] == {"clips": 6513, "sources": 4668, "captions": 130260}


def test_the_worst_examples_come_first_with_their_ids() -> None:
    clips = [
        clip("v1", "a", 0, 10, "train"),
        clip("v2", "a", 9, 20, "test"),
        clip("v3", "b", 0, 10, "train"),
        clip("v4", "b", 2, 20, "test"),
        clip("v5", "b", 18, 30, "test"),
    ]
    found = audit(clips, (), SimilarSources([alike("a", "b")])).examples
    assert [(e["seconds"], e["source_id"]) for e in found["overlap"]] == [(8.0, "b"), (1.0, "a")]
    assert found["overlap"][0]["clips"] == [{"video_id": "v3", "split": "train"}, {"video_id": "v4", "split": "test"}]
    assert found["source"][0]["video_ids"] == {"test": ["v2"], "train": ["v1"]}
    assert found["near_duplicate"][0]["sources"] == ["a", "b"]


def test_a_clip_in_two_splits_leaks_its_source_its_time_and_its_captions() -> None:
    found = audit([clip("v", "s", 0, 9, "train"), clip("v", "s", 0, 9, "test")], [Caption("v", 0, "a man")])
    assert not found.ok
    assert [found.leaks[kind]["clips"] for kind in found.leaks] == [{"test": 1, "train": 1}] * 3
    assert found.splits == {name: {"clips": 1, "sources": 1, "captions": 1} for name in ("test", "train")}


def test_the_closest_pair_is_told_even_where_nothing_leaks() -> None:
    clips = [clip("v1", "a", 0, 1, "train"), clip("v2", "b", 0, 1, "test")]
    found = audit(clips, (), SimilarSources([], alike("a", "b", 0.37)))
    assert found.ok
    assert found.closest == {
        "sources": ["a", "b"],
        "splits": [["train"], ["test"]],
        "similarity": 0.37,
        "distance": 0.1,
        "offset_seconds": 0.0,
        "overlap_seconds": 5.0,
        "mirrored": False,
    }
    assert "near_duplicate" not in audit(clips).leaks


def test_very_many_overlaps_are_counted_and_few_looked_at() -> None:
    long = [clip(f"l{n}", "s", n / 1e6, 1000 + n, "train") for n in range(3000)]
    short = [clip(f"s{n}", "s", 1 + n / 4, 1.1 + n / 4, "test") for n in range(3000)]
    found = audit(long + short)
    assert found.leaks["overlap"]["pairs"] == 9_000_000
    assert len(found.examples["overlap"]) == 10
