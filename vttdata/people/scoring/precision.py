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
