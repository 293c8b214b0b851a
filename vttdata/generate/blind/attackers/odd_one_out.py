"""How many words an option shares with the others."""

from __future__ import annotations

import numpy as np

from vttdata.generate.blind.attacker import by_features
from vttdata.generate.blind.choices import ChoiceSet
from vttdata.generate.blind.learning import Floats


def compare_options(choices: ChoiceSet) -> Floats:
    """Return the mean and the greatest share of words that an option has in common with another one."""
    shared = []
    for texts in choices.words:
        options = [frozenset(words) for words in texts]
        for index, words in enumerate(options):
            shares = [
                len(words & others) / max(len(words | others), 1) for others in options[:index] + options[index + 1 :]
            ]
            shared.append((sum(shares) / len(shares), max(shares)))
    return np.array(shared)


ATTACKER = by_features(compare_options)
