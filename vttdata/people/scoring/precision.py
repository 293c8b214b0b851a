"""Plan how many judgments to pay for: the interval that a number of them gives, their time and their cost.

Of a rating, ``sd`` is the spread of several people's ratings of the same item; of yes or no it follows from the share.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from vttdata.statistics.hypothesis_tests import scipy_stats


class Precision(NamedTuple):
    """Precision that a number of judgments an item gives.

    Fields:
        judgments: workers that judge each item.
        item: half of the 95 % interval of one item's mean; NaN for a single judgment.
        mean: half of the 95 % interval of the mean over all items.
        hours: of work, all items and judgments.
        cost: of these hours.
    """

    judgments: int
    item: float
    mean: float
    hours: float
    cost: float


def precision(
    items: int, judgments: int, *, sd: float, spread: float, seconds: float, hourly: float, controls: float = 0.0
) -> Precision:
    """Return what a number of judgments gives and costs.

    Args:
        items: number of items, each judged by `judgments` workers.
        judgments: per item.
        sd: standard deviation of different workers' ratings of the same item.
        spread: standard deviation of the items' true means.
        seconds: that a judgment takes.
        hourly: pay of an hour.
        controls: judgments of controls beside each judgment, 0.1 for one in ten; they take time and tell nothing.

    Raises:
        VttdataError: if SciPy is not installed.
    """
    stats = scipy_stats()
    of_item = math.nan
    if judgments > 1:
        of_item = float(stats.t.ppf(0.975, judgments - 1)) * sd / math.sqrt(judgments)
    variance = (spread**2 + sd**2 / judgments) / items
    quantile = float(stats.t.ppf(0.975, items - 1)) if items > 1 else math.nan
    hours = items * judgments * (1 + controls) * seconds / 3600
    return Precision(judgments, of_item, quantile * math.sqrt(variance), hours, hours * hourly)


def items_with_judge(items: int, judgments: int, *, sd: float, spread: float, r: float, judged: int) -> int:
    """Return how many items people must rate for the interval of `items` rated ones, where a judge corrects the mean.

    See `vttdata.statistics.corrected_means`. The variance of the mean is V (1 - R^2) / n + V R^2 / `judged`, if n items
    are rated and R is the correlation of the judge with the mean of an item's ratings.

    Args:
        items: rated items without the judge.
        judgments: workers who rate each item.
        sd: standard deviation of different workers' ratings of the same item.
        spread: standard deviation of the items' true means.
        r: Pearson's r of the judge and one worker's ratings, 0..1.
        judged: items that the judge rates, at least `items`.

    Raises:
        ValueError: if r is higher than any judge's can be, since workers differ by `sd`.
    """
    of_one, of_mean = spread**2 + sd**2, spread**2 + sd**2 / judgments
    explained = r**2 * of_one / of_mean
    if spread == 0 or r**2 * of_one > spread**2 * (1 + 1e-9):
        raise ValueError("no judge correlates so highly with workers who differ so much")
    needed = (1 - explained) / (1 / items - explained / judged)
    return min(items, math.ceil(needed - 1e-9))
