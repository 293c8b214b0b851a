"""Intervals of a statistic from its bootstrap draws, and of a share from its counts."""

from __future__ import annotations

import math

import numpy as np

from vttdata.statistics.arrays import Floats

# 97.5 % point of the normal distribution.
_Z = 1.959963984540054


def percentile_interval(draws: Floats, ends: tuple[float, float] = (0.025, 0.975)) -> tuple[float, float]:
    """Return the percentile interval of bootstrap draws, 95 % by default; NaN where no draw is finite.

    `ends` are the shares of draws below the lower and the upper end, 0..1.
    """
    finite = draws[np.isfinite(draws)]
    if not len(finite):
        return math.nan, math.nan
    low, high = np.quantile(finite, ends)
    return float(low), float(high)


def wilson_interval(wins: float, pairs: int) -> tuple[float, float]:
    """Return Wilson's 95 % interval of a share (JASA 1927); NaN without pairs. Half wins are allowed."""
    if not pairs:
        return math.nan, math.nan
    share, z2 = wins / pairs, _Z * _Z
    middle = (share + z2 / (2 * pairs)) / (1 + z2 / pairs)
    reach = _Z / (1 + z2 / pairs) * math.sqrt(share * (1 - share) / pairs + z2 / (4 * pairs * pairs))
    return max(0.0, middle - reach), min(1.0, middle + reach)
