"""Agreement of several people who judge the same items: Krippendorff's alpha, Fleiss' kappa, correlations of pairs.

Ratings are a mapping of items to raters to values; raters need not judge the same items.
"""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from typing import Literal, NamedTuple, TypeVar

import numpy as np

from vttdata.statistics.correlation import correlate

Level = Literal["nominal", "ordinal", "interval"]
Value = TypeVar("Value", bound=Hashable)


class PairAgreement(NamedTuple):
    """Mean agreement of pairs of raters, weighted by their common items; NaN where no pair has enough.

    Fields:
        pairs: number of pairs that have at least two common items and values that vary.
        pearson, spearman, kendall: weighted means of the correlations.
        cohen: weighted mean of Cohen's kappa over all pairs with common items.
    """

    pairs: int
    pearson: float
    spearman: float
    kendall: float
    cohen: float


def cohen_kappa(first: Sequence[Hashable], second: Sequence[Hashable]) -> float:
    """Return Cohen's kappa of two lists of nominal values, such as yes or no, at most 1; 0 is agreement by chance.

    A metric's scores and people's become yes or no by a threshold each (Hodosh et al., JAIR 2013, section 4.2.2).

    Returns:
        NaN if there are no items, or both lists say the same of all.

    Raises:
        ValueError: if the lists are of different lengths.
    """
    if len(first) != len(second):
        raise ValueError(f"there are {len(first)} values and {len(second)} to compare them with")
    n, both = len(first), sum(x == y for x, y in zip(first, second, strict=True))
    in_second = Counter(second)
    # In whole numbers, times n squared.
    by_chance = sum(number * in_second[value] for value, number in Counter(first).items())
    return (n * both - by_chance) / (n * n - by_chance) if n * n > by_chance else float("nan")


def krippendorff_alpha(ratings: Mapping[str, Mapping[str, Value]], level: Level) -> float:
    """Return Krippendorff's alpha (Content Analysis, 4th edition, chapter 12): 1 - observed / expected disagreement.

    Args:
        ratings: item -> rater -> value. Values of the levels ``ordinal`` and ``interval`` are numbers. Items with a
            single value do not count.
        level: which differences between values are how large.

    Returns:
        Alpha, 1 for perfect agreement and 0 for chance; NaN when fewer than two different values can be compared.
    """
    units = [list(values.values()) for values in ratings.values() if len(values) > 1]
    values = sorted({value for unit in units for value in unit}, key=lambda value: (str(type(value)), value))
    if len(values) < 2:
        return math.nan
    number = {value: index for index, value in enumerate(values)}
    coincidences = np.zeros((len(values), len(values)))
    for unit in units:
        counts = np.zeros(len(values))
        for value in unit:
            counts[number[value]] += 1
        coincidences += (np.outer(counts, counts) - np.diag(counts)) / (len(unit) - 1)
    totals = coincidences.sum(axis=1)
    distances = _squared_distances(values, totals, level)
    expected = (np.outer(totals, totals) - np.diag(totals)) / (totals.sum() - 1)
    return float(1 - (coincidences * distances).sum() / (expected * distances).sum())


def _squared_distances(values: Sequence[Hashable], totals: np.ndarray, level: Level) -> np.ndarray:
    if level == "nominal":
        return np.asarray(1 - np.eye(len(values)))
    if level == "interval":
        numbers = np.array(values, dtype=float)
        return np.asarray((numbers[:, None] - numbers[None, :]) ** 2)
    # Ratings between two ordinal values, and half of those with the values themselves.
    middle = np.cumsum(totals) - totals / 2
    return np.asarray((middle[:, None] - middle[None, :]) ** 2)


def fleiss_kappa(ratings: Mapping[str, Mapping[str, Value]]) -> float:
    """Return Fleiss' kappa (Psychological Bulletin, 1971) of nominal values.

    Items need the same number of ratings: those with another number than the commonest (of at least two) are left out.

    Returns:
        NaN without items, or where all values are equal.
    """
    sizes = Counter(len(values) for values in ratings.values() if len(values) > 1)
    if not sizes:
        return math.nan
    size = max(sizes, key=lambda number: (sizes[number], number))
    counts = [Counter(values.values()) for values in ratings.values() if len(values) == size]
    agreement = sum(sum(n * (n - 1) for n in count.values()) for count in counts) / (len(counts) * size * (size - 1))
    totals: Counter[Value] = Counter()
    for count in counts:
        totals.update(count)
    chance = sum((number / totals.total()) ** 2 for number in totals.values())
    return (agreement - chance) / (1 - chance) if chance < 1 else math.nan


def pair_agreement(ratings: Mapping[str, Mapping[str, Value]]) -> PairAgreement:
    """Return the mean agreement of all pairs of raters; correlations are of numbers, and NaN of other values."""
    common: dict[tuple[str, str], list[tuple[Value, Value]]] = {}
    for values in ratings.values():
        for first, second in itertools.combinations(sorted(values), 2):
            common.setdefault((first, second), []).append((values[first], values[second]))
    correlations, kappas = [], []
    for pairs in common.values():
        first_values, second_values = (list(side) for side in zip(*pairs, strict=True))
        kappa = cohen_kappa(first_values, second_values)
        if not math.isnan(kappa):
            kappas.append((len(pairs), kappa))
        if all(isinstance(value, int | float) for pair in pairs for value in pair) and len(pairs) > 1:
            result = correlate(first_values, second_values)
            if not math.isnan(result.kendall):
                correlations.append((len(pairs), (result.pearson, result.spearman, result.kendall)))
    cohen = sum(n * kappa for n, kappa in kappas) / sum(n for n, _ in kappas) if kappas else math.nan
    if not correlations:
        return PairAgreement(0, math.nan, math.nan, math.nan, cohen)
    weights = np.array([n for n, _ in correlations])
    means = np.average([values for _, values in correlations], axis=0, weights=weights)
    return PairAgreement(len(correlations), float(means[0]), float(means[1]), float(means[2]), cohen)
