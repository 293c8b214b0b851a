"""Compare pictures in place, at the few frames where a cut may be: evidence that colours do not give.

A change of light leaves edges where they are; a window that opens, or footage that is cut within one, changes a
rectangle and leaves the rest; a page of text that follows another replaces the edges and hardly any colours; and a fast
turn of the camera passes over pictures that are no mixture of the first and the last. Works on the sampled luma.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

# Windows of 6 x 8 points, 6 x 8 of them; smaller ones correlate by chance, larger ones hold several surfaces.
_WINDOW_GRID, _WINDOW_SHAPE = (6, 8), (6, 8)
# Luma; limited-range black is 16. Windows in which points are black in both pictures, such as letterbox bars, do not
# count: the edge of a bar always stays.
_BLACK, _VISIBLE = 24, 0.9
# Standard deviation of luma, in levels, above which a window shows structure. Slopes, as of skies and walls, are taken
# out: two of them correlate whatever they show.
_TEXTURE = 4.0
# Mean luma of plain windows that may hide structure, in the dark or dazzled.
_DARK, _DAZZLED = 26, 215
# Mean difference of luma below which a window did not change: overlays that stay say nothing about what is below.
_UNCHANGED = 4.0
# Correlation of luma in a window that keeps its structure.
_CORRELATION = 0.6
# Change of a window's brightest point over its mean change; where it is less, a bright overlay stays.
_PEAK_SHARE = 0.25
# Levels by which a point changes more than from motion around it.
_POINT_CHANGED = 8
# Levels by which points of a background change that stays, and points that move; least share of the picture that such a
# background fills, the most of it that moves, and by how much less than where something appears before it: figures that
# pop up at most 0.07, jump cuts of a fixed camera at least 0.49. Least share of the points where something appears.
_STAYS, _MOVES = 6, 4
_BACKGROUND, _MOVING_BACKGROUND, _MOVES_MORE, _APPEARS = 0.6, 0.45, 0.25, 0.02
# Rows and columns with this share of the changed points of the fullest one belong to the changed rectangle.
_EDGE_SHARE = 0.25
# Least share of the changed points inside the rectangle, and of its points that change.
_INSIDE, _FILL = 0.8, 0.5

Floats = NDArray[np.float64]
Pictures = NDArray[np.uint8]


@dataclass(frozen=True, slots=True)
class StructureChange:
    """Comparison of m pairs of pictures by windows; every array has m shares (0..1).

    Attributes:
        kept: windows that keep their structure, of those that show one and changed.
        relit_area: the same windows, of all, without those in which an overlay stays over a blank picture.
        replaced: windows that lost their structure, of all that show one, changed or not.
        hidden: the same of all that show one before, or after where that is less: before a plain background, a figure
            that appears hides little.
    """

    kept: Floats
    relit_area: Floats
    replaced: Floats
    hidden: Floats


def compare_structure(before: Pictures, after: Pictures) -> StructureChange:
    """Compare the structure of m pictures (m, 36, 64) with that of m others; shares of no windows are 0."""
    visible = _exact_means(_windows(np.maximum(before, after) >= _BLACK)) > _VISIBLE
    left, right = _windows(before), _windows(after)
    mean_left, mean_right = _exact_means(left), _exact_means(right)
    change = _exact_means(np.abs(left - right))
    peak_left, peak_right = left.max(-1), right.max(-1)
    left, right = (values - np.asarray(values @ _SLOPES @ _SLOPES.T, np.float32) for values in (left, right))
    deviation_left, deviation_right = (np.sqrt((detail * detail).mean(-1)) for detail in (left, right))
    covariance = (left * right).mean(-1)
    textured = visible & (np.maximum(deviation_left, deviation_right) > _TEXTURE)
    hidden = np.zeros_like(textured)
    for mean, deviation in ((mean_left, deviation_left), (mean_right, deviation_right)):
        hidden |= (deviation < _TEXTURE) & ((mean < _DARK) | (mean > _DAZZLED))
    changed = textured & (change >= _UNCHANGED)
    counted = changed & ~hidden
    correlated = covariance > _CORRELATION * (deviation_left * deviation_right + _TEXTURE)
    kept = counted & correlated & (np.minimum(deviation_left, deviation_right) > _TEXTURE)
    # Where most of the picture turns black or white, what stays as bright as it was is a text or a logo over it.
    is_overlay = np.abs(peak_left - peak_right) <= _PEAK_SHARE * change
    is_overlay &= 2 * counted.sum(-1, keepdims=True) < changed.sum(-1, keepdims=True)
    lost = changed & ~kept
    lost_of_side = (
        (lost & (deviation > _TEXTURE)).sum(-1) / np.maximum((visible & (deviation > _TEXTURE)).sum(-1), 1)
        for deviation in (deviation_left, deviation_right)
    )
    return StructureChange(
        kept=kept.sum(-1) / np.maximum(counted.sum(-1), 1),
        relit_area=(kept & ~is_overlay).mean(-1),
        replaced=lost.sum(-1) / np.maximum(textured.sum(-1), 1),
        hidden=np.minimum(*lost_of_side),
    )


def measure_rectangle(before: Pictures, after: Pictures, further_before: Pictures, further_after: Pictures) -> Floats:
    """Return the share (m,) of the picture in which points change more than by motion; 1 unless it is a rectangle.

    Args:
        before: (m, 36, 64) luma.
        after: (m, 36, 64) luma.
        further_before: (m, 36, 64) luma of the frames before `before`, which tell the motion there.
        further_after: (m, 36, 64) luma of the frames after `after`.
    """
    motion = np.maximum(_difference(before, further_before), _difference(after, further_after))
    moved = _difference(before, after) > np.minimum(motion, 255 - _POINT_CHANGED) + _POINT_CHANGED
    rows, columns = (_main_part(moved.sum(axis)) for axis in (2, 1))
    inside = (moved & rows[:, :, None] & columns[:, None]).sum((1, 2))
    area = rows.sum(1) * columns.sum(1)
    is_rectangle = (inside > _INSIDE * moved.sum((1, 2))) & (inside > _FILL * area)
    return np.where(is_rectangle, area / moved[0].size, 1.0)


def is_addition(before: Pictures, after: Pictures, earlier: Pictures) -> NDArray[np.bool_]:
    """Return for m pairs of pictures whether something appears where nothing moved, and the background stays.

    At a jump cut what changes is what moved before.

    Args:
        before: (m, 36, 64) luma.
        after: (m, 36, 64) luma.
        earlier: (m, 36, 64) luma of half a second before.
    """
    change, motion = _difference(before, after), _difference(before, earlier)
    appears = change > np.minimum(motion, 255 - _POINT_CHANGED) + _POINT_CHANGED
    visible = np.maximum(before, after) >= _BLACK
    stays, moves = visible & (change <= _STAYS), motion > _MOVES

    def share_moving(points: NDArray[np.bool_]) -> Floats:
        return np.asarray((moves & points).sum((1, 2)) / np.maximum(points.sum((1, 2)), 1))

    in_background = share_moving(stays)
    has_background = (stays.sum((1, 2)) > _BACKGROUND * visible.sum((1, 2))) & (in_background < _MOVING_BACKGROUND)
    is_new = (appears.mean((1, 2)) > _APPEARS) & (share_moving(appears) < in_background + _MOVES_MORE)
    return np.asarray(has_background & is_new)


def _difference(left: Pictures, right: Pictures) -> Pictures:
    return np.maximum(left, right) - np.minimum(left, right)


def _main_part(counts: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Return which of the rows or columns (m, k) lie between the first and the last that change much."""
    full = counts > _EDGE_SHARE * counts.max(1, keepdims=True)
    return np.maximum.accumulate(full, 1) & np.maximum.accumulate(full[:, ::-1], 1)[:, ::-1]


