"""Which of the same two words was right in other videos."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vttdata.generate.blind.attacker import by_features
from vttdata.generate.blind.choices import ChoiceSet
from vttdata.generate.blind.learning import naive_bayes, sparse_matrix

if TYPE_CHECKING:
    from vttdata.generate.blind.learning import Matrix


def opposed_options(choices: ChoiceSet) -> Matrix:
    """Return 1 for each two options, known by their own words, of which this one is the first or the second."""
    rows = []
    for sides in choices.own_words:
        texts = [" ".join(word for word, _ in own) for own in sides]
        rows += [{(text, other): 1 for other in texts if other != text} for text in texts]
    return sparse_matrix(rows)


ATTACKER = by_features(opposed_options, naive_bayes)
