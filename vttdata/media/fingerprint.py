"""Fingerprints a video while something else decodes it: two 64-bit words for every half second of what it shows.

Each word holds the signs of the 64 lowest frequencies of one half of the picture, after black bars are taken off and
contrast is made alike everywhere. So a word survives other codecs, sizes, tints and tones, and a logo or a caption
disturbs one half. Nothing is compared here; `vttdata.split.near_duplicates.matches` does that.
"""

from __future__ import annotations

import base64
import math
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vttdata.media.decode import open_video
from vttdata.media.luma import luma_of
from vttdata.records import HASH_SCHEME, HASHES_PER_SECOND, Fingerprint

_LONGEST_SECONDS = 24 * 3600.0
_BATCH = 3600  # samples: half an hour, 15 MB of small pictures

_CELLS = 64  # a small picture is 64 x 64 means
_POINTS = 3  # of 3 x 3 points each
_SIDE = 32  # and becomes 32 x 32 without bars
_HALF = _SIDE // 2
_DARKEST, _BLACK = 16, 28  # limited range; coding noise stays below
_LIT_SHARE = 0.15  # of a bar: a logo or a subtitle may stand in it
_WIDEST_BAR = _CELLS // 4  # on either side
_REACH = 4.0  # standard deviation, in 32nds of the picture, of the window in which contrast is made alike
_NOISE = 3.0  # levels of luma: contrast that coding noise can have
_FLAT = 3.0  # levels: below it a third of the bits changed from one encoding to the next
_ZERO = 1e-6  # what is zero but for rounding gives the same bit on every machine

Batch = NDArray[np.float64]


class Fingerprinter:
    """Takes the pictures of one video in order and gives its fingerprint; memory stays flat.

    Of the pictures added, it looks at those shown at every half second from time zero on; adding the others costs
    nothing. Where some were left out in decoding, the one before stands for them.
    """

    def __init__(self) -> None:
        self._held: Any = None
        self._samples = 0
        self._small: list[NDArray[np.uint8]] = []
        self._repeats: list[int] = []
        self._pending = 0
        self._hasher: _Hasher | None = None
        self._words: list[NDArray[np.uint64]] = []

    def add(self, time: float, picture: Any) -> None:
        """Add the picture (`av.VideoFrame`) that is shown from `time` on, in seconds since time zero."""
        if self._held is not None:
            self._sample(until=time)
        self._held = picture

    def finish(self, seconds: float) -> Fingerprint:
        """End the video at `seconds`.

        Returns:
            Its fingerprint, one sample for each half second begun, up to a day; empty if no picture was added.
        """
        if self._held is not None:
            self._sample(until=seconds)
            self._held = None
        self._flush()
        words = np.concatenate([np.empty((0, 2), np.uint64), *self._words])
        return Fingerprint(HASH_SCHEME, base64.b64encode(words.astype(">u8").tobytes()).decode())

    def _sample(self, until: float) -> None:
        """Take the held picture for every half second before `until` that has none yet."""
        times = math.ceil(min(until, _LONGEST_SECONDS) * HASHES_PER_SECOND - 1e-6) - self._samples
        if times <= 0:
            return
        self._samples += times
        self._small.append(_small(self._held))
        self._repeats.append(times)
        self._pending += 1
        if self._pending == _BATCH:
            self._flush()

    def _flush(self) -> None:
        if not self._pending:
            return
        batch = np.stack(self._small)
        self._hasher = self._hasher or _Hasher(*find_bars(batch))
        self._words.append(self._hasher.words(batch).repeat(self._repeats, 0))
        self._small, self._repeats, self._pending = [], [], 0


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
            end = frame.time + (frame.seconds or 1 / HASHES_PER_SECOND)
    return fingerprinter.finish(end)


