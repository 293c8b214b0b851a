"""What the words of a question give away of its answer, alone and together with the words of the options.

Attackers of options never see the question, so that they know nothing of questions with the options yes and no but how
often yes is right. The first attacker here sees the question alone, and guesses which of the usual options, or which
place among the options, its words go with; the second sees which words of an option go with which words of a question.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from vttdata.generate.blind.learning import Integers
from vttdata.generate.blind.words import lower_words

if TYPE_CHECKING:
    from vttdata.generate.blind.learning import Matrix

# Rows of a matrix have a number for each pair of words, so long questions and options are cut.
_MAX_QUESTION_WORDS, _MAX_OPTION_WORDS = 12, 4


class OptionPair(NamedTuple):
    """Words of a question, its options, and the indices of the right option and of a wrong one."""

    question: tuple[str, ...]
    options: Sequence[str]
    answer: int
    wrong: int


def compare_by_question(pairs: Sequence[OptionPair]) -> Matrix:
    """Return how words of the question go with the right and the wrong option: pairs x (word, option).

    An option is its text where all questions have the same options, such as yes and no, and pairs of neighbouring words
    are words there too; else it is its place.
    """
    is_usual = len({frozenset(option.casefold() for option in pair.options) for pair in pairs}) == 1

    def list_grams(pair: OptionPair) -> Iterable[str]:
        neighbours = itertools.pairwise(pair.question) if is_usual else ()
        return itertools.chain(("",), pair.question, map(" ".join, neighbours))

    def name_option(pair: OptionPair, option: int) -> Iterable[Hashable]:
        return (pair.options[option].casefold() if is_usual else option,)

    return _cross_differences(pairs, list_grams, name_option)


def compare_by_words(pairs: Sequence[OptionPair]) -> Matrix:
    """Return how often words of the question stand beside words of the right and the wrong option: pairs x word pairs.

    Words that all options of a question have say nothing of its answer and are left out.
    """
    cut: dict[str, list[str]] = {}

    def words(text: str) -> list[str]:
        if text not in cut:
            cut[text] = lower_words(text)
        return cut[text]

    def list_words(pair: OptionPair) -> Iterable[str]:
        return itertools.islice(dict.fromkeys(pair.question), _MAX_QUESTION_WORDS)

    def list_option_words(pair: OptionPair, option: int) -> Iterable[str]:
        common = set(words(pair.options[0])).intersection(*map(words, pair.options[1:]))
        return [word for word in words(pair.options[option]) if word not in common][:_MAX_OPTION_WORDS]

    return _cross_differences(pairs, list_words, list_option_words)


def _cross_differences(
    pairs: Sequence[OptionPair],
    of_question: Callable[[OptionPair], Iterable[str]],
    of_option: Callable[[OptionPair, int], Iterable[Hashable]],
) -> Matrix:
    """Return how many more of each (feature of the question, feature of an option) the right option has, sparse.

    Features of a single pair of options are left out, since nothing can be learned from them about other ones.
    """
    from scipy import sparse

    numbers: dict[Hashable, int] = {}
    questions: dict[tuple[str, ...], Integers] = {}
    sides = []
    for pair in pairs:
        if pair.question not in questions:
            grams = dict.fromkeys(of_question(pair))
            questions[pair.question] = np.array([numbers.setdefault(gram, len(numbers)) for gram in grams], np.int64)
        for option in (pair.answer, pair.wrong):
            names = [numbers.setdefault((name,), len(numbers)) for name in of_option(pair, option)]
            sides.append((questions[pair.question], np.array(names, np.int64)))
    width = max(len(numbers), 1)
    crossed = [np.add.outer(grams * width, names).ravel() for grams, names in sides]
    sizes = np.array([len(keys) for keys in crossed], dtype=np.int64)
    features, columns = np.unique(np.concatenate([*crossed, np.zeros(0, np.int64)]), return_inverse=True)
    signs = np.repeat(np.tile([1.0, -1.0], len(pairs)), sizes)
    rows = np.repeat(np.repeat(np.arange(len(pairs)), 2), sizes)
    matrix = sparse.csr_matrix((signs, (rows, columns)), shape=(len(pairs), len(features)))
    matrix.eliminate_zeros()
    return matrix[:, np.bincount(matrix.indices, minlength=len(features)) > 1]
