"""Tests of sums over luma lines."""

from __future__ import annotations

import numpy as np

from vttdata.media.luma import sum_exactly


def test_sums_of_small_and_large_arrays_do_not_overflow() -> None:
    for shape in ((0, 3), (700, 700), (1100, 1000)):
        assert sum_exactly(np.full(shape, 4095, np.int16)) == 4095 * shape[0] * shape[1]
