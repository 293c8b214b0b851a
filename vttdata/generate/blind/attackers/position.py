"""How often each of the swapped words was a foil in this fifth of a text."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from vttdata.generate.blind.attacker import AttackedPairs, BlindAttacker
from vttdata.generate.blind.learning import count_differences

if TYPE_CHECKING:
    from vttdata.generate.blind.learning import Matrix


_SECTIONS = 5


def count_by_section(attacked: AttackedPairs) -> Matrix:
    """Return for each word and fifth of a text how many more the true text has there."""

    def sections(side: Sequence[tuple[str, int]], length: int) -> list[tuple[str, int]]:
        return [(word, index * _SECTIONS // length) for word, index in side]

    return count_differences(
        (sections(true, len(words)), sections(foil, len(foil_words)))
        for (true, foil), (words, foil_words) in zip(attacked.surplus, attacked.words, strict=True)
    )


ATTACKER = BlindAttacker(count_by_section, learner="naive Bayes")
