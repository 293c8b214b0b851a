"""Per-frame signals of shot changes: how much the colours change, whether the change lasts, whether frames are mixed.

Works on a stream and holds about a second of descriptions; knows nothing of files or of shots.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, fields
from typing import NamedTuple

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
    block_means,
    concatenate,
    in_rows,
)
from vttdata.media.shots.structure import compare_structure, is_addition, measure_rectangle, measure_unmixed

# Half of a usual dissolve: edited material has them at 0.5 to 1.5 s.
_RADIUS_SECONDS = 0.5
_RADIUS_FRAMES = (3, 60)
_FLASH_SECONDS = 0.2
# Luma below 40; limited-range black is 16.
_BLACK_BINS = 3
# Share of the frame, as in ffmpeg's `blackdetect`.
_BLACK_SHARE = 0.98
# Share of the middle rows: a line of text is not blank.
_BLANK_SHARE = 0.998
# Luma, limited-range black is 16, and levels by which a point changes that no overlay covers all the time; least share
# of the picture that is black and was not, or will not be, and its least share of all that changes: of lamps that go
# out at most 0.86. Deviation of such black: at cuts to black at most 0.9, where lamps went out at least 1.4.
BLACK, _POINT_CHANGED = 32, 8
_BLACKED, _BLACKED_OF_CHANGED, _BLACK_DEVIATION = 0.15, 0.92, 1.2
# Levels by which blocks of like pictures differ, and their least share.
_ALIKE, _ALIKE_SHARE = 1, 0.8
# Share of a region, as of letterbox bars, and the change below which it stays as it is.
_PLAIN_SHARE, _UNCHANGED = 0.98, 0.002
# Two levels of luma: contrast that coding noise can have.
_NOISE = CELL_POINTS * 2
# Luma below 24 is black, whatever coding made of it.
_BLACK_CELL = CELL_POINTS * 24
# Share of the difference that cells of one side or the other explain within a wipe, and the most neighbouring cells on
# different sides of its front (8 or 12 for a straight front, 20 for a diagonal one): 16 of 26 wipes of real footage
# pass, and no camera motion.
_MIN_PATCHWORK, _MAX_FRONT = 0.4, 26

# Structure that stays in place where light changes: at real cuts at most 0.23 of the windows, under captions 0.29.
_KEPT = 0.3
# Least share of the picture in which structure stays where a change of light is taken for no cut: a road that stays
# under another sky fills less.
_RELIT_AREA = 0.25
# Least share of the structure that a turn of the camera replaces, and a window: insets began at 0.24, jump cuts ended
# at 0.21. A window fills less of the picture than cuts under captions do.
_REPLACED_BY_TURN, _REPLACED_BY_WINDOW, _WINDOW_AREA = 0.75, 0.23, 0.5
# Most of the structure that a figure hides which pops up: figures at most 0.51, pages of slides at least 0.73.
_HIDDEN_BY_ADDITION = 0.6
# Distance of a frame from mixtures of those beside it: turns of the camera began at 0.48.
_UNMIXED = 0.35
# Least change of a candidate for a cut and its ratio to the frames beside it, of colours and of luma in levels; with a
# blended frame the ratio is 1.
_LEAST_CHANGE, _PEAK_RATIO, _LEAST_BLENDED_CHANGE = 0.01, 1.25, 0.018
_LEAST_POINT_CHANGE, _POINT_PEAK_RATIO = 3.0, 4.0
# Change at a cut without a blended frame over that of the frames beside it.
_SHARP_RATIO = 2.0

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Signals:
    """Signals of n frames; every array has n rows.

    Attributes:
        change: colour distance (0..1) to the frame before; 0 for the first.
        breadth: how evenly (0..1) that change is spread over the frame: 1 when all regions change alike, about the
            changed share when the rest stays. Motion that goes on, and plain regions that stay, are left out.
        lasting_change: the smaller of two colour distances: from the frame before to a fifth of a second later, and
            from a fifth of a second earlier to this frame. After a flash the old picture returns: small beside
            `change`.
        distance_across: distance (0..1) between the pictures half a second before and after.
        mixture: how far (0..1) this frame is the mean of those two: 1 within a dissolve or fade of still pictures,
            little in motion, 0 beside a cut.
        wipe_progress: share (0..1) of the difference between those two that has changed already, where this frame
            is made of parts of both that meet along one front, as within a wipe; elsewhere 0.
        relative_distance: `distance_across` relative to the contrast of both; about 1 for pictures that have nothing
            in common. Cells that are black in both, such as letterbox bars, are left out here and in the next.
        luma_correlation: correlation (-1..1) of their luma; high where light or contrast changes and the scene stays.
        blank: whether the middle of the frame has one tone, or all of it is black but for what is laid over it.
        dark: whether the frame is nearly black.
        point_change: mean change of luma (levels, 0..255) at the sampled points, to the frame before.
        replaced: share (0..1) of the picture's structure that is lost from just before this frame to just after, to a
            fifth of a second later, and from a fifth of a second earlier, where a page may turn; elsewhere 0.
        kept: share (0..1) of the structure that stays in place where a cut may be; elsewhere 0.
        relit: share (0..1) of the picture that keeps its structure while its luma changes, where that is much of the
            structure; elsewhere 0.
        in_window: whether a rectangle shows something else here, beside structure that stays.
        appears: whether something appears before a background that stays.
        in_turn: whether the camera turns fast here, over pictures that are no mixture of the first and the last.
        chroma: spread of colours over the picture that luma does not explain, in levels (0..255): 4 and more in most
            pictures in colour, below 2 in grey and tinted ones.
        colours: (n, 3, 8) colour histograms, counts of points by channel (Y, Cb, Cr).
        thumbnails: (n, 12, 16) mean luma of blocks.
    """

    change: Floats
    breadth: Floats
    lasting_change: Floats
    distance_across: Floats
    mixture: Floats
    wipe_progress: Floats
    relative_distance: Floats
    luma_correlation: Floats
    blank: Flags
    dark: Flags
    point_change: Floats
    replaced: Floats
    kept: Floats
    relit: Floats
    in_window: Flags
    appears: Flags
    in_turn: Flags
    chroma: Floats
    colours: NDArray[np.uint16]
    thumbnails: NDArray[np.uint8]

    def __len__(self) -> int:
        return len(self.change)

    @property
    def is_explained(self) -> Flags:
        """Return the frames at which the light or the camera explains a sudden change of the whole picture."""
        return (self.relit > _RELIT_AREA) | self.in_turn


def radius_in_frames(frame_rate: float) -> int:
    """Return the number of frames in half a second, from 3 to 60."""
    return int(np.clip(round(frame_rate * _RADIUS_SECONDS), *_RADIUS_FRAMES))


def measure_signals(descriptions: Iterable[Descriptions], frame_rate: float) -> Signals:
    """Measure the signals of a whole video.

    Args:
        descriptions: of all its frames, in batches.
        frame_rate: frames a second, about; it sets the radius within which frames are compared.
    """
    radius = radius_in_frames(frame_rate)
    flash = max(round(radius * _FLASH_SECONDS / _RADIUS_SECONDS), 1)
    # Single precision, so that signals that were stored say the same as new ones; joined column by column, since the
    # whole takes 350 bytes a frame.
    columns: dict[str, list[NDArray[np.generic]]] = {field.name: [] for field in fields(Signals)}
    for run in _overlapping_runs(descriptions, radius):
        part = _measure_run(run, radius, flash)
        for name, column in columns.items():
            values = getattr(part, name)
            column.append(values.astype(np.float32) if values.dtype == float else values)
    joined = {name: np.concatenate(columns.pop(name)) for name in list(columns)}
    joined["blank"] = _fill_black(joined["blank"], joined["thumbnails"])
    return Signals(*(values.astype(float) if values.dtype == np.float32 else values for values in joined.values()))


def _overlapping_runs(descriptions: Iterable[Descriptions], radius: int) -> Iterator[Descriptions]:
    """Yield runs that overlap by `radius` frames on either side; the video's first and last frame are repeated."""
    carried: Descriptions | None = None
    for batch in descriptions:
        run = concatenate(carried or batch[:1].repeat(radius), batch)
        if len(run) > 2 * radius:
            yield run
        carried = run[-2 * radius :] if len(run) > 2 * radius else run
    if carried is not None:
        yield concatenate(carried, carried[-1:].repeat(radius))


