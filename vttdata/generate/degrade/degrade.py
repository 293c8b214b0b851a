"""Degrades captions for Direct Assessment: a run of words gives way to a run from the caption of another source.

Graham, Awad and Smeaton (PLOS ONE 2018) hide such captions among those to be judged, to find out who judges carelessly.
What is drawn depends only on the caption's id, the seed and the donors, never on an order. It judges no meaning: that
the new words do not fit the video by chance is likely and not certain.
"""

from __future__ import annotations

import dataclasses
import re
import string
from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import blake2b
from struct import Struct
from typing import Any, ClassVar

from vttdata.generate.degrade.donors import Donors, inner_words
from vttdata.generate.degrade.variants import VARIANTS, Variant, VariantName
from vttdata.records import Caption, Degraded
from vttdata.settings import STRICT

GENERATOR = "degrade-1"
"""The name of what this module computes; another one gives other captions for the same seed."""

FLAGS = {
    "empty": "the caption has no word",
    "too_short": "it has one or two words, so none between the first and the last",
    "whole": "it has one or two words and gave way as a whole, as was asked for",
    "no_donor": "no caption of another source has enough words and differs enough",
    "unchanged": "the words that came in are those that went; only published variants let this happen",
}
"""What each flag of `Degraded` means; a caption without a flag is degraded as its variant says."""

_DRAWS = 32
"""How often to draw for one caption. Of MSR-VTT's 200,000 captions 175 need a second draw and 2 a third."""
_FLUENT_DRAWS = 16
"""So many draws ask that the new words read well; where all donors are full of brackets, the later ones do not."""

_POINTS = Struct("<4Q")
_WORD = re.compile(r"\S+")
_MARKS = string.punctuation + "\u2018\u2019\u201c\u201d\u2026"
_LOOSE_ENDS = re.compile(r'[.!?;:…](?: |$)|["“”()\[\]{}<>]|,$|^\W+(?: |$)| \W+$')
"""Marks that make sense only where they stood: the end of a sentence, brackets, quotes, punctuation at the seams."""


@dataclass(frozen=True, slots=True)
class DegradeSettings:
    """How captions are degraded.

    Fields:
        variant: the rules: ``video-2018`` for captions of videos, or those of a published script, for comparison.
        whole: whether captions of one or two words give way as a whole to one of as many words; otherwise they are
            flagged and not degraded.
    """

    __pydantic_config__: ClassVar[dict[str, Any]] = STRICT

    variant: VariantName = "video-2018"
    whole: bool = False


def degrade(
    caption: Caption, donors: Donors, settings: DegradeSettings = DegradeSettings(), *, seed: int = 0
) -> Degraded:
    """Replace a run of words of one caption.

    With the default variant the run has `k` words, by the table of WMT17 but at most N - 2 of N; it leaves the first
    and the last word, and it gives way to exactly `k` words that stand together in a human caption of another source
    in the same language, without its first and last word, as they stand there. So no capital, no full stop and no
    bracket moves into the middle. Words are what white space separates: punctuation that touches a replaced word goes
    with it, and that of the last word stays. Punctuation that stands free at the end, as in ``a man runs fast .``,
    counts as a word in N and stays together with the word before it, unless too few words are left then; the same
    holds at the beginning. Nothing outside of the run changes, white space included. The new run differs from the old
    one in more than case and punctuation, the donor's caption from the original, and the result from every caption
    about the same source. Where a draw fails in this, another is made.

    Args:
        caption: what to degrade, by whomever.
        donors: what to take words from; that `caption` is among them is no trouble.
        settings: the variant, and what becomes of very short captions.
        seed: of all draws; the same seed, caption and donors give the same result.

    Returns:
        The degraded caption with its provenance; without one, and with a flag of `FLAGS`, where it cannot be made.

    Raises:
        VttdataError: when `donors` knows the sources of clips, and not that of this one.
    """
    task = _Task(caption, donors, settings, seed)
    length = len(task.words)
    variant = VARIANTS[settings.variant]
    if not task.end:
        return task.flagged("empty")
    if length == 1 and variant.alone is not None:
        return task.replaced(0, 1, [variant.alone], None, None)
    if not variant.careful:
        return _as_published(task, variant)
    words = variant.replaced(length)
    if words:
        return _redrawn(task, words)
    return _whole(task) if settings.whole else task.flagged("too_short")


class _Task:
    """One caption to degrade: its words, and how results are told."""

    def __init__(self, caption: Caption, donors: Donors, settings: DegradeSettings, seed: int) -> None:
        self.caption, self.donors, self._settings, self._seed = caption, donors, settings, seed
        self.source = donors.source_of(caption)
        self.words, self.first, self.end = inner_words(caption.caption)

    def points(self, attempt: int) -> tuple[int, ...]:
        """Four numbers of 64 bits: for the place of the run, the donor's source, the donor, and the place in it."""
        key = ascii((GENERATOR, self._seed, self.caption.video_id, self.caption.sen_id, attempt))
        return _POINTS.unpack(blake2b(key.encode(), digest_size=_POINTS.size).digest())

    def flagged(self, flag: str) -> Degraded:
        """There is no degraded caption."""
        return self._told(None, None, None, None, None, flag)

    def replaced(
        self,
        start: int,
        words: int,
        inserted: Sequence[str],
        donor: Caption | None,
        donor_start: int | None,
        flag: str | None = None,
    ) -> Degraded:
        """The caption with so many words from `start` on replaced."""
        text = _spliced(self.caption.caption, self.words, start, words, inserted)
        return self._told(text, start, words, donor, donor_start, flag)

    def _told(
        self,
        text: str | None,
        start: int | None,
        words: int | None,
        donor: Caption | None,
        donor_start: int | None,
        flag: str | None,
    ) -> Degraded:
        return Degraded(
            self.caption.video_id,
            self.caption.sen_id,
            text,
            self.caption.caption,
            start,
            words,
            donor.video_id if donor else None,
            donor.sen_id if donor else None,
            donor_start,
            self._settings.variant,
            GENERATOR,
            self._seed,
            flag,
        )


