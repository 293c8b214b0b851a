"""Nouns that a text implies without naming them: kayaking implies a kayak, a pianist a piano, a raincoat a coat.

A thing that is implied is not surely absent. Nothing here says that it is certainly present.
"""

from __future__ import annotations

import functools
import re
from collections import defaultdict
from collections.abc import Iterable

from vttdata.text.nouns.grammar import inflect_verb
from vttdata.text.nouns.lexicon import Lexicon

# Shorter nouns begin or end words that have nothing to do with them: "hat" and "what", "car" and "carrot".
_MIN_AFFIX = 4
_MIN_PERSON_AFFIX = 3
# Shorter words that differ in a letter are other words more often than misspellings.
_MIN_MISSPELLED = 6


def derived_nouns(words: Iterable[str], lexicon: Lexicon) -> frozenset[str]:
    """Return the names of the nouns of which lower-cased words are verb forms, compounds or misspellings.

    Examples are mopping, shirtless and parsely.
    """
    derivations = _derivations(lexicon)
    return frozenset().union(*map(derivations.of_word, words))


def implied_nouns(words: Iterable[str], lexicon: Lexicon) -> frozenset[str]:
    """Return the names of the nouns whose `Noun.implied_by` has a beginning of one of the words."""
    beginnings = _derivations(lexicon).beginnings
    parts = {word[:length] for word in words for length in range(1, len(word) + 1)}
    return frozenset().union(*(beginnings[part] for part in parts & beginnings.keys()))


class _Derivations:
    """Index of the nouns of a lexicon by beginnings that imply them, verb forms, parts of words, and spelling."""

    def __init__(self, lexicon: Lexicon) -> None:
        self._lexicon = lexicon
        self.beginnings: defaultdict[str, set[str]] = defaultdict(set)
        for noun in lexicon.nouns.values():
            for beginning in noun.implied_by:
                self.beginnings[beginning].add(noun.name)
        self._verb_forms: defaultdict[str, set[str]] = defaultdict(set)
        self._affixes: defaultdict[str, set[str]] = defaultdict(set)
        self._spellings: defaultdict[str, set[str]] = defaultdict(set)
        for form, noun, plural in lexicon.surface_forms():
            if plural or " " in form:
                continue
            is_person = "person" in lexicon.containing(noun.name)
            if len(form) >= (_MIN_PERSON_AFFIX if is_person else _MIN_AFFIX):
                self._affixes[form.removesuffix("e") if len(form) > _MIN_AFFIX else form].add(noun.name)
            if len(form) >= _MIN_MISSPELLED:
                for spelling in _without_a_letter(form):
                    self._spellings[spelling].add(noun.name)
            if not is_person:
                for verb_form, _ in inflect_verb(form):
                    self._verb_forms[verb_form].add(noun.name)
        self._of_word: dict[str, frozenset[str]] = {}

    def of_word(self, word: str) -> frozenset[str]:
        """Return the names of the nouns that a word is derived from and is no form of."""
        if word not in self._of_word:
            # The possessive of a noun is a form of it.
            base = re.sub("['\u2019]s?$", "", word)
            names = set(self._verb_forms.get(base, ()))
            for length in range(len(base)):
                names |= self._affixes.get(base[:length], set()) | self._affixes.get(base[length:], set())
            known = self._lexicon.noun(base)
            if known is None and len(base) >= _MIN_MISSPELLED:
                names.update(*(self._spellings.get(spelling, ()) for spelling in _without_a_letter(base)))
            if known is not None:
                # "Female" is no male, though it ends like one.
                names = {name for name in names - {known[0].name} if self._lexicon.nouns[name].gender is None}
            self._of_word[word] = frozenset(names)
        return self._of_word[word]


def _without_a_letter(word: str) -> set[str]:
    """Return a word and what is left of it without any one letter; words that share one are spelled alike."""
    return {word, *(word[:index] + word[index + 1 :] for index in range(len(word)))}


_derivations = functools.lru_cache(maxsize=4)(_Derivations)
