"""Lengths of the texts in words and characters, and the number of different words."""

from __future__ import annotations

from vttdata.generate.blind.attacker import AttackedPairs, BlindAttacker, scaled_columns
from vttdata.generate.blind.learning import Floats


def measure_lengths(attacked: AttackedPairs) -> Floats:
    """Return differences of lengths, and their signs."""
    columns = [
        [len(true) - len(foil) for true, foil in attacked.words],
        [len(pair.true) - len(pair.foil) for pair in attacked.pairs],
        [len(set(true)) - len(set(foil)) for true, foil in attacked.words],
    ]
    signs = [[(value > 0) - (value < 0) for value in column] for column in columns]
    return scaled_columns([*columns, *signs])


ATTACKER = BlindAttacker(measure_lengths)
