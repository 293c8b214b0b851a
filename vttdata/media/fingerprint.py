"""Perceptual fingerprint of a video: four 64-bit hashes for every half second, two each of the picture's halves.

A hash holds the signs of 64 low DCT frequencies, after black bars are cropped and local contrast is equalised. It
survives other codecs, sizes, tints and tones, and a logo or a caption disturbs one half. The upper and the lower half
are hashed, and those of the transposed picture: from these four follow the hashes of the picture in all eight
orientations. Nothing is compared here; `vttdata.split.near_duplicates.matches` does that.
"""

from __future__ import annotations

import base64
import itertools
import math
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vttdata.media.decode import open_video
from vttdata.media.luma import luma_of
from vttdata.records import HASH_SCHEME, HASHES_PER_SAMPLE, HASHES_PER_SECOND, Fingerprint

_MAX_SECONDS = 24 * 3600.0
# Samples: half an hour, 15 MB of thumbnails.
_BATCH_SIZE = 3600
# Samples that are hashed at once; each takes 60 KB meanwhile.
_HASHED_AT_ONCE = 100
# A thumbnail has 64 x 64 means of 3 x 3 points each, and becomes 32 x 32 without bars.
_THUMBNAIL_SIZE = 64
_POINTS = 3
_SIZE = 32
_HALF = _SIZE // 2
# Limited-range black, and the luma below which coding noise of black stays.
_BLACK, _MAX_BLACK = 16, 28
# Share of a bar's row that may be bright: a logo or a subtitle.
_BRIGHT_SHARE = 0.15
# On either side.
_MAX_BAR = _THUMBNAIL_SIZE // 4
# Standard deviation, in 32nds of the picture, of the window in which contrast is equalised.
_WINDOW_DEVIATION = 4.0
# Luma levels: contrast that coding noise can have, and contrast below which a third of the bits changed between
# encodings.
_NOISE, _MIN_CONTRAST = 3.0, 3.0
# Coefficients that are zero but for rounding must give the same bit on every machine.
_ZERO = 1e-6

Pictures = NDArray[np.float64]


class Fingerprinter:
    """Fingerprint of one video, computed from its pictures in order; memory stays flat.

    Of the pictures added, those shown at every half second from time zero on are sampled; adding the others costs
    nothing. Where some were skipped in decoding, the one before stands for them.
    """

    def __init__(self) -> None:
        self._previous: object = None
        self._samples = 0
        self._thumbnails: list[NDArray[np.uint8]] = []
        self._repeats: list[int] = []
        self._hasher: Hasher | None = None
        self._hashes: list[NDArray[np.uint64]] = []

    def add(self, time: float, picture: Any) -> None:
        """Add the picture (`av.VideoFrame`) that is shown from `time` on, in seconds since time zero."""
        if self._previous is not None:
            self._sample(until=time)
        self._previous = picture

    def finish(self, seconds: float) -> Fingerprint:
        """End the video at `seconds`.

        Returns:
            Its fingerprint, one sample for each half second begun, up to a day; empty if no picture was added.
        """
        if self._previous is not None:
            self._sample(until=seconds)
            self._previous = None
        self._hash_batch()
        hashes = np.concatenate([np.empty((0, HASHES_PER_SAMPLE), np.uint64), *self._hashes])
        return Fingerprint(HASH_SCHEME, base64.b64encode(hashes.astype(">u8").tobytes()).decode())

    def _sample(self, until: float) -> None:
        """Use the previous picture for every half second before `until` that has no sample yet."""
        count = math.ceil(min(until, _MAX_SECONDS) * HASHES_PER_SECOND - 1e-6) - self._samples
        if count <= 0:
            return
        self._samples += count
        self._thumbnails.append(_thumbnail(self._previous))
        self._repeats.append(count)
        if len(self._thumbnails) == _BATCH_SIZE:
            self._hash_batch()

    def _hash_batch(self) -> None:
        if not self._thumbnails:
            return
        batch = np.stack(self._thumbnails)
        # Bars are found in the first batch and kept, so that memory stays flat.
        self._hasher = self._hasher or Hasher(*find_bars(batch))
        parts = (batch[start : start + _HASHED_AT_ONCE] for start in range(0, len(batch), _HASHED_AT_ONCE))
        hashes = np.concatenate([self._hasher.hash(part) for part in parts])
        self._hashes.append(hashes.repeat(self._repeats, 0))
        self._thumbnails, self._repeats = [], []


def fingerprint(path: Path, *, threads: int = 1) -> Fingerprint:
    """Decode a video file for its fingerprint alone.

    Raises:
        MediaError: what `open_video` and `Video.frames` raise. Packets that cannot be decoded are skipped.
    """
    fingerprinter = Fingerprinter()
    end = 0.0
    with open_video(path, threads=threads) as video:
        for frame in video.frames():
            fingerprinter.add(frame.time, frame.picture)
            end = frame.time + frame.seconds
    return fingerprinter.finish(end)


