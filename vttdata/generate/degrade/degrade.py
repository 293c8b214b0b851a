"""Degraded captions for Direct Assessment: a run of words gives way to a run from the caption of another source.

Graham, Awad and Smeaton (PLOS ONE 2018) hide such captions among those to be judged, to find careless workers. Who only
reads must not find them: the new words stand between the same words as in their donor where there are such, and of
several results the one is taken that agrees best with its wider context, beyond what pairs of words tell.
What is drawn depends only on the caption's id, the seed and the donors, never on an order. That the new words do not
fit the video is likely and not certain.

A variant says how many words are replaced, where they may be, and where the new ones may come from: rules for captions
of videos, and those of published scripts of machine translation, by what the scripts do, not by their comments.
"""

from __future__ import annotations

import dataclasses
import re
import string
import struct
from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from typing import Literal, NamedTuple

import numpy as np

from vttdata.generate.degrade.donors import Donors, content_words, inner_words
from vttdata.records import Caption, Degraded
from vttdata.settings import Strict
from vttdata.text.lm import NgramModel
from vttdata.text.word_spans import find_words, split_words

# Name of the algorithm, part of every draw: another name gives other captions for the same seed.
GENERATOR = "degrade-3"

# Meaning of each flag of `Degraded`; a caption without a flag is degraded as its variant says.
FLAGS = {
    "empty": "the caption has no word",
    "too_short": "it has one or two words, so none between the first and the last",
    "whole": "it has one or two words and was replaced as a whole, as requested",
    "no_donor": "no caption of another source has enough words and differs enough",
    "unchanged": "the inserted words are those that were removed, which only published variants allow",
}

# Draws for one caption, between the same words and then from anywhere.
_MATCHED_DRAWS, _MAX_DRAWS = 64, 96
# Forms of a caption among which one is chosen: that with the lowest surprisal by a 4-gram model (nats), less that by a
# bigram model and the number of letters of its new words with these weights. Where original and form are as likely by
# bigrams, the original is likelier by 4-grams; forms that are chosen by 4-grams alone are too likely by bigrams; and
# new words have fewer letters than old ones. So the one is balanced by the other.
_MAX_FORMS = 10
_BIGRAM_WEIGHT, _LETTER_WEIGHT = 0.9, 0.2
# Captions whose forms are scored together.
_CAPTIONS_PER_BLOCK = 2000

_PUNCTUATION = string.punctuation + "\u2018\u2019\u201c\u201d\u2026" + "\u3001\u3002\uff01\uff0c\uff1a\uff1b\uff1f"
# Punctuation that makes sense only where it was: the end of a sentence, brackets, quotes, signs at the seams.
_LOOSE_ENDS = re.compile(
    r'[.!?;:…](?: |$)|["“”()\[\]{}<>]|,$|^\W+(?: |$)| \W+$'
    r"|[\u3002\u3008-\u3011\uff01\uff08\uff09\uff1a\uff1b\uff1f]|[\u3001\uff0c]$"
)

VariantName = Literal["video-2018", "wmt17", "bad-refs-2016", "ad-bad-refs-2013", "appraise-wmt19", "wmt22"]


@dataclass(frozen=True, slots=True)
class Variant:
    """Rules of one script. Lengths count words of `vttdata.text.word_spans`, positions are from 0.

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


APPRAISE = Variant(
    appraise_count, starts_before_last, appraise_count, "other_caption", donor_first=0, short_donors=True
)
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
    "appraise-wmt19": APPRAISE,
    "wmt22": dataclasses.replace(APPRAISE, inserted=lambda length: max(2, appraise_count(length))),
}


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
    """Replace a run of words of one caption; see `degrade_captions`."""
    (result,) = degrade_captions([caption], donors, settings, seed=seed)
    return result


def degrade_captions(
    captions: Sequence[Caption], donors: Donors, settings: DegradeSettings = DegradeSettings(), *, seed: int = 0
) -> Iterator[Degraded]:
    """Replace a run of words of each caption.

    With the default variant the run has `k` words, by the table of WMT17 but at most N - 2 of N; it leaves the first
    and the last word, and it gives way to exactly `k` words that stand together in a human caption of another source
    in the same language, without its first and last word, as they stand there. So no capital, no full stop and no
    bracket moves into the middle. Words are separated by white space, and in scripts that separate no words each
    letter is one: punctuation attached to a replaced word goes with it, and that of the last word stays. Detached
    punctuation at the end, as in ``a man runs fast .``, counts as a word in N and stays together with the word before
    it, unless too few words are left then; the same holds at the beginning. Nothing outside of the run changes, white
    space included. The new run differs from the old one in more than case and punctuation, the donor's caption from the
    original, and the result from every caption about the same source.

    Several such results are drawn, and one is chosen. Preferred are those whose new words name something, and nothing
    that captions of the source name; then those that read well; then those whose new words stand between the same words
    in the donor as here. Of these the one is taken that is likely by a 4-gram model of other sources, for what it is by
    bigrams and for its length in letters, so that degraded captions are altogether as likely and as long as their
    originals. Who reads both can then hardly tell which is degraded, if `donors` are many.

    A caption may be by any author, and be among the donors. The same seed, caption and donors give the same result:
    the degraded caption with its provenance, or no caption and a flag of `FLAGS` where it is impossible.

    Raises:
        VttdataError: when `donors` knows the sources of clips, but not that of a caption.
    """
    for first in range(0, len(captions), _CAPTIONS_PER_BLOCK):
        tasks = [_Task(caption, donors, settings, seed) for caption in captions[first : first + _CAPTIONS_PER_BLOCK]]
        forms = [_find_forms(task) for task in tasks]
        chosen = [of_caption[0] for of_caption in forms]
        for half in (0, 1):
            rows = [row for row, task in enumerate(tasks) if len(forms[row]) > 1 and task.half == half]
            likely = _choose_likely([forms[row] for row in rows], donors.scorers[half]) if rows else ()
            for row, form in zip(rows, likely, strict=True):
                chosen[row] = form
        yield from chosen


def _find_forms(task: _Task) -> Sequence[Degraded]:
    """Return the degraded forms among which one is chosen, or the only one, by the rules of a caption's variant."""
    length, variant = len(task.words), task.variant
    if not task.end:
        return [task.refuse("empty")]
    if length == 1 and variant.replacement_of_single_word is not None:
        return [task.replace(0, 1, variant.replacement_of_single_word)]
    if not variant.careful:
        return [_draw_as_published(task, variant)]
    count = variant.replaced(length)
    if count:
        return _draw_runs(task, count) or [task.refuse("no_donor")]
    return [_draw_whole(task) if task.settings.whole else task.refuse("too_short")]