def _measure_run(run: Descriptions, radius: int, flash: int) -> Signals:
    count = len(run) - 2 * radius
    cumulated = _cumulate(run.histograms)

    def shifted(lag: int) -> slice:
        return slice(radius + lag, radius + lag + count)

    ahead = mean_distance(_bins_moved(cumulated[:, shifted(-1)], cumulated[:, shifted(flash - 1)]))
    behind = mean_distance(_bins_moved(cumulated[:, shifted(-flash)], cumulated[:, shifted(0)]))
    before, current, after = run.cells[shifted(-radius)], run.cells[shifted(0)], run.cells[shifted(radius)]
    across = _root_mean_square(after - before)
    off_mean = _root_mean_square(2 * current - before - after)
    moments = _luma_moments(before, after)
    histograms = run.histograms[shifted(0)]
    whole_frame = histograms.sum(2, dtype=np.uint16)
    moved = _bins_moved(cumulated[:, radius - 2 : radius + count], cumulated[:, radius - 1 : radius + count + 1])
    change = mean_distance(moved)
    luma = run.luma[radius - 2 : radius + count + 1]
    difference = np.maximum(luma[1:], luma[:-1]) - np.minimum(luma[1:], luma[:-1])
    point_change = difference.sum(1, dtype=np.uint32) / POINTS[0]
    # Of one frame more in front.
    blacked = is_blacked(*(run.luma[first : first + count + 1] for first in (0, radius - 1, 2 * radius - 1)))
    explanation = _explain_changes(run.luma, radius, flash, change, point_change, blacked[1:] != blacked[:-1])
    return Signals(
        change=change[1:-1],
        breadth=_breadth(moved, histograms),
        lasting_change=np.minimum(ahead, behind),
        distance_across=across / (255 * CELL_POINTS),
        mixture=np.maximum(1 - off_mean / (across + _NOISE), 0),
        wipe_progress=measure_wipe_progress(before, current, after),
        relative_distance=across / np.sqrt(moments.visible_share) / (moments.before + moments.after + _NOISE),
        luma_correlation=moments.covariance / (moments.before * moments.after + _NOISE**2),
        blank=is_blank(histograms) | blacked[1:],
        dark=whole_frame[:, 0, :_BLACK_BINS].sum(1) >= _BLACK_SHARE * POINTS[0],
        point_change=point_change[1:-1],
        **explanation._asdict(),
        chroma=_measure_chroma(current),
        colours=whole_frame[:, :, 0::2] + whole_frame[:, :, 1::2],
        thumbnails=block_means(run.luma[shifted(0)]),
    )


