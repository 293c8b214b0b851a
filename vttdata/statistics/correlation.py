"""Correlate two scores: Pearson's r, Spearman's rho, Kendall's tau-b and tau-c, and accuracy on pairs.

`correlate` takes two lists. The other functions take draws of sources, groups of rows, or many pairs of lists at
once. A draw takes whole sources with replacement, so that a source counts as often as it is drawn. All coefficients are
exactly those of the drawn rows. The pairs that Kendall's tau counts are added up for every two sources once, so
that a draw costs a product of matrices.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from vttdata.statistics.arrays import Floats, Integers, row_blocks
from vttdata.statistics.hypothesis_tests import scipy_stats
from vttdata.statistics.scores import ColumnScores

COEFFICIENTS = ("pearson", "spearman", "kendall_b", "kendall_c")

Values = dict[str, Floats]
"""Coefficient -> its value in every draw, NaN where it is not defined."""

_Ranks = npt.NDArray[np.int16] | npt.NDArray[np.int32]

# Rows of a block whose pairs with all rows are compared at once.
_BLOCK_ROWS = 256
# Arrays of rows x draws that a block of draws has at the same time.
_ARRAYS = 8
# Ranks and sums are exact, so that less variance than this is none.
_NO_VARIANCE = 1e-12


@dataclass(frozen=True, slots=True)
class Correlation:
    """Correlations of `n` pairs of scores, -1..1; NaN if one side is constant or there are fewer than two pairs."""

    n: int
    pearson: float
    spearman: float
    kendall: float


def correlate(x: Sequence[float], y: Sequence[float]) -> Correlation:
    """Return the correlations of two lists of scores whose elements belong together.

    Raises:
        ValueError: if the lists are of different lengths.
        VttdataError: if SciPy is not installed.
    """
    if len(x) != len(y):
        raise ValueError(f"{len(x)} scores cannot be correlated with {len(y)}")
    nan = float("nan")
    if len(x) < 2 or min(x) == max(x) or min(y) == max(y) or not np.isfinite([*x, *y]).all():
        return Correlation(len(x), nan, nan, nan)
    stats = scipy_stats()
    # SciPy would warn about constant scores, which are excluded above.
    tests = (stats.pearsonr, stats.spearmanr, stats.kendalltau)
    return Correlation(len(x), *(float(test(x, y).statistic) for test in tests))


class TieRuns(NamedTuple):
    """Rows in the order of their scores: `order`, the start of each run of equal scores, and the run of each row."""

    order: Integers
    starts: Integers
    run: Integers

    @classmethod
    def of(cls, scores: Floats) -> TieRuns:
        """Sort scores."""
        order = np.argsort(scores, kind="stable")
        ordered = scores[order]
        first = np.append(True, ordered[1:] != ordered[:-1])[: len(ordered)]
        run = np.empty(len(scores), dtype=np.int64)
        run[order] = np.cumsum(first) - 1
        return cls(order, np.flatnonzero(first), run)


def correlate_draws(first: Floats, second: Floats, sources: Integers, weights: Floats) -> Values:
    """Return the coefficients of two scores of n rows in every draw.

    Scores are finite; `sources` is the source of each row, ``(n,)``, and `weights` how often each source is drawn,
    draws x sources.
    """
    empty = np.full(len(weights), math.nan)
    if len(first) < 2:
        return dict.fromkeys(COEFFICIENTS, empty)
    by_source = np.argsort(sources, kind="stable")
    first, second, sources = first[by_source], second[by_source], sources[by_source]
    number = weights @ np.bincount(sources, minlength=weights.shape[1]).astype(np.float64)
    ties = TieRuns.of(first), TieRuns.of(second)
    spearman = empty.copy()
    tied, levels = np.empty((2, len(weights))), np.empty((2, len(weights)))
    for block in row_blocks(len(weights), _ARRAYS * len(first)):
        # Rows x draws, so that rows are added up as wholes.
        drawn = np.ascontiguousarray(weights[block].T)[sources]
        middle = (number[block] + 1) / 2
        deviations, spreads = [], []
        for side, runs in enumerate(ties):
            in_run = np.add.reduceat(drawn[runs.order], runs.starts, axis=0)
            rank = np.cumsum(in_run, axis=0)
            rank -= (in_run - 1) / 2
            rank -= middle
            tied[side, block] = (np.einsum("ij,ij->j", in_run, in_run) - number[block]) / 2
            levels[side, block] = np.count_nonzero(in_run, axis=0)
            spreads.append(np.einsum("ij,ij,ij->j", in_run, rank, rank))
            deviations.append(rank[runs.run])
        spearman[block] = normalise_covariance(np.einsum("ij,ij,ij->j", drawn, *deviations), *spreads)
    present = weights[:, np.unique(sources)]
    concordance = ((present @ sum_pairs(ties[0].run, ties[1].run, sources)) * present).sum(axis=1) / 2
    return {
        "pearson": pearson_in_draws(first, second, sources, weights),
        "spearman": spearman,
        **kendall_taus(concordance, number, tied, levels.min(axis=0)),
    }


def pearson_in_draws(first: Floats, second: Floats, sources: Integers, weights: Floats) -> Floats:
    """Return Pearson's r of two scores in every draw; see `correlate_draws`."""
    x, y = first - first.mean(), second - second.mean()
    moments = (np.ones(len(x)), x, y, x * x, y * y, x * y)
    sums = np.stack([np.bincount(sources, moment, weights.shape[1]) for moment in moments], axis=1)
    number, sx, sy, sxx, syy, sxy = (weights @ sums).T
    with np.errstate(invalid="ignore", divide="ignore"):
        return normalise_covariance(sxy - sx * sy / number, sxx - sx**2 / number, syy - sy**2 / number)


