"""Finds the swaps of one noun that turn a true caption into a false one and leave its language as right as it was.

A swap changes one span: a noun, and with it an article that stands right before it and must change. Whether a swap is
plausible is not judged here; `vttdata.generate.foils.selection` chooses by score.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from vttdata.generate.foils.context import begins, fits_here, shows_age
from vttdata.text.nouns.inflect import indefinite_article
from vttdata.text.nouns.lexicon import Lexicon, Noun
from vttdata.text.nouns.mentions import Mention, possible_nouns

_WORD = re.compile(r"[^\W_]+(?:['\u2019][^\W_]+)*")
_PRONOUNS = {"he": "male", "him": "male", "his": "male", "himself": "male"} | dict.fromkeys(
    ("she", "her", "hers", "herself"), "female"
)
_PERSON = "person"
UnsoundProbability = Callable[[str, Mention, str], float | None]
Writings = Callable[[Noun, bool], Iterable[tuple[str, str]]]
_ARTICLE = re.compile(r"\b(an?)( +)$", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Swap:
    """A change of one span of a text.

    Fields:
        start, end: the span of the true text, in characters; half-open.
        replacement: what the foil has there.
        concept, foil_concept: the nouns of the lexicon, true and false.
        supercategory: of both.
        word, foil_word: the nouns as they are written, in lower case and without an article.
        others: how many more mentions in the document are of the concept or of one that looks alike.
        unsound_probability: that the foil is not sound; see
        `vttdata.generate.foils.plausibility.Usage.unsound_probability`.
        foil_name: the false noun or the synonym of it that is written, singular.
    """

    start: int
    end: int
    replacement: str
    concept: str
    foil_concept: str
    supercategory: str
    word: str
    foil_word: str
    others: int
    unsound_probability: float = 0.0
    foil_name: str = ""

    def apply(self, text: str) -> str:
        """The foil: the text with this span replaced."""
        return text[: self.start] + self.replacement + text[self.end :]


@dataclass(frozen=True, slots=True)
class Contents:
    """What some texts speak of.

    Fields:
        nouns: how often each noun of the lexicon is mentioned.
        possible: all nouns that a word could name, in doubt included, and those that annotations give.
        words: in lower case, and how often each is written.
        genders: of the pronouns.
    """

    nouns: Mapping[str, int]
    possible: frozenset[str]
    words: Mapping[str, int]
    genders: frozenset[str]


def contents_of(
    texts: Iterable[tuple[str, Sequence[Mention]]], lexicon: Lexicon, names: Iterable[str] = ()
) -> Contents:
    """What texts with their mentions speak of; `names` are further nouns or pronouns that annotations give."""
    nouns: Counter[str] = Counter()
    possible: set[str] = set()
    words: Counter[str] = Counter(name.lower() for name in names)
    for name in list(words):
        possible |= possible_nouns(name, lexicon)
    for text, mentions in texts:
        nouns.update(mention.noun for mention in mentions)
        possible |= possible_nouns(text, lexicon)
        words.update(match[0].lower() for match in _WORD.finditer(text))
    genders = frozenset(_PRONOUNS[word] for word in words if word in _PRONOUNS)
    return Contents(nouns, frozenset(possible | nouns.keys()), words, genders)


def pair_concepts(counts: Mapping[str, int], lexicon: Lexicon, *, min_count: int) -> dict[str, tuple[Noun, ...]]:
    """Concept -> the concepts it may be swapped for, as in section 4.2 of the EMScore paper (Shi et al., CVPR 2022).

    Args:
        counts: how often each concept is mentioned in the whole corpus.
        lexicon: decides what is of one supercategory and what is a synonym, hypernym or hyponym.
        min_count: concepts that are mentioned less often are neither swapped nor swapped in.
    """
    frequent = {name for name, count in counts.items() if count >= min_count}
    paired = {
        name: tuple(sorted((rival for rival in lexicon.rivals(name) if rival.name in frequent), key=lambda n: n.name))
        for name in sorted(frequent)
    }
    return {name: rivals for name, rivals in paired.items() if rivals}


def absent(rivals: Mapping[str, Sequence[Noun]], video: Contents, lexicon: Lexicon) -> dict[str, tuple[Noun, ...]]:
    """What of the pairs a video leaves: no noun that its texts mention, no relative of one, in whatever spelling.

    Pronouns count as persons of their gender, so no man becomes a woman where a text says "her" of anybody; a child
    may be the one who is meant, where only one of "he" and "she" is said.
    """
    free: dict[str, bool] = {}
    present = [name for name in video.possible if not lexicon.nouns[name].vague]

    def is_free(noun: Noun) -> bool:
        if noun.name not in free:
            free[noun.name] = not {form.lower() for form, _ in noun.forms()} & video.words.keys() and not any(
                lexicon.related(noun.name, other) for other in present
            )
        return free[noun.name]

    def is_unnamed(noun: Noun, concept: str) -> bool:
        of_child = lexicon.nouns[concept].gender is None and video.genders == {noun.gender}
        return of_child or noun.gender not in video.genders or noun.gender == lexicon.nouns[concept].gender

    return {
        name: tuple(noun for noun in rivals[name] if is_free(noun) and is_unnamed(noun, name))
        for name in video.nouns
        if name in rivals
    }


def candidates(
    text: str,
    mentions: Sequence[Mention],
    lexicon: Lexicon,
    rivals: Mapping[str, Sequence[Noun]],
    document: Contents,
    estimate: UnsoundProbability | None = None,
    writings: Writings | None = None,
) -> list[Swap]:
    """All swaps of one text, in the order of its mentions and then of the foil's name.

    Args:
        text: a caption.
        mentions: the nouns in it.
        lexicon: of these nouns.
        rivals: concept -> what may stand in its place in this video; see `absent`.
        document: what is shown together with the text, and the text itself: its paragraph. A swap that pronouns
            anywhere in it would give away is left out.
        estimate: returns the probability that a noun in the place of a mention is not a sound foil, or None where it
            is out of place.
        writings: the words for a noun in one number, each with its form there; its name alone by default.
    """
    return [
        swap
        for mention in mentions
        if mention.noun in rivals
        for others in (_others(lexicon.nouns[mention.noun], lexicon, document),)
        for foil, probability in _of_mention(text, mention, lexicon, rivals, document, others, estimate)
        for swap in _written(text, mention, lexicon, others, foil, probability, writings)
    ]


def _of_mention(
    text: str,
    mention: Mention,
    lexicon: Lexicon,
    rivals: Mapping[str, Sequence[Noun]],
    document: Contents,
    others: int,
    estimate: UnsoundProbability | None,
) -> Iterator[tuple[Noun, float]]:
    """What may stand in the place of a mention, with the probability that it is no sound foil."""
    noun = lexicon.nouns[mention.noun]
    wider = lexicon.containing(noun.name) & document.nouns.keys() - {noun.name}
    if not all(lexicon.nouns[name].vague for name in wider):
        return  # it would still be called an animal, or a child
    if not fits_here(text, mention, lexicon, repeated=others > 0):
        return
    aged = noun.supercategory == _PERSON and shows_age(text, mention)
    for foil in rivals[noun.name]:
        if aged and foil.hypernyms != noun.hypernyms:
            continue
        if foil.countable != noun.countable or not _gender_fits(noun, foil, document.genders):
            continue
        probability = 0.0 if estimate is None else estimate(text, mention, foil.name)
        if probability is not None:
            yield foil, probability


def _others(noun: Noun, lexicon: Lexicon, document: Contents) -> int:
    """How many more words than one name a noun, or one that looks alike, in a document that mentions it.

    Words count that are not surely nouns where they stand, since they may be the same thing once more.
    """
    alike = {noun.name, *noun.alike, *(name for name in document.possible if noun.name in lexicon.nouns[name].alike)}
    mentions = sum(max(document.nouns.get(name, 0), 1) for name in document.possible & alike)
    forms = {form.lower() for name in alike for form, _ in lexicon.nouns[name].forms()}
    return max(mentions, sum(document.words.get(form, 0) for form in forms)) - 1


def _written(
    text: str,
    mention: Mention,
    lexicon: Lexicon,
    others: int,
    foil: Noun,
    probability: float,
    writings: Writings | None,
) -> Iterator[Swap]:
    noun = lexicon.nouns[mention.noun]
    word = text[mention.start : mention.end].lower()
    plural = mention.plural and foil.countable == "count"
    named = [(foil.name, foil.plural if plural else foil.name)]
    for one, form in named if writings is None else writings(foil, plural):
        if _breaks_possessive(text, mention, form):
            continue
        start, replacement = _replacement(text, mention, form)
        names = (noun.name, foil.name, noun.supercategory)
        yield Swap(start, mention.end, replacement, *names, word, form.lower(), others, probability, one)


def _gender_fits(noun: Noun, foil: Noun, pronouns: frozenset[str]) -> bool:
    """Whether no pronoun tells the two nouns apart."""
    return foil.gender is None or foil.gender == noun.gender or pronouns <= {foil.gender}


def _breaks_possessive(text: str, mention: Mention, form: str) -> bool:
    """Whether an apostrophe follows that fits only one of a plural in s and another one."""
    bare = text[mention.end : mention.end + 1] in ("'", "\u2019")
    return bare and text[mention.end - 1].lower().endswith("s") != form.endswith("s")


def _replacement(text: str, mention: Mention, form: str) -> tuple[int, str]:
    """Where the changed span starts, and what comes in its place: cased alike, with its article where that changes."""
    found = text[mention.start : mention.end]
    if len(found) > 1 and found.isupper():
        form = form.upper()
    elif found[:1].isupper() and begins(text, mention.start):
        form = form[:1].upper() + form[1:]
    article = _ARTICLE.search(text, 0, mention.start)
    if article is None or article[1].lower() == indefinite_article(form):
        return mention.start, form
    right = indefinite_article(form)
    right = right.upper() if article[1].isupper() and len(article[1]) > 1 else right
    right = right[:1].upper() + right[1:] if article[1][:1].isupper() else right
    return article.start(), f"{right}{article[2]}{form}"