class _Explanation(NamedTuple):
    """What else than a cut may explain a change: the fields of `Signals` of the same names, of n frames."""

    replaced: Floats
    kept: Floats
    relit: Floats
    in_window: Flags
    appears: Flags
    in_turn: Flags


def _explain_changes(
    luma: NDArray[np.uint8], radius: int, flash: int, change: Floats, point_change: Floats, turns_black: Flags
) -> _Explanation:
    """Compare the pictures on both sides of sudden changes.

    Args:
        luma: of the run.
        radius: frames of the run at either end that belong to others.
        flash: frames in a fifth of a second.
        change: (n + 2,) changes of colours, of one frame more at either end.
        point_change: (n + 2,) changes of luma.
        turns_black: (n,) whether all turns black, or no longer is, but for what is laid over it: no light does that,
            nothing appears, and what stays tells nothing.
    """
    beside = np.maximum(change[:-2], change[2:])
    found = _Explanation(*np.zeros((3, len(beside))), *np.zeros((3, len(beside)), bool))
    points_peak = _find_point_peaks(point_change)
    frames = np.flatnonzero(_find_colour_peaks(change, beside) | points_peak)
    if not len(frames):
        return found
    # Pictures are compared across a blended frame, which holds half of the old one.
    is_blended = change[frames + 1] < _SHARP_RATIO * beside[frames]
    at, lag = radius + frames, 1 + is_blended

    def pictures(positions: NDArray[np.int64]) -> NDArray[np.uint8]:
        return in_rows(luma[positions])

    before, after = pictures(at - lag), pictures(at - 1 + lag)
    structure = compare_structure(before, after)
    found.kept[frames] = structure.kept
    found.relit[frames] = np.where(found.kept[frames] > _KEPT, structure.relit_area, 0)
    still = np.flatnonzero(points_peak[frames])
    if len(still):
        earlier, later = pictures((at - flash)[still]), pictures((at - 1 + flash)[still])
        lasting = [compare_structure(*pair).replaced for pair in ((before[still], later), (earlier, after[still]))]
        found.replaced[frames[still]] = np.minimum(structure.replaced[still], np.minimum(*lasting))
    window_candidates = np.flatnonzero(structure.replaced > _REPLACED_BY_WINDOW)
    if len(window_candidates):
        pair = before[window_candidates], after[window_candidates]
        sides = [pictures((at + offset)[window_candidates]) for offset in (-lag - 1, lag)]
        found.in_window[frames[window_candidates]] = measure_rectangle(*pair, *sides) < _WINDOW_AREA
    addition_candidates = np.flatnonzero((structure.replaced > 0) & (structure.hidden < _HIDDEN_BY_ADDITION))
    if len(addition_candidates):
        pair = before[addition_candidates], after[addition_candidates]
        earlier = pictures((at - radius)[addition_candidates])
        found.appears[frames[addition_candidates]] = is_addition(*pair, earlier)
    turn_candidates = np.flatnonzero(is_blended & (structure.replaced > _REPLACED_BY_TURN))
    if len(turn_candidates):
        unmixed = measure_unmixed(*(pictures(at[turn_candidates] + offset) for offset in (-1, 0, 1)))
        found.in_turn[frames[turn_candidates]] = unmixed > _UNMIXED
    for values in (found.kept, found.relit, found.in_window, found.appears):
        values[turns_black] = 0
    return found


