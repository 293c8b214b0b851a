"""Audit against brute force, and against figures counted without this code."""

from __future__ import annotations

import itertools
from collections import Counter
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from tests.helpers.msrvtt_records import read_msrvtt
from vttdata.records import Caption, Clip
from vttdata.split import NearDuplicate, SimilarSources, SplitSettings, assign_splits, audit


def near_duplicate(source_a: str, source_b: str, similarity: float = 1.5) -> NearDuplicate:
    return NearDuplicate(*sorted((source_a, source_b)), 0.0, 1.0, 0.0, 5.0, False, 0, 0.1, similarity)


def clip(video_id: str, source: str, start: float, end: float, split: str) -> Clip:
    return Clip(video_id, source, start, end, None, None, 1, split=split)


SPLITS = st.sampled_from(["train", "validation", "test"])
CLIPS = st.lists(
    st.tuples(st.sampled_from("abcde"), st.integers(0, 9), st.integers(-1, 6), SPLITS), min_size=1, max_size=25
)
TEXTS = st.lists(st.tuples(st.integers(0, 24), st.sampled_from(["a man", "A man", "a dog", "a dog "])), max_size=40)
PAIRS = st.lists(st.tuples(st.sampled_from("abcdef"), st.sampled_from("abcdef")), max_size=5)


def by_split(clips: list[Clip], chosen: set[str]) -> dict[str, int]:
    counts = Counter(clip.split for clip in clips if clip.video_id in chosen)
    return {split: counts[split] for split in sorted({clip.split or "" for clip in clips})}


@given(CLIPS, TEXTS, PAIRS)
def test_counts_equal_those_of_comparing_all_pairs(rows, texts, pairs) -> None:  # type: ignore[no-untyped-def]
    clips = [
        clip(f"v{n}", source, start, start + length, split) for n, (source, start, length, split) in enumerate(rows)
    ]
    captions = [Caption(f"v{n}", sen_id, text) for sen_id, (n, text) in enumerate(texts)]
    result = audit(clips, captions, SimilarSources([near_duplicate(*pair) for pair in pairs]))

    leaks: dict[str, set[str]] = {"source": set(), "overlap": set(), "near_duplicate": set(), "caption": set()}
    within, across, near_pairs, shared_sources = 0, 0, set(), set()
    copies = {frozenset(pair) for pair in pairs if pair[0] != pair[1]}
    for a, b in itertools.combinations(clips, 2):
        ids, same_source = {a.video_id, b.video_id}, a.source_id == b.source_id
        overlap = same_source and max(a.start, b.start) < min(a.end, b.end)
        overlap = overlap and a.end > a.start and b.end > b.start
        if a.split == b.split:
            within += overlap
            continue
        across += overlap
        leaks["overlap"] |= ids if overlap else set()
        if same_source:
            leaks["source"] |= ids
            shared_sources.add(a.source_id)
        if {a.source_id, b.source_id} in copies:
            leaks["near_duplicate"] |= ids
            near_pairs.add(frozenset({a.source_id, b.source_id}))
    assert {name: leak["clips"] for name, leak in result.leaks.items() if not name.startswith("caption")} == {
        name: by_split(clips, ids)
        for name, ids in leaks.items()
        # Of clips without a length nobody can say whether they overlap.
        if name != "caption" and (name != "overlap" or not clips or any(clip.end > clip.start for clip in clips))
    }
    assert result.leaks["source"]["sources"] == len(shared_sources)
    assert result.leaks.get("overlap", {}).get("pairs", 0) == across
    assert result.within["overlap_pairs"] == within
    assert result.leaks["near_duplicate"]["pairs"] == len(near_pairs)
    assert result.ok == (not shared_sources and not near_pairs)

    captioned = [(clip, c.caption) for clip in clips for c in captions if c.video_id == clip.video_id]
    splits_of = {text: {clip.split for clip, caption in captioned if caption == text} for _, text in captioned}
    shared = {text for text, splits in splits_of.items() if len(splits) > 1}
    leak = result.leaks["caption"]
    assert (leak["captions"], leak["sentences"]) == (len(shared), sum(text in shared for _, text in captioned))
    assert leak["clips"] == by_split(clips, {clip.video_id for clip, text in captioned if text in shared})
    distinct_in_clip = {(clip.video_id, text) for clip, text in captioned}
    distinct_in_split = {(clip.split, text) for clip, text in captioned}
    assert result.within["duplicate_captions"] == len(captioned) - len(distinct_in_clip)
    assert result.within["duplicate_captions_in_split"] == len(captioned) - len(distinct_in_split)
    spans_of: dict[tuple[str, str], set[tuple[float, float]]] = {}
    for captioned_clip, text in captioned:
        span = captioned_clip.start, captioned_clip.end
        spans_of.setdefault((captioned_clip.source_id, text), set()).add(span)
    ambiguous = sum(len(spans_of[clip.source_id, text]) > 1 for clip, text in captioned)
    assert result.within["ambiguous_captions"] == ambiguous
    assert {example["caption"] for example in result.examples["caption"]} == shared


