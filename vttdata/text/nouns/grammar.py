"""Mentions of nouns by a grammar that tells them from verbs and parts of compounds, without a trained model.

Every token of spaCy's blank English tokenizer becomes one letter for its word class, by short lists of words, and a
regular expression over these letters finds nouns on their own: something before them announces a noun, and nothing
beside them could make a compound with them. It prefers missing a noun to taking a verb for one.
"""

from __future__ import annotations

import functools
import itertools
import re
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from vttdata.files.strict_yaml import read_yaml
from vttdata.text.nouns.inflect import regular_plural
from vttdata.text.nouns.lexicon import DATA, Lexicon, Mention, Noun

# Letters of words that are not nouns; a word of several lists belongs to the first of them.
_LIST_LETTERS = {
    "to": "o",
    "singular_determiners": "a",
    "plural_determiners": "e",
    "determiners": "t",
    "auxiliaries": "x",
    "prepositions": "p",
    "conjunctions": "c",
    "relatives": "w",
    "pronouns": "y",
    "adverbs": "r",
    "adjectives": "j",
    "compound_gerunds": "G",
    "past_forms": "d",
}
_UNKNOWN, PROPER_NAME, STOP = "u", "z", "!"
# Letters of words that may also be nouns; a word of any other list never is one.
_OPEN_CLASSES = frozenset("jGdgqbvu")

# Letters of nouns: capital where the word is also a verb or an adjective.
# n singular, l plural, m mass, k pair, i one form for both numbers, h a person, f people, S bare, J also an adjective.
# Limited to 8 words, so that no text takes long.
_MODIFIER = r"(?:r?j|J|q){0,8}"
_LEFT = rf"""
    (?:
        [ae]?t?a{_MODIFIER} (?P<a>[nhNJiI])
      | a(?:r?[jq]){{0,8}}g (?P<smiling>h)
      | e{_MODIFIER} (?P<e>[lfLiI])
      | [ts]{_MODIFIER} (?P<t>[nhNmMlfLkKJ])
      | [ts](?:r?[jq]){{0,8}}g (?P<the_smiling>[hf])
      | p{_MODIFIER} (?P<p>[mlfMLkK])
      | p(?:r?[jq]){{1,8}} (?P<telegraphic>[nh])
      | o{_MODIFIER} (?P<to>[mlfk])
      | x{_MODIFIER} (?P<x>[mlfk])
      | (?:[vdq]|(?<=[xhflncry.!])g|(?<=x)G|(?<=[oflyxr])b) {_MODIFIER} (?P<v>[mlfknhMLK])(?!v)
      | (?:^|[.!c]){_MODIFIER} (?P<start>[lfkmnh])
      | (?:[vpd]|(?<=[xhflncry.!])g|(?<=[oflyxr])b) (?P<bare>S)
    )
"""
# A noun may be followed by the end, a word that no compound ends in, or a verb; by a participle only before no noun.
_FREE = r"(?:$|[.!poacetsxrwyd])"
_RIGHT_ANY = rf"{_FREE}|[gq](?:{_FREE}|S)|G[.!p]|v(?![uz])|j[po]"
_PERSON_NEXT = rf"{_RIGHT_ANY}|[bv]|[gq]|G(?:{_FREE}|[lfmktS])|[LNIM](?:$|[.!poacetsry])"
_PLURAL_NEXT = rf"{_RIGHT_ANY}|b(?![u])|g[lmtkhf]"
_RIGHT = rf"""
    (?: (?<=[hf])(?={_PERSON_NEXT})
      | (?(e)(?={_PLURAL_NEXT})|(?!))
      | (?<=[lLkK])(?={_PLURAL_NEXT})
      | (?<=[nNmMiIJS])(?={_RIGHT_ANY})
    )
"""
_MENTION = re.compile(_LEFT + _RIGHT, re.VERBOSE)
# Letters of words that are in no list, by their endings.
_ENDING_LETTERS = {"ing": "g", "ed": "q", "ly": "r"} | dict.fromkeys(("ous", "ful", "less", "ish"), "j")
_PEOPLE = frozenset(["person", "relative", "role"])
_MAX_CACHED_LETTERS = 64
# Distinct words after which spaCy's store of strings is replaced, for flat memory; MSR-VTT has 29,322.
_MAX_CACHED_WORDS = 500_000


