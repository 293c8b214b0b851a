"""Swaps of one noun that turn a true caption into a false one and keep its grammar right.

A swap changes one span: a noun and, where it must change, the article right before it. How likely the foil reads is
not judged here; `vttdata.generate.foils.selection` chooses among swaps.
"""

from __future__ import annotations

import functools
import operator
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from vttdata.generate.foils.noun_context import (
    AGES,
    COLORS,
    PERSON,
    accepts_another_noun,
    begins_sentence,
    follows_adjective,
    is_negated,
)
from vttdata.text.nouns.implied import derived_nouns, implied_nouns
from vttdata.text.nouns.inflect import indefinite_article
from vttdata.text.nouns.lexicon import Lexicon, Noun
from vttdata.text.nouns.mentions import Mention, possible_nouns

# Text, mention and name of a false noun -> probability that this foil is not sound; None where it is out of place.
UnsoundProbability = Callable[[str, Mention, str], float | None]
# Noun and whether a plural is needed -> the name or synonym to be written, and its form in this number.
Spellings = Callable[[Noun, bool], Iterable[tuple[str, str]]]

# Supercategories and subcategories that are swapped within one subcategory only. Who wears a coat may wear a cap, too,
# and gloves are two where a coat is one; who sings plays no harmonica; and nobody fries a dog like a squid.
_WITHIN_SUBCATEGORY = frozenset({"something worn", "instrument", "water animal", "crawling animal"})
# What has a colour of its own: peas may be green, and carrots are not.
_FOOD = frozenset({"food", "fruit or vegetable"})

_name = operator.attrgetter("name")
_WORD = re.compile(r"[^\W_]+(?:['\u2019][^\W_]+)*")
_ARTICLE = re.compile(r"\b(an?)( +)$", re.IGNORECASE)
_PRONOUN_GENDERS = {"he": "male", "him": "male", "his": "male", "himself": "male"} | dict.fromkeys(
    ("she", "her", "hers", "herself"), "female"
)


@dataclass(frozen=True, slots=True)
class Swap:
    """Change of one span of a text.

    Fields:
        start, end: the span of the true text, in characters; half-open.
        replacement: text that the foil has there.
        concept, foil_concept: names of the true and the false noun.
        supercategory: of both.
        word, foil_word: the nouns as they are written, in lower case and without an article.
        other_mentions: how many more mentions the document has of the true noun or of one that looks alike.
        unsound_probability: estimate that the foil is not sound; see
            `vttdata.generate.foils.noun_usage.NounUsage.unsound_probability`.
        foil_name: the name or synonym of the false noun that is written, singular.
    """

    start: int
    end: int
    replacement: str
    concept: str
    foil_concept: str
    supercategory: str
    word: str
    foil_word: str
    other_mentions: int
    unsound_probability: float = 0.0
    foil_name: str = ""

    def apply(self, text: str) -> str:
        """Return the foil: the text with this span replaced."""
        return text[: self.start] + self.replacement + text[self.end :]


@dataclass(frozen=True, slots=True)
class MentionSummary:
    """Nouns, words and genders that some texts mention.

    Fields:
        nouns: number of mentions of each noun of the lexicon.
        possible: names of all nouns that a word could name, sure or not, and of annotated ones.
        words: number of occurrences of each lower-cased word.
        genders: of the pronouns.
        derived, implied: names of the nouns that words are derived from, or imply; see `vttdata.text.nouns.implied`.
    """

    nouns: Mapping[str, int]
    possible: frozenset[str]
    words: Mapping[str, int]
    genders: frozenset[str]
    derived: frozenset[str] = frozenset()
    implied: frozenset[str] = frozenset()


def summarize_mentions(
    texts: Iterable[tuple[str, Sequence[Mention]]], lexicon: Lexicon, names: Iterable[str] = ()
) -> MentionSummary:
    """Summarize texts with their mentions; `names` are further nouns or pronouns, from annotations."""
    nouns: Counter[str] = Counter()
    possible: set[str] = set()
    words: Counter[str] = Counter(name.lower() for name in names)
    for name in list(words):
        possible |= possible_nouns(name, lexicon)
    for text, mentions in texts:
        nouns.update(mention.noun for mention in mentions)
        possible |= possible_nouns(text, lexicon)
        words.update(match[0].lower() for match in _WORD.finditer(text))
    genders = frozenset(_PRONOUN_GENDERS[word] for word in words if word in _PRONOUN_GENDERS)
    derived = derived_nouns(words, lexicon)
    implied = implied_nouns(words, lexicon)
    return MentionSummary(nouns, frozenset(possible | nouns.keys()), words, genders, derived, implied)


