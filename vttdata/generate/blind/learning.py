"""Learning to tell true texts from foils by the numbers in which they differ, on some videos, to guess on others.

Every learner is linear and has no intercept, so that it guesses the opposite where the two texts of a pair are swapped.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, TypeAlias, TypeVar

import numpy as np
import numpy.typing as npt

from vttdata.generate.blind.words import lower_words
from vttdata.text.lm import Scorer

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]
# Features x 1 from the differences of pairs, true text less foil: pairs x features, dense or sparse.
if TYPE_CHECKING:
    from scipy import sparse

H = TypeVar("H", bound=Hashable)
Matrix: TypeAlias = "Floats | sparse.csr_matrix"
"""Numbers of pairs, pairs x columns, dense or sparse."""
Learner: TypeAlias = "Callable[[Matrix], Floats]"

# Count that a feature has on either side before any pair is seen.
_PRIOR_COUNT = 0.5
_MAX_NGRAM = 3
_NEWTON_STEPS = 12
# Squared size of a gradient that counts as 0, and share of a step's squared gradient that may remain.
_MIN_GRADIENT = 1e-6
_SWEEPS = 100
_MIN_CHANGE = 1e-4


def sparse_matrix(rows: Iterable[Mapping[H, float]]) -> Matrix:
    """Return a sparse matrix with a row for each mapping from features to numbers, and a column for each feature.

    Features of a single row are left out, since nothing can be learned from them about other rows.

    Raises:
        VttdataError: when SciPy is not installed.
    """
    from scipy import sparse

    columns: dict[H, int] = {}
    ends, indices, values = [0], list[int](), list[float]()
    for row in rows:
        indices += [columns.setdefault(feature, len(columns)) for feature in row]
        values += row.values()
        ends.append(len(indices))
    matrix = sparse.csr_matrix((values, indices, ends), shape=(len(ends) - 1, len(columns)), dtype=float)
    return matrix[:, np.bincount(indices, minlength=len(columns)) > 1]


def count_differences(sides: Iterable[tuple[Sequence[Hashable], Sequence[Hashable]]]) -> Matrix:
    """Return how many more of each feature the true text has: pairs x features, from the features of both texts."""
    rows = []
    for true, foil in sides:
        row: dict[Hashable, int] = {}
        for feature in true:
            row[feature] = row.get(feature, 0) + 1
        for feature in foil:
            row[feature] = row.get(feature, 0) - 1
        rows.append({feature: count for feature, count in row.items() if count})
    return sparse_matrix(rows)


def naive_bayes(differences: sparse.csr_matrix) -> Floats:
    """Return the log odds of each feature: how often true texts have more of it over how often foils have."""
    true, foil = (np.asarray(side.sum(axis=0)).ravel() for side in (differences.maximum(0), (-differences).maximum(0)))
    odds: Floats = np.log((true + _PRIOR_COUNT) / (foil + _PRIOR_COUNT))
    return odds


def logistic_regression(differences: Matrix) -> Floats:
    """Return the weights of the logistic regression that takes true texts for true, with an L2 penalty of strength 1.

    Newton's method, whose steps conjugate gradients find: hundreds of such fits take a second. Differences are pairs x
    features.
    """
    if isinstance(differences, np.ndarray):
        return _fit_logistic(differences, differences.T)
    from scipy import sparse

    transposed = differences.T.tocsr()
    # Features that agree in every pair get the same weight: one of them, longer by the square root of their number, has
    # the effect and the penalty of all. They are known by the sum of random numbers of the pairs.
    sums = transposed @ np.random.default_rng(0).random(differences.shape[0])
    _, firsts, features, counts = np.unique(sums, return_index=True, return_inverse=True, return_counts=True)
    lengths = np.sqrt(counts)
    joined = (sparse.diags(lengths) @ transposed[firsts]).tocsr()
    return (_fit_logistic(joined.T.tocsr(), joined) / lengths)[features]


def _fit_logistic(differences: Matrix, transposed: Matrix) -> Floats:
    weights = np.zeros(differences.shape[1])
    for _ in range(_NEWTON_STEPS):
        misjudged = _logistic(-(differences @ weights))
        curvature = misjudged * (1 - misjudged)
        residual = transposed @ misjudged - weights
        size = _dot(residual, residual)
        if size < _MIN_GRADIENT:
            break
        direction, stop = residual.copy(), size * _MIN_GRADIENT
        while size > stop:
            product = direction + transposed @ (curvature * (differences @ direction))
            length = size / _dot(direction, product)
            weights = weights + length * direction
            residual = residual - length * product
            size, former = _dot(residual, residual), size
            direction = residual + size / former * direction
    return weights


def nonnegative_logistic_regression(differences: Floats) -> Floats:
    """Return the weights, none below 0, of a logistic regression that leaves out columns that are no more than noise.

    Its penalty is on the sum of the weights, and as strong as two standard deviations of what a column of random signs
    would gain. Weights are found one by one, by Newton's method. Differences are pairs x features, of about one size.
    """
    weights, margins = np.zeros(differences.shape[1]), np.zeros(len(differences))
    penalty = np.sqrt(len(differences))
    for _ in range(_SWEEPS):
        former = weights.copy()
        for column, values in enumerate(differences.T):
            misjudged = _logistic(-margins)
            curvature = values**2 @ (misjudged * (1 - misjudged))
            if curvature > 0:
                weight = max(0.0, weights[column] + (values @ misjudged - penalty) / curvature)
                # A step of more than 1 would leave the region that the curvature describes.
                weight = float(np.clip(weight, weights[column] - 1, weights[column] + 1))
                margins += (weight - weights[column]) * values
                weights[column] = weight
        if np.abs(weights - former).max() < _MIN_CHANGE:
            break
    return weights


def _dot(first: Floats, second: Floats) -> float:
    """Return the inner product, without the threads of BLAS, which cost more than they save on vectors of this size."""
    return float(np.einsum("i,i->", first, second))


def _logistic(values: Floats) -> Floats:
    """Return 1 / (1 + exp(-values)), without overflow."""
    halves: Floats = 0.5 + 0.5 * np.tanh(values / 2)
    return halves


def cross_fit(differences: Matrix, folds: Integers, learner: Learner) -> Floats:
    """Return the margin of each pair by learners that saw neither its fold nor one more: folds x pairs.

    Row k holds the margins by what was learned without fold k and without the pair's fold, so that what is learned from
    this row, in turn, has seen nothing of fold k; of the pairs of fold k itself they are margins by what was learned
    from all other folds. Differences are pairs x features.
    """
    number = int(folds.max()) + 1
    margins = np.zeros((number, len(folds)))
    for first in range(number):
        for second in range(first, number):
            left_out = (folds == first) | (folds == second)
            if left_out.all():
                continue
            weights = learner(differences[~left_out])
            margins[first, folds == second] = differences[folds == second] @ weights
            margins[second, folds == first] = differences[folds == first] @ weights
    return margins


def ngram_differences(words: Iterable[tuple[Sequence[str], Sequence[str]]]) -> Matrix:
    """Return how many more of each 1- to 3-gram a true text has than its foil, given their words: pairs x n-grams."""
    return count_differences((_list_ngrams(true, foil), _list_ngrams(foil, true)) for true, foil in words)


def _list_ngrams(words: Sequence[str], others: Sequence[str]) -> list[str]:
    """List the n-grams of a text, without those that lie in a beginning or an end that another text shares."""
    limit = min(len(words), len(others))
    start = next((index for index in range(limit) if words[index] != others[index]), limit)
    shared_end = next(
        (index for index in range(limit - start) if words[-1 - index] != others[-1 - index]), limit - start
    )
    window = words[max(0, start - _MAX_NGRAM + 1) : len(words) - max(0, shared_end - _MAX_NGRAM + 1)]
    return [
        " ".join(window[index : index + length])
        for length in range(1, _MAX_NGRAM + 1)
        for index in range(len(window) - length + 1)
    ]


def perplexity_margins(true: Sequence[str], foil: Sequence[str], model: Scorer) -> Floats:
    """Return the log perplexity of each foil less that of the true text: above 0 where the true text is likelier."""
    numbers = {text: number for number, text in enumerate(dict.fromkeys([*true, *foil]))}
    logs = np.log(model.perplexity(list(numbers)))
    margins: Floats = logs[[numbers[text] for text in foil]] - logs[[numbers[text] for text in true]]
    return margins


def margins_by_classifier(true: Sequence[str], foil: Sequence[str], folds: Integers) -> Floats:
    """Guess by a logistic regression on the 1- to 3-grams by which the two texts of a pair differ.

    What is learned from a fold is not tried on it.

    Raises:
        VttdataError: when SciPy is not installed.
    """
    differences = ngram_differences(zip(map(lower_words, true), map(lower_words, foil), strict=True))
    margins = np.zeros(len(true))
    for fold in np.unique(folds):
        margins[folds == fold] = differences[folds == fold] @ logistic_regression(differences[folds != fold])
    return margins
