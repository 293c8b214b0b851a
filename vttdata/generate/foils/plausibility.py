"""Learns from captions which nouns stand where: what people hold, sit on or walk into, and what jumps or pours.

It answers whether a noun was ever seen in such a place; how likely a text is, is the business of language models.
"""

from __future__ import annotations

import functools
import math
import operator
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence, Set
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from vttdata.generate.foils.context import ADJECTIVES, DETERMINERS
from vttdata.text.nouns.lexicon import Lexicon, Mention, Noun
from vttdata.text.nouns.mentions import find_mentions

Floats = npt.NDArray[np.float32]

_TOKEN = re.compile(r"[^\W_]+(?:['\u2019][^\W_]+)*|[.,;:!?]")
# A logistic regression on foils of ActivityNet Captions that were read one by one: `python benchmarks/foil_doubt.py`.
_ALL = -1.71
_WEIGHTS = (0.62, 0.25, 0.05, 0.18, 0.99, -0.35)
SUPERCATEGORIES = {
    "animal": 1.47,
    "body part": -2.35,
    "building": 0.24,
    "food": -0.12,
    "fruit or vegetable": 0.04,
    "furniture or fixture": 0.66,
    "instrument": 1.48,
    "pastime": -1.53,
    "person": 2.45,
    "place": 0.35,
    "plant": -0.81,
    "road vehicle": 1.11,
    "role": -1.38,
    "something worn": 0.76,
    "sport": -1.09,
    "stuff": -0.16,
    "thing one holds": 0.05,
    "vehicle part": -1.66,
    "watercraft": 0.65,
}
"""How much sounder foils of a supercategory are than those of one that is not here."""

_MOST_ALIKE = 5
_GOES_AT_MOST = 0.3
_TIED = 0.7
_DIGITS = 6  # the last ones may differ between machines
_MUCH_LESS = 0.25  # of what is to be expected: nobody stands "on the gym"

_RARE = 3
"""Words of fewer videos tell nothing of a topic."""

_FORM, _SYNONYM = 0.1, 0.03
"""A number or a synonym that is a smaller part of the mentions of a noun is not written."""

_PRIOR = 5
"""Of so many videos a noun's company is taken for that of all nouns, beside those it was seen in."""

_STOPS = frozenset(".,;:!?")
_SPAN = 120
"""Characters on either side that are looked at; the place is decided by four words."""


def _set(words: str) -> frozenset[str]:
    return frozenset(words.split())


_LINKS = _set(
    "of in on with at by for from to into onto over under near behind beside between through across along "
    "against toward towards around off about like inside outside up down out away back is are was were "
)
_CLAUSES = _set("and or but while as then when because where if until since how that who which so before after ")
_FILLERS = _set(
    "is are was were be been being am has have had does do did can could will would may might must should "
    "not then also again now still who that to begins began begin starts started start continues "
    "continued continue both all really quickly slowly finally "
)
_EVERYWHERE = _set(
    "the and are then her his she they them their one two with while for from into onto over another "
    "other person man woman people seen see shows shown show camera video screen continues begin begins "
    "start starts end ends "
)
# fmt: off
_IRREGULAR = {
    "held": "hold", "sat": "sit", "stood": "stand", "threw": "throw", "thrown": "throw", "rode": "ride",
    "ridden": "ride", "wore": "wear", "worn": "wear", "ran": "run", "took": "take", "taken": "take", "went": "go",
    "came": "come", "got": "get", "made": "make", "gave": "give", "given": "give", "fell": "fall",
    "swung": "swing", "drove": "drive", "drank": "drink", "ate": "eat", "caught": "catch", "brought": "bring",
    "shown": "show", "seen": "see", "saw": "see", "spoke": "speak", "sang": "sing", "swam": "swim", "lay": "lie",
    "laid": "lay", "lying": "lie", "cutting": "cut",
}
# fmt: on


class Evidence(NamedTuple):
    """What is known of a noun in the place of another one.

    Attributes:
        same: whether the two are of one kind.
        seen: the logarithm of how often it was seen in such a place over what is to be expected.
        alike: how many nouns of its kind were seen there, at most 5.
        linked: whether it is no rarer behind the preposition of the place than anywhere.
        goes: how well it goes with the words of the video, at most 0.3; see `Usage.company`.
        told: how much more a word of the caption is tied to what is mentioned, as a logarithm, from 0.
    """

    same: bool
    seen: float
    alike: int
    linked: bool
    goes: float
    told: float


