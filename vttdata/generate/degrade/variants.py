"""Degradation variants: rules for captions of videos, and those of published scripts of machine translation.

A variant says how many words are replaced, where they may be, and where the new ones may come from; the draws are made
in `vttdata.generate.degrade.degrade`. The published scripts are described by what they do, not by their comments.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

VariantName = Literal["video-2018", "wmt17", "bad-refs-2016", "ad-bad-refs-2013", "appraise-wmt19", "wmt22"]


@dataclass(frozen=True, slots=True)
class Variant:
    """Rules of one script. Lengths count words between white space, positions are from 0.

    Fields:
        replaced: length of a caption (1 or more) -> number of words that are replaced.
        starts: that length and number -> positions where the first of them may be.
        inserted: the length -> number of words that are inserted.
        source: captions that give words: those of another source, any other caption, any at all, or none.
        donor_first: position of the first word of a donor that may be taken; its last word never is.
        short_donors: whether a donor may be too short, and then gives all of its words.
        lowers: whether the first inserted word is put in lower case.
        careful: whether a draw that changes nothing or reads badly is repeated, and short captions are refused.
        replacement_of_single_word: fixed text that replaces a caption of one word.
    """

    replaced: Callable[[int], int]
    starts: Callable[[int, int], range]
    inserted: Callable[[int], int]
    source: Literal["other_source", "other_caption", "any_caption", "none"]
    donor_first: int
    short_donors: bool = False
    lowers: bool = False
    careful: bool = False
    replacement_of_single_word: str | None = None


def count_by_bins(*longest: int, beyond: Callable[[int], int]) -> Callable[[int], int]:
    """Return a count that is 1 up to the first of these lengths, 2 up to the second and so on, then `beyond`."""
    return lambda length: bisect_left(longest, length) + 1 if length <= longest[-1] else beyond(length)


# The bins of Bojar et al., Findings of WMT17, section 3.
wmt17_count = count_by_bins(1, 5, 8, 15, 20, beyond=lambda length: length // 4)
# Appraise's from WMT19 on.
appraise_count = count_by_bins(1, 5, 8, 15, 20, beyond=lambda _: 6)
bad_refs_count = count_by_bins(3, 5, 7, 14, 19, beyond=lambda length: length // 4)
ad_bad_refs_count = count_by_bins(3, 5, 8, 15, 20, beyond=lambda length: -(-length // 5))


def video_count(length: int) -> int:
    """Count as WMT17, but leave the first and the last word: 0 of 1 or 2 words, and 1 of 3."""
    return max(0, min(wmt17_count(length), length - 2))


def inner_starts(length: int, words: int) -> range:
    """Leave the first and the last word."""
    return range(1, length - words)


def starts_before_last(length: int, words: int) -> range:
    """Leave the last word unless all are replaced."""
    return range(max(1, length - words))


def bad_refs_starts(length: int, words: int) -> range:
    """Leave the last two words, as the script does from 5 words on because its end is off by one."""
    return range(1, length - words - 1) if length >= 5 else range(min(length - 1, 1), min(length - 1, 1) + 1)


# ``video-2018`` is the design of Graham, Awad and Smeaton (PLOS ONE 2018): a run without the first and the last word
# gives way to a run from the human caption of a different video, here of a different source. Its lengths are those of
# WMT17 wherever they leave the first and the last word.
#
# ``wmt17`` is Appraise's script for WMT17 (CreateDirectAssessmentDataWMT17.py), ``appraise-wmt19`` and ``wmt22`` are
# its create_wmt19_tasks.py and create_wmt22_tasks.py, ``bad-refs-2016`` is bad-refs.py of direct-assessment, and
# ``ad-bad-refs-2013`` is ad-bad-refs.pl of crowd-alone, which removes words and inserts none. None of them checks that
# the text has changed. Three things differ from the scripts: a phrase is drawn as often as it occurs, where bad-refs.py
# draws from its distinct phrases; a caption does not become a likelier donor by having been one, as in
# create_wmt19_tasks.py; and detached punctuation at the ends of a donor is not taken.
VARIANTS: dict[VariantName, Variant] = {
    "video-2018": Variant(video_count, inner_starts, video_count, "other_source", donor_first=1, careful=True),
    "wmt17": Variant(wmt17_count, starts_before_last, wmt17_count, "any_caption", donor_first=0),
    "bad-refs-2016": Variant(
        bad_refs_count, bad_refs_starts, lambda length: min(bad_refs_count(length), 6), "any_caption", 1, lowers=True
    ),
    "ad-bad-refs-2013": Variant(
        ad_bad_refs_count,
        lambda length, words: range(1, max(2, length - words)),
        lambda _: 0,
        "none",
        0,
        replacement_of_single_word="The",
    ),
    "appraise-wmt19": Variant(
        appraise_count, starts_before_last, appraise_count, "other_caption", donor_first=0, short_donors=True
    ),
    "wmt22": Variant(
        appraise_count,
        starts_before_last,
        lambda length: max(2, appraise_count(length)),
        "other_caption",
        donor_first=0,
        short_donors=True,
    ),
}
