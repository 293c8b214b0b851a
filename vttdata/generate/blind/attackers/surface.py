"""Surface form: case, punctuation, spaces, articles, numerals, and words that other texts do not have."""

from __future__ import annotations

import itertools
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from vttdata.generate.blind.attacker import by_features
from vttdata.generate.blind.choices import ChoiceSet
from vttdata.generate.blind.learning import sparse_matrix

if TYPE_CHECKING:
    from vttdata.generate.blind.learning import Matrix


_ARTICLE = re.compile(r"\b(an?) (\w)", re.IGNORECASE)
_DETERMINERS = frozenset(
    "a an the this that these those his her its their my our your some any no another each every".split()
)
_LETTERS = "abcdefghijklmnopqrstuvwxyz"
# A word of so many videos is not taken for a spelling error of another one.
_COMMON = 3
# Below which a difference from the mean is a rounding error.
_MIN_EXCESS = 5e-10


def describe_form(text: str, words: list[str], known: Mapping[str, int]) -> Iterator[tuple[str, float]]:
    """Yield the properties of a text's form that are not 0.

    `known` has the number of videos whose texts have each (lower-cased) word, that of the text itself included.
    """
    yield "characters a word", len(text) / max(1, len(words))
    yield "capitals", float(sum(character.isupper() for character in text))
    yield "digits", float(sum(character.isdigit() for character in text))
    yield "repeated words", float(sum(word == after for word, after in itertools.pairwise(words)))
    for character, count in Counter(character for character in text if not character.isalnum()).items():
        yield f"character {character!r}", float(count)
    for name, mark in (("first", text[:1]), ("last", text[-1:])):
        yield f"{name} capital", float(mark.isupper())
        yield f"{name} lower case", float(mark.islower())
        if mark and not mark.isalnum():
            yield f"{name} {mark!r}", 1.0
    yield "spaces in a row", float(len(re.findall(r"\s{2,}", text)))
    yield "space before punctuation", float(len(re.findall(r"\s[.,;:!?]", text)))
    yield "no space after punctuation", float(len(re.findall(r"[.,;:!?][^\W\d]", text)))
    yield "sentence in lower case", float(len(re.findall(r"[.!?]\s+[a-z]", text)))
    for word in words:
        if word in _DETERMINERS:
            yield f"determiner {word}", 1.0
        if known[word] <= 1:
            yield "unknown word", 1.0
            yield "spelling error", float(any(known.get(other, 0) > _COMMON for other in edit_once(word)))
    for article, letter in _ARTICLE.findall(text):
        yield "article", float((article.lower() == "an") != (letter.lower() in "aeiou"))


def edit_once(word: str) -> Iterator[str]:
    """Yield the words that differ from a word by one letter left out, added, replaced or moved by one place."""
    for index in range(len(word) + 1):
        before, after = word[:index], word[index:]
        if after:
            yield before + after[1:]
        if len(after) > 1:
            yield before + after[1] + after[0] + after[2:]
        for letter in _LETTERS:
            yield before + letter + after
            if after:
                yield before + letter + after[1:]


def describe_forms(choices: ChoiceSet) -> Matrix:
    """Return the properties of the form of options, and whether an option has more or less of each than their mean."""
    videos: dict[str, set[str]] = {}
    for item, options in zip(choices.items, choices.words, strict=True):
        videos.setdefault(item.video_id, set()).update(*options)
    known = Counter(word for words in videos.values() for word in words)
    forms: dict[str, dict[str, float]] = {}
    rows = []
    for item, options in zip(choices.items, choices.words, strict=True):
        for text, words in zip(item.options, options, strict=True):
            if text not in forms:
                form = forms[text] = {}
                for name, value in describe_form(text, words, known):
                    form[name] = form.get(name, 0) + value
        sums: dict[str, float] = {}
        for text in item.options:
            for name, value in forms[text].items():
                sums[name] = sums.get(name, 0) + value
        for text in item.options:
            form, number = forms[text], len(item.options)
            excess = {name: form.get(name, 0) * number - total for name, total in sums.items()}
            signs = {f"sign of {name}": 1.0 if e > 0 else -1.0 for name, e in excess.items() if abs(e) > _MIN_EXCESS}
            rows.append(form | signs)
    return sparse_matrix(rows)


ATTACKER = by_features(describe_forms)