def _thumbnail(picture: Any) -> NDArray[np.uint8]:
    """Return the picture's luma as displayed: 64 x 64 means of 3 x 3 points, in whole numbers."""
    luma = luma_of(picture)
    points = 2 * np.arange(_THUMBNAIL_SIZE * _POINTS) + 1
    height, width = luma.shape
    rows, columns = (points * size // (2 * len(points)) for size in (height, width))
    values = luma.take(rows, axis=0).take(columns, axis=1)
    sums = sum(values[start::_POINTS].astype(np.uint16) for start in range(_POINTS))
    sums = sum(sums[:, start::_POINTS] for start in range(_POINTS))
    return np.rot90((sums // _POINTS**2).astype(np.uint8), int(picture.rotation) // 90 % 4)


def find_bars(thumbnails: NDArray[np.uint8]) -> tuple[tuple[float, float], tuple[float, float]]:
    """Return the widths of the black bars above and below, and on the left and right, in 64ths of the picture.

    A bar stays black all the time, and is about as wide as the one opposite; a little of it may be lit by a logo.

    Args:
        thumbnails: (n, 64, 64) luma over time, limited range.
    """
    brightest = thumbnails.max(0)
    return _bars_above_and_below(brightest), _bars_above_and_below(brightest.T)


def _bars_above_and_below(brightest: NDArray[np.uint8]) -> tuple[float, float]:
    is_bright = (brightest > _MAX_BLACK).mean(1) > _BRIGHT_SHARE
    if not is_bright.any():
        return 0.0, 0.0
    above, below = int(is_bright.argmax()), int(is_bright[::-1].argmax())
    if abs(above - below) > 1:
        above = below = min(above, below)
    if not 0 < min(above, below) <= max(above, below) <= _MAX_BAR:
        return 0.0, 0.0
    return above + _black_part(brightest, above), below + _black_part(brightest[::-1], below)


def _black_part(brightest: NDArray[np.uint8], row: int) -> float:
    """Return the share of a bar's last row that is still black, by the brightness of the row after it."""
    edge, inner = brightest[row].mean() - _BLACK, brightest[row + 1].mean() - _BLACK
    return float(np.clip(1 - edge / max(inner, 1), 0, 1))


class Hasher:
    """Hash function for thumbnails with bars of known widths."""

    def __init__(self, rows: tuple[float, float], columns: tuple[float, float]) -> None:
        self._rows, self._columns = _averaging_matrix(*rows), _averaging_matrix(*columns).T

    def hash(self, thumbnails: NDArray[np.uint8]) -> NDArray[np.uint64]:
        """Return the (n, 4) hashes of (n, 64, 64) thumbnails: of upper and lower half, then of the transposed ones."""
        picture = self._rows @ thumbnails.astype(np.float64) @ self._columns
        detail = picture - _WINDOW @ picture @ _WINDOW.T
        energy = np.maximum(_WINDOW @ (detail * detail) @ _WINDOW.T, 0)
        equalised = np.tanh(detail / (np.sqrt(energy) + _NOISE))
        halves = itertools.product(((0, 1, 2), (0, 2, 1)), (slice(0, _HALF), slice(_HALF, _SIZE)))
        hashes = [
            _hash_half(equalised.transpose(axes)[:, rows], energy.transpose(axes)[:, rows]) for axes, rows in halves
        ]
        return np.stack(hashes, 1)


def _hash_half(equalised: Pictures, energy: Pictures) -> NDArray[np.uint64]:
    spectrum = _VERTICAL @ equalised @ _HORIZONTAL.T
    bits = np.packbits(spectrum[:, _FREQUENCIES[:, 0], _FREQUENCIES[:, 1]] > _ZERO, axis=1)
    # 0 is kept for pictures without contrast.
    hashes = np.maximum(np.ascontiguousarray(bits).view(">u8")[:, 0].astype(np.uint64), 1)
    hashes[np.sqrt(energy.mean((1, 2))) < _MIN_CONTRAST] = 0
    return hashes


def _averaging_matrix(bar_before: float, bar_after: float) -> Pictures:
    """Return (32, 64) weights that average equal parts of the picture between two bars."""
    edges = np.linspace(bar_before, _THUMBNAIL_SIZE - bar_after, _SIZE + 1)
    cells = np.arange(_THUMBNAIL_SIZE)
    shared = np.minimum(cells + 1, edges[1:, None]) - np.maximum(cells, edges[:-1, None])
    return np.asarray(np.clip(shared, 0, None) / (edges[1] - edges[0]))


def gaussian_window() -> Pictures:
    """Return (32, 32) weights of the mean around each point."""
    positions = np.arange(_SIZE)
    weights = np.exp(-0.5 * ((positions[:, None] - positions) / _WINDOW_DEVIATION) ** 2)
    return np.asarray(weights / weights.sum(1, keepdims=True))


def dct_basis(size: int) -> Pictures:
    """Return the (size, size) basis of the discrete cosine transform (DCT-II), by frequency."""
    return np.cos(np.pi * np.arange(size)[:, None] * (np.arange(size) + 0.5) / size)


def _hash_frequencies() -> NDArray[np.intp]:
    """Return (64, 2): the 32 lowest (vertical, horizontal) frequencies that mirroring keeps, then 32 that it negates.

    A half is twice as wide as high. The first 32 are interleaved, so that each byte holds low and high frequencies.
    """
    pairs = [(row, column) for row in range(_HALF) for column in range(_SIZE) if row or column]
    pairs.sort(key=lambda pair: (4 * pair[0] ** 2 + pair[1] ** 2, pair))
    symmetric = [pair for pair in pairs if pair[1] % 2 == 0][:32]
    antisymmetric = [pair for pair in pairs if pair[1] % 2 == 1][:32]
    return np.array([pair for start in range(4) for pair in symmetric[start::4]] + antisymmetric)


_WINDOW = gaussian_window()
_VERTICAL, _HORIZONTAL = dct_basis(_HALF), dct_basis(_SIZE)
_FREQUENCIES = _hash_frequencies()
