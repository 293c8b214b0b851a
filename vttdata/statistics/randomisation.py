"""Test the difference of two systems by paired randomisation of whole sources."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import TypeVar

import numpy as np

from vttdata.statistics.arrays import Flags, Floats, row_blocks
from vttdata.statistics.scores import MedianScores, ScoredRows

K = TypeVar("K", bound=Hashable)

SWAPS = 10_000
# Differences of scores below this come from rounding.
_TOLERANCE = 1e-10


def randomise_systems(
    first: Mapping[K, ScoredRows], second: Mapping[K, ScoredRows], number: int, *, seed: int = 0, swaps: int = SWAPS
) -> dict[K, float]:
    """Return two-sided p-values of paired randomisation: all items of a source are swapped together.

    Both systems are scored on the same items; `number` is that of their sources. With `swaps` random assignments the
    smallest p-value is 1 / (`swaps` + 1) (Phipson and Smyth, 2010).
    """
    pairs = [(first[key], second[key]) for key in first]
    sums = [[selection.sum_by_source(number) for selection in pair] for pair in pairs]
    ends = np.cumsum([one.shape[1] for one, _ in sums])
    ones, others = (np.concatenate(side, axis=1) for side in zip(*sums, strict=True))

    def differences(swapped: Flags) -> list[Floats]:
        weights = swapped.astype(np.float64)
        taken = ones.sum(axis=0) + weights @ (others - ones)
        left = ones.sum(axis=0) + others.sum(axis=0) - taken
        parts = zip(pairs, np.split(taken, ends[:-1], axis=1), np.split(left, ends[:-1], axis=1), strict=True)
        return [
            _swapped_medians(*pair, swapped)
            if isinstance(pair[0].scores, MedianScores)
            else pair[0].score(weights, mine) - pair[1].score(weights, theirs)
            for pair, mine, theirs in parts
        ]

    observed = [abs(float(values[0])) for values in differences(np.zeros((1, number), dtype=np.bool_))]
    generator = np.random.Generator(np.random.PCG64([seed, 2]))
    as_large = np.zeros(len(pairs), dtype=np.int64)
    for block in row_blocks(swaps, max(number, *(len(one.sources) for one, _ in pairs))):
        swapped = generator.random((block.stop - block.start, number)) < 0.5
        for index, values in enumerate(differences(swapped)):
            # Sums in another order differ in their last digits.
            as_large[index] += int((np.abs(values) >= observed[index] - _TOLERANCE).sum())
    return {key: float((count + 1) / (swaps + 1)) for key, count in zip(first, as_large, strict=True)}


def _swapped_medians(first: ScoredRows, second: ScoredRows, swapped: Flags) -> Floats:
    """Return the difference of two systems' medians for each assignment."""
    swap = swapped[:, first.sources]
    pair = first.scores.items, second.scores.items
    ours: Floats = np.median(np.where(swap, pair[1], pair[0]), axis=1)
    theirs: Floats = np.median(np.where(swap, pair[0], pair[1]), axis=1)
    return ours - theirs
