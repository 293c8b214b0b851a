"""Small luma pictures whose scores can be worked out by hand."""

from __future__ import annotations

import numpy as np
from hypothesis.extra.numpy import array_shapes, arrays

from vttdata.media.luma import Luma

any_picture = arrays(np.uint8, array_shapes(min_dims=2, max_dims=2, min_side=1, max_side=70))


def equal_rows(row: list[int], height: int = 40) -> Luma:
    return np.tile(np.array(row, dtype=np.uint8), (height, 1))


def drawn_picture(height: int = 120, width: int = 160) -> Luma:
    y, x = np.mgrid[:height, :width]
    discs = [(30, 40, 18, 200), (80, 60, 25, 60), (60, 120, 30, 150), (20, 100, 9, 230), (100, 130, 11, 40)]
    picture = 90 + 20 * np.sin(x / 3.0) * np.sin(y / 4.0)
    for top, left, radius, level in discs:
        picture[(y - top) ** 2 + (x - left) ** 2 < radius**2] = level
    levels: Luma = picture.astype(np.uint8)
    return levels
