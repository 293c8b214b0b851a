"""Donor captions that words are taken from, and random draws that stay stable when captions are added or removed.

This is consistent hashing: sources, captions and runs of words have points on a circle that depend on nothing but
themselves, and a draw is a point that takes the next one. The order of captions does not matter, and a new one takes
only the draws right before it.
"""

from __future__ import annotations

import functools
from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b

import numpy as np

from vttdata.errors import VttdataError
from vttdata.generate.prefilter import STOP_WORDS
from vttdata.records import Caption
from vttdata.text.lm import NgramModel
from vttdata.text.lm.counts import Integers, model_tokens
from vttdata.text.word_spans import split_words

# A language model reads the other half of the sources alone, so that it has seen neither a caption nor the donors of
# its new words.
_HALVES = 2


def hash64(*values: object) -> int:
    """Return a 64-bit number that depends on these texts and numbers only."""
    return int.from_bytes(blake2b(ascii(values).encode(), digest_size=8).digest(), "little")


def inner_words(caption: str) -> tuple[list[str], int, int]:
    """Return all words of a caption, and the range of words left without detached punctuation at both ends.

    Words are those of `vttdata.text.word_spans`, so punctuation attached to a word belongs to it.
    """
    words = split_words(caption)
    first, end = 0, len(words)
    while end and not any(map(str.isalnum, words[end - 1])):
        end -= 1
    while first < end and not any(map(str.isalnum, words[first])):
        first += 1
    return words, first, end


@dataclass(frozen=True, slots=True)
class _Circle:
    """Captions that fit a request, sorted by the points of their sources and then by their own.

    `ends` are the indices after the last caption of each source, `rows` the numbers of the captions among all donors.
    """

    source_points: Sequence[int]
    ends: Sequence[int]
    caption_points: Sequence[int]
    rows: Sequence[int]

    def draw(self, source_point: int, caption_point: int, excluded: int | None) -> int | None:
        """Return the row that two points draw, not of the source at point `excluded`; None if there is none."""
        number = bisect_left(self.source_points, source_point) % len(self.source_points) if self.source_points else 0
        if self.source_points and self.source_points[number] == excluded:
            number = (number + 1) % len(self.source_points)
        if not self.source_points or self.source_points[number] == excluded:
            return None
        first, end = self.ends[number - 1] if number else 0, self.ends[number]
        index = bisect_left(self.caption_points, caption_point, first, end)
        return self.rows[first if index == end else index]


@dataclass(frozen=True, slots=True)
class _Runs:
    """Runs of as many words, sorted by half and words around them, as one number each, and then by their own points.

    `rows` are the numbers of their captions among all donors, `starts` the positions of their first words there.
    """

    contexts: Sequence[int]
    points: Sequence[int]
    rows: Sequence[int]
    starts: Sequence[int]


def content_words(text: str) -> frozenset[str]:
    """Return the words of a text, in lower case and without punctuation, that are no function words of English."""
    return frozenset(word for word in model_tokens(text) if any(map(str.isalnum, word))) - STOP_WORDS


