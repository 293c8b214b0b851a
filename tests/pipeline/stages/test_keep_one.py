"""Which source of a family of near-duplicates is kept."""

from __future__ import annotations

import pytest

from vttdata.pipeline.stage import Kept, Rejected
from vttdata.pipeline.stages.split import KeepOne, Rendition
from vttdata.records import Clip

PAIRS = (("a", "b"), ("b", "c"))
CLIPS = tuple(Clip(f"{name}{start}", name, start, start + 9.0, None, None, 1) for name in "abcd" for start in (0, 10))


def kept_of(*facts: tuple[float, int, float, float], clips: tuple[Clip, ...] = CLIPS, pinned: str = "") -> set[str]:
    """Return the sources whose clips are kept, given chroma, pixels, seconds and wear of a, b and c."""
    renditions = tuple(Rendition(name, f"{name}.mp4", *of) for name, of in zip("abc", facts, strict=True))
    outcomes = list(KeepOne(PAIRS, renditions, (pinned,)).process(clips))
    assert all(isinstance(outcome, Kept | Rejected) for outcome in outcomes)
    return {outcome.record.source_id for outcome in outcomes if isinstance(outcome, Kept)}


@pytest.mark.parametrize(
    ("facts", "kept"),
    [
        # Of equal ones the smallest id.
        ([(5, 9, 30, 0.5), (5, 9, 30, 0.5), (5, 9, 30, 0.5)], "a"),
        # Colour goes before size; a copy in stronger colours has no advantage.
        ([(0.2, 99, 40, 0.1), (1.5, 99, 40, 0.1), (4, 9, 30, 0.5)], "c"),
        ([(4, 9, 30, 0.5), (4, 10, 30, 0.5), (40, 9, 30, 0.5)], "b"),
        # A family in dull colours, and one in grey alone.
        ([(0.9, 9, 30, 0.5), (0.8, 10, 30, 0.5), (0.3, 11, 30, 0.5)], "b"),
        ([(0, 9, 30, 0.5), (0, 10, 30, 0.5), (0, 9, 30, 0.5)], "b"),
        # Size, length to the second, wear.
        ([(5, 9, 30, 0.1), (5, 10, 20, 0.5), (5, 9, 40, 0.1)], "b"),
        ([(5, 9, 30, 0.5), (5, 9, 30.2, 0.6), (5, 9, 28, 0.1)], "a"),
        ([(5, 9, 30, 0.5), (5, 9, 30.2, 0.4), (5, 9, 29.8, 0.45)], "b"),
    ],
)
def test_original_goes_before_its_copies(facts: list[tuple[float, int, float, float]], kept: str) -> None:
    assert kept_of(*facts) == {kept, "d"}


def test_pinned_source_and_one_with_clips_go_before_all() -> None:
    facts = [(5, 9, 30, 0.5), (0, 4, 10, 0.9), (5, 8, 30, 0.5)]
    assert kept_of(*facts, pinned="b10") == {"b", "d"}
    assert kept_of(*facts, clips=CLIPS[2:]) == {"c", "d"}