def measure_unmixed(before: Pictures, between: Pictures, after: Pictures) -> Floats:
    """Return how far (0..1) m pictures are from any mixture of those before and after, over the distance of these."""
    start, middle, end = (picture.reshape(len(picture), -1).astype(np.float32) for picture in (before, between, after))
    direction, offset = end - start, middle - start
    length = np.maximum((direction * direction).sum(1), 1)
    weight = np.clip((direction * offset).sum(1) / length, 0, 1)
    residual = offset - weight[:, None] * direction
    return np.asarray(np.minimum(np.sqrt((residual * residual).sum(1) / length), 1), np.float64)


def _windows(pictures: NDArray[np.generic]) -> NDArray[np.float32]:
    """Return the points of pictures (m, 36, 64) by window: (m, 48, 48)."""
    (down, across), (high, wide) = _WINDOW_GRID, _WINDOW_SHAPE
    blocks = pictures.reshape(-1, down, high, across, wide).transpose(0, 1, 3, 2, 4)
    return blocks.reshape(-1, down * across, high * wide).astype(np.float32)


def _exact_means(windows: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return the means (m, 48) of windows of whole numbers, whose sums are exact in any order."""
    points = windows.shape[-1]
    return np.asarray(windows @ np.ones(points, np.float32) / np.float32(points))


def _slope_basis() -> NDArray[np.float32]:
    """Return an orthonormal basis (48, 6) of even and curved slopes over a window's points."""
    y, x = np.indices(_WINDOW_SHAPE).reshape(2, -1)
    return np.linalg.qr(np.stack((np.ones_like(x), x, y, x * x, x * y, y * y), 1).astype(np.float32))[0]


_SLOPES = _slope_basis()