def normalise_covariance(covariance: Floats, first: Floats, second: Floats) -> Floats:
    """Return covariance / sqrt(first * second), NaN where one does not vary."""
    varies = (first > _NO_VARIANCE) & (second > _NO_VARIANCE)
    product = np.sqrt(np.where(varies, first * second, 1.0))
    return np.where(varies, np.clip(covariance / product, -1, 1), math.nan)


def kendall_taus(concordance: Floats, number: Floats, tied: Sequence[Floats] | Floats, levels: Floats) -> Values:
    """Return tau-b and tau-c from concordant less discordant pairs, and the pairs tied on either side."""
    pairs = number * (number - 1) / 2
    usable = levels > 1
    safe = np.where(usable, levels, 2)
    with np.errstate(invalid="ignore", divide="ignore"):
        tau_c = 2 * concordance / (np.maximum(number, 1) ** 2 * (safe - 1) / safe)
    return {
        "kendall_b": normalise_covariance(concordance, pairs - tied[0], pairs - tied[1]),
        "kendall_c": np.where(usable, tau_c, math.nan),
    }


def sum_pairs(first: Integers, second: Integers, sources: Integers) -> Floats:
    """Return for every two sources how many more pairs of their rows are concordant than discordant.

    `first` and `second` are the ranks of rows by two scores, ``(n,)``, in which equal ranks are ties, and `sources`
    the source of each row, ascending.

    Returns:
        A row and a column for each source that has rows, ascending. The matrix is symmetric; its diagonal counts
        each pair of a source twice.
    """
    # Small types are compared several times as fast.
    fits = max(first.max(initial=0), second.max(initial=0)) < 2**15
    x, y = (ranks.astype(np.int16) if fits else ranks.astype(np.int32) for ranks in (first, second))
    _, starts = np.unique(sources, return_index=True)
    ends = np.append(starts[1:], len(sources))
    pairs = np.zeros((len(starts), len(starts)))
    for begin, end in _blocks_of_sources(starts, ends):
        rows = slice(starts[begin], ends[end - 1])
        # Pairs with earlier sources were compared there.
        rest = slice(starts[begin], None)
        signs = _signs(x[rows], x[rest])
        signs *= _signs(y[rows], y[rest])
        sums = np.add.reduceat(signs, starts[begin:end] - starts[begin], axis=0, dtype=np.int32)
        sums = np.add.reduceat(sums, starts[begin:] - starts[begin], axis=1, dtype=np.int64)
        pairs[begin:end, begin:] = sums
        pairs[begin:, begin:end] = sums.T
    return pairs


def _signs(rows: _Ranks, columns: _Ranks) -> npt.NDArray[np.int8]:
    greater = (rows[:, np.newaxis] > columns).view(np.int8)
    greater -= (rows[:, np.newaxis] < columns).view(np.int8)
    return greater


def _blocks_of_sources(starts: Integers, ends: Integers) -> Iterator[tuple[int, int]]:
    """Yield ranges of whole sources with about `_BLOCK_ROWS` rows."""
    begin = 0
    while begin < len(starts):
        end = max(begin + 1, int(np.searchsorted(ends, starts[begin] + _BLOCK_ROWS, side="right")))
        yield begin, end
        begin = end


class Pairs(NamedTuple):
    """All pairs of rows of the same group: the two rows of each, and the group of the first."""

    first: Integers
    second: Integers
    group: Integers