@given(CLIPS, PAIRS, st.integers(0, 5))
def test_assigned_splits_have_no_leak(rows, pairs, seed) -> None:  # type: ignore[no-untyped-def]
    clips = [clip(f"v{n}", source, start, start + length, "") for n, (source, start, length, _) in enumerate(rows)]
    settings = SplitSettings(together=("source", "near_duplicate"))
    split_of = assign_splits(clips, settings, seed=seed, pairs=pairs).split_of
    assigned = [clip(c.video_id, c.source_id, c.start, c.end, split_of[c.video_id]) for c in clips]
    assert audit(assigned, (), SimilarSources([near_duplicate(*pair) for pair in pairs])).ok


def test_official_msrvtt_split_has_the_known_counts(shared: Path) -> None:
    """Compare with figures that came from comparing all pairs of a source and counting texts with dictionaries."""
    result = audit(*read_msrvtt(shared))
    assert result.ok
    assert result.leaks["source"]["sources"] == 0
    assert result.leaks["overlap"]["pairs"] == 0
    assert result.leaks["caption"] == {
        "captions": 3119,
        "sentences": 21147,
        "clips": {"test": 2072, "train": 4183, "validate": 364},
    }
    assert result.within == {
        "overlap_pairs": 355,
        "duplicate_captions": 14632,
        "duplicate_captions_in_split": 29551,
        "ambiguous_captions": 4158,
    }
    assert result.splits["train"] == {"clips": 6513, "sources": 4668, "captions": 130260}


def test_worst_examples_come_first_with_their_ids() -> None:
    clips = [
        clip("v1", "a", 0, 10, "train"),
        clip("v2", "a", 9, 20, "test"),
        clip("v3", "b", 0, 10, "train"),
        clip("v4", "b", 2, 20, "test"),
        clip("v5", "b", 18, 30, "test"),
    ]
    examples = audit(clips, (), SimilarSources([near_duplicate("a", "b")])).examples
    assert [(e["seconds"], e["source_id"]) for e in examples["overlap"]] == [(8.0, "b"), (1.0, "a")]
    assert examples["overlap"][0]["clips"] == [
        {"video_id": "v3", "split": "train"},
        {"video_id": "v4", "split": "test"},
    ]
    assert examples["source"][0]["video_ids"] == {"test": ["v2"], "train": ["v1"]}
    assert examples["near_duplicate"][0]["sources"] == ["a", "b"]


def test_clip_in_two_splits_leaks_source_time_and_captions() -> None:
    result = audit([clip("v", "s", 0, 9, "train"), clip("v", "s", 0, 9, "test")], [Caption("v", 0, "a man")])
    assert not result.ok
    shared = {name: leak["clips"] for name, leak in result.leaks.items() if name != "caption_set"}
    assert shared == {name: {"test": 1, "train": 1} for name in ("source", "overlap", "caption")}
    assert result.splits == {name: {"clips": 1, "sources": 1, "captions": 1} for name in ("test", "train")}


def test_closest_pair_is_reported_without_any_leak() -> None:
    clips = [clip("v1", "a", 0, 1, "train"), clip("v2", "b", 0, 1, "test")]
    result = audit(clips, (), SimilarSources([], near_duplicate("a", "b", 0.37)))
    assert result.ok
    assert result.closest == {
        "sources": ["a", "b"],
        "splits": [["train"], ["test"]],
        "similarity": 0.37,
        "distance": 0.1,
        "offset_seconds": 0.0,
        "overlap_seconds": 5.0,
        "mirrored": False,
        "rotation": 0,
    }
    assert "near_duplicate" not in audit(clips).leaks


def test_millions_of_overlaps_are_counted_and_ten_shown() -> None:
    long = [clip(f"l{n}", "s", n / 1e6, 1000 + n, "train") for n in range(3000)]
    short = [clip(f"s{n}", "s", 1 + n / 4, 1.1 + n / 4, "test") for n in range(3000)]
    result = audit(long + short)
    assert result.leaks["overlap"]["pairs"] == 9_000_000
    assert len(result.examples["overlap"]) == 10