def pair_concepts(counts: Mapping[str, int], lexicon: Lexicon, *, min_count: int) -> dict[str, tuple[Noun, ...]]:
    """Pair each concept with those it may be swapped for, as in section 4.2 of EMScore (Shi et al., CVPR 2022).

    Concepts with fewer mentions in the whole corpus than `min_count` are neither swapped nor swapped in. The result has
    concept -> its rivals by name; concepts without a rival are left out.
    """
    paired: dict[str, tuple[Noun, ...]] = {}
    for noun in sorted((lexicon.nouns[name] for name, count in counts.items() if count >= min_count), key=_name):
        rivals = [
            rival
            for rival in lexicon.rivals(noun.name)
            if counts.get(rival.name, 0) >= min_count
            and (
                rival.subcategory == noun.subcategory
                or _WITHIN_SUBCATEGORY.isdisjoint((noun.supercategory, noun.subcategory, rival.subcategory))
            )
        ]
        if rivals:
            paired[noun.name] = tuple(sorted(rivals, key=_name))
    return paired


def select_absent_rivals(
    rivals: Mapping[str, Sequence[Noun]], video: MentionSummary, lexicon: Lexicon, dropped: Counter[str] | None = None
) -> dict[str, tuple[Noun, ...]]:
    """Reduce rivals to those that are surely absent from a video.

    Dropped are, by reason:
        mentioned: they, or nouns related to them, are mentioned. A vague noun counts unless it contains the true noun,
            too: an adult beside a child may be a man, and an adult beside a woman is the woman.
        implied: another word implies them, as kayaking does a kayak.
        pronoun: a pronoun may mean them. No man becomes a woman where a text says "her" of anybody; where only one of
            "he" and "she" is said, a child may be meant, and may become a person of that gender.

    The summary of the video is of everything that any text or annotation says is in it.
    """
    present = [name for name in video.possible if not lexicon.nouns[name].vague]
    vague = video.possible - set(present)

    @functools.cache
    def is_mentioned(noun: Noun) -> bool:
        return bool({form.lower() for form, _ in noun.forms()} & video.words.keys()) or any(
            lexicon.related(noun.name, name) for name in present
        )

    def find_doubt(noun: Noun, concept: Noun) -> str | None:
        unexplained = vague & lexicon.containing(noun.name) - lexicon.containing(concept.name)
        if unexplained or is_mentioned(noun):
            return "mentioned"
        if noun.name in video.derived | video.implied:
            return "implied"
        means_child = concept.gender is None and video.genders == {noun.gender}
        is_meant = noun.gender in video.genders and noun.gender != concept.gender and not means_child
        return "pronoun" if is_meant and PERSON in lexicon.containing(noun.name) else None

    absent: dict[str, tuple[Noun, ...]] = {}
    for name in (name for name in video.nouns if name in rivals):
        doubts = [(noun, find_doubt(noun, lexicon.nouns[name])) for noun in rivals[name]]
        absent[name] = tuple(noun for noun, doubt in doubts if doubt is None)
        if dropped is not None:
            dropped.update(doubt for _, doubt in doubts if doubt is not None)
    return absent


def find_swaps(
    text: str,
    mentions: Sequence[Mention],
    lexicon: Lexicon,
    rivals: Mapping[str, Sequence[Noun]],
    document: MentionSummary,
    unsound_probability: UnsoundProbability | None = None,
    spellings: Spellings | None = None,
    dropped: Counter[str] | None = None,
) -> list[Swap]:
    """Find all swaps of a text, in the order of its mentions and then of the name of the false noun.

    `rivals` are those of `select_absent_rivals`. A swap is left out that pronouns anywhere in the document, which is
    everything that is shown together with the text and the text itself, would give away. `unsound_probability` leaves
    out nouns that are out of place; without it, all nouns count as sound. Without `spellings` the name alone is written
    for a noun. `dropped` counts, as ``negated``, rivals of nouns that the text denies, or names as what something looks
    like.
    """
    swaps: list[Swap] = []
    for mention in mentions:
        if mention.noun not in rivals:
            continue
        if is_negated(text, mention):
            if dropped is not None:
                dropped["negated"] += len(rivals[mention.noun])
            continue
        noun = lexicon.nouns[mention.noun]
        others = count_other_mentions(noun, lexicon, document)
        for foil in list_fitting_nouns(text, mention, lexicon, rivals[noun.name], document, others):
            probability = 0.0 if unsound_probability is None else unsound_probability(text, mention, foil.name)
            if probability is None:
                continue
            plural = mention.plural and foil.countable == "count"
            named = [(foil.name, foil.plural if plural else foil.name)]
            for name, form in named if spellings is None else spellings(foil, plural):
                if breaks_possessive(text, mention, form):
                    continue
                start, replacement = write_form(text, mention, form)
                concepts = (noun.name, foil.name, noun.supercategory)
                words = (text[mention.start : mention.end].lower(), form.lower())
                swaps.append(Swap(start, mention.end, replacement, *concepts, *words, others, probability, name))
    return swaps


