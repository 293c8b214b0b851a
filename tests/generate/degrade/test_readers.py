"""Who reads a caption and its degraded form, and sees no video, cannot tell which is which."""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from pathlib import Path

import pytest

from builders.msrvtt import read as read_msrvtt
from vttdata.generate import Donors, degrade_captions
from vttdata.records import Caption, Degraded


class Reader:
    """N-gram model as an outsider writes it: absolute discounting by .75, no code of vttdata."""

    def __init__(self, texts: Iterable[str], order: int) -> None:
        self.order = order
        self.follows: dict[tuple[str, ...], Counter[str]] = defaultdict(Counter)
        for text in texts:
            words = self.words(text)
            for end in range(1, len(words)):
                for begin in range(max(0, end - order + 1), end + 1):
                    self.follows[tuple(words[begin:end])][words[end]] += 1
        self.totals = {context: counts.total() for context, counts in self.follows.items()}

    @staticmethod
    def words(text: str) -> list[str]:
        return ["<s>", *re.findall("[a-z0-9']+", text.lower()), "</s>"]

    def probability(self, context: tuple[str, ...], word: str) -> float:
        counts = self.follows.get(context, Counter())
        if not context:
            return (counts[word] + 0.1) / (self.totals[()] + 0.1 * len(counts))
        shorter = self.probability(context[1:], word)
        if not counts:
            return shorter
        return (max(counts[word] - 0.75, 0) + 0.75 * len(counts) * shorter) / self.totals[context]

    def log_probabilities(self, text: str) -> list[float]:
        words = self.words(text)
        return [
            math.log(self.probability(tuple(words[max(0, end - self.order + 1) : end]), words[end]))
            for end in range(1, len(words))
        ]


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
