"""Text of an audit: exact statements, and no control characters."""

from __future__ import annotations

from vttdata.records import Clip
from vttdata.split import NearDuplicate, SimilarSources, audit
from vttdata.split.audit.text import audit_text, notes

CLIPS = [
    Clip("v1", "a", 0.0, 5.0, None, None, 1, split="train"),
    Clip("v2", "b", 0.0, 5.0, None, None, 1, split="test"),
]


def test_similarity_below_the_threshold_is_not_rounded_up() -> None:
    pair = NearDuplicate("a", "b", 0.0, 1.0, 0.0, 5.0, mirrored=False, distance=0.1, similarity=0.9999)
    result = audit(CLIPS, near=SimilarSources([], pair))
    assert result.ok
    assert notes(result)[-1].endswith("a (train) and b (test), reach 99% of what makes near-duplicates.")


def test_text_says_that_no_sources_look_alike() -> None:
    result = audit(CLIPS, near=SimilarSources([], None))
    assert notes(result)[-1] == "No two sources of different splits look alike anywhere."
    assert "look alike" not in audit_text(audit(CLIPS))


def test_sources_without_a_fingerprint_are_counted() -> None:
    result = audit(CLIPS, near=SimilarSources([], None, without_fingerprint=1200))
    assert result.unknown == {"sources": 0, "spans": 0, "fingerprints": 1200}
    assert "Not judged for near-duplicates: 1,200 sources without a fingerprint." in notes(result)


def test_control_characters_of_split_names_are_replaced() -> None:
    text = audit_text(audit([Clip("v1", "a", 0.0, 5.0, None, None, 1, split="te\x1b[31m\nst")]))
    assert "te?[31m?st" in text
    assert "\x1b" not in text
