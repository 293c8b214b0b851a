"""Colour histograms and cell means of a video's frames, sampled at a fixed grid of points whatever their size.

Each frame is described once, in about two kilobytes, batch by batch. What descriptions say about shots is decided
elsewhere.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, fields
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

CHANNELS = 3
REGIONS = 16
BINS = 16
CELL_GRID = (8, 12)
CELLS = CELL_GRID[0] * CELL_GRID[1]
CELL_POINTS = 12
"""Points of a cell in luma; sums over the fewer points of chroma cells are scaled up to as many."""

# Histograms are taken by region, so that equal palettes in another arrangement differ.
_REGIONS_PER_SIDE = 4
# Blocks of points, a whole number of them in each region; the cells are the blocks in the middle of the frame.
_BLOCK_GRID = (12, 16)
_BLOCKS = _BLOCK_GRID[0] * _BLOCK_GRID[1]
_LUMA_GRID = (36, 64)
_CHROMA_GRID = (24, 32)
_GRIDS = (_LUMA_GRID, _CHROMA_GRID, _CHROMA_GRID)
POINTS = np.array([rows * columns for rows, columns in _GRIDS])
"""Sampled points of each channel (Y, Cb, Cr)."""

# Puts black (16) and grey (128) inside a bin and not on the edge of one, where noise would change the count.
_BIN_SHIFT = 8
_BATCH_SIZE = 64
# Pixel formats whose planes are sampled without conversion.
_PLANAR_FORMATS = frozenset({"yuv420p", "yuvj420p", "yuv422p", "yuvj422p", "yuv444p", "yuvj444p"})


@dataclass(frozen=True, slots=True)
class Descriptions:
    """Descriptions of n consecutive frames, in whole numbers so that sums are exact on every machine.

    Attributes:
        histograms: (n, 3, 16, 16) counts by channel (Y, Cb, Cr), region of the frame and bin of the value
            (bin k holds 16k-8 to 16k+7).
        cells: (n, 3, 96) sums over the cells of the frame's middle, 8 x 12 of them; letterbox bars stay outside.
        luma: (n, 2304) values at the points of luma, in the sampler's order; `in_rows` puts them in place.
    """

    histograms: NDArray[np.uint8]
    cells: NDArray[np.int32]
    luma: NDArray[np.uint8]

    def __len__(self) -> int:
        return len(self.cells)

    def __getitem__(self, span: slice) -> Descriptions:
        return Descriptions(self.histograms[span], self.cells[span], self.luma[span])

    def repeat(self, times: int) -> Descriptions:
        """Repeat each frame `times` times."""
        return Descriptions(self.histograms.repeat(times, 0), self.cells.repeat(times, 0), self.luma.repeat(times, 0))


def concatenate(*runs: Descriptions) -> Descriptions:
    """Join runs of frames in order."""
    return Descriptions(*(np.concatenate([getattr(run, field.name) for run in runs]) for field in fields(Descriptions)))


def describe(pictures: Iterable[Any]) -> Iterator[Descriptions]:
    """Describe decoded pictures (`av.VideoFrame`) in batches of up to 64; no picture is kept."""
    remaining = iter(pictures)
    sampler = _Sampler()
    samples = np.empty((_BATCH_SIZE, POINTS.sum()), np.uint8)
    while True:
        count = 0
        for picture in islice(remaining, _BATCH_SIZE):
            sampler.sample(picture, samples[count])
            count += 1
        if count == 0:
            return
        values = samples[:count]
        yield Descriptions(count_colours(values), sum_cells(values), values[:, : POINTS[0]].copy())


def in_rows(luma: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Return pictures (n, 36, 64) from the values at the points of luma, in the sampler's order."""
    return np.asarray(luma[:, _LUMA_ROWS].reshape(-1, *_LUMA_GRID))


