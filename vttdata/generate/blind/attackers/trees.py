"""Boosted trees on lengths, overlaps, rarity, numbers and places, which are no sums of shortcuts."""

from __future__ import annotations

import numpy as np

from vttdata.generate.blind.attacker import BlindAttacker, Guesser
from vttdata.generate.blind.attackers.length import measure_lengths
from vttdata.generate.blind.attackers.numbers import list_numeric, read_numbers
from vttdata.generate.blind.attackers.odd_one_out import compare_options
from vttdata.generate.blind.attackers.rarity import measure_rarity_in_set
from vttdata.generate.blind.choices import AttackerUnavailableError, Choices, Examples
from vttdata.generate.blind.learning import Floats, center_rows, rank_rows

_ROUNDS, _LEAVES, _MIN_LEAF, _RATE = 40, 6, 20, 0.1


def describe_densely(choices: Choices) -> Floats:
    """Return numbers that describe options, and what they are less their mean in the choice: options x numbers."""
    values = read_numbers(choices)
    numeric = np.isin(choices.owners, list_numeric(choices, values))
    asked = [set(words) for words in choices.question_words]
    overlap = [
        (sum(word in words for word in option), len(words))
        for words, options in zip(asked, choices.words, strict=True)
        for option in options
    ]
    absolute = np.column_stack(
        [
            measure_lengths(choices),
            compare_options(choices),
            measure_rarity_in_set(choices),
            np.array(overlap, dtype=float),
            np.where(numeric, values, 0),
        ]
    )
    relative = center_rows(absolute, choices.starts)
    places = np.array([item.has_places for item in choices.items])[choices.owners] * choices.places
    ranks = rank_rows(absolute[:, -1:], choices.starts)
    return np.column_stack([absolute, relative, places, ranks, choices.sizes[choices.owners]])


def learn(examples: Examples) -> Guesser:
    """Learn which options are right, each by itself; those of one choice are compared by their scores."""
    try:
        from sklearn.ensemble import HistGradientBoostingClassifier
    except ImportError as error:
        raise AttackerUnavailableError("scikit-learn is not installed") from error
    trees = HistGradientBoostingClassifier(
        learning_rate=_RATE,
        max_iter=_ROUNDS,
        max_leaf_nodes=_LEAVES,
        min_samples_leaf=_MIN_LEAF,
        early_stopping=False,
        random_state=0,
    )
    is_right = np.zeros(len(examples.choices.owners), dtype=np.int64)
    is_right[examples.right] = 1
    trees.fit(examples.choices.features(describe_densely), is_right)
    return lambda tried: np.asarray(trees.decision_function(tried.features(describe_densely)))


ATTACKER = BlindAttacker(learn)
