"""Logistic regression on the 1- to 3-grams by which the texts differ."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vttdata.generate.blind.attacker import AttackedPairs, BlindAttacker
from vttdata.generate.blind.learning import ngram_differences

if TYPE_CHECKING:
    from vttdata.generate.blind.learning import Matrix


def compare_ngrams(attacked: AttackedPairs) -> Matrix:
    """Return how many more of each 1- to 3-gram the true text has."""
    return ngram_differences(attacked.words)


ATTACKER = BlindAttacker(compare_ngrams)