def _choose_likely(
    forms: Sequence[Sequence[Degraded]], models: tuple[NgramModel, NgramModel] | None
) -> Iterator[Degraded]:
    """Yield of the forms of each caption the one that is likely for its bigrams and length; without models the first.

    The models are those of `Donors.scorers`.
    """
    texts = [form.caption or "" for own in forms for form in own]
    values = np.zeros(len(texts))
    if models is not None:
        tokens = models[0].count_tokens(texts)
        long, short = (np.log(model.perplexity(texts)) * tokens for model in models)
        # Last digits differ between machines.
        letters = np.array([_count_new_letters(form) for own in forms for form in own])
        values = np.round(long - _BIGRAM_WEIGHT * short - _LETTER_WEIGHT * letters, 6)
    sizes = [len(own) for own in forms]
    for own, of_form in zip(forms, np.split(values, np.cumsum(sizes)[:-1]), strict=True):
        yield own[int(of_form.argmin())]


def _count_new_letters(form: Degraded) -> int:
    """Return the length of the words that came in, in letters with the spaces between them."""
    start = form.start or 0
    removed = split_words(form.original)[start : start + (form.words or 0)]
    return len(form.caption or "") - len(form.original) + sum(map(len, removed)) + max(len(removed) - 1, 0)


class _Draw(NamedTuple):
    """Number of a draw, and 64 random bits each for the start, for source and caption of the donor, and its start."""

    number: int
    start: int
    donor: tuple[int, int]
    donor_start: int


class _Change(NamedTuple):
    """Words of a caption that were replaced, and the donor of the others; as in `Degraded`."""

    start: int | None = None
    words: int | None = None
    donor_video_id: str | None = None
    donor_sen_id: int | None = None
    donor_start: int | None = None


class _Task:
    """Caption to degrade, with its words and the range of them without detached punctuation at its ends."""

    def __init__(self, caption: Caption, donors: Donors, settings: DegradeSettings, seed: int) -> None:
        self.caption, self.donors, self.settings, self._seed = caption, donors, settings, seed
        self.variant = VARIANTS[settings.variant]
        self.source_id = donors.source_of(caption)
        self.half = donors.half_of(self.source_id)
        self.words, self.first, self.end = inner_words(caption.caption)

    def draws(self, first: int = _MATCHED_DRAWS) -> Iterator[_Draw]:
        """Yield draws by the seed and the caption's id, from a number on."""
        for number in range(first, _MAX_DRAWS):
            key = ascii((GENERATOR, self._seed, self.caption.video_id, self.caption.sen_id, number))
            start, source, caption, donor_start = struct.unpack("<4Q", blake2b(key.encode(), digest_size=32).digest())
            yield _Draw(number, start, (source, caption), donor_start)

    def replace(
        self,
        start: int,
        count: int,
        inserted: str,
        donor: Caption | None = None,
        donor_start: int | None = None,
    ) -> Degraded:
        """Return the caption with `count` words from `start` on replaced and every other character as it was."""
        text, words = self.caption.caption, self.words
        if " ".join(words) == text:
            text = " ".join((*words[:start], *filter(None, [inserted]), *words[start + count :]))
        else:
            spans = find_words(text)
            before, after = text[: spans[start][0]], text[spans[start + count - 1][1] :]
            text = before + inserted + after if inserted else before.rstrip() + after
        change = _Change(start, count)
        if donor is not None:
            change = _Change(start, count, donor.video_id, donor.sen_id, donor_start)
        return self._record(text, change)

    def refuse(self, flag: str) -> Degraded:
        """Return the record of a caption that cannot be degraded; the flag says why."""
        return self._record(None, _Change(), flag)

    def _record(self, text: str | None, change: _Change, flag: str | None = None) -> Degraded:
        caption, origin = self.caption, (self.settings.variant, GENERATOR, self._seed)
        return Degraded(caption.video_id, caption.sen_id, text, caption.caption, *change, *origin, flag)


