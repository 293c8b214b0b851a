"""Boosted trees on lengths, overlaps, rarity, numbers and places, which are no sums of shortcuts."""

from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from vttdata.generate.blind.attacker import BlindAttacker, Guesser
from vttdata.generate.blind.attackers.length import measure_lengths
from vttdata.generate.blind.attackers.numbers import list_numeric, read_numbers
from vttdata.generate.blind.attackers.odd_one_out import compare_options
from vttdata.generate.blind.attackers.rarity import measure_rarity_in_set
from vttdata.generate.blind.choices import AttackerUnavailableError, ChoiceSet, Examples
from vttdata.generate.blind.learning import Floats, center_rows, rank_options

_ROUNDS, _LEAVES, _MIN_LEAF, _BINS, _RATE = 50, 8, 20, 32, 0.1
_MAX_USUAL = 6


def describe_densely(choices: ChoiceSet) -> Floats:
    """Return numbers that describe options, and what they are less their mean in the choice: options x numbers.

    Columns are those of `drop_repeated`.
    """
    values = read_numbers(choices)
    numeric = np.isin(choices.owners, list_numeric(choices, values))
    absolute = np.column_stack(
        [
            measure_lengths(choices),
            compare_options(choices),
            measure_rarity_in_set(choices),
            np.array(list(_describe_texts(choices)), dtype=float),
            np.where(numeric, values, 0),
        ]
    )
    relative = center_rows(absolute, choices.starts)
    places = np.array([item.has_places for item in choices.items])[choices.owners] * choices.places
    ranks = rank_options(absolute[:, -1:], choices.starts)
    # Where all choices have the same options, such as yes and no, which one it is; and the length of the question.
    names = [text.casefold() for item in choices.items for text in item.options]
    known = {name: number for number, name in enumerate(sorted(set(names)))}
    usual = [known[name] if len(known) <= _MAX_USUAL else 0 for name in names]
    asked = np.array([len(words) for words in choices.question_words])[choices.owners]
    return drop_repeated(
        np.column_stack([absolute, relative, places, ranks, usual, asked, choices.sizes[choices.owners]])
    )


def drop_repeated(features: Floats) -> Floats:
    """Return features without columns that equal an earlier one, and with one constant column at most.

    Trees split the first of the columns that do equally well, so that they are the same without these.
    """
    columns = [*enumerate(features.T)]
    firsts = {column.tobytes() if np.ptp(column) else b"": index for index, column in reversed(columns)}
    return features[:, sorted(firsts.values())]


def _describe_texts(choices: ChoiceSet) -> Iterator[tuple[float, ...]]:
    """Yield of each option: words of the question, commas, adverbs, letters a word, and how usual it is beside others.

    That is the share of its words that half of the options have, and of its places at which another has the same word.
    """
    for item, asked, options in zip(choices.items, choices.question_words, choices.words, strict=True):
        in_question = frozenset(asked)
        counts = Counter(word for words in options for word in frozenset(words))
        for text, words in zip(item.options, options, strict=True):
            size = max(len(words), 1)
            same = sum(
                word == other
                for others in options
                if others is not words
                for word, other in zip(words, others, strict=False)
            )
            yield (
                sum(word in in_question for word in words),
                len(in_question.intersection(words)) / size,
                text.count(","),
                sum(word.endswith("ly") for word in words),
                sum(map(len, words)) / size,
                sum(2 * counts[word] > len(options) for word in words) / size,
                same / size / max(len(options) - 1, 1),
            )


def boost(describe: Callable[[ChoiceSet], Floats]) -> Callable[[Examples], Guesser]:
    """Return what learns which options are right, each by itself, from dense features; their scores are compared."""

    def learn(examples: Examples) -> Guesser:
        features = examples.choices.features(describe)
        try:
            from sklearn.ensemble import HistGradientBoostingClassifier
        except ImportError as error:
            raise AttackerUnavailableError("scikit-learn is not installed") from error
        trees = HistGradientBoostingClassifier(
            learning_rate=_RATE,
            max_iter=_ROUNDS,
            max_leaf_nodes=_LEAVES,
            max_bins=_BINS,
            min_samples_leaf=_MIN_LEAF,
            early_stopping=False,
            random_state=0,
        )
        is_right = np.zeros(len(examples.choices.owners), dtype=np.int64)
        is_right[examples.right] = 1
        with _find_threads().limit(limits=1):
            trees.fit(features, is_right)

        def guess(tried: ChoiceSet) -> Floats:
            with _find_threads().limit(limits=1):
                return np.asarray(trees.decision_function(tried.features(describe)), dtype=np.float64)

        return guess

    return learn


@functools.cache
def _find_threads() -> Any:
    """Return what limits the threads of libraries: so few rows are not worth any, which wait for each other.

    It is found once, after scikit-learn was imported, since to look for the libraries takes as long as a few trees.
    """
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()


ATTACKER = BlindAttacker(boost(describe_densely))
