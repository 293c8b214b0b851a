"""Plausibility of a noun in a context, learned from the contexts of nouns in other captions.

It estimates whether what a foil says could be true, from what people hold, sit on or walk into and from what jumps or
pours. How likely a text reads is the business of language models.
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

from vttdata.generate.foils.swaps import ADJECTIVES, DETERMINERS
from vttdata.text.nouns.lexicon import Lexicon, Mention, Noun
from vttdata.text.nouns.mentions import find_mentions

Floats = npt.NDArray[np.float32]

# Logistic regression of verdicts on foils of ActivityNet Captions that were read one by one: its intercept, the
# weights of `Evidence`, and those of the false noun's supercategory. Fitted by `benchmarks/foil_plausibility.py`.
_INTERCEPT = -1.85
_WEIGHTS = (0.38, 0.49, 0.23, 0.04, 0.13, 1.06, -0.28)
SUPERCATEGORY_WEIGHTS = {
    "animal": 1.41,
    "body part": -2.57,
    "building": 0.36,
    "food": -0.08,
    "fruit or vegetable": 0.58,
    "furniture or fixture": 0.40,
    "instrument": 1.34,
    "pastime": -1.50,
    "person": 2.40,
    "place": 0.20,
    "plant": -0.83,
    "road vehicle": 0.65,
    "role": -1.23,
    "something worn": 0.51,
    "sport": -1.15,
    "stuff": -0.22,
    "thing one holds": 0.01,
    "vehicle part": -1.79,
    "watercraft": 0.61,
}
# The last digits of an estimate may differ between machines, and a choice of foils must not.
_DIGITS = 6

_MAX_SUBCATEGORY_NOUNS = 5
_MAX_TOPIC_FIT = 0.3
# A noun this much rarer behind a preposition than expected is refused: nobody stands "on the gym".
_MIN_PREPOSITION_RATIO = 0.25
# Where one noun is seen so often, and that often of all nouns, it makes a phrase with what governs it: "pose for a
# photo", "pool of water". Another noun must have been seen there, too.
_MIN_PHRASE_COUNT, _MIN_PHRASE_SHARE = 3, 0.5
# A noun of another subcategory must have been seen so often in a context: nobody coats a dog but a hot dog.
_MIN_SEEN = 2
# Logarithm from which on a word counts as tied to a noun.
_MIN_TIE = 0.7
# Words of fewer videos say nothing of a topic.
_MIN_TOPIC_VIDEOS = 3
# A noun counts as seen in this many more videos, with the words of an average video.
_PRIOR_VIDEOS = 5
# A form or a synonym is not written if it makes up a smaller share of the mentions of its noun.
_MIN_FORM_SHARE, _MIN_SYNONYM_SHARE = 0.1, 0.03

# Characters on either side of a mention that are searched for its context, which four words decide.
_CONTEXT_CHARACTERS = 120

_TOKEN = re.compile(r"[^\W_]+(?:['\u2019][^\W_]+)*|[.,;:!?]")
_PUNCTUATION = frozenset(".,;:!?")
_PREPOSITIONS = frozenset(
    """of in on with at by for from to into onto over under near behind beside between through across along against
    toward towards around off about like inside outside up down out away back is are was were""".split()
)
_CLAUSE_OPENERS = frozenset(
    """and or but while as then when because where if until since how that who which so before after""".split()
)
# Words skipped between the subject of a clause and its verb.
_FILLERS = frozenset(
    """is are was were be been being am has have had does do did can could will would may might must should
    not then also again now still who that to begins began begin starts started start continues
    continued continue both all really quickly slowly finally""".split()
)
# Words of any topic.
_TOPICLESS = frozenset(
    """the and are then her his she they them their one two with while for from into onto over another
    other person man woman people seen see shows shown show camera video screen continues begin begins
    start starts end ends""".split()
)
# fmt: off
_IRREGULAR_VERBS = {
    "held": "hold", "sat": "sit", "stood": "stand", "threw": "throw", "thrown": "throw", "rode": "ride",
    "ridden": "ride", "wore": "wear", "worn": "wear", "ran": "run", "took": "take", "taken": "take", "went": "go",
    "came": "come", "got": "get", "made": "make", "gave": "give", "given": "give", "fell": "fall",
    "swung": "swing", "drove": "drive", "drank": "drink", "ate": "eat", "caught": "catch", "brought": "bring",
    "shown": "show", "seen": "see", "saw": "see", "spoke": "speak", "sang": "sing", "swam": "swim", "lay": "lie",
    "laid": "lay", "lying": "lie", "cutting": "cut",
}
# fmt: on


class Evidence(NamedTuple):
    """Evidence for a false noun in the place of a true one.

    Attributes:
        same_subcategory: whether both are of one supercategory and one subcategory.
        same_hypernyms: whether the lexicon has both directly below the same nouns: a man and a woman, not a child.
        frequency: logarithm of how often the noun was seen in this context, over what is to be expected.
        subcategory_nouns: how many nouns of its subcategory were seen there, at most 5.
        usual_preposition: whether it is no rarer behind the preposition of the context than anywhere.
        topic_fit: how well it goes with the words of the video, at most 0.3; see `NounUsage.topic_fit`.
        giveaway: by how much a word of the caption is tied more to the true noun than to it, a logarithm from 0.
    """

    same_subcategory: bool
    same_hypernyms: bool
    frequency: float
    subcategory_nouns: int
    usual_preposition: bool
    topic_fit: float
    giveaway: float


class NounUsage:
    """Contexts in which the nouns of a lexicon were seen, and words they were seen with.

    A context is the word that governs a noun: the verb before it ("hold"), or the preposition before it with the word
    before that ("sit on"), or, at the beginning of a clause, the verb that follows ("> jump"). Articles and the
    commonest adjectives between them do not count, and verbs count in any form.
    """

    def __init__(self, videos: Iterable[Sequence[str]], lexicon: Lexicon) -> None:
        self._lexicon = lexicon
        self._nouns: Counter[str] = Counter()
        self._forms: Counter[tuple[str, str]] = Counter()
        self._contexts: Counter[str] = Counter()
        self._nouns_in_context: Counter[tuple[str, str]] = Counter()
        self._category_in_context: defaultdict[tuple[str, tuple[str, str]], Counter[str]] = defaultdict(Counter)
        self._prepositions: Counter[str] = Counter()
        self._nouns_behind_preposition: Counter[tuple[str, str]] = Counter()
        by_video = [[(self._count(text), topic_words(tokenize(text))) for text in texts] for texts in videos]
        whole_videos = [
            (frozenset().union(*(nouns for nouns, _ in texts)), frozenset().union(*(words for _, words in texts)))
            for texts in by_video
        ]
        self._total = max(self._nouns.total(), 1)
        frequencies = Counter(word for _, words in whole_videos for word in words)
        frequent = sorted(word for word, count in frequencies.items() if count >= _MIN_TOPIC_VIDEOS)
        self._columns = {word: column for column, word in enumerate(frequent)}
        self._rows = {noun: row for row, noun in enumerate(sorted(self._nouns))}
        together, size, share = self._count_cooccurrences(whole_videos)
        self._topic_fit = np.log((together + _PRIOR_VIDEOS * share) / (size + _PRIOR_VIDEOS) / share)
        together, size, share = self._count_cooccurrences([caption for texts in by_video for caption in texts])
        self._ties = np.log((together + 1) / (size * share + 1))
        self._last_giveaways: tuple[tuple[str, Mention] | None, Floats] = (None, share)

    def _count(self, text: str) -> set[str]:
        """Count the nouns of a text and their contexts, and return the nouns."""
        mentions = find_mentions(text, self._lexicon)
        for mention in mentions:
            context, noun = find_context(text, mention), mention.noun
            preposition = preposition_of(context)
            self._nouns[noun] += 1
            self._forms[noun, text[mention.start : mention.end].lower()] += 1
            self._contexts[context] += 1
            self._nouns_in_context[context, noun] += 1
            self._category_in_context[context, self._category(noun)][noun] += 1
            self._prepositions[preposition] += 1
            self._nouns_behind_preposition[preposition, noun] += 1
        return {mention.noun for mention in mentions}

    def _count_cooccurrences(self, texts: Sequence[tuple[Set[str], Set[str]]]) -> tuple[Floats, Floats, Floats]:
        """Return numbers of texts with a noun (rows) and a word (columns), and with a noun, and shares with a word."""
        together = np.zeros((len(self._rows), len(self._columns)), np.float32)
        size, frequency = np.zeros((len(self._rows), 1), np.float32), np.zeros(len(self._columns), np.float32)
        for nouns, words in texts:
            columns = [self._columns[word] for word in words if word in self._columns]
            frequency[columns] += 1
            for noun in nouns:
                together[self._rows[noun], columns] += 1
                size[self._rows[noun]] += 1
        return together, size, (frequency / max(len(texts), 1)).astype(np.float32)

    def topic_fit(self, words: Iterable[str]) -> Mapping[str, float]:
        """Return for each noun how well it goes with the words of a video: 0 as with any, negative worse."""
        columns = sorted(self._columns[word] for word in topic_words(words) if word in self._columns)
        if not columns:
            return dict.fromkeys(self._rows, 0.0)
        return dict(zip(self._rows, self._topic_fit[:, columns].mean(axis=1).tolist(), strict=True))

    def common_spellings(self, noun: Noun, plural: bool) -> list[tuple[str, str]]:
        """List the name of a noun and its common synonyms of one word, each with its form in a number.

        A form is left out in which the noun was hardly ever seen ("mouths").
        """
        forms = [(name, many if plural else name) for name, many in noun.spellings()]
        return [
            (name, form)
            for name, form in forms
            if (name == noun.name or " " not in name)
            and self._forms[noun.name, form]
            >= (_MIN_FORM_SHARE if name == noun.name else _MIN_SYNONYM_SHARE) * self._nouns[noun.name]
        ]

    def _category(self, name: str) -> tuple[str, str]:
        noun = self._lexicon.nouns[name]
        return noun.supercategory, noun.subcategory

    def unsound_probability(
        self, text: str, mention: Mention, noun: str, topic_fit: Mapping[str, float]
    ) -> float | None:
        """Estimate the probability, from 0 to 1, that a noun in the place of a mention makes no sound foil.

        The noun is of the same supercategory, and not in the video. None for a noun that hardly ever stands behind the
        preposition before the mention, and for one of another subcategory than the true noun that was seen in such a
        context less than twice, and for one that was never seen where half of all nouns are the true one, as in a fixed
        phrase.
        """
        evidence = self.evidence(text, mention, noun, topic_fit)
        if evidence is None:
            return None
        prior = SUPERCATEGORY_WEIGHTS.get(self._category(noun)[0], 0.0)
        return round(1 / (1 + math.exp(_INTERCEPT + prior + sum(map(operator.mul, _WEIGHTS, evidence)))), _DIGITS)

    def evidence(self, text: str, mention: Mention, noun: str, topic_fit: Mapping[str, float]) -> Evidence | None:
        """Collect the evidence for a noun in the place of a mention; arguments and None as in `unsound_probability`."""
        context = find_context(text, mention)
        same_subcategory = self._category(noun) == self._category(mention.noun)
        seen = self._nouns_in_context[context, noun]
        true_seen = self._nouns_in_context[context, mention.noun]
        # Many verbs have one subject as a rule, and yet others, too.
        is_phrase = not context.startswith(">") and true_seen >= max(
            _MIN_PHRASE_COUNT, _MIN_PHRASE_SHARE * self._contexts[context]
        )
        preposition_ratio = self._preposition_ratio(context, noun)
        if preposition_ratio < _MIN_PREPOSITION_RATIO or not (same_subcategory or seen >= _MIN_SEEN):
            return None
        if is_phrase and not seen:
            return None
        expected = self._contexts[context] * self._nouns[noun] / self._total
        return Evidence(
            same_subcategory,
            self._lexicon.nouns[noun].hypernyms == self._lexicon.nouns[mention.noun].hypernyms,
            math.log((seen + 0.5) / (expected + 0.5)),
            min(len(self._category_in_context.get((context, self._category(noun)), ())), _MAX_SUBCATEGORY_NOUNS),
            bool(preposition_of(context)) and preposition_ratio >= 1,
            min(topic_fit.get(noun, 0.0), _MAX_TOPIC_FIT),
            float(self._giveaways(text, mention)[self._rows[noun]]) if noun in self._rows else 0.0,
        )

    def _giveaways(self, text: str, mention: Mention) -> Floats:
        """Return for each noun by how much a word beside a mention is tied more to the true noun than to it."""
        # All false nouns of a mention are asked for in a row, so the last result is the only one worth keeping.
        if self._last_giveaways[0] != (text, mention):
            in_mention = topic_words(tokenize(text[mention.start : mention.end]))
            words = topic_words(tokenize(text)) - in_mention
            columns = sorted(self._columns[word] for word in words if word in self._columns)
            row = self._rows.get(mention.noun)
            tied = [] if row is None else [column for column in columns if self._ties[row, column] > _MIN_TIE]
            giveaways = np.max(self._ties[row, tied] - self._ties[:, tied], axis=1, initial=0.0)
            self._last_giveaways = (text, mention), giveaways
        return self._last_giveaways[1]

    def _preposition_ratio(self, context: str, noun: str) -> float:
        """Return how often a noun stands behind the preposition of a context over what is expected; 1 if unknown."""
        preposition = preposition_of(context)
        expected = self._prepositions[preposition] * self._nouns[noun] / self._total
        if not preposition or expected < 1:
            return 1.0
        return self._nouns_behind_preposition[preposition, noun] / expected


@functools.lru_cache(maxsize=1024)
def find_context(text: str, mention: Mention) -> str:
    """Return what governs a mention, as described at `NounUsage`; empty where nothing does."""
    before = tokenize(text[max(0, mention.start - _CONTEXT_CHARACTERS) : mention.start])
    after = tokenize(text[mention.end : mention.end + _CONTEXT_CHARACTERS])
    while before and (before[-1] in DETERMINERS or before[-1] in ADJECTIVES or before[-1].endswith(("'s", "\u2019s"))):
        before.pop()
    word = before[-1] if before else "."
    if word in _PUNCTUATION or word in _CLAUSE_OPENERS:
        verb = next((token for token in after if token not in _FILLERS), ".")
        if verb not in _PUNCTUATION and verb not in _CLAUSE_OPENERS and verb not in _PREPOSITIONS:
            return f"> {stem(verb)}"
    if word in _PUNCTUATION:
        return ""
    if word in _PREPOSITIONS or word in _CLAUSE_OPENERS:
        return f"{stem(before[-2]) if len(before) > 1 else ''} {word}"
    return stem(word)


def preposition_of(context: str) -> str:
    """Return the preposition of a context; empty where a verb governs."""
    before, _, preposition = context.partition(" ")
    return preposition if before != ">" else ""


def tokenize(text: str) -> list[str]:
    """Return the lower-cased words and punctuation signs of a text."""
    return _TOKEN.findall(text.lower())


def topic_words(words: Iterable[str]) -> set[str]:
    """Return the stems of words that say something of a topic."""
    return {stem(word) for word in words if len(word) > 2 and word not in _TOPICLESS}


@functools.lru_cache(maxsize=1 << 16)
def stem(word: str) -> str:
    """Return a word without its ending; not always an English word, but the same for all forms of most verbs."""
    word = _IRREGULAR_VERBS.get(word, word)
    for ending in ("ing", "ed", "es", "s"):
        if word.endswith(ending) and len(word) > len(ending) + 2:
            word = word[: -len(ending)]
            break
    if len(word) > 3 and word[-1] == word[-2]:
        word = word[:-1]
    return word.removesuffix("e")
