"""Lengths of the texts in words and characters, and the number of different words."""

from __future__ import annotations

import numpy as np

from vttdata.generate.blind.attacker import by_features
from vttdata.generate.blind.choices import ChoiceSet
from vttdata.generate.blind.learning import Floats, rank_options


def measure_lengths(choices: ChoiceSet) -> Floats:
    """Return lengths, and their ranks among the options."""
    lengths = [
        (len(words), len(text), len(set(words)))
        for item, of_options in zip(choices.items, choices.words, strict=True)
        for text, words in zip(item.options, of_options, strict=True)
    ]
    columns = np.array(lengths, dtype=float)
    return np.hstack([columns, rank_options(columns, choices.starts)])


ATTACKER = by_features(measure_lengths)