def pair_rows(groups: Integers) -> Pairs:
    """Return all pairs of rows of the same group; `groups` has the group of each row, ``(n,)``."""
    order = np.argsort(groups, kind="stable")
    sizes = np.bincount(groups)
    sizes = sizes[sizes > 0]
    # Each row is paired with those after it in its group.
    later = np.concatenate([np.arange(size - 1, -1, -1) for size in sizes]) if len(sizes) else np.zeros(0, np.int64)
    first = np.repeat(np.arange(len(groups)), later)
    within = np.arange(len(first)) - np.repeat(np.cumsum(later) - later, later)
    return Pairs(order[first], order[first + 1 + within], groups[order[first]])


def correlate_groups(first: Floats, second: Floats, groups: Integers, number: int, pairs: Pairs) -> Values:
    """Return the coefficients of two scores within each group of rows.

    Scores are finite, ``(n,)``; `groups` is the group of each row, from 0, and `pairs` are those of `groups`, see
    `pair_rows`.

    Returns:
        Coefficient -> value of each group, ``(number,)``.
    """
    sizes = np.bincount(groups, minlength=number).astype(np.float64)
    difference = [np.sign(scores[pairs.first] - scores[pairs.second]) for scores in (first, second)]
    tied = [np.bincount(pairs.group, signs == 0, number).astype(np.float64) for signs in difference]
    concordance = np.bincount(pairs.group, difference[0] * difference[1], number).astype(np.float64)
    ranks, levels = rank_in_groups(first, groups, number)
    other_ranks, other_levels = rank_in_groups(second, groups, number)
    return {
        "pearson": pearson_in_groups(first, second, groups, sizes),
        "spearman": pearson_in_groups(ranks, other_ranks, groups, sizes),
        **kendall_taus(concordance, sizes, tied, np.minimum(levels, other_levels)),
    }


def rank_in_groups(scores: Floats, groups: Integers, number: int) -> tuple[Floats, Floats]:
    """Return the mean rank of each row in its group, and the number of different scores of each group."""
    order = np.lexsort([scores, groups])
    ordered, group = scores[order], groups[order]
    first = np.append(True, (ordered[1:] != ordered[:-1]) | (group[1:] != group[:-1]))[: len(order)]
    run = np.cumsum(first) - 1
    lengths = np.bincount(run)
    middle = np.flatnonzero(first) + (lengths - 1) / 2
    ranks = np.empty(len(scores))
    ranks[order] = middle[run]
    return ranks, np.bincount(group[first], minlength=number).astype(np.float64)


def pearson_in_groups(first: Floats, second: Floats, groups: Integers, sizes: Floats) -> Floats:
    """Return Pearson's r of each group, NaN where a score does not vary."""
    centred = []
    for scores in (first, second):
        means = np.bincount(groups, scores, len(sizes)) / np.maximum(sizes, 1)
        deviations = scores - means[groups]
        # Equal scores differ from their mean by rounding.
        deviations[np.abs(deviations) <= 1e-14 * np.abs(scores)] = 0
        centred.append(deviations)
    x, y = centred
    covariance, xx, yy = (np.bincount(groups, values, len(sizes)) for values in (x * y, x * x, y * y))
    varies = (xx > 0) & (yy > 0)
    product = np.sqrt(np.where(varies, xx * yy, 1.0))
    return np.where(varies & (product > 0), np.clip(covariance / np.where(product > 0, product, 1), -1, 1), math.nan)


def mean_of_groups(values: Floats, sources: Integers, weights: Floats) -> Floats:
    """Return the mean of groups in every draw; groups without a value, NaN, are left out.

    `values` is ``(groups,)``, `sources` the source of each group, and `weights` how often each source is drawn, draws x
    sources.
    """
    known = ~np.isnan(values)
    sums = np.bincount(sources[known], values[known], weights.shape[1])
    numbers = np.bincount(sources[known], minlength=weights.shape[1]).astype(np.float64)
    with np.errstate(invalid="ignore", divide="ignore"):
        means: Floats = (weights @ sums) / (weights @ numbers)
    return means


