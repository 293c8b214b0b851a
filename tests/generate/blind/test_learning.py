"""Tests of what blind attackers learn from: n-grams counted by hand, and a fit that a general minimizer confirms."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from vttdata.generate.blind.attackers.character_ngrams import count_characters
from vttdata.generate.blind.attackers.trees import boost, drop_repeated
from vttdata.generate.blind.choices import Choice, ChoiceSet, Examples
from vttdata.generate.blind.learning import choice_regression, nonnegative_choice_regression

sparse = pytest.importorskip("scipy.sparse")


def count_characters_by_hand(text: str) -> Counter[tuple[bool, str]]:
    """Count the 2- to 5-grams of a text (False) and of its words with a space on either side (True)."""
    pieces = [(False, text), *((True, f" {word} ") for word in text.split())]
    return Counter(
        (within, piece[start : start + length])
        for within, piece in pieces
        for length in (2, 3, 4, 5)
        for start in range(len(piece) - length + 1)
    )


def test_characters_by_which_options_differ_are_those_of_a_count_by_hand() -> None:
    # Nothing is shared at either end, letters beyond 16 bits and a lone surrogate occur, and two choices are the same.
    texts = [
        ("A dog runs", "two cats sleep"),
        ("A dog runs", "two cats sleep"),
        ("猫が𠮷野家で寝る", "犬 runs home"),
        ("b \ud800 dogs", "zebras in cats"),
        ("", "dog"),
    ]
    choices = ChoiceSet([Choice(options, f"v{number}") for number, options in enumerate(texts)])
    features = sparse.csr_matrix(count_characters(choices)).toarray()
    found = features[0::2] - features[1::2]
    rows = []
    for first, second in texts:
        row = count_characters_by_hand(first.lower())
        row.subtract(count_characters_by_hand(second.lower()))
        rows.append({ngram: count for ngram, count in row.items() if count})
    both = [
        count_characters_by_hand(first.lower()) + count_characters_by_hand(second.lower()) for first, second in texts
    ]
    occurring = Counter(ngram for row in both for ngram in row)
    kept = sorted(ngram for ngram, number in occurring.items() if number > 1)
    lengths = [3 / np.sqrt(sum(count * count for count in row.values())) for row in rows]
    expected = np.array([[row.get(ngram, 0) for ngram in kept] for row in rows]) * np.array(lengths)[:, None]
    assert found.shape == expected.shape
    # The order of columns means nothing.
    np.testing.assert_allclose(found[:, np.lexsort(found)], expected[:, np.lexsort(expected)], atol=1e-12)


def test_choices_are_learned_as_a_general_minimizer_learns_them() -> None:
    """Of two to four options each; features that always occur together share a weight."""
    optimize = pytest.importorskip("scipy.optimize")
    draw = np.random.default_rng(3)
    sizes = draw.integers(2, 5, 150)
    starts = np.cumsum(sizes) - sizes
    right = starts + draw.integers(0, sizes)
    columns = draw.integers(0, 2, (sizes.sum(), 12)).astype(float)
    features = columns[:, [0, 1, 2, 2, 2, 3, 4, 5, 6, 7, 8, 8, 9, 10, 11]]

    def loss(weights: np.ndarray) -> float:
        scores = np.split(features @ weights, starts[1:])
        chosen = sum(np.log(np.exp(of_choice).sum()) for of_choice in scores) - (features @ weights)[right].sum()
        return float(chosen + weights @ weights / 2)

    expected = optimize.minimize(loss, np.zeros(15), method="BFGS", options={"gtol": 1e-7}).x
    weights = choice_regression(sparse.csr_matrix(features), starts, right)
    np.testing.assert_allclose(weights, expected, atol=2e-4)
    assert len(set(weights[2:5])) == len(set(weights[10:12])) == 1


def test_units_of_dense_features_do_not_matter() -> None:
    draw = np.random.default_rng(4)
    starts = np.arange(0, 300, 3)
    features = draw.normal(size=(300, 4))
    right = starts + np.argmax(features[:, 0].reshape(-1, 3), axis=1)
    scaled = choice_regression(features * [1e3, 1, 1e-3, 1], starts, right)
    plain = choice_regression(features, starts, right)
    np.testing.assert_allclose(scaled * [1e3, 1, 1e-3, 1], plain, rtol=1e-6)
    assert np.argmax(np.abs(plain)) == 0


def test_noise_is_left_out_and_signal_is_not() -> None:
    """Of 200 columns of noise few are above two standard deviations, as by chance; one that helps is always kept."""
    draw = np.random.default_rng(5)
    starts = np.arange(0, 4 * 400, 4)
    right = starts + draw.integers(0, 4, 400)
    noise = draw.normal(size=(1600, 200))
    noise -= np.repeat(np.add.reduceat(noise, starts) / 4, 4, axis=0)
    kept = [nonnegative_choice_regression(noise[:, [column]], starts, right, 2.0)[0] > 0 for column in range(200)]
    assert np.mean(kept) < 0.06
    signal = noise[:, [0]].copy()
    signal[right] += 0.5
    signal -= np.repeat(np.add.reduceat(signal, starts) / 4, 4, axis=0)
    both = nonnegative_choice_regression(np.hstack([signal, noise[:, 1:4]]), starts, right, 2.0)
    assert both[0] > 0.1


def test_trees_are_the_same_without_columns_that_repeat() -> None:
    pytest.importorskip("sklearn")
    draw = np.random.default_rng(8)
    first, second = draw.normal(size=(2, 400))
    features = np.column_stack([first, np.full(400, 2.0), second, first, np.zeros(400), second])
    np.testing.assert_array_equal(drop_repeated(features), features[:, :3])
    answers = (first + draw.normal(size=400)).reshape(200, 2).argmax(axis=1)
    choices = ChoiceSet([Choice(("a", "b"), f"v{number}") for number in range(200)])
    examples = Examples(choices, answers, np.arange(200) % 5)
    every, few = (boost(lambda _, given=given: given)(examples)(choices) for given in (features, features[:, :3]))
    assert len(np.unique(every)) > 10
    np.testing.assert_array_equal(every, few)
