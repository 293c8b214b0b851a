"""Reject videos that stand still most of the time, such as slide shows and single pictures with music."""

from __future__ import annotations

import functools

import numpy as np
import numpy.typing as npt

from vttdata.media.base_filter import PictureFilter, SampledPicture
from vttdata.media.luma import Luma, scan_rows

# Rows and columns of cells over the picture: the mouth of a talking head fills a cell.
_GRID = (18, 32)
# Pixels on a side; smaller cells show the coding of single macroblocks.
_MIN_CELL_SIZE = 16
# Luma levels by which a cell of a still picture may change. Stills with noise (5 pictures; x264 at CRF 23 and 35, VP9,
# MPEG-4 at quantiser 10) change by a median of at most 2.4, and at most 8 % of the changes of clean stills at CRF 35
# exceed 3; real moving footage changes by more than 6 nearly always.
_STILL_LEVELS = 3.0


class Frozen(PictureFilter):
    """Share of the time in which the picture is the one of half a second before."""

    order = 40
    default = 0.8
    limit = "highest share of the time without motion, 0..1."
    column = "share of frames that repeat the one before, 0..1"

    def __init__(self) -> None:
        self._cells: npt.NDArray[np.float32] | None = None
        self._periods = self._still_periods = 0

    def add(self, picture: SampledPicture) -> None:
        """Compare the picture with the one before; the further half seconds it is shown find it unchanged."""
        cells = cell_means(picture.luma)
        self._periods += picture.periods
        self._still_periods += picture.periods - 1
        if self._cells is not None:
            self._still_periods += is_still(self._cells, cells)
        self._cells = cells

    def score(self) -> float:
        """Return the share among all half seconds but the first, which has nothing before it."""
        return self._still_periods / (self._periods - 1) if self._periods > 1 else 0.0


def cell_means(luma: Luma) -> npt.NDArray[np.float32]:
    """Return the mean luma in each cell of a grid over the picture: at most 18 x 32 cells of at least 16 x 16 pixels.

    Means over some hundreds of pixels lose noise and keep motion. The grid follows the picture's size, so only cells
    of pictures of one size can be compared.
    """
    rows = scan_rows(luma)
    tops, lefts, areas = _cells(*luma.shape, len(rows))
    # Ten times as fast as the other way round.
    columns = np.add.reduceat(rows.astype(np.uint32), lefts, axis=1)
    sums = np.add.reduceat(columns, tops, axis=0)
    return (sums / areas).astype(np.float32)


@functools.lru_cache(maxsize=16)
def _cells(
    height: int, width: int, scanned: int
) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.intp], npt.NDArray[np.intp]]:
    """Return first rows, first columns and pixels (rows, columns) of cells; `scanned` rows of the picture are used."""
    down, across = (max(min(n, size // _MIN_CELL_SIZE), 1) for n, size in zip(_GRID, (height, width), strict=True))
    tops, lefts = np.arange(down) * scanned // down, np.arange(across) * width // across
    return tops, lefts, np.outer(np.diff(tops, append=scanned), np.diff(lefts, append=width))


def is_still(before: npt.NDArray[np.float32], after: npt.NDArray[np.float32]) -> bool:
    """Return whether no cell of two pictures of one size differs by more than coding does, given their `cell_means`."""
    return before.shape == after.shape and float(np.abs(after - before).max()) <= _STILL_LEVELS
