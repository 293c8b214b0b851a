"""Scores the quality of single pictures from their luma alone: darkness, stillness, blur, blockiness.

Pure functions on arrays. They know nothing of files or of time; `vttdata.media.measure` decides which frames are
looked at and how their scores become scores of a video.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Luma = npt.NDArray[np.uint8]
"""A picture's luma: uint8, height x width, limited range (black 16, white 235)."""

BLACK_LUMA = 38
"""Luma below this is nearly black: a tenth of the way from black to white, as in ffmpeg's `blackdetect` filter."""

_BLUR_REACH = 4  # Crete et al. 2007: the low-pass filter has 9 taps, 4 on either side of its centre
_BLOCK = 8  # the transform of MPEG-1 to MPEG-4 and JPEG, and the grid on which the larger ones of their heirs lie
_EDGE_LIMIT = 24  # steps above are edges of things; in 36 real and drawn videos 1.3 % of the steps between neighbours
_VISIBLE_STEP = 1.0  # luma levels; keeps a flat drawing, whose mean steps are near 0, from scoring by chance
_SCAN_LINES = 96  # lines each way; against all lines, scores of 34 videos change by at most 0.011, of frames by 0.020
_GRID = (18, 32)  # the mouth of a talking head fills a cell
_CELL = 16  # pixels; smaller cells show the coding of single macroblocks
_STILL_LEVELS = 3.0
"""How much a cell of a still picture may change.

Stills with noise (5 pictures; x264 at CRF 23 and 35, VP9, MPEG-4 at quantiser 10) change by a median of at most 2.4,
at most 8 % of the changes of clean stills at CRF 35 exceed 3; real moving footage changes by more than 6 nearly always.
"""


def darkness(luma: Luma) -> float:
    """The share of nearly black pixels (luma below `BLACK_LUMA`), 0..1.

    A picture counts as black from about 0.98 (the default of ffmpeg's `blackdetect`), which letterbox bars alone
    never reach: even 2.76:1 inside 4:3 leaves half of the picture free.
    """
    rows = luma[_offset(len(luma)) :: _stride(len(luma))]
    return float(np.count_nonzero(rows < BLACK_LUMA) / rows.size)


def cells(luma: Luma) -> npt.NDArray[np.float32]:
    """Mean luma in each cell of a grid over the picture: float32, at most 18 x 32 of at least 16 x 16 pixels.

    Means over some hundreds of pixels lose noise and keep motion. The grid follows the picture's size, so only cells
    of pictures of one size can be compared.
    """
    rows = luma[_offset(len(luma)) :: _stride(len(luma))]
    down, across = (max(min(n, size // _CELL), 1) for n, size in zip(_GRID, luma.shape, strict=True))
    tops, lefts = np.arange(down) * len(rows) // down, np.arange(across) * rows.shape[1] // across
    bands = np.add.reduceat(rows, tops, axis=0, dtype=np.uint32)
    sums = np.add.reduceat(bands, lefts, axis=1, dtype=np.uint32)
    areas = np.outer(np.diff(tops, append=rows.shape[0]), np.diff(lefts, append=rows.shape[1]))
    return (sums / areas).astype(np.float32)


def stands_still(before: npt.NDArray[np.float32], after: npt.NDArray[np.float32]) -> bool:
    """Whether two pictures show the same, given their `cells`: no cell differs by more than what encoders do."""
    return before.shape == after.shape and float(np.abs(after - before).max()) <= _STILL_LEVELS


def blur(luma: Luma) -> float:
    """The blur effect of Crete, Dolmiere, Ladret and Nicolas 2007 (SPIE 6492), section 3: 0 sharp, 1 blurred.

    The picture is blurred once more along a line; what was sharp loses much of its variation, what was blurred
    little. The worse of the two directions counts. A picture without any variation scores 0: it has nothing to be
    blurred. Sharp footage scores 0.2 to 0.5, and scores only compare at one resolution. At least 10 x 10 pixels are
    needed for a score above 0.
    """
    return max(_line_blur(lines) for lines in _scans(luma))


def _line_blur(lines: npt.NDArray[np.int16]) -> float:
    if lines.shape[1] < 2 * _BLUR_REACH + 2:
        return 0.0
    step = np.abs(np.diff(lines)[:, _BLUR_REACH:-_BLUR_REACH]) * (2 * _BLUR_REACH + 1)
    blurred_step = np.abs(lines[:, 2 * _BLUR_REACH + 1 :] - lines[:, : -2 * _BLUR_REACH - 1])
    variation = _sum(step)
    return (variation - _sum(np.maximum(step - blurred_step, 0))) / variation if variation else 0.0


def blockiness(luma: Luma) -> float:
    """The visible share of block edges in the steps across the 8 x 8 grid of block codecs: 0 none, 1 nothing else.

    After Wang, Sheikh and Bovik 2002 (ICIP), equations 1-4: the mean step between neighbouring pixels across block
    edges, against the mean step inside the blocks, averaged over both directions. In place of their fitted score,
    the excess is given as a share of the whole, steps far above what quantisers cause count as edges of things, and
    an excess below one luma level weighs little. The grid is taken to start at the top left corner; a video that
    was rescaled or cropped after coding has lost it, and scores 0.
    """
    return sum(_line_blockiness(lines) for lines in _scans(luma)) / 2


def _line_blockiness(lines: npt.NDArray[np.int16]) -> float:
    steps = np.minimum(np.abs(np.diff(lines)), _EDGE_LIMIT)
    across = steps[:, _BLOCK - 1 :: _BLOCK]
    inside = steps.size - across.size
    if not across.size or not inside:
        return 0.0
    total = _sum(across)
    edge, rest = total / across.size, (_sum(steps) - total) / inside
    return max(edge - rest, 0.0) / (edge + _VISIBLE_STEP)


def _scans(luma: Luma) -> tuple[npt.NDArray[np.int16], npt.NDArray[np.int16]]:
    """Lines along x and lines along y at native resolution, evenly spread over the picture."""
    height, width = luma.shape
    rows = luma[_offset(height) :: _stride(height)]
    columns = luma[:, _offset(width) :: _stride(width)]
    return rows.astype(np.int16), columns.T.astype(np.int16, order="C")


def _stride(size: int) -> int:
    return max(size // _SCAN_LINES, 1) | 1  # odd, so that every position in a block is met


def _offset(size: int) -> int:
    return _stride(size) // 2


def _sum(values: npt.NDArray[np.int16]) -> int:
    return int(values.sum(axis=0, dtype=np.int32).sum(dtype=np.int64))  # twice as fast as one sum over all