def _small(picture: Any) -> NDArray[np.uint8]:
    """The picture's luma as it is displayed: 64 x 64 means of 3 x 3 points, in whole numbers."""
    luma = luma_of(picture)
    points = 2 * np.arange(_CELLS * _POINTS) + 1
    height, width = luma.shape
    rows, columns = (points * size // (2 * len(points)) for size in (height, width))
    chosen = luma.take(rows, axis=0).take(columns, axis=1)
    sums = sum(chosen[start::_POINTS].astype(np.uint16) for start in range(_POINTS))
    sums = sum(sums[:, start::_POINTS] for start in range(_POINTS))
    return np.rot90((sums // _POINTS**2).astype(np.uint8), int(picture.rotation) // 90 % 4)


def find_bars(batch: NDArray[np.uint8]) -> tuple[tuple[float, float], tuple[float, float]]:
    """How wide the black bars above and below, and on the left and right are, in 64ths of the picture.

    A bar stays black all the time, and is about as wide as the one opposite; a little of it may be lit by a logo.

    Args:
        batch: (n, 64, 64) luma over time, limited range.
    """
    lit = batch.max(0)
    return _bars(lit), _bars(lit.T)


def _bars(lit: NDArray[np.uint8]) -> tuple[float, float]:
    """The bars at the first and the last rows of what is lit at any time."""
    bright = (lit > _BLACK).mean(1) > _LIT_SHARE
    if not bright.any():
        return 0.0, 0.0
    first, last = int(bright.argmax()), int(bright[::-1].argmax())
    if abs(first - last) > 1:
        first = last = min(first, last)
    if not 0 < min(first, last) <= max(first, last) <= _WIDEST_BAR:
        return 0.0, 0.0
    return first + _black_part(lit, first), last + _black_part(lit[::-1], last)


def _black_part(lit: NDArray[np.uint8], row: int) -> float:
    """How much of a row at the edge of a bar still belongs to it, from how bright the next one is."""
    edge, inner = lit[row].mean() - _DARKEST, lit[row + 1].mean() - _DARKEST
    return float(np.clip(1 - edge / max(inner, 1), 0, 1))


class _Hasher:
    """Turns small pictures whose bars are known into words."""

    def __init__(self, rows: tuple[float, float], columns: tuple[float, float]) -> None:
        self._rows, self._columns = _averaging(*rows), _averaging(*columns).T

    def words(self, batch: NDArray[np.uint8]) -> NDArray[np.uint64]:
        """Give the (n, 2) words of (n, 64, 64) pictures."""
        picture = self._rows @ batch.astype(np.float64) @ self._columns
        detail = picture - _WINDOW @ picture @ _WINDOW.T
        energy = np.maximum(_WINDOW @ (detail * detail) @ _WINDOW.T, 0)
        alike = np.tanh(detail / (np.sqrt(energy) + _NOISE))
        halves = (slice(0, _HALF), slice(_HALF, _SIDE))
        return np.stack([_word(alike[:, half], energy[:, half]) for half in halves], 1)


def _word(alike: Batch, energy: Batch) -> NDArray[np.uint64]:
    spectrum = _VERTICAL @ alike @ _HORIZONTAL.T
    bits = np.packbits(spectrum[:, _FREQUENCIES[:, 0], _FREQUENCIES[:, 1]] > _ZERO, axis=1)
    words = np.maximum(np.ascontiguousarray(bits).view(">u8")[:, 0].astype(np.uint64), 1)
    words[np.sqrt(energy.mean((1, 2))) < _FLAT] = 0
    return words


def _averaging(first: float, last: float) -> Batch:
    """(32, 64): means of equal parts of what lies between two bars."""
    edges = np.linspace(first, _CELLS - last, _SIDE + 1)
    cells = np.arange(_CELLS)
    shared = np.minimum(cells + 1, edges[1:, None]) - np.maximum(cells, edges[:-1, None])
    return np.asarray(np.clip(shared, 0, None) / (edges[1] - edges[0]))


def _window() -> Batch:
    """(32, 32): weighted means around each point."""
    place = np.arange(_SIDE)
    weights = np.exp(-0.5 * ((place[:, None] - place) / _REACH) ** 2)
    return np.asarray(weights / weights.sum(1, keepdims=True))


def _cosines(size: int) -> Batch:
    """(size, size): the basis of the discrete cosine transform (DCT-II), by frequency."""
    return np.cos(np.pi * np.arange(size)[:, None] * (np.arange(size) + 0.5) / size)


def _frequencies() -> NDArray[np.intp]:
    """(64, 2): the 32 lowest (vertical, horizontal) frequencies that a mirror keeps, then the 32 lowest it turns round.

    A half is twice as wide as high. The mirrored bytes are interleaved, so that each holds low and high frequencies.
    """
    every = [(row, column) for row in range(_HALF) for column in range(_SIDE) if row or column]
    every.sort(key=lambda pair: (4 * pair[0] ** 2 + pair[1] ** 2, pair))
    kept = [pair for pair in every if pair[1] % 2 == 0][:32]
    turned = [pair for pair in every if pair[1] % 2 == 1][:32]
    return np.array([pair for start in range(4) for pair in kept[start::4]] + turned)


_WINDOW = _window()
_VERTICAL, _HORIZONTAL = _cosines(_HALF), _cosines(_SIDE)
_FREQUENCIES = _frequencies()
