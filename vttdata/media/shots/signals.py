"""Turns descriptions of frames into a few numbers a frame: how much changes, whether it lasts, whether it mixes.

Works on a stream and holds about a second of descriptions; knows nothing of files or of shots.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, fields

import numpy as np
from numpy.typing import NDArray

from vttdata.media.shots.histogram import (
    BINS,
    CELL_GRID,
    CELL_POINTS,
    CELLS,
    CHANNELS,
    POINTS,
    REGIONS,
    Descriptions,
    joined,
)

COLOUR_BINS = 8

_REACH_SECONDS = 0.5  # half of a usual dissolve: edited material has them at 0.5 to 1.5 s
_FLASH_SECONDS = 0.2
_REACH_FRAMES = (3, 60)
_BLACK_BINS = 3  # luma below 40; limited-range black is 16
_NEARLY_BLACK = 0.98  # of the frame, as in ffmpeg's blackdetect
_ONE_TONE = 0.998  # of the middle rows: a line of text is no blank
_PLAIN = 0.98  # of a region has one tone, as of letterbox bars
_UNCHANGED = 0.002
_STEADY = CELL_POINTS * 2  # two levels of luma: contrast that coding noise can have
_BLACK = CELL_POINTS * 24  # luma below 24 is black, whatever coding made of it
_PATCHED = 0.4  # see `Signals.wiped`; with the next line, 16 of 26 wipes of real footage pass, and no camera's motion
_FRONT = 26  # neighbouring cells on different sides of a wipe: a straight front has 8 or 12, a diagonal one 20

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Signals:
    """What each of n frames shows; every array has n rows.

    Attributes:
        change: colour distance (0..1) to the frame before; 0 for the first.
        breadth: how evenly (0..1) that change is spread over the frame: 1 when all regions change alike, about the
            changed share when the rest stays. Motion that goes on, and plain regions that stay, are left out.
        lasting: the smaller of two colour distances: from the frame before to a fifth of a second later, and from a
            fifth of a second earlier to this frame. After a flash the old picture returns: small beside `change`.
        span: distance (0..1) between the pictures half a second before and after.
        purity: how far (0..1) this frame is the mean of those two: 1 within a dissolve or fade of still pictures,
            little in motion, 0 beside a cut.
        wiped: how much (0..1) of what is different in those two has changed already, where this frame is made of
            parts of both that meet along one front, as within a wipe; elsewhere 0.
        renewal: `span` relative to the contrast of both; about 1 for pictures that have nothing in common. Cells that
            are black in both, such as letterbox bars, are left out here and in the next.
        likeness: correlation (-1..1) of their luma; high where the light or the contrast changes and the scene stays.
        blank: the middle of the frame has one tone.
        dark: the frame is nearly black.
        colours: (n, 3, 8) colour histograms, counts of points by channel (Y, Cb, Cr).
    """

    change: Floats
    breadth: Floats
    lasting: Floats
    span: Floats
    purity: Floats
    wiped: Floats
    renewal: Floats
    likeness: Floats
    blank: Flags
    dark: Flags
    colours: NDArray[np.uint16]

    def __len__(self) -> int:
        return len(self.change)


def reach_of(frame_rate: float) -> int:
    """How many frames half a second is, within bounds."""
    return int(np.clip(round(frame_rate * _REACH_SECONDS), *_REACH_FRAMES))


def measure_signals(descriptions: Iterable[Descriptions], frame_rate: float) -> Signals:
    """The signals of a whole video.

    Args:
        descriptions: of all its frames, in batches.
        frame_rate: frames a second, about; it sets how far a frame looks to either side.
    """
    reach = reach_of(frame_rate)
    flash = max(round(reach * _FLASH_SECONDS / _REACH_SECONDS), 1)
    parts = [_part(run, reach, flash) for run in _runs(descriptions, reach)]
    return Signals(*(np.concatenate([getattr(part, field.name) for part in parts]) for field in fields(Signals)))


def _runs(descriptions: Iterable[Descriptions], reach: int) -> Iterator[Descriptions]:
    """Runs that overlap by `reach` frames to either side; the video's first and last frame are repeated outwards."""
    carried: Descriptions | None = None
    for batch in descriptions:
        run = joined(carried or batch[:1].repeated(reach), batch)
        if len(run) > 2 * reach:
            yield run
        carried = run[-2 * reach :] if len(run) > 2 * reach else run
    if carried is not None:
        yield joined(carried, carried[-1:].repeated(reach))


def _part(run: Descriptions, reach: int, flash: int) -> Signals:
    count = len(run) - 2 * reach
    cumulated = _cumulated(run.histograms)

    def at(shift: int) -> slice:
        return slice(reach + shift, reach + shift + count)

    ahead = _mean_distance(_moved(cumulated[:, at(-1)], cumulated[:, at(flash - 1)]))
    behind = _mean_distance(_moved(cumulated[:, at(-flash)], cumulated[:, at(0)]))
    before, after = run.cells[at(-reach)], run.cells[at(reach)]
    span = _root_mean_square(after - before)
    off_mean = _root_mean_square(2 * run.cells[at(0)] - before - after)
    deviation_before, deviation_after, covariance, shown = _luma_moments(before, after)
    own = run.histograms[at(0)]
    whole = own.sum(2, dtype=np.uint16)
    moved = _moved(cumulated[:, reach - 2 : reach + count], cumulated[:, reach - 1 : reach + count + 1])
    return Signals(
        change=_mean_distance(moved[1:-1]),
        breadth=_breadth(moved, own),
        lasting=np.minimum(ahead, behind),
        span=span / (255 * CELL_POINTS),
        purity=np.maximum(1 - off_mean / (span + _STEADY), 0),
        wiped=_wiped(before, run.cells[at(0)], after),
        renewal=span / np.sqrt(shown) / (deviation_before + deviation_after + _STEADY),
        likeness=covariance / (deviation_before * deviation_after + _STEADY**2),
        blank=blank(own),
        dark=whole[:, 0, :_BLACK_BINS].sum(1) >= _NEARLY_BLACK * POINTS[0],
        colours=whole[:, :, 0::2] + whole[:, :, 1::2],
    )


