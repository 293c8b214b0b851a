"""Which option the words of the question go with."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

from vttdata.generate.blind.attacker import by_features
from vttdata.generate.blind.choices import AttackerUnavailableError, ChoiceSet, check_questions
from vttdata.generate.blind.learning import cross_features, naive_bayes

if TYPE_CHECKING:
    from vttdata.generate.blind.learning import Matrix


def cross_with_question(choices: ChoiceSet) -> Matrix:
    """Return pairs of a word of the question and the option, which is its text, or else its place.

    It is its text where all questions have the same options, such as yes and no, and pairs of neighbouring words are
    words there too.
    """
    check_questions(choices)
    options = [tuple(text.casefold() for text in item.options) for item in choices.items]
    is_usual = len({frozenset(texts) for texts in options}) == 1
    if not is_usual and not all(item.has_places for item in choices.items):
        raise AttackerUnavailableError("the order of the texts says nothing")
    asked = [
        ["", *words, *(map(" ".join, itertools.pairwise(words)) if is_usual else ())]
        for words in choices.question_words
    ]
    names = [[text if is_usual else str(place)] for texts in options for place, text in enumerate(texts)]
    return cross_features(asked, names, choices.owners)


ATTACKER = by_features(cross_with_question, naive_bayes)
