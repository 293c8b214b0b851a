"""Learning to tell the right option of a choice from the others by numbers that describe options.

Every learner is linear and has no intercept: only the differences between the options of a choice count.
"""

from __future__ import annotations

import itertools
from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, TypeAlias, TypeVar

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]
if TYPE_CHECKING:
    from scipy import sparse

H = TypeVar("H", bound=Hashable)
Matrix: TypeAlias = "Floats | sparse.csr_matrix"
"""Features of options, options x features, dense or sparse."""
Learner: TypeAlias = "Callable[[Matrix, Integers, Integers], Floats]"
"""Weights of features, from those of the options of examples, the row of the first option of each, and of the right."""

# Count that a feature has on either side before any example is seen.
_PRIOR_COUNT = 0.5
_NEWTON_STEPS = 12
# Squared size of a gradient that counts as 0, share of it that conjugate gradients leave, and of a step that is tried.
_MIN_GRADIENT = 1e-6
_REMAINDER = 1e-2
_MIN_SHARE = 1e-6
_SWEEPS = 100
_MIN_CHANGE = 1e-4
# Standard deviation below which a column says nothing but rounding errors.
_MIN_SCALE = 1e-9


def sparse_matrix(rows: Iterable[Mapping[H, float]]) -> sparse.csr_matrix:
    """Return a sparse matrix with a row for each mapping from features to numbers, and a column for each feature.

    Features of a single row are left out, since nothing can be learned from them about other rows.

    Raises:
        VttdataError: when SciPy is not installed.
    """
    from scipy import sparse

    columns: dict[H, int] = defaultdict(itertools.count().__next__)
    ends, indices, values = [0], list[int](), list[float]()
    for row in rows:
        indices += map(columns.__getitem__, row)
        values += row.values()
        ends.append(len(indices))
    matrix = sparse.csr_matrix((values, indices, ends), shape=(len(ends) - 1, len(columns)), dtype=float)
    return matrix[:, np.bincount(indices, minlength=len(columns)) > 1]


def count_features(options: Iterable[Sequence[Hashable]]) -> sparse.csr_matrix:
    """Return how often each option has each feature: options x features, from the features of each option."""
    return sparse_matrix(map(Counter, options))


def cross_features(
    asked: Sequence[Iterable[Hashable]], options: Sequence[Iterable[Hashable]], owners: Integers
) -> sparse.csr_matrix:
    """Return 1 for each pair of a feature of the question and one of the option: options x pairs, sparse.

    Pairs of a single option are left out, since nothing can be learned from them about other ones.

    Args:
        asked: different features of the question of each choice.
        options: features of each option.
        owners: number of the choice of each option.
    """
    from scipy import sparse

    numbers: dict[Hashable, int] = {}
    of_question = [np.array([numbers.setdefault((0, name), len(numbers)) for name in each], np.int64) for each in asked]
    of_option = [np.array([numbers.setdefault((1, name), len(numbers)) for name in each], np.int64) for each in options]
    width = max(len(numbers), 1)
    crossed = [
        np.add.outer(of_question[owner] * width, names).ravel()
        for owner, names in zip(owners.tolist(), of_option, strict=True)
    ]
    sizes = np.array([len(keys) for keys in crossed], dtype=np.int64)
    found, columns = np.unique(np.concatenate([*crossed, np.zeros(0, np.int64)]), return_inverse=True)
    ends = np.cumsum([0, *sizes])
    matrix = sparse.csr_matrix((np.ones(len(columns)), columns, ends), shape=(len(options), len(found)))
    return matrix[:, np.bincount(columns, minlength=len(found)) > 1]


def naive_bayes(features: Matrix, starts: Integers, right: Integers) -> Floats:
    """Return the log odds of each feature: how often right options have it over how often wrong ones do, on average."""
    sizes = np.diff(np.append(starts, features.shape[0]))
    shares = np.repeat(1 / np.maximum(sizes - 1, 1), sizes)
    is_right = np.zeros(features.shape[0])
    is_right[right] = 1
    true, wrong = is_right @ features, ((1 - is_right) * shares) @ features
    odds: Floats = np.log((true + _PRIOR_COUNT) / (wrong + _PRIOR_COUNT))
    return odds


def choice_regression(features: Matrix, starts: Integers, right: Integers) -> Floats:
    """Return the weights of the logistic regression that chooses the right option, with an L2 penalty of strength 1.

    The probability of an option is the softmax of the scores of its choice (conditional logit: McFadden 1974). Newton's
    method, whose steps conjugate gradients find: hundreds of such fits take a second. Dense features, which may be of
    any unit, are divided by their standard deviation within choices.
    """
    if isinstance(features, np.ndarray):
        scale = np.sqrt((center_rows(features, starts) ** 2).mean(axis=0)) if len(features) else np.ones(0)
        scale = np.where(scale > _MIN_SCALE, scale, np.inf)
        scaled = features / scale
        return _fit(scaled, scaled.T, starts, right) / scale
    from scipy import sparse

    transposed = features.T.tocsr()
    # Features that agree in every option get the same weight: one of them, longer by the square root of their number,
    # has the effect and the penalty of all. They are known by the sum of random numbers of the options.
    sums = transposed @ np.random.default_rng(0).random(features.shape[0])
    _, firsts, columns, counts = np.unique(sums, return_index=True, return_inverse=True, return_counts=True)
    lengths = np.sqrt(counts)
    joined = (sparse.diags(lengths) @ transposed[firsts]).tocsr()
    return (_fit(joined.T.tocsr(), joined, starts, right) / lengths)[columns]


