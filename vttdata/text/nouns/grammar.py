"""Grammar that tells nouns from verbs and parts of compounds, by short lists of English words and without a model.

Every token becomes one letter for its word class, and a regular expression over these letters finds nouns on their own:
something before them announces a noun, and nothing beside them could make a compound with them. It prefers missing a
noun to taking a verb for one.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Sequence

from vttdata.files.strict_yaml import read_yaml
from vttdata.text.nouns.inflect import regular_plural
from vttdata.text.nouns.lexicon import DATA, Lexicon, Noun

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
_ENDING_LETTERS = {
    "ing": "g",
    "ed": "q",
    "ly": "r",
    "ous": "j",
    "ful": "j",
    "less": "j",
    "ish": "j",
}
_PEOPLE = frozenset(["person", "relative", "role"])
_MAX_CACHED_LETTERS = 64


class Grammar:
    """Letters of words for one lexicon, and positions of nouns in a sequence of letters.

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

    def find_nouns(self, letters: str) -> tuple[tuple[int, bool | None], ...]:
        """Return the indices of nouns, and whether they are plural where only the sentence says so (or None)."""
        return _find_cached(letters) if len(letters) <= _MAX_CACHED_LETTERS else _find_nouns(letters)


def _find_nouns(letters: str) -> tuple[tuple[int, bool | None], ...]:
    nouns = []
    for match in _MENTION.finditer(letters):
        index = match.end() - 1
        nouns.append((index, match.lastgroup == "e" if letters[index] in "iI" else None))
    return tuple(nouns)


# Captions are much alike: about a third of those of MSR-VTT have the letters of an earlier one.
_find_cached = functools.lru_cache(maxsize=2**15)(_find_nouns)


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
    if re.search(r"(?:^|[^aeiou])[aeiou][bdgklmnprt]$", verb) or verb.endswith(("qui", "quip", "wim")):
        doubled = verb + verb[-1]
        doubled_forms = [(f"{doubled}ing", "g"), (f"{doubled}ed", "q")]
    else:
        doubled_forms = []
    past = f"{verb[:-1]}ied" if re.search(r"[^aeiou]y$", verb) else f"{stem}ed"
    # tie -> tying
    gerund_in_y = [(f"{verb[:-2]}ying", "g")] if verb.endswith("ie") else []
    third_person = f"{verb}es" if verb.endswith("o") else regular_plural(verb)
    return [
        (verb, "b"),
        (third_person, "v"),
        (f"{stem}ing", "g"),
        (past, "q"),
        *doubled_forms,
        *gerund_in_y,
    ]


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
