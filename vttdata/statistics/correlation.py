"""Correlate two scores: Pearson's r, Spearman's rho, Kendall's tau-b and tau-c, and accuracy on pairs.

`correlate` takes two lists. The other functions take draws of sources, groups of rows, or many pairs of lists at
once. A draw takes whole sources with replacement, so that a source counts as often as it is drawn. All coefficients are
exactly those of the drawn rows. The pairs that Kendall's tau counts are added up for every two sources once, so
that draws cost a product of matrices, and scores are ranked once for all with which they are compared.
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
# Signs of pairs of rows that are in memory at once, a byte each.
_MAX_SIGNS = 2**25
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

    def accumulate(self, rows: Floats) -> Floats:
        """Return the sum of the rows up to the end of each run, runs x columns; `rows` are rows x columns."""
        sums = np.cumsum(rows[self.order], axis=0)
        return sums if len(self.starts) == len(sums) else sums[np.append(self.starts[1:], len(sums)) - 1]


def correlate_draws(
    columns: Sequence[Floats], pairs: Sequence[tuple[int, int]], sources: Integers, weights: Floats
) -> list[Values]:
    """Return the coefficients of pairs of scores of n rows in every draw.

    Each column is ranked once a draw, in however many pairs it is.

    Args:
        columns: finite scores, each ``(n,)``.
        pairs: the two columns that are compared, by their positions.
        sources: source of each row, ``(n,)``.
        weights: how often each source is drawn, draws x sources.

    Returns:
        The coefficients of each pair.
    """
    empty = np.full(len(weights), math.nan)
    if len(sources) < 2:
        return [dict.fromkeys(COEFFICIENTS, empty) for _ in pairs]
    by_source = np.argsort(sources, kind="stable")
    columns, sources = [column[by_source] for column in columns], sources[by_source]
    number = weights @ np.bincount(sources, minlength=weights.shape[1]).astype(np.float64)
    ties = [TieRuns.of(column) for column in columns]
    spearman = np.empty((len(pairs), len(weights)))
    tied, levels = np.empty((2, len(columns), len(weights)))
    for block in row_blocks(len(weights), (_ARRAYS + len(columns)) * len(sources)):
        # Rows x draws, so that rows are added up as wholes.
        drawn = np.ascontiguousarray(weights[block].T)[sources]
        middle = (number[block] + 1) / 2
        deviations, spreads = [], []
        for column, runs in enumerate(ties):
            rank = runs.accumulate(drawn)
            in_run = np.diff(rank, axis=0, prepend=0)
            rank -= (in_run - 1) / 2
            rank -= middle
            tied[column, block] = (np.einsum("ij,ij->j", in_run, in_run) - number[block]) / 2
            levels[column, block] = np.count_nonzero(in_run, axis=0)
            spreads.append(np.einsum("ij,ij,ij->j", in_run, rank, rank))
            deviations.append(rank[runs.run])
        for pair, (first, second) in enumerate(pairs):
            covariance = np.einsum("ij,ij,ij->j", drawn, deviations[first], deviations[second])
            spearman[pair, block] = normalise_covariance(covariance, spreads[first], spreads[second])
    concordance = count_concordant([runs.run for runs in ties], pairs, sources, weights)
    return [
        {
            "pearson": pearson_in_draws(columns[first], columns[second], sources, weights),
            "spearman": spearman[pair],
            **kendall_taus(concordance[pair], number, tied[[first, second]], np.minimum(levels[first], levels[second])),
        }
        for pair, (first, second) in enumerate(pairs)
    ]


def pearson_in_draws(first: Floats, second: Floats, sources: Integers, weights: Floats) -> Floats:
    """Return Pearson's r of two scores in every draw; see `correlate_draws`."""
    x, y = first - first.mean(), second - second.mean()
    moments = (np.ones(len(x)), x, y, x * x, y * y, x * y)
    sums = np.stack([np.bincount(sources, moment, weights.shape[1]) for moment in moments], axis=1)
    number, sx, sy, sxx, syy, sxy = (weights @ sums).T
    with np.errstate(invalid="ignore", divide="ignore"):
        return normalise_covariance(sxy - sx * sy / number, sxx - sx**2 / number, syy - sy**2 / number)


