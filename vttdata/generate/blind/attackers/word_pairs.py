"""Logistic regression on pairs of a word by which the texts differ and a word that they share."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vttdata.generate.blind.attacker import by_features
from vttdata.generate.blind.choices import ChoiceSet
from vttdata.generate.blind.learning import sparse_matrix

if TYPE_CHECKING:
    from vttdata.generate.blind.learning import Matrix


def pair_words(choices: ChoiceSet) -> Matrix:
    """Return 1 for each word of an option's own with each shared one, scaled by the number of shared words."""
    rows = []
    for sides, shared in zip(choices.own_words, choices.shared_words, strict=True):
        weight = 1 / max(1, len(shared)) ** 0.5
        rows += [{(word, other): weight for word, _ in own for other in shared} for own in sides]
    return sparse_matrix(rows)


ATTACKER = by_features(pair_words)