def count_other_mentions(noun: Noun, lexicon: Lexicon, document: MentionSummary) -> int:
    """Count how many more words than one name a noun, or one that looks alike, in a document that mentions it.

    Words that are not surely nouns where they stand count too, since they may name the same thing again.
    """
    alike = {noun.name, *noun.alike, *(name for name in document.possible if noun.name in lexicon.nouns[name].alike)}
    mentions = sum(max(document.nouns.get(name, 0), 1) for name in document.possible & alike)
    forms = {form.lower() for name in alike for form, _ in lexicon.nouns[name].forms()}
    return max(mentions, sum(document.words.get(form, 0) for form in forms)) - 1


def list_fitting_nouns(
    text: str, mention: Mention, lexicon: Lexicon, rivals: Sequence[Noun], document: MentionSummary, others: int
) -> Iterator[Noun]:
    """Yield the rivals that fit the grammar of a mention and that the document does not give away."""
    noun = lexicon.nouns[mention.noun]
    # Other words of the document would contradict the foil: the dog is still called an animal, one of the children is a
    # girl, and a rider bikes.
    hypernyms = lexicon.containing(noun.name) & document.nouns.keys() - {noun.name}
    has_hyponym = any(noun.name in lexicon.containing(name) for name in document.nouns.keys() - {noun.name})
    is_derived = noun.supercategory != PERSON and noun.name in document.derived
    if has_hyponym or is_derived or not all(lexicon.nouns[name].vague for name in hypernyms):
        return
    if not accepts_another_noun(text, mention, lexicon, repeated=others > 0):
        return
    if noun.supercategory in _FOOD and follows_adjective(text, mention, COLORS):
        return
    has_age = noun.supercategory == PERSON and follows_adjective(text, mention, AGES)
    # Of those who wear or have the thing, or of the things that are worn: no man wears a skirt, and no woman a beard.
    genders = {
        said.gender
        for said in map(lexicon.nouns.__getitem__, possible_nouns(text, lexicon))
        if said.gender and (PERSON in lexicon.containing(said.name)) != (PERSON in lexicon.containing(noun.name))
    }
    for foil in rivals:
        if (has_age and foil.hypernyms != noun.hypernyms) or foil.countable != noun.countable:
            continue
        if foil.gender and genders and foil.gender not in genders:
            continue
        if foil.gender is None or foil.gender == noun.gender or document.genders <= {foil.gender}:
            yield foil


def breaks_possessive(text: str, mention: Mention, form: str) -> bool:
    """Return whether a bare apostrophe follows that fits only one of the true noun and the false one."""
    bare = text[mention.end : mention.end + 1] in ("'", "\u2019")
    return bare and text[mention.end - 1].lower().endswith("s") != form.endswith("s")


def write_form(text: str, mention: Mention, form: str) -> tuple[int, str]:
    """Return where the changed span starts, and its replacement: cased alike, with its article where that changes."""
    true_form = text[mention.start : mention.end]
    if len(true_form) > 1 and true_form.isupper():
        form = form.upper()
    elif true_form[:1].isupper() and begins_sentence(text, mention.start):
        form = form[:1].upper() + form[1:]
    match = _ARTICLE.search(text, 0, mention.start)
    article = indefinite_article(form)
    if match is None or match[1].lower() == article:
        return mention.start, form
    article = article.upper() if match[1].isupper() and len(match[1]) > 1 else article
    article = article[:1].upper() + article[1:] if match[1][:1].isupper() else article
    return match.start(), f"{article}{match[2]}{form}"