def _spliced(text: str, words: Sequence[str], start: int, number: int, inserted: Sequence[str]) -> str:
    """The text with a run of its words replaced and every other character as it was."""
    if " ".join(words) == text:
        return " ".join((*words[:start], *inserted, *words[start + number :]))
    spans = [found.span() for found in _WORD.finditer(text)]
    before, after = text[: spans[start][0]], text[spans[start + number - 1][1] :]
    return before + " ".join(inserted) + after if inserted else before.rstrip() + after


def _redrawn(task: _Task, words: int) -> Degraded:
    """Draw a run of so many words of the caption, and one of a donor, until both go together."""
    places = range(task.first + 1, task.end - words) or range(1, len(task.words) - words)
    for attempt in range(_DRAWS):
        first, source_point, donor_point, second = task.points(attempt)
        points = (source_point, donor_point)
        donor = task.donors.draw(task.caption.language, words + 2, None, points, but=task.source)
        if donor is None:
            break
        own, donor_first, donor_end = inner_words(donor.caption)
        donor_start = donor_first + 1 + second % (donor_end - donor_first - words - 1)
        start = places[first % len(places)]
        inserted = own[donor_start : donor_start + words]
        if _says_the_same(inserted, task.words[start : start + words]) or _says_the_same(own, task.words):
            continue
        if attempt < _FLUENT_DRAWS and not _reads_well(" ".join(inserted), task.caption.caption):
            continue
        result = task.replaced(start, words, inserted, donor, donor_start)
        if not task.donors.says(task.source, result.caption or ""):
            return result
    return task.flagged("no_donor")


def _says_the_same(some: Sequence[str], others: Sequence[str]) -> bool:
    """Whether two runs differ in case and punctuation at most."""
    return len(some) == len(others) and all(map(_same_word, some, others))


def _same_word(one: str, other: str) -> bool:
    return one == other or one.strip(_MARKS).casefold() == other.strip(_MARKS).casefold()


def _reads_well(inserted: str, caption: str) -> bool:
    """Whether a run can stand in the middle of a sentence: no loose ends, and no capitals that the rest has not."""
    return _LOOSE_ENDS.search(inserted) is None and inserted.isupper() == caption.isupper()


def _whole(task: _Task) -> Degraded:
    """Replace a caption of one or two words by another of as many words."""
    length = task.end - task.first
    for attempt in range(_DRAWS):
        _, source_point, donor_point, _ = task.points(attempt)
        points = (source_point, donor_point)
        donor = task.donors.draw(task.caption.language, length, length, points, but=task.source)
        if donor is None:
            break
        own, first, end = inner_words(donor.caption)
        result = task.replaced(task.first, length, own[first:end], donor, first, "whole")
        same = _says_the_same(own[first:end], task.words[task.first : task.end])
        if not same and not task.donors.says(task.source, result.caption or ""):
            return result
    return task.flagged("no_donor")


def _as_published(task: _Task, variant: Variant) -> Degraded:
    """Draw once, by the rules of a script; whatever comes of it is told."""
    length = len(task.words)
    words, wanted = min(variant.replaced(length), length), variant.inserted(length)
    starts = variant.starts(length, words)
    least = 1 if variant.short_donors else wanted + 1 + variant.donor_first
    for attempt in range(_DRAWS):
        first, source_point, donor_point, second = task.points(attempt)
        start = starts[first % len(starts)]
        if variant.source == "none":
            return task.replaced(start, words, (), None, None)
        donor = task.donors.draw(task.caption.language, least, None, (source_point, donor_point), but=None)
        if donor is None:
            break
        if variant.source == "other_caption" and _id(donor) == _id(task.caption):
            continue
        own, donor_first, donor_end = inner_words(donor.caption)
        places = max(1, donor_end - donor_first - wanted - variant.donor_first)
        donor_start = donor_first + variant.donor_first + second % places
        inserted = own[donor_start : min(donor_start + wanted, donor_end)]
        if variant.lowers:
            inserted = [inserted[0].title() if length == 1 else inserted[0].lower(), *inserted[1:]]
        result = task.replaced(start, words, inserted, donor, donor_start)
        unchanged = result.caption == task.caption.caption
        return dataclasses.replace(result, flag="unchanged") if unchanged else result
    return task.flagged("no_donor")


def _id(caption: Caption) -> tuple[str, int]:
    return caption.video_id, caption.sen_id