def _draw_runs(task: _Task, count: int) -> Sequence[Degraded]:
    """Draw runs of the caption and as many words of donors; return the results with the fewest faults."""
    caption, donors, source_id = task.caption, task.donors, task.source_id
    starts: Sequence[int] = range(task.first + 1, task.end - count) or task.variant.starts(len(task.words), count)
    between = donors.runs_between(caption.language, source_id, task.words, starts, count)
    matched = [*between]
    best: list[Degraded] = []
    fewest = (True, True, True)
    tried: set[tuple[int, str, int, int]] = set()
    for draw in task.draws(0 if matched else _MATCHED_DRAWS):
        is_matched = draw.number < _MATCHED_DRAWS
        if is_matched:
            start = matched[draw.start % len(matched)]
            drawn = donors.draw_run(caption.language, count, between[start], draw.donor_start, not_about=source_id)
        else:
            start = starts[draw.start % len(starts)]
            drawn = _draw_anywhere(task, count, draw)
        if drawn is None:
            continue
        donor, donor_start = drawn
        run = start, donor.video_id, donor.sen_id, donor_start
        if run in tried:
            continue
        tried.add(run)
        donor_words = split_words(donor.caption)
        inserted, removed = donor_words[donor_start : donor_start + count], task.words[start : start + count]
        if _are_alike(inserted, removed) or _are_alike(donor_words, task.words):
            continue
        text = _text_of_words(donor, donor_start, count)
        new_words = content_words(text)
        names_else = bool(new_words) and new_words.isdisjoint(donors.content_words_of(source_id))
        is_harmed = names_else and not content_words(" ".join(removed)) <= new_words
        reads_well = _LOOSE_ENDS.search(text) is None and text.isupper() == caption.caption.isupper()
        faults = (not is_harmed, not reads_well, not is_matched)
        if faults > fewest:
            continue
        form = task.replace(start, count, text, donor, donor_start)
        if donors.has_caption(source_id, form.caption or ""):
            continue
        if faults < fewest:
            best, fewest = [], faults
        best.append(form)
        if len(best) == _MAX_FORMS and not any(fewest):
            break
    return best[:_MAX_FORMS]


def _draw_anywhere(task: _Task, count: int, draw: _Draw) -> tuple[Caption, int] | None:
    """Draw a donor and the start of a run in it, without its first and last word."""
    donor = task.donors.draw(task.caption.language, count + 2, None, draw.donor, not_about=task.source_id)
    if donor is None:
        return None
    _, first, end = inner_words(donor.caption)
    starts = range(first + 1, end - count)
    return donor, starts[draw.donor_start % len(starts)]


def _draw_whole(task: _Task) -> Degraded:
    """Draw a donor of as many words until all of them can replace all of the caption's."""
    count = task.end - task.first
    for draw in task.draws():
        donor = task.donors.draw(task.caption.language, count, count, draw.donor, not_about=task.source_id)
        if donor is None:
            break
        words, first, end = inner_words(donor.caption)
        if not _are_alike(words[first:end], task.words[task.first : task.end]):
            result = task.replace(task.first, count, _text_of_words(donor, first, count), donor, first)
            if not task.donors.has_caption(task.source_id, result.caption or ""):
                return dataclasses.replace(result, flag="whole")
    return task.refuse("no_donor")


def _text_of_words(donor: Caption, start: int, count: int) -> str:
    """Return some words of a caption as they stand there, white space folded."""
    spans = find_words(donor.caption)[start : start + count]
    return " ".join(donor.caption[spans[0][0] : spans[-1][1]].split())


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
    for draw in task.draws():
        start = starts[draw.start % len(starts)]
        if variant.source == "none":
            return task.replace(start, count, "")
        donor = task.donors.draw(task.caption.language, min_words, None, draw.donor, not_about=None)
        if donor is None:
            break
        is_same = (donor.video_id, donor.sen_id) == (task.caption.video_id, task.caption.sen_id)
        if variant.source == "other_caption" and is_same:
            continue
        donor_words, donor_first, donor_end = inner_words(donor.caption)
        donor_starts = max(1, donor_end - donor_first - wanted - variant.donor_first)
        donor_start = donor_first + variant.donor_first + draw.donor_start % donor_starts
        inserted = _text_of_words(donor, donor_start, min(wanted, donor_end - donor_start))
        if variant.lowers:
            first = len(donor_words[donor_start])
            inserted = (inserted[:first].title() if length == 1 else inserted[:first].lower()) + inserted[first:]
        result = task.replace(start, count, inserted, donor, donor_start)
        unchanged = result.caption == task.caption.caption
        return dataclasses.replace(result, flag="unchanged") if unchanged else result
    return task.refuse("no_donor")
