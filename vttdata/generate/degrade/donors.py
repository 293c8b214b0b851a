"""The captions that words can be taken from, and a draw among them that hardly changes when captions come or go.

Sources and captions have places on a circle that depend on nothing but themselves; a draw is a point on it and takes
the next one. So the order in which captions come does not matter, and a new one takes only the points before it.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any

import numpy as np

from vttdata.errors import VttdataError
from vttdata.records import Caption


def point(*values: object) -> int:
    """A place on the circle, 64 bits, that depends on these texts and numbers only."""
    return int.from_bytes(blake2b(ascii(values).encode(), digest_size=8).digest(), "little")


def inner_words(caption: str) -> tuple[list[str], int, int]:
    """All words of a caption, and where they begin and end when punctuation that stands free at the ends is left out.

    Words are what white space separates, so punctuation that touches a word belongs to it.
    """
    words = caption.split()
    first, end = 0, len(words)
    while end and not _has_sign(words[end - 1]):
        end -= 1
    while first < end and not _has_sign(words[first]):
        first += 1
    return words, first, end


def _has_sign(word: str) -> bool:
    return word.isalnum() or any(map(str.isalnum, word))


@dataclass(frozen=True, slots=True)
class _Circle:
    """Some of the captions, source by source: `ends[n - 1]` to `ends[n]` are those of the n-th source."""

    sources: array[int]
    ends: Sequence[int]
    captions: array[int]
    rows: Sequence[int]

    def draw(self, source_point: int, caption_point: int, but: int | None) -> int | None:
        """The row at these points, which is of no source at the place `but`; None when there is none."""
        number = bisect_left(self.sources, source_point) % len(self.sources) if self.sources else 0
        if self.sources and self.sources[number] == but:
            number = (number + 1) % len(self.sources)
        if not self.sources or self.sources[number] == but:
            return None
        first, end = self.ends[number - 1] if number else 0, self.ends[number]
        place = bisect_left(self.captions, caption_point, first, end)
        return self.rows[first if place == end else place]


class Donors:
    """Captions by humans, to take words from.

    Args:
        captions: in any order; those of other authors give no words.
        source_of: `video_id` -> `source_id`. Without it every clip counts as a source of its own.

    A draw first takes a source, then one of its captions, so that a source with many captions is no likelier donor.
    How likely a source is drawn goes with the gap before it on the circle, which is the price of draws that stay.
    """

    def __init__(self, captions: Iterable[Caption], source_of: Mapping[str, str] | None = None) -> None:
        self._source_of = source_of
        known = list(captions)
        self._texts: dict[str, set[str]] = {}
        for caption in known:
            self._texts.setdefault(self.source_of(caption), set()).add(caption.caption)
        human = [caption for caption in known if caption.author == "human"]
        self._points = {source_id: point("source", source_id) for source_id in self._texts}
        sources = np.array([self._points[self.source_of(caption)] for caption in human], np.uint64)
        own = np.array([point("caption", c.video_id, c.sen_id, c.caption) for c in human], np.uint64)
        order = np.lexsort((own, sources))
        self._captions = [human[place] for place in order]
        self._sources, self._own = sources[order], own[order]
        self._lengths = np.array([_inner_length(caption.caption) for caption in self._captions], np.int32)
        self._codes = {code: number for number, code in enumerate(dict.fromkeys(c.language for c in human))}
        self._languages = np.array([self._codes[caption.language] for caption in self._captions], np.int32)
        self._circles: dict[tuple[str, int, int | None], _Circle] = {}

    def source_of(self, caption: Caption) -> str:
        """The id of the source that a caption is about.

        Raises:
            VttdataError: when sources are given and the caption's clip has none.
        """
        if self._source_of is None:
            return caption.video_id
        try:
            return self._source_of[caption.video_id]
        except KeyError:
            raise VttdataError(f"The source of clip {caption.video_id!a} is not known.") from None

    def says(self, source_id: str, text: str) -> bool:
        """Whether one of the captions about this source, by whomever, is this text."""
        return text in self._texts.get(source_id, ())

    def draw(
        self, language: str, least: int, most: int | None, points: tuple[int, int], *, but: str | None
    ) -> Caption | None:
        """One caption, or None when there is none.

        Args:
            language: of the caption, as in `Caption`.
            least: how many words it has at least, punctuation that stands free at its ends not counted.
            most: how many words it has at most; None for any number.
            points: 64 bits that choose the source, and 64 that choose the caption.
            but: the source that it must not be about.
        """
        key = language, least, most
        circle = self._circles.get(key) or self._circles.setdefault(key, self._circle(*key))
        row = circle.draw(*points, self._points.get(but) if but is not None else None)
        return None if row is None else self._captions[row]

    def _circle(self, language: str, least: int, most: int | None) -> _Circle:
        fits = (self._lengths >= least) & (self._languages == self._codes.get(language, -1))
        if most is not None:
            fits &= self._lengths <= most
        rows = np.flatnonzero(fits)
        sources, firsts = np.unique(self._sources[rows], return_index=True)
        ends = np.append(firsts[1:], len(rows)).astype(np.int64)
        return _Circle(_numbers(sources), array("q", ends.tobytes()), _numbers(self._own[rows]), _places(rows))


def _inner_length(caption: str) -> int:
    _, first, end = inner_words(caption)
    return end - first


def _numbers(values: Any) -> array[int]:
    """The same numbers where searching them costs no NumPy call each."""
    return array("Q", values.astype(np.uint64).tobytes())


def _places(rows: Any) -> array[int]:
    return array("i", rows.astype(np.int32).tobytes())
