"""Spells regular English plurals and chooses between "a" and "an", by rule and short lists of exceptions.

Irregular plurals of nouns belong to the lexicon; the few here are classes that any compound may end in.
"""

from __future__ import annotations

import re

_ES = re.compile(r"(?:s|x|z|ch|sh|(?:potat|tomat|her)o)$")
_IES = re.compile(r"(?:[^aeiou]|qu)y$")
_MEN = re.compile(r"(?<!hu)(?<!ger)(?<!sha)man$")

_LETTERS_READ_OUT = re.compile(
    r"bbq|[cd]d|dj|dvd|fbi|hd|l[ce]d|mc|mma|mp\d?|n[bf][al]|nhl|[pr]c|rv|suv|tv|uf[co]|usb|vr|wwe",
)
_SOUNDED_AS_VOWEL = frozenset("aefhilmnorsx")
_SILENT_H = r"hour|honest|hono|heir"
_NUMBERS = r"8|1[18](?:,?\d{3}|\d\d)?(?!\d)"
_CONSONANT_BEGIN = r"uni(?![dmn])|us(?:[aeu]|(?![a-z]))|ut[eio]|uk[eru]|ur[ai]n|eu|ewe|on(?:c?e)(?![a-z])"
_VOWEL = re.compile(rf"(?:{_SILENT_H}|{_NUMBERS}|x(?![aeiouy])|(?!{_CONSONANT_BEGIN})[aeiouà-åè-ïò-öù-ü])")


def regular_plural(noun: str) -> str:
    """The regular plural of a noun or compound, whose last word changes: box -> boxes, fireman -> firemen."""
    if _MEN.search(noun):
        return f"{noun[:-3]}men"
    if _IES.search(noun):
        return f"{noun[:-1]}ies"
    return f"{noun}es" if _ES.search(noun) else f"{noun}s"


def indefinite_article(word: str) -> str:
    """The article, ``a`` or ``an``, before a text, by the sound it begins with: an hour, a uniform, an SUV.

    Abbreviations that are read letter by letter are known from a short list, or by their capitals without vowels.
    """
    found = re.search(r"\w[\w,]*", word)
    first = found[0] if found else ""
    letters = first.lower()
    alone = len(letters) == 1 and letters.isalpha()
    if alone or _LETTERS_READ_OUT.fullmatch(letters) or re.fullmatch(r"[B-DF-HJ-NP-TV-Z]{2,}", first):
        return "an" if letters[0] in _SOUNDED_AS_VOWEL else "a"
    return "an" if _VOWEL.match(letters) else "a"
