"""Logistic regression on pairs of a swapped word and any other word of the text."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vttdata.generate.blind.attacker import AttackedPairs, BlindAttacker
from vttdata.generate.blind.learning import sparse_matrix

if TYPE_CHECKING:
    from vttdata.generate.blind.learning import Matrix


def pair_words(attacked: AttackedPairs) -> Matrix:
    """Return +1 for each true word with each shared one, and -1 for each false word; scaled by the number of words."""
    rows = []
    for (true, foil), shared in zip(attacked.surplus, attacked.shared, strict=True):
        weight = 1 / max(1, len(shared)) ** 0.5
        row: dict[tuple[str, str], float] = {}
        for side, sign in ((true, weight), (foil, -weight)):
            row |= {(word, other): sign for word, _ in side for other in shared}
        rows.append(row)
    return sparse_matrix(rows)


ATTACKER = BlindAttacker(pair_words)