class Donors:
    """Captions by humans that words are taken from.

    A draw first takes a source, then one of its captions, so that a source with many captions is not more likely. The
    probability of a source is proportional to the gap before it on the circle: the price of stable draws.

    Args:
        captions: in any order; those of other authors give no words.
        source_of: `video_id` -> `source_id`. If omitted, every clip is a source of its own.
    """

    def __init__(self, captions: Iterable[Caption], source_of: Mapping[str, str] | None = None) -> None:
        self._source_of = source_of
        captions = list(captions)
        self._texts: dict[str, set[str]] = {}
        for caption in captions:
            self._texts.setdefault(self.source_of(caption), set()).add(caption.caption)
        human = [caption for caption in captions if caption.author == "human"]
        self._points = {source_id: hash64("source", source_id) for source_id in self._texts}
        source_points = np.array([self._points[self.source_of(caption)] for caption in human], np.uint64)
        caption_points = np.array([hash64("caption", c.video_id, c.sen_id, c.caption) for c in human], np.uint64)
        order = np.lexsort((caption_points, source_points))
        self._captions = [human[index] for index in order]
        self._source_points, self._caption_points = source_points[order], caption_points[order]
        ranges = [inner_words(caption.caption)[1:] for caption in self._captions]
        self._firsts, self._ends = np.array(ranges, np.int32).reshape(-1, 2).T
        self._lengths = self._ends - self._firsts
        self._codes = {code: number for number, code in enumerate(dict.fromkeys(c.language for c in human))}
        self._languages = np.array([self._codes[caption.language] for caption in self._captions], np.int32)
        self._circles: dict[tuple[str, int, int | None], _Circle] = {}
        self._runs: dict[tuple[str, int], _Runs] = {}
        self._words_of: dict[str, frozenset[str]] = {}

    def source_of(self, caption: Caption) -> str:
        """Return the id of the source that a caption is about.

        Raises:
            VttdataError: when sources are given and the caption's clip has none.
        """
        if self._source_of is None:
            return caption.video_id
        try:
            return self._source_of[caption.video_id]
        except KeyError:
            raise VttdataError(f"The source of clip {caption.video_id!a} is not known.") from None

    def has_caption(self, source_id: str, text: str) -> bool:
        """Return whether this text is a caption, by any author, about a source."""
        return text in self._texts.get(source_id, ())

    def content_words_of(self, source_id: str) -> frozenset[str]:
        """Return the content words of all captions, by any author, about a source."""
        if source_id not in self._words_of:
            texts = self._texts.get(source_id, ())
            self._words_of[source_id] = frozenset().union(*map(content_words, texts))
        return self._words_of[source_id]

    @functools.cached_property
    def _word_ids(self) -> tuple[dict[str, int], Integers, Integers]:
        """Return the ids of words, those of all captions one after another, and where each caption begins there."""
        ids: dict[str, int] = {}
        words = [split_words(caption.caption.casefold()) for caption in self._captions]
        flat = np.array([ids.setdefault(word, len(ids)) for own in words for word in own], np.int64)
        begins = np.cumsum([0, *map(len, words)])[:-1]
        return ids, flat, begins

    @functools.cached_property
    def _halves(self) -> Integers:
        return np.array([self.half_of(self.source_of(caption)) for caption in self._captions], np.int64)

    def half_of(self, source_id: str) -> int:
        """Return the half to which a source belongs: 0 or 1."""
        return hash64("half", source_id) % _HALVES

    @functools.cached_property
    def scorers(self) -> Sequence[tuple[NgramModel, NgramModel] | None]:
        """Models of 4-grams and of bigrams for the captions of each half; None where the other half is empty."""
        texts: list[list[str]] = [[] for _ in range(_HALVES)]
        for caption in self._captions:
            texts[1 - self.half_of(self.source_of(caption))] += [caption.caption] * bool(content_words(caption.caption))
        return [
            (NgramModel.train(of_half), NgramModel.train(of_half, order=2)) if of_half else None for of_half in texts
        ]

    def runs_between(
        self, language: str, source_id: str, words: Sequence[str], starts: Iterable[int], count: int
    ) -> dict[int, tuple[int, int]]:
        """Return for each start of a run in a caption of a source the donors' runs that stand between the same words.

        Their captions are of the source's half; `draw_run` takes what is returned. Starts without any are left out.
        """
        ids, runs, half, found = self._word_ids[0], self._runs_of(language, count), self.half_of(source_id), {}
        for start in starts:
            left, right = (ids.get(words[index].casefold()) for index in (start - 1, start + count))
            if left is not None and right is not None:
                context = (half * len(ids) + left) * len(ids) + right
                first = bisect_left(runs.contexts, context)
                end = bisect_right(runs.contexts, context, first)
                if first < end:
                    found[start] = first, end
        return found

    def draw_run(
        self, language: str, count: int, between: tuple[int, int], point: int, *, not_about: str
    ) -> tuple[Caption, int] | None:
        """Return the donor of the run that a point of 64 bits draws among those of `runs_between`, and its start there.

        None where the donor is about the source `not_about`.
        """
        runs = self._runs_of(language, count)
        first, end = between
        index = bisect_left(runs.points, point, first, end)
        index = first if index == end else index
        donor = self._captions[runs.rows[index]]
        return None if self.source_of(donor) == not_about else (donor, runs.starts[index])

    def _runs_of(self, language: str, count: int) -> _Runs:
        if (language, count) in self._runs:
            return self._runs[language, count]
        ids, words, begins = self._word_ids
        # Neither the first nor the last word is taken.
        numbers = np.maximum(self._lengths - count - 1, 0)
        numbers[self._languages != self._codes.get(language, -1)] = 0
        rows = np.repeat(np.arange(len(numbers)), numbers)
        starts = np.arange(len(rows)) - np.repeat(np.cumsum(numbers) - numbers, numbers) + self._firsts[rows] + 1
        positions = begins[rows] + starts
        contexts = (self._halves[rows] * len(ids) + words[positions - 1]) * len(ids) + words[positions + count]
        # The golden ratio spreads the runs of a caption over the circle.
        points = self._caption_points[rows] + starts.astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15)
        order = np.lexsort((points, contexts))
        self._runs[language, count] = _Runs(
            array("q", contexts[order].tobytes()),
            array("Q", points[order].tobytes()),
            array("i", rows[order].astype(np.int32).tobytes()),
            array("i", starts[order].astype(np.int32).tobytes()),
        )
        return self._runs[language, count]

    def draw(
        self, language: str, min_words: int, max_words: int | None, points: tuple[int, int], *, not_about: str | None
    ) -> Caption | None:
        """Draw a caption in a language; None when none fits.

        Words count without detached punctuation at the ends. The points are 64 bits that choose the source, and 64 that
        choose the caption; `not_about` is the id of a source that it must not be about.
        """
        request = language, min_words, max_words
        circle = self._circles.get(request) or self._circles.setdefault(request, self._circle(*request))
        row = circle.draw(*points, self._points.get(not_about) if not_about is not None else None)
        return None if row is None else self._captions[row]

    def _circle(self, language: str, min_words: int, max_words: int | None) -> _Circle:
        fits = (self._lengths >= min_words) & (self._languages == self._codes.get(language, -1))
        if max_words is not None:
            fits &= self._lengths <= max_words
        rows = np.flatnonzero(fits)
        points, firsts = np.unique(self._source_points[rows], return_index=True)
        ends = np.append(firsts[1:], len(rows))
        # Plain arrays are searched without the cost of a NumPy call.
        return _Circle(
            array("Q", points.tobytes()),
            array("q", ends.astype(np.int64).tobytes()),
            array("Q", self._caption_points[rows].tobytes()),
            array("i", rows.astype(np.int32).tobytes()),
        )