def block_means(luma: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Return the mean luma (n, 12, 16) of the frame's blocks, in the order of `in_rows`."""
    sums = luma.reshape(len(luma), -1, _BLOCKS).sum(1, dtype=np.uint16)
    return np.asarray((sums[:, _BLOCK_ROWS] // CELL_POINTS).astype(np.uint8).reshape(-1, *_BLOCK_GRID))


class _Sampler:
    """Sampling of pictures at the grid's points, straight from the decoder's memory where the format allows it."""

    def __init__(self) -> None:
        self._geometry: list[tuple[int, int, int]] = []
        self._points: list[NDArray[np.intp]] = []

    def sample(self, picture: Any, out: NDArray[np.uint8]) -> None:
        """Write the values at all points into a row."""
        planes = _planes_of(picture)
        geometry = [(plane.line_size, plane.width, plane.height) for plane in planes]
        if geometry != self._geometry:
            self._points = [_grid_points(grid, *plane) for grid, plane in zip(_GRIDS, geometry, strict=True)]
            self._geometry = geometry
        start = 0
        for plane, points in zip(planes, self._points, strict=True):
            end = start + len(points)
            np.frombuffer(plane, np.uint8).take(points, out=out[start:end], mode="clip")
            start = end


def _planes_of(picture: Any) -> Any:
    """Return three 8-bit planes (Y, Cb, Cr); pictures of other formats, or stored upside down, are scaled down."""
    if picture.format.name in _PLANAR_FORMATS:
        planes = picture.planes
        if planes[0].line_size > 0:
            return planes
    return picture.reformat(2 * _LUMA_GRID[1], 2 * _LUMA_GRID[0], "yuv420p", interpolation="BILINEAR").planes


def _grid_points(grid: tuple[int, int], line_size: int, width: int, height: int) -> NDArray[np.intp]:
    """Return the offsets of the grid's points in a plane's memory."""
    y = ((np.arange(grid[0]) + 0.5) * height / grid[0]).astype(np.intp)
    x = ((np.arange(grid[1]) + 0.5) * width / grid[1]).astype(np.intp)
    return _interleave_blocks(y[:, None] * line_size + x)


def _interleave_blocks(grid: NDArray[np.intp]) -> NDArray[np.intp]:
    """Order the values of a grid of points by their place in their block: the first of each block, then the second."""
    # Neighbouring points often fall into one bin, whose counter each would wait for; in this order they lie in
    # different regions, and counting takes a quarter less time.
    down, across = grid.shape[0] // _BLOCK_GRID[0], grid.shape[1] // _BLOCK_GRID[1]
    side = _REGIONS_PER_SIDE
    blocks = (side, _BLOCK_GRID[0] // side, down, side, _BLOCK_GRID[1] // side, across)
    return grid.reshape(blocks).transpose(2, 5, 1, 4, 0, 3).ravel()


def _first_bins() -> NDArray[np.uint16]:
    """Return the first histogram bin of each point, by its channel and region."""
    side = _REGIONS_PER_SIDE
    bins = []
    for channel, (rows, columns) in enumerate(_GRIDS):
        region = (np.arange(rows) * side // rows)[:, None] * side + np.arange(columns) * side // columns
        bins.append((channel * REGIONS + _interleave_blocks(region)) * BINS)
    return np.concatenate(bins).astype(np.uint16)


_LUMA_ROWS = np.argsort(_interleave_blocks(np.arange(POINTS[0]).reshape(_LUMA_GRID)))
_BLOCK_ROWS = np.argsort(_interleave_blocks(np.arange(_BLOCKS).reshape(_BLOCK_GRID)))
_FIRST_BINS = _first_bins()
# NumPy takes the minimum with an array ten times as fast as with a single number.
_LARGEST_VALUES = np.full(POINTS.sum(), 255 - _BIN_SHIFT, np.uint8)
# Positions of the cells among the interleaved blocks.
_CELL_BLOCKS = _BLOCK_ROWS.reshape(_BLOCK_GRID)[2:10, 2:14].ravel()


def count_colours(samples: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Return the histograms (n, 3, 16, 16) of n frames from their values at the grid's points."""
    size = CHANNELS * REGIONS * BINS
    counts = np.empty((len(samples), size), np.uint8)
    bins = ((np.minimum(samples, _LARGEST_VALUES) + _BIN_SHIFT) >> 4) + _FIRST_BINS
    for row, frame_bins in zip(counts, bins, strict=True):
        row[:] = np.bincount(frame_bins, minlength=size)
    return counts.reshape(-1, CHANNELS, REGIONS, BINS)


def sum_cells(samples: NDArray[np.uint8]) -> NDArray[np.int32]:
    """Return the cell sums (n, 3, 96) of n frames from their values at the grid's points."""
    sums = np.empty((len(samples), CHANNELS, CELLS), np.int32)
    ends = POINTS.cumsum()
    for channel, (start, end) in enumerate(zip(ends - POINTS, ends, strict=True)):
        points = samples[:, start:end].reshape(len(samples), -1, _BLOCKS)
        blocks = points[:, 0].astype(np.uint16)
        for further in range(1, points.shape[1]):
            blocks += points[:, further]
        sums[:, channel] = CELL_POINTS // points.shape[1] * blocks.take(_CELL_BLOCKS, 1)
    return sums