class Usage:
    """In which places the nouns of a lexicon were seen, and with which words.

    A place is what governs a noun: the verb before it ("hold"), or the preposition before it with the word before that
    ("sit on"), or, for what begins a clause, the verb that follows ("> jump"). Articles and the commonest adjectives
    between them do not count, and verbs count in any form.

    Args:
        videos: the texts of each video.
        lexicon: of the nouns.
    """

    def __init__(self, videos: Iterable[Sequence[str]], lexicon: Lexicon) -> None:
        self._lexicon = lexicon
        self._seen: Counter[tuple[str, str]] = Counter()
        self._nouns: Counter[str] = Counter()
        self._forms: Counter[tuple[str, str]] = Counter()
        self._places: Counter[str] = Counter()
        self._kind_seen: defaultdict[tuple[str, tuple[str, str]], Counter[str]] = defaultdict(Counter)
        self._links: Counter[str] = Counter()
        self._link_seen: Counter[tuple[str, str]] = Counter()
        texts = [[(self._count(text), _stems(_words(text))) for text in own] for own in videos]
        whole = [(frozenset().union(*(n for n, _ in own)), frozenset().union(*(w for _, w in own))) for own in texts]
        self._total = max(self._nouns.total(), 1)
        often = Counter(word for _, words in whole for word in words)
        self._columns = {word: place for place, word in enumerate(sorted(w for w, n in often.items() if n >= _RARE))}
        self._rows = {noun: place for place, noun in enumerate(sorted(self._nouns))}
        together, size, share = self._together(whole)
        self._company = np.log((together + _PRIOR * share) / (size + _PRIOR) / share)
        together, size, share = self._together([one for own in texts for one in own])
        self._last: tuple[tuple[str, Mention] | None, Floats] = (None, share)
        self._ties = np.log((together + 1) / (size * share + 1))

    def _count(self, text: str) -> set[str]:
        """The nouns of a text, whose places are counted."""
        mentions = find_mentions(text, self._lexicon)
        for mention in mentions:
            place, noun = place_of(text, mention), mention.noun
            self._nouns[noun] += 1
            self._forms[noun, text[mention.start : mention.end].lower()] += 1
            self._seen[place, noun] += 1
            self._places[place] += 1
            self._kind_seen[place, self._kind(noun)][noun] += 1
            self._links[_link(place)] += 1
            self._link_seen[_link(place), noun] += 1
        return {mention.noun for mention in mentions}

    def _together(self, shown: Sequence[tuple[Set[str], Set[str]]]) -> tuple[Floats, Floats, Floats]:
        """Of some nouns and words: how many have each noun with each word, and each noun; the share with each word."""
        together = np.zeros((len(self._rows), len(self._columns)), np.float32)
        size, often = np.zeros((len(self._rows), 1), np.float32), np.zeros(len(self._columns), np.float32)
        for nouns, words in shown:
            columns = [self._columns[word] for word in words if word in self._columns]
            often[columns] += 1
            for noun in nouns:
                together[self._rows[noun], columns] += 1
                size[self._rows[noun]] += 1
        return together, size, (often / max(len(shown), 1)).astype(np.float32)

    def company(self, words: Iterable[str]) -> Mapping[str, float]:
        """For each noun how well it goes with the words of a video: 0 as with any, below it goes with other things."""
        columns = sorted(self._columns[word] for word in _stems(words) if word in self._columns)
        if not columns:
            return dict.fromkeys(self._rows, 0.0)
        return dict(zip(self._rows, self._company[:, columns].mean(axis=1).tolist(), strict=True))

    def writings(self, noun: Noun, plural: bool) -> list[tuple[str, str]]:
        """How a noun is written: by its name and by those single words for it that are common, each with its form.

        A form is left out in which the noun was hardly ever seen ("mouths").
        """
        forms = [(one, many if plural else one) for one, many in noun.spellings() if one == noun.name or " " not in one]
        often = self._nouns[noun.name]
        least = {one: (_FORM if one == noun.name else _SYNONYM) * often for one, _ in forms}
        return [(one, form) for one, form in forms if self._forms[noun.name, form] >= least[one]]

    def _kind(self, name: str) -> tuple[str, str]:
        noun = self._lexicon.nouns[name]
        return noun.supercategory, noun.kind

    def unsound_probability(self, text: str, mention: Mention, noun: str, company: Mapping[str, float]) -> float | None:
        """How likely `noun` would be no sound foil where `mention` stands: a share from 0 to 1.

        Args:
            text: a caption.
            mention: what it mentions.
            noun: of the same supercategory as what is mentioned, and not in the video.
            company: of the video; see `company`.

        Returns:
            None for a noun that hardly ever stands behind the preposition before the mention, and for one of another
            kind than what is mentioned that was never seen in such a place.
        """
        found = self.evidence(text, mention, noun, company)
        if found is None:
            return None
        usual = SUPERCATEGORIES.get(self._kind(noun)[0], 0.0)
        return round(1 / (1 + math.exp(_ALL + usual + sum(map(operator.mul, _WEIGHTS, found)))), _DIGITS)

    def evidence(self, text: str, mention: Mention, noun: str, company: Mapping[str, float]) -> Evidence | None:
        """Return what is known for and against a noun in the place of a mention, as for `unsound_probability`."""
        place = place_of(text, mention)
        same = self._kind(noun) == self._kind(mention.noun)
        seen = self._seen[place, noun]
        if self._behind(place, noun) < _MUCH_LESS or not (same or seen):
            return None
        expected = self._places[place] * self._nouns[noun] / self._total
        return Evidence(
            same,
            math.log((seen + 0.5) / (expected + 0.5)),
            min(len(self._kind_seen.get((place, self._kind(noun)), ())), _MOST_ALIKE),
            bool(_link(place)) and self._behind(place, noun) >= 1,
            min(company.get(noun, 0.0), _GOES_AT_MOST),
            float(self._told(text, mention)[self._rows[noun]]) if noun in self._rows else 0.0,
        )

    def _told(self, text: str, mention: Mention) -> Floats:
        """For each noun how much more, as a logarithm, a word beside a mention is tied to what is mentioned; from 0."""
        if self._last[0] != (text, mention):
            own = _stems(_words(text[mention.start : mention.end]))
            words = sorted(self._columns[word] for word in _stems(_words(text)) - own if word in self._columns)
            row = self._rows.get(mention.noun)
            tied = [] if row is None else [column for column in words if self._ties[row, column] > _TIED]
            told = np.max(self._ties[row, tied] - self._ties[:, tied], axis=1, initial=0.0)
            self._last = (text, mention), told
        return self._last[1]

    def _behind(self, place: str, noun: str) -> float:
        """How often a noun stands behind a place's preposition over what is to be expected; 1 if nothing is."""
        link = _link(place)
        expected = self._links[link] * self._nouns[noun] / self._total
        return self._link_seen[link, noun] / expected if link and expected >= 1 else 1.0


