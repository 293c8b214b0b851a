"""Logistic regression on the 1- to 3-grams by which the texts differ."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import TYPE_CHECKING

from vttdata.generate.blind.attacker import by_features
from vttdata.generate.blind.choices import ChoiceSet
from vttdata.generate.blind.learning import count_features
from vttdata.generate.blind.words import count_shared_start

if TYPE_CHECKING:
    from vttdata.generate.blind.learning import Matrix

_MAX_NGRAM = 3


def count_word_ngrams(choices: ChoiceSet) -> Matrix:
    """Return how often each 1- to 3-gram occurs in what the options of a choice do not begin or end with alike."""
    return count_features(itertools.chain.from_iterable(map(_list_ngrams, choices.words)))


def _list_ngrams(options: Sequence[Sequence[str]]) -> list[list[str]]:
    start = count_shared_start(options)
    end = count_shared_start(words[start:][::-1] for words in options)
    grams = []
    for words in options:
        window = words[max(0, start - _MAX_NGRAM + 1) : len(words) - max(0, end - _MAX_NGRAM + 1)]
        grams.append(
            [
                " ".join(window[index : index + length])
                for length in range(1, _MAX_NGRAM + 1)
                for index in range(len(window) - length + 1)
            ]
        )
    return grams


ATTACKER = by_features(count_word_ngrams)
