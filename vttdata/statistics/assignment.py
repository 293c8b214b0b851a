"""How many ratings each system gets next, so that few ratings decide a ranking.

In every round the rated items of a system are drawn at random from all of its items, with a known probability, so that
each round estimates its mean without bias, whatever earlier rounds found. Most ratings go to systems whose difference
to another one is not decided yet.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence

import numpy as np

from vttdata.statistics.arrays import Floats, Integers
from vttdata.statistics.corrected_means import MeanEstimate

LEVEL = 0.05
LEAST_OF_ROUND = 2
"""Ratings of every system in a round, of which one would not tell how far ratings differ."""
# Share of the ratings that is spread evenly, so that no system is left without any, and how often the need of the
# system that needs least an undecided one can count.
_EVEN_SHARE = 0.1
_MAX_NEED = 10.0


def level_of_round(number: int) -> float:
    """Return the p-value below which a difference is decided after this round, from 1.

    Whoever looks after every round has a chance at each look: of `LEVEL` the first look gets a half, the second a
    sixth, the third a twelfth and so on, which sums to `LEVEL` however many rounds there are.
    """
    return LEVEL / (number * (number + 1))


def assign_evenly(systems: int, ratings: int) -> Integers:
    """Divide a number of ratings evenly among systems, ``(systems,)``."""
    divided: Integers = ratings // systems + (np.arange(systems) < ratings % systems).astype(np.int64)
    return divided


def assign_ratings(undecided: Sequence[tuple[int, int, MeanEstimate]], systems: int, ratings: int) -> Integers:
    """Divide a number of ratings among systems by how far their differences are from being decided.

    A system needs ratings as the square of the standard error of its differences over their size, the greatest of its
    undecided ones.

    Args:
        undecided: pairs of systems whose order is not decided, with the difference of their means.
        systems: number of systems.
        ratings: number of ratings.

    Returns:
        Ratings of each system, ``(systems,)``, at least `LEAST_OF_ROUND` if there are enough; all but the even share
        goes to systems of undecided pairs.
    """
    if not undecided:
        return assign_evenly(systems, ratings)
    need: Floats = np.zeros(systems)
    for first, second, difference in undecided:
        is_known = difference.error > 0 and difference.value != 0
        ratio = (difference.error / difference.value) ** 2 if is_known else math.inf
        need[[first, second]] = np.maximum(need[[first, second]], ratio)
    need = np.minimum(need, max(float(need[need > 0].min()), 1e-12) * _MAX_NEED)
    need = np.where(need > 0, 1.0, 0.0) if not np.isfinite(need).all() else need
    even = assign_evenly(systems, max(math.ceil(ratings * _EVEN_SHARE), min(LEAST_OF_ROUND * systems, ratings)))
    exact = need / need.sum() * (ratings - int(even.sum()))
    # Ratings that rounding down leaves go to the largest remainders.
    counts = np.floor(exact).astype(np.int64)
    for system in itertools.islice(np.argsort(counts - exact, kind="stable"), ratings - int((even + counts).sum())):
        counts[system] += 1
    divided: Integers = even + counts
    return divided
