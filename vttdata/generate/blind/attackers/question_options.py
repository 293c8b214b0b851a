"""Which words of an option go with which words of its question."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

from vttdata.generate.blind.attacker import by_features
from vttdata.generate.blind.choices import ChoiceSet, check_questions
from vttdata.generate.blind.learning import cross_features, naive_bayes

if TYPE_CHECKING:
    from vttdata.generate.blind.learning import Matrix

# There is a number for each pair of words, so long questions and options are cut.
_MAX_QUESTION_WORDS, _MAX_OPTION_WORDS = 12, 4


def cross_words(choices: ChoiceSet) -> Matrix:
    """Return pairs of a word of the question and a word of the option; words that all its options have are left out."""
    check_questions(choices)
    asked = [list(itertools.islice(dict.fromkeys(words), _MAX_QUESTION_WORDS)) for words in choices.question_words]
    own = []
    for options, shared in zip(choices.words, choices.shared_words, strict=True):
        common = frozenset(shared)
        own += [[word for word in words if word not in common][:_MAX_OPTION_WORDS] for words in options]
    return cross_features(asked, own, choices.owners)


ATTACKER = by_features(cross_words, naive_bayes)
