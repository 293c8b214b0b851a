"""Which of the same two words was the foil in other videos."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vttdata.generate.blind.attacker import AttackedPairs, BlindAttacker
from vttdata.generate.blind.learning import sparse_matrix

if TYPE_CHECKING:
    from vttdata.generate.blind.learning import Matrix


def count_swaps(attacked: AttackedPairs) -> Matrix:
    """Return for each two words, in alphabetical order, 1 if the first is the true one and -1 if it is the foil."""
    rows = []
    for true, foil in attacked.surplus:
        sides = [" ".join(word for word, _ in side) for side in (true, foil)]
        rows.append({tuple(sorted(sides)): 1 if sides[0] < sides[1] else -1} if sides[0] != sides[1] else {})
    return sparse_matrix(rows)


ATTACKER = BlindAttacker(count_swaps, learner="naive Bayes")
