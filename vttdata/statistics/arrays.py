"""Types of the arrays of statistics, and blocks of rows that bound the memory of temporary arrays."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]

MAX_ELEMENTS = 2**23
"""Elements of the largest temporary array, 64 MiB of float64."""


def row_blocks(rows: int, width: int) -> Iterator[slice]:
    """Yield slices of rows whose arrays of `width` columns have at most `MAX_ELEMENTS` elements, or one row."""
    step = max(1, MAX_ELEMENTS // width)
    for start in range(0, rows, step):
        yield slice(start, min(rows, start + step))
