"""Words of a text, and the words by which several texts differ."""

from __future__ import annotations

import functools
import itertools
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

_WORD = re.compile(r"\w+(?:['\u2019]\w+)*")


def lower_words(text: str) -> list[str]:
    """Return the lower-cased words of a text, without punctuation."""
    return _WORD.findall(text.lower())


def list_own_words(texts: Sequence[Sequence[str]]) -> Iterator[list[tuple[str, int]]]:
    """Yield for each text, given as words, those that not all texts have as often, each with its index in the text."""
    common = functools.reduce(Counter.__and__, map(Counter, texts))
    for words in texts:
        left, own = Counter(words) - common, []
        for index, word in enumerate(words):
            if left[word] > 0:
                left[word] -= 1
                own.append((word, index))
        yield own


def count_shared_start(texts: Iterable[Sequence[str]]) -> int:
    """Return how many words, or characters, all texts begin with."""
    return sum(1 for _ in itertools.takewhile(lambda column: len(set(column)) == 1, zip(*texts, strict=False)))
