"""Learns from captions which nouns stand where: what people hold, sit on or walk into, and what jumps or pours.

It answers whether a noun was ever seen in such a place; how likely a text is, is the business of language models.
"""

from __future__ import annotations

import functools
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence

import numpy as np

from vttdata.generate.surroundings import ADJECTIVES, DETERMINERS
from vttdata.text.concepts import find_mentions
from vttdata.text.lexicon import Lexicon, Mention

_TOKEN = re.compile(r"[^\W_]+(?:['\u2019][^\W_]+)*|[.,;:!?]")
# How much is doubted, and from where on a noun is out of place, was set by reading foils of ActivityNet Captions.
_OTHER_KIND_GOES = -0.25
_OFTEN = 2
_ONCE = 0.2
_MUCH_LESS = 0.25
_SEVERAL = 3
_KIND_SEEN = 0.25
_UNSEEN = 0.5
_MOST = 0.6

_RARE = 3
"""Words of fewer videos tell nothing of a topic."""

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
        self._places: Counter[str] = Counter()
        self._kinds: Counter[tuple[str, str]] = Counter()
        self._kind_seen: defaultdict[tuple[str, tuple[str, str]], Counter[str]] = defaultdict(Counter)
        self._links: Counter[str] = Counter()
        self._link_seen: Counter[tuple[str, str]] = Counter()
        shown: list[tuple[set[str], set[str]]] = []
        for texts in videos:
            nouns = {mention.noun for text in texts for mention in self._count(text)}
            shown.append((nouns, _stems(word for text in texts for word in _TOKEN.findall(text.lower()))))
        self._total = max(self._nouns.total(), 1)
        self._learn_company(shown)

    def _count(self, text: str) -> Iterator[Mention]:
        for mention in find_mentions(text, self._lexicon):
            place, noun = place_of(text, mention), mention.noun
            self._nouns[noun] += 1
            self._seen[place, noun] += 1
            self._places[place] += 1
            self._kinds[self._kind(noun)] += 1
            self._kind_seen[place, self._kind(noun)][noun] += 1
            self._links[_link(place)] += 1
            self._link_seen[_link(place), noun] += 1
            yield mention

    def _learn_company(self, shown: Sequence[tuple[set[str], set[str]]]) -> None:
        """How much likelier each word is in videos with a noun than in all, as a logarithm."""
        often = Counter(word for _, words in shown for word in words)
        self._columns = {word: place for place, word in enumerate(sorted(w for w, n in often.items() if n >= _RARE))}
        self._rows = {noun: place for place, noun in enumerate(sorted(self._nouns))}
        together = np.zeros((len(self._rows), len(self._columns)))
        for nouns, words in shown:
            columns = [self._columns[word] for word in words if word in self._columns]
            for noun in nouns:
                together[self._rows[noun], columns] += 1
        share = np.array([often[word] for word in self._columns]) / max(len(shown), 1)
        videos = Counter(noun for nouns, _ in shown for noun in nouns)
        size = np.array([videos[noun] for noun in self._rows])[:, None]
        self._company = np.log((together + _PRIOR * share) / (size + _PRIOR) / share)

    def company(self, words: Iterable[str]) -> Mapping[str, float]:
        """For each noun how well it goes with the words of a video: 0 as with any, below it goes with other things."""
        columns = sorted(self._columns[word] for word in _stems(words) if word in self._columns)
        if not columns:
            return dict.fromkeys(self._rows, 0.0)
        return dict(zip(self._rows, self._company[:, columns].mean(axis=1).tolist(), strict=True))

    def _kind(self, name: str) -> tuple[str, str]:
        noun = self._lexicon.nouns[name]
        return noun.supercategory, noun.kind

    def doubt(self, text: str, mention: Mention, noun: str, company: Mapping[str, float]) -> float | None:
        """How doubtful `noun` is where `mention` stands, from 0 to 1.

        It is less doubtful the better it goes with the words of the video, and when it, or else several others of its
        kind, were seen in such a place.

        Args:
            text: a caption.
            mention: what it mentions.
            noun: of the same supercategory as what is mentioned.
            company: of the video; see `company`.

        Returns:
            None when it is out of place: when it was seen there much less often than may be expected, goes with other
            things than these, or is of another kind than what is mentioned and was never seen there.
        """
        place = place_of(text, mention)
        seen = self._seen[place, noun]
        expected = self._places[place] * self._nouns[noun] / self._total
        goes = company.get(noun, 0.0)
        if self._kind(noun) != self._kind(mention.noun):
            if goes < _OTHER_KIND_GOES or not seen or seen < expected:
                return None
            unknown = 0.0 if seen >= _OFTEN * max(expected, 1) else _ONCE
        elif seen:
            if seen < _MUCH_LESS * expected:
                return None
            unknown = 0.0
        else:
            alike = self._kind_seen.get((place, self._kind(noun)), Counter())
            if alike and alike.total() * self._nouns[noun] >= self._kinds[self._kind(noun)]:
                return None  # of so many of its kind one at least would have been seen
            unknown = _KIND_SEEN if len(alike) >= _SEVERAL or self._linked(place, noun) else _UNSEEN
        doubt = max(0.0, -goes) + unknown
        return doubt if doubt <= _MOST else None

    def _linked(self, place: str, noun: str) -> bool:
        """Whether a noun is no rarer behind the preposition of a place than anywhere."""
        link = _link(place)
        return bool(link) and self._link_seen[link, noun] * self._total >= self._links[link] * self._nouns[noun]


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
