"""Tests of what blind attackers learn from: n-grams counted by hand, and a fit that a general minimizer confirms."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from vttdata.generate.blind.attacker import AttackedPairs, TextPair
from vttdata.generate.blind.attackers.character_ngrams import compare_characters
from vttdata.generate.blind.learning import logistic_regression

sparse = pytest.importorskip("scipy.sparse")


def count_characters(text: str) -> Counter[tuple[bool, str]]:
    """Count the 2- to 5-grams of a text (False) and of its words with a space on either side (True)."""
    pieces = [(False, text), *((True, f" {word} ") for word in text.split())]
    return Counter(
        (within, piece[start : start + length])
        for within, piece in pieces
        for length in (2, 3, 4, 5)
        for start in range(len(piece) - length + 1)
    )


def test_differences_of_characters_are_those_of_a_count_by_hand() -> None:
    # Nothing is shared at either end, letters beyond 16 bits and a lone surrogate occur, and two pairs are the same.
    texts = [
        ("A dog runs", "two cats sleep"),
        ("A dog runs", "two cats sleep"),
        ("猫が𠮷野家で寝る", "犬 runs home"),
        ("b \ud800 dogs", "zebras in cats"),
        ("", "dog"),
    ]
    pairs = [TextPair(true, foil, f"v{number}") for number, (true, foil) in enumerate(texts)]
    found = sparse.csr_matrix(compare_characters(AttackedPairs(pairs))).toarray()
    rows = []
    for true, foil in texts:
        row = count_characters(true.lower())
        row.subtract(count_characters(foil.lower()))
        rows.append({ngram: count for ngram, count in row.items() if count})
    shared = Counter(ngram for row in rows for ngram in row)
    kept = sorted(ngram for ngram, number in shared.items() if number > 1)
    lengths = [3 / np.sqrt(sum(count * count for count in row.values())) for row in rows]
    expected = np.array([[row.get(ngram, 0) for ngram in kept] for row in rows]) * np.array(lengths)[:, None]
    assert found.shape == expected.shape
    # The order of columns means nothing.
    np.testing.assert_allclose(found[:, np.lexsort(found)], expected[:, np.lexsort(expected)], atol=1e-12)


def test_features_that_always_occur_together_share_the_weight_that_a_general_minimizer_finds() -> None:
    optimize = pytest.importorskip("scipy.optimize")
    draw = np.random.default_rng(3)
    columns = draw.integers(-1, 2, (200, 12)).astype(float)
    differences = columns[:, [0, 1, 2, 2, 2, 3, 4, 5, 6, 7, 8, 8, 9, 10, 11]]

    def loss(weights: np.ndarray) -> float:
        return float(np.logaddexp(0, -differences @ weights).sum() + weights @ weights / 2)

    expected = optimize.minimize(loss, np.zeros(15), method="BFGS", options={"gtol": 1e-7}).x
    weights = logistic_regression(sparse.csr_matrix(differences))
    np.testing.assert_allclose(weights, expected, atol=2e-4)
    assert len(set(weights[2:5])) == len(set(weights[10:12])) == 1
    np.testing.assert_allclose(logistic_regression(differences), expected, atol=2e-4)
