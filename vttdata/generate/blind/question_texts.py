"""What the words of a question give away of its answer, alone and together with the words of the options.

Attackers of options never see the question, so that they know nothing of questions with the options yes and no but how
often yes is right. The first attacker here sees the question alone, and guesses which of the usual options, or which
place among the options, its words go with; the second sees which words of an option go with which words of a question.
"""

from __future__ import annotations

import itertools
from collections.abc import Hashable, Sequence
from typing import TYPE_CHECKING, NamedTuple

from vttdata.generate.blind.learning import count_differences
from vttdata.generate.blind.words import lower_words

if TYPE_CHECKING:
    from vttdata.generate.blind.learning import Matrix

# Rows of a matrix have a number for each pair of words, so long questions and options are cut.
_MAX_QUESTION_WORDS, _MAX_OPTION_WORDS = 12, 4


class OptionPair(NamedTuple):
    """Words of a question, its options, and the indices of the right option and of a wrong one."""

    question: Sequence[str]
    options: Sequence[str]
    answer: int
    wrong: int


def compare_by_question(pairs: Sequence[OptionPair]) -> Matrix:
    """Return how words of the question go with the right and the wrong option: pairs x (word, option).

    An option is its text where all questions have the same options, such as yes and no, and pairs of neighbouring words
    are words there too; else it is its place.
    """
    is_usual = len({frozenset(option.casefold() for option in pair.options) for pair in pairs}) == 1

    def features(pair: OptionPair, option: int) -> list[Hashable]:
        name: Hashable = pair.options[option].casefold() if is_usual else option
        neighbours = itertools.pairwise(pair.question) if is_usual else ()
        grams = itertools.chain(("",), pair.question, map(" ".join, neighbours))
        return [(gram, name) for gram in dict.fromkeys(grams)]

    return count_differences((features(pair, pair.answer), features(pair, pair.wrong)) for pair in pairs)


def compare_by_words(pairs: Sequence[OptionPair]) -> Matrix:
    """Return how often words of the question stand beside words of the right and the wrong option: pairs x word pairs.

    Words that all options of a question have say nothing of its answer and are left out.
    """
    cut: dict[str, list[str]] = {}

    def words(text: str) -> list[str]:
        return cut.setdefault(text, lower_words(text))

    sides = []
    for pair in pairs:
        asked = list(dict.fromkeys(pair.question))[:_MAX_QUESTION_WORDS]
        common = set(words(pair.options[0])).intersection(*map(words, pair.options[1:]))
        first, second = (
            [word for word in words(pair.options[index]) if word not in common][:_MAX_OPTION_WORDS]
            for index in (pair.answer, pair.wrong)
        )
        sides.append((list(itertools.product(asked, first)), list(itertools.product(asked, second))))
    return count_differences(sides)