def _cumulated(histograms: NDArray[np.uint8]) -> NDArray[np.int16]:
    """Cumulated histograms, the bins in front, (16, n, 3, 16): sums over the last axis cost four times as much."""
    sums = np.ascontiguousarray(np.moveaxis(histograms, -1, 0)).astype(np.int16)
    for each in range(1, len(sums)):
        sums[each] += sums[each - 1]
    return sums


def _moved(one: NDArray[np.int16], other: NDArray[np.int16]) -> NDArray[np.uint16]:
    """By how many bins all points of a channel and region moved, (n, 3, 16); no sum of these reaches 2 ** 16."""
    return np.asarray(np.abs(one - other).view(np.uint16).sum(0, dtype=np.uint16))


def _mean_distance(moved: NDArray[np.uint16]) -> Floats:
    """How far colours moved, region by region: the mean earth mover's distance of histograms (0..1)."""
    return np.asarray((moved.sum(2, dtype=np.uint16) / (POINTS * (BINS - 1))).mean(1))


def _breadth(moved: NDArray[np.uint16], histograms: NDArray[np.uint8]) -> Floats:
    """The squared mean root over the mean of the regions' changes, which are given for a frame more at either end."""
    change = (moved / (POINTS[:, None] // REGIONS * (BINS - 1))).mean(1)
    own = np.maximum(change[1:-1] - np.minimum(change[:-2], change[2:]), 0)
    luma = histograms[:, 0]
    plain = (luma[..., 1:] + luma[..., :-1]).max(-1) >= _PLAIN * POINTS[0] // REGIONS
    counted = ~(plain & (change[1:-1] < _UNCHANGED))
    roots = (np.sqrt(own) * counted).sum(1)
    return np.asarray(roots * roots / np.maximum(counted.sum(1) * (own * counted).sum(1), 1e-9))


def _wiped(before: NDArray[np.int32], own: NDArray[np.int32], after: NDArray[np.int32]) -> Floats:
    """The share of what differs between before and after in the cells that are like after; 0 where some are neither."""
    apart, off_before, off_after = (
        np.abs(one - other).sum(1) for one, other in ((after, before), (own, before), (own, after))
    )
    changed = off_after < off_before
    cells = changed.reshape(-1, *CELL_GRID)
    front = (cells[:, 1:] != cells[:, :-1]).sum((1, 2)) + (cells[:, :, 1:] != cells[:, :, :-1]).sum((1, 2))
    whole = apart.sum(1) + _STEADY * CELLS
    patched = 1 - 2 * np.minimum(off_before, off_after).sum(1) / whole
    return np.where((patched > _PATCHED) & (front <= _FRONT), (apart * changed).sum(1) / whole, 0)


def steps_between(run: Descriptions) -> Floats:
    """How far colours moved from each picture of a run to the next (0..1)."""
    cumulated = _cumulated(run.histograms)
    return _mean_distance(_moved(cumulated[:, :-1], cumulated[:, 1:]))


def picture_distance(one: Descriptions, other: Descriptions) -> float:
    """How far colours moved between two single pictures (0..1)."""
    return float(_mean_distance(_moved(_cumulated(one.histograms), _cumulated(other.histograms)))[0])


def _root_mean_square(cells: NDArray[np.int32]) -> Floats:
    values = cells.astype(np.float64)
    return np.asarray(np.sqrt((values * values).sum((1, 2)) / (CHANNELS * CELLS)))


def _luma_moments(before: NDArray[np.int32], after: NDArray[np.int32]) -> tuple[Floats, Floats, Floats, Floats]:
    """Standard deviation of either side's luma cells, and their covariance, in units of a cell sum.

    Over all cells but those that are black on both sides, such as letterbox bars; their share is the last value.
    """
    shown = np.maximum(before[:, 0], after[:, 0]) >= _BLACK
    count = np.maximum(shown.sum(1), 1)
    one, other = (side[:, 0].astype(np.float64) * shown for side in (before, after))

    def covariance(left: Floats, right: Floats) -> Floats:
        return np.asarray((count * (left * right).sum(1) - left.sum(1) * right.sum(1)) / count**2)

    return np.sqrt(covariance(one, one)), np.sqrt(covariance(other, other)), covariance(one, other), count / CELLS


def blank(histograms: NDArray[np.uint8]) -> Flags:
    """Which of n pictures (n, 3, 16, 16) have one tone in their middle."""
    middle = histograms[:, 0, REGIONS // 4 : -REGIONS // 4].sum(1, dtype=np.int32)
    pairs = middle[:, 1:] + middle[:, :-1]
    return np.asarray(pairs.max(1) >= _ONE_TONE * middle.sum(1))
