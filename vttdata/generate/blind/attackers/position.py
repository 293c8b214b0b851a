"""How often each word by which the texts differ was right in this fifth of a text."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vttdata.generate.blind.attacker import by_features
from vttdata.generate.blind.choices import ChoiceSet
from vttdata.generate.blind.learning import count_features, naive_bayes

if TYPE_CHECKING:
    from vttdata.generate.blind.learning import Matrix

_SECTIONS = 5


def count_by_section(choices: ChoiceSet) -> Matrix:
    """Return how often an option has each word of its own in each fifth."""
    return count_features(
        [(word, index * _SECTIONS // len(words)) for word, index in own]
        for options, sides in zip(choices.words, choices.own_words, strict=True)
        for words, own in zip(options, sides, strict=True)
    )


ATTACKER = by_features(count_by_section, naive_bayes)