class Grammar:
    """Letters of words for one lexicon.

    Fields:
        expressions: forms of nouns and other expressions -> their letter, noun and whether it is a plural.
    """

    def __init__(self, lexicon: Lexicon) -> None:
        words: dict[str, list[str]] = read_yaml(DATA / "grammar.yaml")
        listed = {word: letter for name, letter in reversed(_LIST_LETTERS.items()) for word in words[name]}
        verbs = [form for verb in words["verbs"] for form in inflect_verb(verb)]
        self._letters = dict(reversed(verbs)) | listed
        # A capital does not make a proper name of these.
        self._often_capitalized = {"i", *words["singular_determiners"], *words["determiners"], *words["adjectives"]}
        self.expressions: dict[str, tuple[str, Noun | None, bool]]
        self.expressions = dict.fromkeys(words["phrases"], (_UNKNOWN, None, False))
        verb_forms = dict(verbs).keys() | set(words["past_forms"])
        for form, noun, plural in lexicon.surface_forms():
            letter = noun_letter(noun, plural)
            if self._letters.get(form, "j") not in _OPEN_CLASSES:
                continue
            if form in listed and listed[form] == "j":
                letter = "J" if letter in "nmh" else letter.upper()
            elif form in verb_forms:
                letter = {"h": "N", "f": "L"}.get(letter, letter.upper())
            self.expressions[form] = (letter, noun, plural)
        self._letters |= {form: letter for form, (letter, _, _) in self.expressions.items()}
        self.expressions |= {form: (letter, None, False) for form, letter in listed.items() if " " in form}

    def letter(self, word: str, *, begins_sentence: bool = False) -> str:
        """Return the letter of a token; a capital within a sentence makes it a proper name."""
        lower = word.lower()
        if word != lower and lower not in self._often_capitalized:
            known = self._letters.get(lower, _UNKNOWN)
            if not begins_sentence or (len(word) > 1 and word.isupper()) or known in "nN":
                return PROPER_NAME
        return self._letters.get(lower) or guess_letter(lower)


# Captions are much alike: about a third of those of MSR-VTT have the letters of an earlier one.
@functools.lru_cache(maxsize=2**15)
def find_nouns(letters: str) -> list[tuple[int, bool | None]]:
    """Return the indices of nouns, and whether they are plural where only the sentence says so (or None)."""
    indices = [(match.end() - 1, match.lastgroup) for match in _MENTION.finditer(letters)]
    return [(index, group == "e" if letters[index] in "iI" else None) for index, group in indices]


def noun_letter(noun: Noun, plural: bool) -> str:
    """Return the letter of a form of a noun that is no other word."""
    if noun.bare:
        return "S"
    if noun.countable != "count":
        return "m" if noun.countable == "mass" else "k"
    if noun.plural == noun.name and not plural:
        return "i"
    if noun.supercategory in _PEOPLE:
        return "f" if plural else "h"
    return "l" if plural else "n"


def inflect_verb(verb: str) -> Sequence[tuple[str, str]]:
    """Return the forms of a regular verb with their letters; spellings that do not exist do no harm."""
    stem = verb[:-1] if verb.endswith("e") and not verb.endswith(("ee", "oe", "ye")) else verb
    past = f"{verb[:-1]}ied" if re.search(r"[^aeiou]y$", verb) else f"{stem}ed"
    third_person = f"{verb}es" if verb.endswith("o") else regular_plural(verb)
    forms = [(verb, "b"), (third_person, "v"), (f"{stem}ing", "g"), (past, "q")]
    if re.search(r"(?:^|[^aeiou])[aeiou][bdgklmnprt]$", verb) or verb.endswith(("qui", "quip", "wim")):
        doubled = verb + verb[-1]
        forms += [(f"{doubled}ing", "g"), (f"{doubled}ed", "q")]
    if verb.endswith("ie"):
        # tie -> tying
        forms.append((f"{verb[:-2]}ying", "g"))
    return forms


