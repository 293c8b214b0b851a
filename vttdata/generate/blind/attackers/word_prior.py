"""How often each of the words by which the texts differ was right."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vttdata.generate.blind.attacker import by_features
from vttdata.generate.blind.choices import ChoiceSet
from vttdata.generate.blind.learning import count_features, naive_bayes

if TYPE_CHECKING:
    from vttdata.generate.blind.learning import Matrix


def count_words(choices: ChoiceSet) -> Matrix:
    """Return how often an option has each word of its own."""
    return count_features([word for word, _ in own] for sides in choices.own_words for own in sides)


ATTACKER = by_features(count_words, naive_bayes)
