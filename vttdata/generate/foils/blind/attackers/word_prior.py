"""How often each of the swapped words was a foil."""

from __future__ import annotations

from typing import Any

from vttdata.generate.foils.blind.attacker import AttackedPairs, BlindAttacker
from vttdata.generate.foils.blind.learning import count_differences


def count_words(attacked: AttackedPairs) -> Any:
    """Return for each word how many more the true text has."""
    return count_differences(
        ([word for word, _ in true], [word for word, _ in foil]) for true, foil in attacked.surplus
    )


ATTACKER = BlindAttacker(count_words, learner="naive Bayes")
