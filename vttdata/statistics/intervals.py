"""Intervals of a statistic from its bootstrap draws, and of a share from its counts."""

from __future__ import annotations

import math
from statistics import NormalDist

import numpy as np

from vttdata.statistics.arrays import Floats

# 97.5 % point of the normal distribution.
_Z = 1.959963984540054
# Equal draws of sums in another order differ in their last digits.
_ROUNDING = 1e-12


def bootstrap_interval(
    score: float,
    draws: Floats,
    sources: float,
    bounds: tuple[float, float] = (-math.inf, math.inf),
    tails: tuple[float, float] = (0.025, 0.025),
) -> tuple[float, float]:
    """Return the interval of a score from bootstrap draws of sources, 95 % by default; NaN where no draw is finite.

    Percentiles of few sources are too narrow: draws vary less than scores of other sources by (n - 1) / n, and the
    normal distribution, to which they converge, has shorter tails than Student's. So each end is put as many times
    farther from the score as Student's quantile is larger, both corrections together.

    Where all draws of a bounded score are equal, all sources are alike, and no more is known than how large a share of
    others could differ: each end lies Wilson's upper limit of that share on the way to its bound. For a share of items
    of 0 or 1 this is Wilson's interval.

    Args:
        score: of all sources.
        draws: score of each draw, ``(draws,)``; those that are not finite do not count.
        sources: effective number of sources, see `effective_number`; below 2 it counts as 2.
        bounds: least and greatest value that the score can have.
        tails: probability below the lower and above the upper end, 0..0.5.
    """
    finite = draws[np.isfinite(draws)]
    if not len(finite):
        return math.nan, math.nan
    sources = max(sources, 2.0)
    if np.isfinite(bounds).all() and np.ptp(finite) <= _ROUNDING:
        otherwise = wilson_interval(0, sources)[1]
        low, high = (otherwise * (bound - score) for bound in bounds)
    else:
        low, high = (
            float(quantile - score) * _widening(tail, sources)
            for quantile, tail in zip(np.quantile(finite, (tails[0], 1 - tails[1])), tails, strict=True)
        )
    return max(score + low, bounds[0]), min(score + high, bounds[1])


def _widening(tail: float, sources: float) -> float:
    """Return Student's quantile over the normal one, by Cornish and Fisher's expansion, times the bias of draws.

    Abramowitz and Stegun, 26.7.5; within 1 % of the quantile from 2 degrees of freedom on.
    """
    z2 = NormalDist().inv_cdf(tail) ** 2
    freedom = sources - 1
    student = (
        1
        + (z2 + 1) / (4 * freedom)
        + (5 * z2**2 + 16 * z2 + 3) / (96 * freedom**2)
        + (3 * z2**3 + 19 * z2**2 + 17 * z2 - 15) / (384 * freedom**3)
        + (79 * z2**4 + 776 * z2**3 + 1482 * z2**2 - 1920 * z2 - 945) / (92160 * freedom**4)
    )
    return student * math.sqrt(sources / freedom)


def wilson_interval(wins: float, pairs: float) -> tuple[float, float]:
    """Return Wilson's 95 % interval of a share (JASA 1927); NaN without pairs. Half wins are allowed."""
    if not pairs:
        return math.nan, math.nan
    share, z2 = wins / pairs, _Z * _Z
    middle = (share + z2 / (2 * pairs)) / (1 + z2 / pairs)
    reach = _Z / (1 + z2 / pairs) * math.sqrt(share * (1 - share) / pairs + z2 / (4 * pairs * pairs))
    return max(0.0, middle - reach), min(1.0, middle + reach)