def guess_letter(word: str) -> str:
    """Return the letter of an unlisted token by its characters and its ending."""
    if not word.strip():
        return ""
    if not any(character.isalnum() for character in word):
        return {".": STOP, "!": STOP, "?": STOP, "-": "-", "/": "-"}.get(word, ".")
    if word.isdigit():
        return "e"
    if not word.isalpha() or not word.isascii():
        return _UNKNOWN
    for ending, letter in _ENDING_LETTERS.items():
        if word.endswith(ending) and len(word) > len(ending) + 2:
            return letter
    return _UNKNOWN


class _Expression(NamedTuple):
    """Expression after its first two tokens, with its letter and noun."""

    rest: list[int]
    letter: str
    noun: Noun | None
    plural: bool


# Index of the first token of an expression -> index after its last one, noun, and whether it is a plural.
_Joined = dict[int, tuple[int, Noun | None, bool]]


class RuleFinder:
    """Rules for one lexicon, with a cache of the letters of words."""

    def __init__(self, lexicon: Lexicon) -> None:
        self.lexicon = lexicon
        self.grammar = Grammar(lexicon)
        self._reset()

    def _reset(self) -> None:
        import spacy

        self._nlp = spacy.blank("en")
        self._letters: dict[int, str] = {}
        self._expressions: dict[tuple[int, int], list[_Expression]] = {}
        for form, value in self.grammar.expressions.items():
            for spelling in {form, form.replace(" ", "-")}:
                words = [token.text for token in self._nlp.make_doc(spelling)]
                for first in {words[0], words[0].capitalize()} if len(words) > 1 else ():
                    orths = [self._nlp.vocab.strings.add(word) for word in (first, *words[1:])]
                    expressions = self._expressions.setdefault((orths[0], orths[1]), [])
                    expressions.append(_Expression(orths[2:], *value))
        for expressions in self._expressions.values():
            expressions.sort(key=lambda expression: -len(expression.rest))

    def find(self, text: str) -> list[Mention]:
        """Find the nouns that a text certainly mentions, in its order."""
        if len(self._letters) > _MAX_CACHED_WORDS:
            self._reset()
        doc = self._nlp.tokenizer(text)
        orths = [token.orth for token in doc]
        known = self._letters
        try:
            letters = [known[orth] for orth in orths]
        except KeyError:
            for token in doc:
                if token.orth not in known:
                    known[token.orth] = self.grammar.letter(token.text)
            letters = [known[orth] for orth in orths]
        if PROPER_NAME in letters:
            self._accept_sentence_capitals(doc, letters)
        has_expression = not self._expressions.keys().isdisjoint(itertools.pairwise(orths))
        joined = self._join_expressions(orths, letters) if has_expression else {}
        return list(self._mentions(doc, letters, joined))

    def _accept_sentence_capitals(self, doc: Any, letters: list[str]) -> None:
        """Replace the letters of words that are capitalized because they begin a sentence."""
        begins = True
        for index, letter in enumerate(letters):
            if letter == PROPER_NAME and begins:
                letters[index] = self.grammar.letter(doc[index].text, begins_sentence=True)
            begins = letter == STOP or (begins and not letter)

    def _join_expressions(self, orths: list[int], letters: list[str]) -> _Joined:
        """Join the longest expressions: the first token gets their letter, the others get none."""
        joined: _Joined = {}
        index = 0
        while index < len(orths) - 1:
            for expression in self._expressions.get((orths[index], orths[index + 1]), ()):
                end = index + 2 + len(expression.rest)
                if orths[index + 2 : end] == expression.rest:
                    letters[index:end] = [expression.letter] + [""] * (end - index - 1)
                    joined[index] = (end, expression.noun, expression.plural)
                    index = end - 1
                    break
            index += 1
        return joined

    def _mentions(self, doc: Any, letters: list[str], joined: _Joined) -> Iterator[Mention]:
        with_letter = [index for index, letter in enumerate(letters) if letter]
        find = find_nouns if len(with_letter) <= _MAX_CACHED_LETTERS else find_nouns.__wrapped__
        for number, plural_by_sentence in find("".join(letters)):
            first = doc[with_letter[number]]
            if first.i in joined:
                end, noun, plural = joined[first.i]
            else:
                end, (_, noun, plural) = first.i + 1, self.grammar.expressions[first.lower_]
            if noun is not None:
                last = doc[end - 1]
                plural = plural if plural_by_sentence is None else plural_by_sentence
                yield Mention(first.idx, last.idx + len(last), noun.name, plural)