def _fit(features: Matrix, transposed: Matrix, starts: Integers, right: Integers) -> Floats:
    weights = np.zeros(features.shape[1])
    if not len(starts):
        return weights
    sizes = np.diff(np.append(starts, features.shape[0]))
    scores = np.zeros(features.shape[0])
    for _ in range(_NEWTON_STEPS):
        chances = softmax(scores, starts)
        missed = -chances
        missed[right] += 1
        gradient = transposed @ missed - weights
        if _dot(gradient, gradient) < _MIN_GRADIENT:
            break
        # Vectors are changed in place: those of so many features cost more to allocate than to compute.
        step, residual, direction, moves = np.zeros(len(weights)), gradient.copy(), gradient.copy(), gradient.copy()
        size = _dot(residual, residual)
        stop = size * _REMAINDER
        while size > stop:
            moved = features @ direction
            moved *= chances
            moved -= chances * np.repeat(np.add.reduceat(moved, starts), sizes)
            product = transposed @ moved
            product += direction
            length = size / _dot(direction, product)
            step += np.multiply(length, direction, out=moves)
            residual -= np.multiply(length, product, out=product)
            size, former = _dot(residual, residual), size
            direction *= size / former
            direction += residual
        # A whole step can go too far where the curvature changes; a short enough one never does.
        change, gain = features @ step, _dot(gradient, step)
        before, share = _measure_fit(scores, starts, right, weights), 1.0
        while _measure_fit(scores + share * change, starts, right, weights + share * step) < before + share * gain / 10:
            share /= 2
            if share < _MIN_SHARE:
                return weights
        weights, scores = weights + share * step, scores + share * change
    return weights


def _measure_fit(scores: Floats, starts: Integers, right: Integers, weights: Floats) -> float:
    """Return the logarithm of the probability of the right options, less the penalty on weights."""
    highest = np.maximum.reduceat(scores, starts)
    sizes = np.diff(np.append(starts, len(scores)))
    totals = np.add.reduceat(np.exp(scores - np.repeat(highest, sizes)), starts)
    return float((scores[right] - highest - np.log(totals)).sum()) - _dot(weights, weights) / 2


def softmax(scores: Floats, starts: Integers) -> Floats:
    """Return the probabilities of options, which add up to 1 in each choice; a choice begins at each of `starts`."""
    sizes = np.diff(np.append(starts, len(scores)))
    powers = np.exp(scores - np.repeat(np.maximum.reduceat(scores, starts), sizes))
    shares: Floats = powers / np.repeat(np.add.reduceat(powers, starts), sizes)
    return shares


def center_rows(features: Floats, starts: Integers) -> Floats:
    """Return features less their mean in each choice: options x features, or one for each option."""
    sizes = np.diff(np.append(starts, len(features)))
    means = np.add.reduceat(features, starts, axis=0) / sizes.reshape(-1, *[1] * (features.ndim - 1))
    centered: Floats = features - np.repeat(means, sizes, axis=0)
    return centered


def nonnegative_choice_regression(scores: Floats, starts: Integers, right: Integers, deviations: float) -> Floats:
    """Return the weights, none below 0, of columns of scores, and 0 of those that are no more than noise.

    The penalty is on the sum of the weights, and as strong as that many standard deviations of what a column would gain
    if every option were right with the same probability. Weights are found one by one, by Newton's method. Scores are
    options x columns, with mean 0 in each choice, and of about one size.
    """
    weights = np.zeros(scores.shape[1])
    if not len(starts):
        return weights
    sizes = np.diff(np.append(starts, len(scores)))
    penalties = deviations * np.sqrt((scores**2 / np.repeat(sizes, sizes)[:, None]).sum(axis=0))
    columns, totals = np.ascontiguousarray(scores.T), np.zeros(len(scores))
    chances = softmax(totals, starts)
    for _ in range(_SWEEPS):
        former = weights.copy()
        for index, values in enumerate(columns):
            likely = chances * values
            means = np.add.reduceat(likely, starts)
            curvature = _dot(likely, values) - _dot(means, means)
            if curvature > _MIN_SCALE:
                slope = values[right].sum() - means.sum() - penalties[index]
                # A step of more than 1 would leave the region that the curvature describes.
                step = float(np.clip(slope / curvature, -1, 1))
                weight = max(0.0, weights[index] + step)
                if weight != weights[index]:
                    totals += (weight - weights[index]) * values
                    weights[index], chances = weight, softmax(totals, starts)
        if np.abs(weights - former).max() < _MIN_CHANGE:
            break
    return weights


def _dot(first: Floats, second: Floats) -> float:
    """Return the inner product, without the threads of BLAS, which cost more than they save on vectors of this size."""
    return float(np.einsum("i,i->", first, second))


def rank_options(features: Floats, starts: Integers) -> Floats:
    """Return how many options of its choice an option is above less how many it is below, of those: -1..1.

    Features are options x columns, and so are their ranks.
    """
    ranks = np.zeros(features.shape)
    sizes = np.diff(np.append(starts, len(features)))
    for size in np.unique(sizes).tolist():
        rows = starts[sizes == size][:, None] + np.arange(size)
        values = features[rows]
        signs = np.sign(values[:, :, None] - values[:, None]).sum(axis=2)
        ranks[rows] = signs / max(size - 1, 1)
    return ranks
