"""Regular English plurals, and the choice between "a" and "an", by rule and short lists of exceptions.

Irregular plurals of nouns belong to the lexicon; the few here are endings of many compounds.
"""

from __future__ import annotations

import re

_ES = re.compile(r"(?:s|x|z|ch|sh|(?:potat|tomat|her)o)$")
_IES = re.compile(r"(?:[^aeiou]|qu)y$")
_MEN = re.compile(r"(?<!hu)(?<!ger)(?<!sha)man$")

# Abbreviations that are read letter by letter.
_SPELLED_OUT = re.compile(
    r"bbq|[cd]d|dj|dvd|fbi|hd|l[ce]d|mc|mma|mp\d?|n[bf][al]|nhl|[pr]c|rv|suv|tv|uf[co]|usb|vr|wwe",
)
_VOWEL_LETTER_NAMES = frozenset("aefhilmnorsx")
_SILENT_H = r"hour|honest|hono|heir"
_NUMBERS = r"8|1[18](?:,?\d{3}|\d\d)?(?!\d)"
_CONSONANT_SOUND = r"uni(?![dmn])|us(?:[aeu]|(?![a-z]))|ut[eio]|uk[eru]|ur[ai]n|eu|ewe|on(?:c?e)(?![a-z])"
_VOWEL_SOUND = re.compile(rf"(?:{_SILENT_H}|{_NUMBERS}|x(?![aeiouy])|(?!{_CONSONANT_SOUND})[aeiouà-åè-ïò-öù-ü])")


def regular_plural(noun: str) -> str:
    """Return the regular plural of a noun or compound, whose last word changes: box -> boxes, fireman -> firemen."""
    if _MEN.search(noun):
        return f"{noun[:-3]}men"
    if _IES.search(noun):
        return f"{noun[:-1]}ies"
    return f"{noun}es" if _ES.search(noun) else f"{noun}s"


def indefinite_article(word: str) -> str:
    """Return the article, ``a`` or ``an``, of a text by the sound it begins with: an hour, a uniform, an SUV.

    Abbreviations that are read letter by letter are known from a short list, or by their capitals without vowels.
    """
    match = re.search(r"\w[\w,]*", word)
    first = match[0] if match else ""
    letters = first.lower()
    is_letter = len(letters) == 1 and letters.isalpha()
    if is_letter or _SPELLED_OUT.fullmatch(letters) or re.fullmatch(r"[B-DF-HJ-NP-TV-Z]{2,}", first):
        return "an" if letters[0] in _VOWEL_LETTER_NAMES else "a"
    return "an" if _VOWEL_SOUND.match(letters) else "a"