def correlation_difference_p(first: Floats, second: Floats, sources: float) -> float:
    """Return the one-sided p-value of the first Pearson's r being higher than the second; NaN where one is undefined.

    The difference of Fisher's z is divided by its standard error over draws of sources, for Student's t. Rows of one
    source need not be independent, unlike in Williams' test.

    Args:
        first: r of all rows and then in every draw, ``(1 + draws,)``, see `pearson_in_draws`.
        second: the same of other scores in the same draws.
        sources: effective number of sources, see `effective_number`.

    Raises:
        VttdataError: if SciPy is not installed.
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        z = np.arctanh(first) - np.arctanh(second)
    drawn = z[1:][np.isfinite(z[1:])]
    if len(drawn) < 2 or sources < 2 or not np.isfinite(z[0]):
        return math.nan
    error = float(drawn.std()) * math.sqrt(sources / (sources - 1))
    return float(scipy_stats().t.sf(z[0] / error, sources - 1)) if error > _NO_VARIANCE else math.nan


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


def count_concordant(
    ranks: Sequence[Integers], pairs: Sequence[tuple[int, int]], sources: Integers, weights: Floats
) -> Floats:
    """Return how many more pairs of drawn rows are concordant than discordant, pairs of columns x draws.

    `ranks` are those of the rows by each column, in which equal ranks are ties, and `sources` is the source of each
    row, ascending; see `correlate_draws`. Rows that are drawn with themselves are ties.
    """
    present_sources, starts, sizes = np.unique(sources, return_index=True, return_counts=True)
    drawn = weights[:, present_sources]
    # All sums are of integers, so that single precision is exact up to this size, in half the time.
    exact = np.float32 if (drawn @ sizes).max(initial=0) * sizes.max(initial=0) < 2**24 else np.float64
    drawn = drawn.astype(exact)
    # Small types are compared several times as fast.
    fits = len(sources) < 2**15
    columns: list[_Ranks] = [column.astype(np.int16) if fits else column.astype(np.int32) for column in ranks]
    ends = starts + sizes
    block_rows = min(_BLOCK_ROWS, max(1, _MAX_SIGNS // (len(sources) * len(columns))))
    concordance = np.zeros((len(pairs), len(weights)))
    for begin, end in _blocks_of_sources(starts, ends, block_rows):
        rows = slice(starts[begin], ends[end - 1])
        # Pairs with earlier sources were compared there.
        rest = slice(starts[begin], None)
        signs = [_signs(column[rows], column[rest]) for column in columns]
        for pair, (first, second) in enumerate(pairs):
            sums = signs[first] * signs[second]
            if len(starts) < len(sources):
                cuts = starts[begin:] - starts[begin]
                # Summed one by one, rows are added as vectors, which `reduceat` does not do.
                parts = np.split(sums, cuts[1 : end - begin])
                sums = np.stack([part.sum(axis=0, dtype=np.int32) for part in parts])
                sums = np.add.reduceat(sums, cuts, axis=1, dtype=np.int64)
            totals = drawn[:, begin:end] @ sums.astype(exact)
            # Within the block each pair of sources is counted from both.
            totals[:, : end - begin] /= 2
            concordance[pair] += np.einsum("ij,ij->i", totals, drawn[:, begin:], dtype=np.float64)
    return concordance


def _signs(rows: _Ranks, columns: _Ranks) -> npt.NDArray[np.int8]:
    greater = (rows[:, np.newaxis] > columns).view(np.int8)
    greater -= (rows[:, np.newaxis] < columns).view(np.int8)
    return greater


def _blocks_of_sources(starts: Integers, ends: Integers, rows: int) -> Iterator[tuple[int, int]]:
    """Yield ranges of whole sources with about `rows` rows."""
    begin = 0
    while begin < len(starts):
        end = max(begin + 1, int(np.searchsorted(ends, starts[begin] + rows, side="right")))
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
