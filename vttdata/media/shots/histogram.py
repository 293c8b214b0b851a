"""Turns a video's frames into colour histograms and cell means, taken at a fixed grid of points whatever its size.

Every frame is looked at once and described in about two kilobytes, batch by batch. What the descriptions say about
shots is decided elsewhere.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

CHANNELS = 3
REGIONS = 16
BINS = 16
CELL_GRID = (8, 12)
CELLS = CELL_GRID[0] * CELL_GRID[1]

_SIDE = 4  # regions each way: equal palettes in another arrangement then differ
_BLOCK_GRID = (12, 16)  # blocks of points, whole ones to each region; the cells are those of the middle
_BLOCKS = _BLOCK_GRID[0] * _BLOCK_GRID[1]
_LUMA_GRID = (36, 64)
_CHROMA_GRID = (24, 32)
_GRIDS = (_LUMA_GRID, _CHROMA_GRID, _CHROMA_GRID)
POINTS = np.array([rows * columns for rows, columns in _GRIDS])
"""How many points of each channel (Y, Cb, Cr) a frame is looked at."""

CELL_POINTS = 12
"""Every cell sum counts as that of 12 points, in chroma too."""

_SHIFT = 8  # puts black (16) and grey (128) inside a bin instead of on the edge of one, where noise would tell
_BATCH = 64
_DIRECT = frozenset({"yuv420p", "yuvj420p", "yuv422p", "yuvj422p", "yuv444p", "yuvj444p"})


@dataclass(frozen=True, slots=True)
class Descriptions:
    """A run of n frames, in whole numbers so that sums are exact on every machine.

    Attributes:
        histograms: (n, 3, 16, 16) counts by channel (Y, Cb, Cr), region of the frame and bin of the value
            (bin k holds 16k-8 to 16k+7).
        cells: (n, 3, 96) sums over the cells of the frame's middle, 8 x 12 of them; letterbox bars stay outside.
    """

    histograms: NDArray[np.uint8]
    cells: NDArray[np.int32]

    def __len__(self) -> int:
        return len(self.cells)

    def __getitem__(self, span: slice) -> Descriptions:
        return Descriptions(self.histograms[span], self.cells[span])

    def repeated(self, times: int) -> Descriptions:
        """The only frame of this run, so many times."""
        return Descriptions(self.histograms.repeat(times, 0), self.cells.repeat(times, 0))


def joined(*runs: Descriptions) -> Descriptions:
    """One run after the other."""
    return Descriptions(np.concatenate([run.histograms for run in runs]), np.concatenate([run.cells for run in runs]))


def describe(pictures: Iterable[Any]) -> Iterator[Descriptions]:
    """Describe decoded pictures (`av.VideoFrame`) in batches of up to 64; no picture is kept."""
    remaining = iter(pictures)
    sampler = _Sampler()
    samples = np.empty((_BATCH, POINTS.sum()), np.uint8)
    while True:
        count = 0
        for picture in islice(remaining, _BATCH):
            sampler.sample(picture, samples[count])
            count += 1
        if count == 0:
            return
        yield Descriptions(_histograms(samples[:count]), _cells(samples[:count]))


class _Sampler:
    """Takes a picture's colours at the grid's points, straight from the decoder's memory where its format allows."""

    def __init__(self) -> None:
        self._geometry: list[tuple[int, int, int]] = []
        self._points: list[NDArray[np.intp]] = []

    def sample(self, picture: Any, out: NDArray[np.uint8]) -> None:
        planes = _planes(picture)
        geometry = [(plane.line_size, plane.width, plane.height) for plane in planes]
        if geometry != self._geometry:
            self._points = [_grid_points(grid, *plane) for grid, plane in zip(_GRIDS, geometry, strict=True)]
            self._geometry = geometry
        start = 0
        for plane, points in zip(planes, self._points, strict=True):
            end = start + len(points)
            np.frombuffer(plane, np.uint8).take(points, out=out[start:end], mode="clip")
            start = end


def _planes(picture: Any) -> Any:
    """Three 8-bit planes of luma and chroma; other formats, and pictures stored upside down, are made small first."""
    if picture.format.name in _DIRECT:
        planes = picture.planes
        if planes[0].line_size > 0:
            return planes
    return picture.reformat(2 * _LUMA_GRID[1], 2 * _LUMA_GRID[0], "yuv420p", interpolation="BILINEAR").planes


def _grid_points(grid: tuple[int, int], line_size: int, width: int, height: int) -> NDArray[np.intp]:
    y = ((np.arange(grid[0]) + 0.5) * height / grid[0]).astype(np.intp)
    x = ((np.arange(grid[1]) + 0.5) * width / grid[1]).astype(np.intp)
    return _scattered(y[:, None] * line_size + x)


def _scattered(grid: NDArray[np.intp]) -> NDArray[np.intp]:
    """The values of a grid of points: one point of each block, then the next of each, neighbours in other regions.

    Neighbours often fall into one bin, whose counter each would wait for: this way counting takes a quarter less.
    """
    down, across = grid.shape[0] // _BLOCK_GRID[0], grid.shape[1] // _BLOCK_GRID[1]
    blocks = (_SIDE, _BLOCK_GRID[0] // _SIDE, down, _SIDE, _BLOCK_GRID[1] // _SIDE, across)
    return grid.reshape(blocks).transpose(2, 5, 1, 4, 0, 3).ravel()


def _bin_offsets() -> NDArray[np.uint16]:
    """The first histogram bin of each point: its channel's and region's."""
    offsets = []
    for channel, (rows, columns) in enumerate(_GRIDS):
        region = (np.arange(rows) * _SIDE // rows)[:, None] * _SIDE + np.arange(columns) * _SIDE // columns
        offsets.append((channel * REGIONS + _scattered(region)) * BINS)
    return np.concatenate(offsets).astype(np.uint16)


_OFFSETS = _bin_offsets()


def _histograms(samples: NDArray[np.uint8]) -> NDArray[np.uint8]:
    size = CHANNELS * REGIONS * BINS
    counts = np.empty((len(samples), size), np.uint8)
    bins = ((np.minimum(samples, 255 - _SHIFT) + _SHIFT) >> 4) + _OFFSETS
    for row, own in zip(counts, bins, strict=True):
        row[:] = np.bincount(own, minlength=size)
    return counts.reshape(-1, CHANNELS, REGIONS, BINS)


def _middle_blocks() -> NDArray[np.intp]:
    """Where the cells stand among the blocks as they are scattered."""
    places = np.empty(_BLOCKS, np.intp)
    places[_scattered(np.arange(_BLOCKS).reshape(_BLOCK_GRID))] = np.arange(_BLOCKS)
    return places.reshape(_BLOCK_GRID)[2:10, 2:14].ravel()


_CELL_BLOCKS = _middle_blocks()


def _cells(samples: NDArray[np.uint8]) -> NDArray[np.int32]:
    sums = np.empty((len(samples), CHANNELS, CELLS), np.int32)
    ends = POINTS.cumsum()
    for channel, (start, end) in enumerate(zip(ends - POINTS, ends, strict=True)):
        each = samples[:, start:end].reshape(len(samples), -1, _BLOCKS)
        blocks = each[:, 0].astype(np.uint16)
        for further in range(1, each.shape[1]):
            blocks += each[:, further]
        sums[:, channel] = CELL_POINTS // each.shape[1] * blocks.take(_CELL_BLOCKS, 1)
    return sums
