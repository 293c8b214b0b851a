"""Pictures of a video as arrays: frames spread over it, turned as players show them, and resized by stated arithmetic.

Libraries of pictures resize differently from version to version; here a resized picture follows from the formula alone.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from vttdata.errors import MediaError
from vttdata.media.decode import open_video
from vttdata.media.pyav import display_matrix
from vttdata.partial_file import partial_file

if TYPE_CHECKING:
    from PIL import Image

Filter = Literal["bicubic", "bilinear"]
# Keys, IEEE ASSP 1981: the cubic kernel whose error is of third order.
_CUBIC = -0.5
_KERNEL_RADIUS: dict[Filter, float] = {"bicubic": 2.0, "bilinear": 1.0}


class SampledFrame(NamedTuple):
    """Frame of a video: its time in seconds since time zero, and its picture, RGB (height, width, 3), uint8."""

    time: float
    picture: npt.NDArray[np.uint8]


def sample_frames(path: Path, number: int, start: float = 0.0, end: float = math.inf) -> Iterator[SampledFrame]:
    """Yield frames spread evenly from the first to the last one of a span, as players show them.

    Of n frames it yields those with indices ``floor(k (n - 1) / (number - 1))`` for k = 0 ... number - 1, each once;
    for one frame only, the first. The video is decoded twice, so that memory holds one frame at a time.

    The number is 0 for all frames. The span is half-open, in seconds since time zero; frames before that belong to 0.

    Raises:
        MediaError: what `open_video` and `Video.frames` raise, or ``frames_missing`` without a frame in the span.
    """
    inside: list[int] = []
    with open_video(path) as video:
        for frame in video.frames():
            if start <= max(frame.time, 0.0) < end:
                inside.append(frame.index)
        if not inside:
            what = "no frame can be decoded" if end == math.inf else f"no frame lies between {start:g} and {end:g} s"
            raise MediaError("frames_missing", f"{what}. {video.tally.first_error}".strip())
    last = len(inside) - 1
    wanted = set(inside) if number == 0 else {inside[k * last // max(number - 1, 1)] for k in range(number)}
    with open_video(path) as video:
        aspect = float(video.stream.sample_aspect_ratio or 1)
        for frame in video.frames():
            if frame.index > inside[last]:
                return
            if frame.index in wanted:
                rgb = frame.picture.to_ndarray(format="rgb24")
                if aspect != 1:
                    rgb = np.rint(resize(rgb, rgb.shape[0], max(round(rgb.shape[1] * aspect), 1))).astype(np.uint8)
                yield SampledFrame(frame.time, turn_upright(rgb, frame.picture))


def turn_upright(pixels: npt.NDArray[Any], picture: Any) -> npt.NDArray[Any]:
    """Return the pixels of a decoded picture, (height, width, ...), rotated and mirrored as players show it."""
    rotated = np.rot90(pixels, picture.rotation // 90)
    matrix = display_matrix(picture)
    if matrix is None:
        return rotated
    is_mirrored = matrix[0] * matrix[4] < matrix[1] * matrix[3]
    return np.flip(rotated, 1 if picture.rotation % 180 else 0) if is_mirrored else rotated


def resize(pixels: npt.NDArray[Any], height: int, width: int, method: Filter = "bicubic") -> npt.NDArray[np.float32]:
    """Resize a picture, (rows, columns, channels) of 0..255, with antialiasing, by `resize_weights`.

    Returns:
        (height, width, channels), cut to 0..255 and not rounded.
    """
    rows, columns, channels = pixels.shape
    flat = pixels.reshape(rows, columns * channels).astype(np.float32)
    tall = (resize_weights(rows, height, method) @ flat).reshape(height, columns, channels)
    resized: npt.NDArray[np.float32] = np.clip(np.matmul(resize_weights(columns, width, method), tall), 0, 255)
    return resized


def resize_weights(length: int, resized: int, method: Filter = "bicubic") -> npt.NDArray[np.float32]:
    """Return the weights with which a line of pixels is resized, (resized, length); each row adds up to 1.

    Pixel i of the result lies at ``(i + 1/2) length / resized``, pixel j of the line at ``j + 1/2``. Its weight is the
    kernel at their distance, stretched by ``length / resized`` where the line shrinks; pixels outside do not count.
    """
    scale = length / resized
    stretch = max(scale, 1.0)
    centres = (np.arange(resized)[:, np.newaxis] + 0.5) * scale
    distance = np.abs(np.arange(length) + 0.5 - centres) / stretch
    if method == "bilinear":
        weights = 1 - distance
    else:
        near = ((_CUBIC + 2) * distance - (_CUBIC + 3)) * distance**2 + 1
        far = ((distance - 5) * distance + 8) * distance * _CUBIC - 4 * _CUBIC
        weights = np.where(distance < 1, near, far)
    weights = np.where(distance < _KERNEL_RADIUS[method], weights, 0)
    normalized: npt.NDArray[np.float32] = (weights / weights.sum(axis=1, keepdims=True)).astype(np.float32)
    return normalized


def save_png(picture: Image.Image, target: Path) -> None:
    """Write a picture as a PNG file that says it is of vttdata, in one step: the file is whole or not there."""
    from PIL.PngImagePlugin import PngInfo

    signature = PngInfo()
    signature.add_text("Software", "vttdata")
    with partial_file(target) as partial:
        picture.save(partial, format="PNG", pnginfo=signature)
