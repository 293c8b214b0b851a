"""Which words are right beside which words of other options."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import TYPE_CHECKING

from vttdata.generate.blind.attacker import by_features
from vttdata.generate.blind.choices import ChoiceSet
from vttdata.generate.blind.learning import count_features

if TYPE_CHECKING:
    from vttdata.generate.blind.learning import Matrix

# Words of an option, of those that not all options have, that are compared with those of the others.
_MAX_WORDS = 4


def pair_with_others(choices: ChoiceSet) -> Matrix:
    """Return how often an option has a word beside a word of another option."""

    def pairs() -> Iterator[list[tuple[str, str]]]:
        for options, shared in zip(choices.words, choices.shared_words, strict=True):
            common = frozenset(shared)
            own = [[word for word in words if word not in common][:_MAX_WORDS] for words in options]
            for index, words in enumerate(own):
                others = itertools.chain.from_iterable(own[:index] + own[index + 1 :])
                yield list(itertools.product(words, others))

    return count_features(pairs())


ATTACKER = by_features(pair_with_others)
