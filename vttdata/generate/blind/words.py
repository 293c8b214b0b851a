"""Words of a text, and the words by which two texts differ."""

from __future__ import annotations

import re
from collections.abc import Sequence

_WORD = re.compile(r"\w+(?:['\u2019]\w+)*")


def lower_words(text: str) -> list[str]:
    """Return the lower-cased words of a text, without punctuation."""
    return _WORD.findall(text.lower())


def list_surplus_words(words: Sequence[str], others: Sequence[str]) -> list[tuple[str, int]]:
    """List the words that a text has more often than another one, each with its index in the text."""
    surplus = dict.fromkeys(words, 0)
    for word in words:
        surplus[word] += 1
    for word in others:
        if word in surplus:
            surplus[word] -= 1
    listed = []
    for index, word in enumerate(words):
        if surplus[word] > 0:
            surplus[word] -= 1
            listed.append((word, index))
    return listed