def _find_colour_peaks(change: Floats, beside: Floats) -> Flags:
    """Return the frames at which colours change suddenly, at once or by way of a blended frame."""
    current = change[1:-1]
    at_once = (current > _LEAST_CHANGE) & (current > _PEAK_RATIO * beside)
    return np.asarray(at_once | ((current > _LEAST_BLENDED_CHANGE) & (current >= beside)))


def _find_point_peaks(change: Floats) -> Flags:
    """Return the frames at which the luma of points changes suddenly."""
    current, beside = change[1:-1], np.maximum(change[:-2], change[2:])
    return np.asarray((current > _LEAST_POINT_CHANGE) & (current > _POINT_PEAK_RATIO * beside))


def _cumulate(histograms: NDArray[np.uint8]) -> NDArray[np.int16]:
    """Return cumulated histograms with the bins in front: (16, n, 3, 16)."""
    # Sums over the last axis would cost four times as much.
    sums = np.ascontiguousarray(np.moveaxis(histograms, -1, 0)).astype(np.int16)
    for index in range(1, len(sums)):
        sums[index] += sums[index - 1]
    return sums


def _bins_moved(cumulated_a: NDArray[np.int16], cumulated_b: NDArray[np.int16]) -> NDArray[np.uint16]:
    """Return by how many bins all points of a channel and region moved: (n, 3, 16)."""
    # No sum of these reaches 2 ** 16.
    return np.asarray(np.abs(cumulated_a - cumulated_b).view(np.uint16).sum(0, dtype=np.uint16))


def mean_distance(moved: NDArray[np.uint16]) -> Floats:
    """Return the earth mover's distance (0..1) of colour histograms, averaged over regions and channels."""
    return np.asarray((moved.sum(2, dtype=np.uint16) / (POINTS * (BINS - 1))).mean(1))


