"""How often each of the swapped words was a foil."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vttdata.generate.blind.attacker import AttackedPairs, BlindAttacker
from vttdata.generate.blind.learning import count_differences

if TYPE_CHECKING:
    from vttdata.generate.blind.learning import Matrix


def count_words(attacked: AttackedPairs) -> Matrix:
    """Return for each word how many more the true text has."""
    return count_differences(
        ([word for word, _ in true], [word for word, _ in foil]) for true, foil in attacked.surplus
    )


ATTACKER = BlindAttacker(count_words, learner="naive Bayes")
