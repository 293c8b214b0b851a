"""Degraded captions for Direct Assessment: a run of words gives way to a run from the caption of another source.

Graham, Awad and Smeaton (PLOS ONE 2018) hide such captions among those to be judged, to find careless workers. What is
drawn depends only on the caption's id, the seed and the donors, never on an order. Meaning is not judged: that the new
words do not fit the video is likely and not certain.
"""

from __future__ import annotations

import dataclasses
import re
import string
import struct
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from typing import NamedTuple

from vttdata.generate.degrade.donors import Donors, inner_words
from vttdata.generate.degrade.variants import VARIANTS, Variant, VariantName
from vttdata.records import Caption, Degraded
from vttdata.settings import Strict

# Name of the algorithm, part of every draw: another name gives other captions for the same seed.
GENERATOR = "degrade-1"

# Meaning of each flag of `Degraded`; a caption without a flag is degraded as its variant says.
FLAGS = {
    "empty": "the caption has no word",
    "too_short": "it has one or two words, so none between the first and the last",
    "whole": "it has one or two words and was replaced as a whole, as requested",
    "no_donor": "no caption of another source has enough words and differs enough",
    "unchanged": "the inserted words are those that were removed, which only published variants allow",
}

# Draws for one caption. Of MSR-VTT's 200,000 captions 175 need a second draw and 2 a third.
_MAX_DRAWS = 32
# Draws for which new words must read well; where all donors are full of brackets, the later ones need not.
_FLUENT_DRAWS = 16

_WORD = re.compile(r"\S+")
_PUNCTUATION = string.punctuation + "\u2018\u2019\u201c\u201d\u2026"
# Punctuation that makes sense only where it was: the end of a sentence, brackets, quotes, signs at the seams.
_LOOSE_ENDS = re.compile(r'[.!?;:…](?: |$)|["“”()\[\]{}<>]|,$|^\W+(?: |$)| \W+$')


@dataclass(frozen=True, slots=True)
class DegradeSettings(Strict):
    """Rules of degrading.

    Fields:
        variant: ``video-2018`` for captions of videos, or the rules of a published script, for comparison.
        whole: whether captions of one or two words are replaced as a whole by another of as many words; otherwise they
            are flagged and not degraded.
    """

    variant: VariantName = "video-2018"
    whole: bool = False


def degrade(
    caption: Caption, donors: Donors, settings: DegradeSettings = DegradeSettings(), *, seed: int = 0
) -> Degraded:
    """Replace a run of words of one caption.

    With the default variant the run has `k` words, by the table of WMT17 but at most N - 2 of N; it leaves the first
    and the last word, and it gives way to exactly `k` words that stand together in a human caption of another source
    in the same language, without its first and last word, as they stand there. So no capital, no full stop and no
    bracket moves into the middle. Words are separated by white space: punctuation attached to a replaced word goes
    with it, and that of the last word stays. Detached punctuation at the end, as in ``a man runs fast .``, counts as a
    word in N and stays together with the word before it, unless too few words are left then; the same holds at the
    beginning. Nothing outside of the run changes, white space included. The new run differs from the old one in more
    than case and punctuation, the donor's caption from the original, and the result from every caption about the same
    source; a draw that fails in this is repeated.

    Args:
        caption: what to degrade, by any author.
        donors: captions to take words from; they may include `caption`.
        settings: the variant, and what happens to very short captions.
        seed: of all draws; the same seed, caption and donors give the same result.

    Returns:
        The degraded caption with its provenance; without a caption, and with a flag of `FLAGS`, where it is impossible.

    Raises:
        VttdataError: when `donors` knows the sources of clips, but not that of this one.
    """
    task = _Task(caption, donors, settings, seed)
    length = len(task.words)
    variant = VARIANTS[settings.variant]
    if not task.end:
        return task.result(flag="empty")
    if length == 1 and variant.replacement_of_single_word is not None:
        return task.replace(0, 1, [variant.replacement_of_single_word])
    if not variant.careful:
        return _draw_as_published(task, variant)
    count = variant.replaced(length)
    if count:
        return _draw_run(task, count)
    if settings.whole:
        return _draw_run(task, task.end - task.first, whole=True)
    return task.result(flag="too_short")


class _Points(NamedTuple):
    """Random numbers of 64 bits for one draw."""

    start: int
    source: int
    caption: int
    donor_start: int


