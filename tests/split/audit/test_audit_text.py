"""Text of an audit: exact statements, and no control characters."""

from __future__ import annotations

from vttdata.records import Clip
from vttdata.split import NearDuplicate, SimilarSources, audit
from vttdata.split.audit.leaks import notes

CLIPS = [
    Clip("v1", "a", 0.0, 5.0, None, None, 1, split="train"),
    Clip("v2", "b", 0.0, 5.0, None, None, 1, split="test"),
]


def test_similarity_below_the_threshold_is_not_rounded_up() -> None:
    pair = NearDuplicate("a", "b", 0.0, 1.0, 0.0, 5.0, mirrored=False, rotation=0, distance=0.1, similarity=0.9999)
    result = audit(CLIPS, near=SimilarSources([], pair))
    assert result.ok
    assert notes(result)[-1].endswith("a (train) and b (test), reach 99% of what makes near-duplicates.")


def test_text_says_that_no_sources_look_alike() -> None:
    result = audit(CLIPS, near=SimilarSources([], None))
    assert notes(result)[-1] == "No two sources of different splits look alike anywhere."
    assert "look alike" not in audit(CLIPS).as_text()


def test_sources_without_a_fingerprint_are_counted() -> None:
    result = audit(CLIPS, near=SimilarSources([], None, without_fingerprint=1200))
    assert [result.unknown[name] for name in ("sources", "spans", "fingerprints")] == [0, 0, 1200]
    assert any("1,200 sources without a fingerprint" in note for note in notes(result))


def test_recall_of_the_search_is_that_of_the_next_larger_measurement() -> None:
    text = (
        "Of copies with 2 to 20% of their bits changed, the search for near-duplicates found 97.5% among 10,000 drawn"
    )
    assert any(note.startswith(text) for note in notes(audit(CLIPS, near=SimilarSources([]))))
    assert not any("drawn" in note for note in notes(audit(CLIPS)))


def test_control_characters_of_split_names_are_replaced() -> None:
    text = audit([Clip("v1", "a", 0.0, 5.0, None, None, 1, split="te\x1b[31m\nst")]).as_text()
    assert "te?[31m?st" in text
    assert "\x1b" not in text


def near(source_a: str, source_b: str) -> NearDuplicate:
    return NearDuplicate(
        source_a, source_b, 0.0, 1.0, 0.0, 5.0, mirrored=False, rotation=0, distance=0.1, similarity=2.0
    )


def test_verdict_says_what_was_not_judged() -> None:
    known = SimilarSources([], None)
    unjudged = "No leaks found by source_id, video_id and times; near-duplicates were not judged."
    assert audit(CLIPS).verdict == audit(CLIPS).as_json()["verdict"] == unjudged
    assert audit(CLIPS).as_text().splitlines()[-1] == unjudged
    assert audit(CLIPS, near=known).verdict == "No leaks found by source_id, video_id, times and fingerprints."
    incomplete = SimilarSources([], None, without_fingerprint=1)
    assert audit(CLIPS, near=incomplete).verdict == (
        "No leaks found by source_id, video_id, times and fingerprints; near-duplicates of 1 source were not judged."
    )
    vague = [*CLIPS, Clip("v3", None, 0.0, None, None, None, 1, split="test")]  # type: ignore[arg-type]
    assert audit(vague).verdict == (
        "No leaks found by source_id, video_id and times; near-duplicates, 1 clip of unknown source and 1 clip without "
        "a usable span were not judged."
    )
    leaking = audit(CLIPS, near=SimilarSources([near("a", "b")]))
    assert leaking.verdict == "LEAKS: near-duplicate source (1 pair of sources)."


def test_split_of_one_family_is_a_warning() -> None:
    clips = [
        *(Clip(f"v{s}", s, 0.0, 5.0, None, None, 1, split="train") for s in "abc"),
        *(Clip(f"v{s}", s, 0.0, 5.0, None, None, 1, split="test") for s in "xyz"),
        Clip("vs", "s", 0.0, 5.0, None, None, 1, split="validation"),
    ]
    # A source without clips, such as g, still connects others.
    result = audit(clips, near=SimilarSources([near("a", "g"), near("b", "g"), near("x", "y"), near("y", "z")]))
    assert result.ok
    assert result.families == {"train": 2, "test": 1, "validation": 1}
    (warning,) = result.as_json()["warnings"]
    assert warning.startswith("The split test is one family of near-duplicates, which connect all of its 3 sources")
    text = result.as_text()
    assert f"WARNING: {warning}" in text
    assert next(line for line in text.splitlines() if line.startswith("independent families")).split()[2:] == (
        ["1", "2", "1"]
    )
    assert audit(clips).families is None
    assert "independent families  not judged" in audit(clips).as_text()


def test_warning_needs_several_sources_and_split_names_are_printable() -> None:
    assert audit(CLIPS, near=SimilarSources([])).warnings == []
    clips = [Clip(f"v{s}", s, 0.0, 5.0, None, None, 1, split="te\x1bst") for s in "ab"]
    text = audit(clips, near=SimilarSources([near("a", "b")])).as_text()
    assert "WARNING: The split te?st is one family" in text