def _words(text: str) -> list[str]:
    return _TOKEN.findall(text.lower())


@functools.lru_cache(maxsize=1024)
def place_of(text: str, mention: Mention) -> str:
    """What governs a mention; empty where nothing does."""
    before = _TOKEN.findall(text[max(0, mention.start - _SPAN) : mention.start].lower())
    after = _TOKEN.findall(text[mention.end : mention.end + _SPAN].lower())
    while before and (before[-1] in DETERMINERS or before[-1] in ADJECTIVES or before[-1].endswith(("'s", "\u2019s"))):
        before.pop()
    word = before[-1] if before else "."
    if word in _STOPS or word in _CLAUSES:
        verb = next((own for own in after if own not in _FILLERS), ".")
        if verb not in _STOPS and verb not in _CLAUSES and verb not in _LINKS:
            return f"> {_stem(verb)}"
    if word in _STOPS:
        return ""
    if word in _LINKS or word in _CLAUSES:
        return f"{_stem(before[-2]) if len(before) > 1 else ''} {word}"
    return _stem(word)


def _stems(words: Iterable[str]) -> set[str]:
    """What tells the topic of a text."""
    return {_stem(word) for word in words if len(word) > 2 and word not in _EVERYWHERE}


def _link(place: str) -> str:
    """The preposition of a place, or nothing where a verb governs."""
    before, _, link = place.partition(" ")
    return link if before != ">" else ""


def _stem(word: str) -> str:
    """A word without the ending of its form; not a word of English, but the same for all forms of most verbs."""
    word = _IRREGULAR.get(word, word)
    for ending in ("ing", "ed", "es", "s"):
        if word.endswith(ending) and len(word) > len(ending) + 2:
            word = word[: -len(ending)]
            break
    if len(word) > 3 and word[-1] == word[-2]:
        word = word[:-1]
    return word.removesuffix("e")