class _Task:
    """Caption to degrade, with its words and the range of them without detached punctuation at its ends."""

    def __init__(self, caption: Caption, donors: Donors, settings: DegradeSettings, seed: int) -> None:
        self.caption, self.donors, self._settings, self._seed = caption, donors, settings, seed
        self.source_id = donors.source_of(caption)
        self.words, self.first, self.end = inner_words(caption.caption)

    def draws(self) -> Iterator[tuple[int, _Points]]:
        """Yield the number of each draw and its random numbers."""
        for number in range(_MAX_DRAWS):
            key = ascii((GENERATOR, self._seed, self.caption.video_id, self.caption.sen_id, number))
            yield number, _Points(*struct.unpack("<4Q", blake2b(key.encode(), digest_size=32).digest()))

    def replace(
        self,
        start: int,
        count: int,
        inserted: Sequence[str],
        donor: Caption | None = None,
        donor_start: int | None = None,
        flag: str | None = None,
    ) -> Degraded:
        """Return the caption with `count` words from `start` on replaced and every other character as it was."""
        text, words = self.caption.caption, self.words
        if " ".join(words) == text:
            text = " ".join((*words[:start], *inserted, *words[start + count :]))
        else:
            spans = [match.span() for match in _WORD.finditer(text)]
            before, after = text[: spans[start][0]], text[spans[start + count - 1][1] :]
            text = before + " ".join(inserted) + after if inserted else before.rstrip() + after
        return self.result(text, start, count, donor, donor_start, flag)

    def result(
        self,
        text: str | None = None,
        start: int | None = None,
        count: int | None = None,
        donor: Caption | None = None,
        donor_start: int | None = None,
        flag: str | None = None,
    ) -> Degraded:
        """Return the record of what was done; without a text, only the flag says why not."""
        return Degraded(
            self.caption.video_id,
            self.caption.sen_id,
            text,
            self.caption.caption,
            start,
            count,
            donor.video_id if donor else None,
            donor.sen_id if donor else None,
            donor_start,
            self._settings.variant,
            GENERATOR,
            self._seed,
            flag,
        )


def _draw_run(task: _Task, count: int, *, whole: bool = False) -> Degraded:
    """Draw a run of the caption, or all of a short one, and as many words of a donor, until they fit."""
    starts: Sequence[int] = range(task.first + 1, task.end - count) or range(1, len(task.words) - count)
    limits: tuple[int, int | None] = (count + 2, None)
    if whole:
        starts, limits = [task.first], (count, count)
    for number, points in task.draws():
        donor = task.donors.draw(
            task.caption.language, *limits, (points.source, points.caption), not_about=task.source_id
        )
        if donor is None:
            break
        donor_words, donor_first, donor_end = inner_words(donor.caption)
        donor_starts = [donor_first] if whole else range(donor_first + 1, donor_end - count)
        donor_start = donor_starts[points.donor_start % len(donor_starts)]
        start = starts[points.start % len(starts)]
        inserted = donor_words[donor_start : donor_start + count]
        if _are_alike(inserted, task.words[start : start + count]) or _are_alike(donor_words, task.words):
            continue
        text = " ".join(inserted)
        reads_well = _LOOSE_ENDS.search(text) is None and text.isupper() == task.caption.caption.isupper()
        if number < _FLUENT_DRAWS and not (reads_well or whole):
            continue
        result = task.replace(start, count, inserted, donor, donor_start, "whole" if whole else None)
        if not task.donors.has_caption(task.source_id, result.caption or ""):
            return result
    return task.result(flag="no_donor")


def _are_alike(first: Sequence[str], second: Sequence[str]) -> bool:
    """Return whether two runs differ in case and punctuation at most."""
    return len(first) == len(second) and all(
        word == match or word.strip(_PUNCTUATION).casefold() == match.strip(_PUNCTUATION).casefold()
        for word, match in zip(first, second, strict=True)
    )


def _draw_as_published(task: _Task, variant: Variant) -> Degraded:
    """Draw once, by the rules of a script; a result that is unchanged gets a flag."""
    length = len(task.words)
    count, wanted = min(variant.replaced(length), length), variant.inserted(length)
    starts = variant.starts(length, count)
    min_words = 1 if variant.short_donors else wanted + 1 + variant.donor_first
    for _, points in task.draws():
        start = starts[points.start % len(starts)]
        if variant.source == "none":
            return task.replace(start, count, ())
        donor = task.donors.draw(
            task.caption.language, min_words, None, (points.source, points.caption), not_about=None
        )
        if donor is None:
            break
        is_same = (donor.video_id, donor.sen_id) == (task.caption.video_id, task.caption.sen_id)
        if variant.source == "other_caption" and is_same:
            continue
        donor_words, donor_first, donor_end = inner_words(donor.caption)
        donor_starts = max(1, donor_end - donor_first - wanted - variant.donor_first)
        donor_start = donor_first + variant.donor_first + points.donor_start % donor_starts
        inserted = donor_words[donor_start : min(donor_start + wanted, donor_end)]
        if variant.lowers:
            inserted = [inserted[0].title() if length == 1 else inserted[0].lower(), *inserted[1:]]
        result = task.replace(start, count, inserted, donor, donor_start)
        unchanged = result.caption == task.caption.caption
        return dataclasses.replace(result, flag="unchanged") if unchanged else result
    return task.result(flag="no_donor")
