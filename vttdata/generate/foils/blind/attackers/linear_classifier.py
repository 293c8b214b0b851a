"""Logistic regression on the 1- to 3-grams by which the texts differ."""

from __future__ import annotations

from typing import Any

from vttdata.generate.foils.blind.attacker import AttackedPairs, BlindAttacker
from vttdata.generate.foils.blind.learning import ngram_differences


def compare_ngrams(attacked: AttackedPairs) -> Any:
    """Return how many more of each 1- to 3-gram the true text has."""
    return ngram_differences(attacked.words)


ATTACKER = BlindAttacker(compare_ngrams)