def _breadth(moved: NDArray[np.uint16], histograms: NDArray[np.uint8]) -> Floats:
    """Return the squared mean root over the mean of the regions' changes.

    Args:
        moved: (n + 2, 3, 16) changes, of a frame more at either end.
        histograms: (n, 3, 16, 16) of the frames.
    """
    change = (moved / (POINTS[:, None] // REGIONS * (BINS - 1))).mean(1)
    sudden = np.maximum(change[1:-1] - np.minimum(change[:-2], change[2:]), 0)
    luma = histograms[:, 0]
    plain = (luma[..., 1:] + luma[..., :-1]).max(-1) >= _PLAIN_SHARE * POINTS[0] // REGIONS
    counted = ~(plain & (change[1:-1] < _UNCHANGED))
    roots = (np.sqrt(sudden) * counted).sum(1)
    return np.asarray(roots * roots / np.maximum(counted.sum(1) * (sudden * counted).sum(1), 1e-9))


def measure_wipe_progress(before: NDArray[np.int32], current: NDArray[np.int32], after: NDArray[np.int32]) -> Floats:
    """Return the share of the difference in the cells that are like `after`; 0 where cells are like neither side."""
    difference, from_before, from_after = (
        np.abs(a - b).sum(1) for a, b in ((after, before), (current, before), (current, after))
    )
    changed = from_after < from_before
    grid = changed.reshape(-1, *CELL_GRID)
    front = (grid[:, 1:] != grid[:, :-1]).sum((1, 2)) + (grid[:, :, 1:] != grid[:, :, :-1]).sum((1, 2))
    total = difference.sum(1) + _NOISE * CELLS
    patchwork = 1 - 2 * np.minimum(from_before, from_after).sum(1) / total
    is_wipe = (patchwork > _MIN_PATCHWORK) & (front <= _MAX_FRONT)
    return np.where(is_wipe, (difference * changed).sum(1) / total, 0)


def _root_mean_square(cells: NDArray[np.int32]) -> Floats:
    values = cells.astype(np.float64)
    return np.asarray(np.sqrt((values * values).sum((1, 2)) / (CHANNELS * CELLS)))


class _LumaMoments(NamedTuple):
    """Standard deviations of the luma cells of two pictures, and their covariance, in units of a cell sum.

    They are over the share of the cells that is visible: all but those that are black on both sides, such as letterbox
    bars.
    """

    before: Floats
    after: Floats
    covariance: Floats
    visible_share: Floats


def _luma_moments(before: NDArray[np.int32], after: NDArray[np.int32]) -> _LumaMoments:
    visible = np.maximum(before[:, 0], after[:, 0]) >= _BLACK_CELL
    count = np.maximum(visible.sum(1), 1)
    luma_before, luma_after = (side[:, 0].astype(np.float64) * visible for side in (before, after))

    def covariance(left: Floats, right: Floats) -> Floats:
        return np.asarray((count * (left * right).sum(1) - left.sum(1) * right.sum(1)) / count**2)

    deviation_before = np.sqrt(covariance(luma_before, luma_before))
    deviation_after = np.sqrt(covariance(luma_after, luma_after))
    return _LumaMoments(deviation_before, deviation_after, covariance(luma_before, luma_after), count / CELLS)


def _measure_chroma(cells: NDArray[np.int32]) -> Floats:
    """Return the root mean square of what remains of Cb and Cr where a line through luma is taken out, in levels."""
    values = cells / CELL_POINTS
    values -= values.mean(2, keepdims=True)
    luma, chroma = values[:, :1], values[:, 1:]
    slope = (luma * chroma).sum(2, keepdims=True) / np.maximum((luma * luma).sum(2, keepdims=True), 1)
    remainder = chroma - slope * luma
    return np.asarray(np.sqrt((remainder * remainder).sum((1, 2)) / CELLS))


def is_blank(histograms: NDArray[np.uint8]) -> Flags:
    """Return which of n pictures (n, 3, 16, 16) have one tone in their middle."""
    middle = histograms[:, 0, REGIONS // 4 : -REGIONS // 4].sum(1, dtype=np.int32)
    adjacent_bins = middle[:, 1:] + middle[:, :-1]
    return np.asarray(adjacent_bins.max(1) >= _BLANK_SHARE * middle.sum(1))


def is_blacked(before: NDArray[np.uint8], current: NDArray[np.uint8], after: NDArray[np.uint8]) -> Flags:
    """Return which of n pictures (n, points) are black but for what is laid over them; others are not.

    Judged by the points that are not as they are half a second before and after. What is laid over the picture, such
    as a text or a logo, is set aside: it stays, or is small.
    """
    is_black = current < BLACK
    was, will_be = (np.maximum(current, side) - np.minimum(current, side) > _POINT_CHANGED for side in (before, after))
    blacked, other = is_black & (was | will_be), (was & will_be & ~is_black).mean(1)
    share = blacked.mean(1)
    found = (share >= _BLACKED) & (share >= _BLACKED_OF_CHANGED * (share + other))
    for index in np.flatnonzero(found):
        found[index] = current[index][blacked[index]].std() <= _BLACK_DEVIATION
    return np.asarray(found)


def _fill_black(blank: Flags, thumbnails: NDArray[np.uint8]) -> Flags:
    """Return which frames are blank, with black ones of a black so long that it looks like itself."""
    filled = blank.copy()
    edges = np.r_[-1, np.flatnonzero(blank), len(blank)] if blank.any() else np.zeros(1, np.intp)
    for gap in np.flatnonzero(np.diff(edges) > 1):
        first, end = edges[gap] + 1, edges[gap + 1]
        like = thumbnails[first - 1 if first else end]
        at = first if np.median(like) < BLACK else end + 1
        while at < end and is_alike(thumbnails[at], like):
            at += 1
        filled[first:end] = at == end
    return filled


def is_alike(thumbnails: NDArray[np.uint8], other: NDArray[np.uint8]) -> Flags:
    """Return which thumbnails (..., 12, 16) are like another, but for a timecode or a picture in the picture."""
    return np.asarray((np.abs(thumbnails.astype(np.int16) - other) <= _ALIKE).mean((-2, -1)) >= _ALIKE_SHARE)
