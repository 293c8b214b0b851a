"""Descriptions of pictures, against counting point by point."""

from __future__ import annotations

import av
import numpy as np
import pytest
from numpy.typing import NDArray

from vttdata.media.shots.histogram import CELL_GRID, CELL_POINTS, describe

GRIDS = ((36, 64), (24, 32), (24, 32))


def looked_at(plane: NDArray[np.uint8], grid: tuple[int, int]) -> NDArray[np.int64]:
    """The values in the middle of each field of an even grid."""
    height, width = plane.shape
    rows = [(2 * row + 1) * height // (2 * grid[0]) for row in range(grid[0])]
    columns = [(2 * column + 1) * width // (2 * grid[1]) for column in range(grid[1])]
    return plane[np.ix_(rows, columns)].astype(np.int64)


@pytest.mark.parametrize(("width", "height"), [(320, 180), (98, 56), (52, 40), (426, 240)])
def test_regions_and_cells_count_the_points_inside(width: int, height: int) -> None:
    random = np.random.default_rng(7)
    planes = [
        random.integers(0, 256, shape, np.uint8)
        for shape in ((height, width), (height // 2, width // 2), (height // 2, width // 2))
    ]
    stacked = np.concatenate([planes[0].reshape(-1, width), *(plane.reshape(-1, width) for plane in planes[1:])])
    [described] = describe([av.VideoFrame.from_ndarray(stacked, "yuv420p")])
    for channel, (plane, grid) in enumerate(zip(planes, GRIDS, strict=True)):
        values = looked_at(plane, grid)
        fields = values.reshape(4, grid[0] // 4, 4, grid[1] // 4).swapaxes(1, 2).reshape(16, -1)
        for region, field in enumerate(fields):
            expected = [((field >= 16 * k - 8) & (field < 16 * k + 8)).sum() for k in range(15)]
            expected.append((field >= 16 * 15 - 8).sum())
            assert described.histograms[0, channel, region].tolist() == expected
        down, across = grid[0] // 12, grid[1] // 16
        blocks = values.reshape(12, down, 16, across).sum((1, 3)) * CELL_POINTS // (down * across)
        assert described.cells[0, channel].reshape(CELL_GRID).tolist() == blocks[2:10, 2:14].tolist()


def test_a_picture_is_described_alike_alone_and_among_others() -> None:
    random = np.random.default_rng(11)
    pictures = [av.VideoFrame.from_ndarray(random.integers(0, 256, (90, 64), np.uint8), "yuv420p") for _ in range(130)]
    batches = list(describe(pictures))
    assert [len(batch) for batch in batches] == [64, 64, 2]
    [alone] = describe([pictures[70]])
    assert np.array_equal(alone.histograms[0], batches[1].histograms[6])
    assert np.array_equal(alone.cells[0], batches[1].cells[6])