def correlate_systems(first: Floats, second: Floats) -> Values:
    """Return the coefficients over systems in every draw, and how many pairs of systems are in the same order.

    Both scores are draws x systems.
    """
    systems = first.shape[1]
    if systems < 2:
        return dict.fromkeys((*COEFFICIENTS, "accuracy"), np.full(len(first), math.nan))
    signs = [np.sign(scores[:, :, np.newaxis] - scores[:, np.newaxis, :]) for scores in (first, second)]
    upper = np.triu_indices(systems, 1)
    flat = [sign[:, upper[0], upper[1]] for sign in signs]
    number = np.full(len(first), float(systems))
    # A rank is the number of lower scores and half of the equal ones.
    ranks = [sign.sum(axis=2) / 2 for sign in signs]
    levels = [(np.diff(np.sort(scores, axis=1), axis=1) > 0).sum(axis=1) + 1.0 for scores in (first, second)]
    tied = [(sign == 0).sum(axis=1) for sign in flat]
    return {
        "pearson": pearson_of_rows(first, second),
        "spearman": pearson_of_rows(*ranks),
        **kendall_taus((flat[0] * flat[1]).sum(axis=1), number, tied, np.minimum(*levels)),
        "accuracy": (flat[0] == flat[1]).mean(axis=1),
    }


def pearson_of_rows(first: Floats, second: Floats) -> Floats:
    """Return Pearson's r of the two scores in each row."""
    x, y = (scores - scores.mean(axis=1, keepdims=True) for scores in (first, second))
    return normalise_covariance((x * y).sum(axis=1), (x * x).sum(axis=1), (y * y).sum(axis=1))


def average_systems(scores: ColumnScores, cells: Integers, systems: int, sources: Integers, weights: Floats) -> Floats:
    """Return the corpus score of each system in every draw, draws x systems.

    `cells` has the system of each row, from 0; `sources` and `weights` are as for `correlate_draws`.
    """
    columns = []
    for system in range(systems):
        rows = cells == system
        statistics = [*scores.statistics[rows].T, np.ones(int(rows.sum()))]
        sums = np.stack([np.bincount(sources[rows], column, weights.shape[1]) for column in statistics], axis=1)
        totals = weights @ sums
        columns.append(scores.corpus(totals[:, :-1], totals[:, -1]))
    return np.stack(columns, axis=1)


class PairOrder(NamedTuple):
    """Agreement on pairs of rows of the same group, by the treatment of ties of Deutsch et al. (EMNLP 2023).

    A pair is right if both sides order it in the same way, or both call it a tie.

    Fields:
        values: share of right pairs in every draw, where scores tie if they are equal.
        calibrated: the same where scores tie if they differ by at most `epsilon`.
        epsilon: difference with the most right pairs among all rows.
        pairs: number of pairs.
        human_ties: number of pairs that people tie.
        metric_ties: number of pairs with equal scores by the metric.
    """

    values: Floats
    calibrated: Floats
    epsilon: float
    pairs: int
    human_ties: int
    metric_ties: int


def pair_accuracy(metric: Floats, people: Floats, pairs: Pairs, sources: Integers, weights: Floats) -> PairOrder:
    """Return how many pairs of rows of the same group a metric orders as people do.

    Scores are finite, ``(n,)``; `sources` is the source of each row, and `weights` how often each source is drawn,
    draws x sources.
    """
    difference, wanted = (scores[pairs.first] - scores[pairs.second] for scores in (metric, people))
    ordered_alike = np.sign(difference) == np.sign(wanted)
    human_tie = wanted == 0
    size = np.abs(difference)
    order = np.argsort(size, kind="stable")
    # With a threshold at the size of pair k, smaller differences are ties and larger ones keep their order.
    gained = np.cumsum(
        human_tie[order].astype(np.int64) - (ordered_alike[order] & (size[order] > 0) & ~human_tie[order])
    )
    gained -= np.cumsum((ordered_alike & human_tie)[order])
    last_of_size = np.append(size[order][1:] != size[order][:-1], True)[: len(order)]
    best, epsilon = 0, 0.0
    if len(order):
        candidates = np.where(last_of_size, gained, -len(order) - 1)
        index = int(candidates.argmax())
        best, epsilon = int(candidates[index]), float(size[order][index])
    if best <= 0:
        epsilon = 0.0
    calibrated = np.where(size <= epsilon, human_tie, ordered_alike & ~human_tie)
    # Without a threshold above 0 both are the same.
    calibrated = calibrated if epsilon > 0 else ordered_alike
    group = sources[pairs.first]
    number = np.bincount(group, minlength=weights.shape[1]).astype(np.float64)
    with np.errstate(invalid="ignore", divide="ignore"):
        shares = [
            (weights @ np.bincount(group, right, weights.shape[1])) / (weights @ number)
            for right in (ordered_alike, calibrated)
        ]
    ties = int(human_tie.sum()), int((difference == 0).sum())
    return PairOrder(shares[0], shares[1], epsilon, len(order), *ties)
