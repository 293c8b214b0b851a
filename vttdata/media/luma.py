"""Luma planes of decoded frames, and the rows and columns of them that quality filters sample.

Works on arrays. Which frames are sampled is decided by `vttdata.media.measure`, what is computed by the filters.
"""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import numpy.typing as npt

Luma = npt.NDArray[np.uint8]
"""A picture's luma: uint8, height x width, limited range (black 16, white 235)."""

# A tenth of the way from black to white, as in ffmpeg's `blackdetect` filter.
BLACK_LUMA = 38
# Compared with scanning all lines, scores of 34 videos change by at most 0.011, those of single frames by 0.020.
_SCAN_LINES = 96
_AVCOL_RANGE_JPEG = 2
_PLANAR_LUMA = re.compile(r"(?:yuvj?a?4\d\dp|gray)(?:(9|10|12|14|16)le)?|nv12|nv21")
_FULL_TO_LIMITED_RANGE = np.rint(np.arange(256) * (219 / 255) + 16).astype(np.uint8)


def luma_of(picture: Any) -> Luma:
    """Return the luma of a decoded frame (`av.VideoFrame`) of any pixel format: uint8, height x width, limited range.

    Pictures are as coded: not rotated. The array may share memory with the frame.
    """
    if not _PLANAR_LUMA.fullmatch(picture.format.name):
        picture = picture.reformat(format="yuv420p", dst_color_range="MPEG")
    match = _PLANAR_LUMA.fullmatch(picture.format.name)
    bits = int(match.group(1) or 8) if match else 8
    plane, sample = picture.planes[0], np.dtype("<u2" if bits > 8 else "u1")
    rows: npt.NDArray[Any] = np.frombuffer(plane, sample).reshape(-1, plane.line_size // sample.itemsize)
    luma = rows[: picture.height, : picture.width]
    luma = (luma >> (bits - 8)).astype(np.uint8) if bits > 8 else luma
    full_range = picture.color_range == _AVCOL_RANGE_JPEG or picture.format.name.startswith(("gray", "yuvj"))
    return _FULL_TO_LIMITED_RANGE[luma] if full_range else luma


def scan_rows(luma: Luma) -> Luma:
    """Return about 96 rows, evenly spread over the picture; all rows of a small one."""
    # Odd strides meet every position within a block of 8 x 8 pixels.
    stride = max(len(luma) // _SCAN_LINES, 1) | 1
    return luma[stride // 2 :: stride]


def scan_lines(luma: Luma) -> tuple[npt.NDArray[np.int16], npt.NDArray[np.int16]]:
    """Return about 96 rows and 96 columns at native resolution, each line a column of an int16 array."""
    # Nothing is transposed in memory, which would take longer than all that is computed from the lines.
    return scan_rows(luma).astype(np.int16).T, scan_rows(luma.T).T.astype(np.int16)


def black_share(luma: Luma) -> float:
    """Return the share of nearly black pixels (luma below `BLACK_LUMA`), 0..1."""
    rows = scan_rows(luma)
    return float(np.count_nonzero(rows < BLACK_LUMA) / rows.size)


def sum_exactly(values: npt.NDArray[np.int16]) -> int:
    """Return the sum of an array of values from 0 to 4095, without overflow."""
    # Sums as int64 take twice as long.
    return int(values.sum(dtype=np.int32 if values.size <= 2**19 else np.int64))
