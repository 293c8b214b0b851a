"""Who reads a caption and its degraded form, and sees no video, cannot tell which is which."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from builders.msrvtt import read as read_msrvtt
from tests.helpers.caption_reader import Reader
from vttdata.generate import Donors, degrade_captions
from vttdata.records import Caption, Degraded


def found(reader: Reader, results: Sequence[Degraded]) -> dict[str, float]:
    """Return the share of captions that a reader prefers to their degraded forms, by the whole and the oddest word."""
    shares = {}
    for name, reduce in (("whole", sum), ("oddest word", min)):
        margins = [
            reduce(reader.log_probabilities(each.original)) - reduce(reader.log_probabilities(each.caption or ""))
            for each in results
        ]
        shares[name] = sum((margin > 0) + 0.5 * (margin == 0) for margin in margins) / len(margins)
    return shares


@pytest.fixture(scope="module")
def read(shared: Path) -> tuple[list[str], list[Caption], dict[str, str]]:
    """Return captions of training, which are public, and those of 1,000 other videos with the sources of these."""
    known = read_msrvtt(shared / "data" / "msrvtt")
    clips = {split: [clip for clip in known.clips if clip.split == split] for split in ("train", "test")}
    public = {clip.video_id for clip in clips["train"][:600]}
    source_of = {clip.video_id: clip.source_id for clip in clips["test"][:1000]}
    texts = [caption.caption for caption in known.captions if caption.video_id in public]
    return texts, [caption for caption in known.captions if caption.video_id in source_of], source_of


def test_readers_of_public_captions_do_not_find_degraded_ones(
    read: tuple[list[str], list[Caption], dict[str, str]],
) -> None:
    public, captions, source_of = read
    results = list(degrade_captions(captions[::29], Donors(captions, source_of), seed=5))
    degraded = [result for result in results if result.flag is None]
    assert len(degraded) > 0.98 * len(results) > 600
    for order in (2, 3):
        shares = found(Reader(public, order), degraded)
        # A standard error of 690 pairs is .019.
        assert all(0.4 <= share <= 0.57 for share in shares.values()), (order, shares)
