"""Which place among the options is right most often."""

from __future__ import annotations

import numpy as np

from vttdata.generate.blind.attacker import by_features
from vttdata.generate.blind.choices import AttackerUnavailableError, ChoiceSet
from vttdata.generate.blind.learning import Floats


def mark_places(choices: ChoiceSet) -> Floats:
    """Return 1 in the column of an option's place."""
    if not all(item.has_places for item in choices.items):
        raise AttackerUnavailableError("the order of the texts says nothing")
    return np.eye(int(choices.sizes.max()))[choices.places]


ATTACKER = by_features(mark_places)
