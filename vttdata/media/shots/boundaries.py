"""Shot boundaries from a video's signals: hard cuts, and dissolves, fades and wipes with their extent.

Works on arrays; knows nothing of files, pixels or seconds.
"""

from __future__ import annotations

import bisect
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from vttdata.media.shots.signals import BLACK, Flags, Floats, Signals, is_alike
from vttdata.records import Transition

# All measured on a film trailer, home videos, single takes and drawn transitions of 3 to 60 frames.
# Frames to either side with which a cut is compared.
_WINDOW = 6
# Change between frames of a still scene, from coding noise and grain.
_NOISE = 0.005
# Change at a cut over that of the frames beside it.
_NEIGHBOUR_RATIO = 1.25
# Factor on the cut ratio where adjacent frames share the change, as of a cut with a blended frame.
_BLENDED_FACTOR = 1.7
# Least breadth of a change that need not be checked for being undone: new scenes began at 0.81, texts over half of the
# frame ended at 0.71.
_BREADTH = 0.75
# Most breadth where a figure appears before a plain background, which the breadth leaves out: at most 0.89. Where hues
# alone change, 0.96.
_ADDED_BREADTH = 0.9
# Levels by which blocks of a still part change, the least share of such blocks in its lines, and its share of the
# picture.
_STILL, _STILL_LINE, _STILL_SHARE = 2, 0.9, (0.3, 0.65)
# Breadth of a change of the film beside it, at cuts at least 0.64; share of its blocks that move in a frame, and of
# such frames: at cuts at least 0.39, where windows open and scroll at most 0.22.
_FILM_BREADTH, _MOVING_BLOCKS, _MOVING_FRAMES = 0.6, 0.05, 0.3
# What remains of two changes when the second undoes the first: of texts at most 0.26, of jump cuts 0.29.
_UNDONE = 0.27
# In units of the radius: ten seconds.
_UNDONE_RADII = 20
# Points, a hundredth of those sampled: a smaller change of colours tells nothing.
_MIN_POINTS_CHANGED = 40
# Contrast at the blank end of a fade, and at which it has ended, over the full contrast.
_DIM_CONTRAST, _FULL_CONTRAST = 0.4, 0.95
# Share of the change at a cut that is still there a fifth of a second later.
_LASTING = 0.5
# Change of colours at changes of light that look like gradual transitions.
_RELIT_CHANGE = 0.03
# Structure that stays where an arc or a flash dazzles, and what remains of the change of luma and of colours when the
# picture comes back: of colours at most 0.10, and 0.26 where another scene was as bright.
_KEPT_IF_BACK, _BACK, _COLOURS_BACK = 0.15, 0.4, 0.17
# Change of points, colours and structure where one page of text follows another: 11.7 times as much as around it in
# levels, at most 0.008, and at least 0.73 of the structure.
_PAGE_RATIO, _POINT_NOISE, _PAGE_COLOURS, _PAGE_REPLACED = 8.0, 0.5, 0.02, 0.65
# Relative distance above which pictures may show different scenes, and where the mixture is clear.
_NEW_SCENE, _NEW_SCENE_IF_CLEAR = 0.42, 0.35
# Luma correlation above which pictures show one scene, unless one of them is blank.
_SAME_SCENE = 0.75
# Distance that mixing must bridge, everywhere and somewhere in a transition.
_MIXING, _MIXING_PEAK = 0.025, 0.035
# Least mixture at the peak of a gradual transition, and of a clear dissolve.
_MIXTURE, _CLEAR_MIXTURE = 0.4, 0.6
# Frames of a transition that may fail the tests in a row, and frames that must pass.
_MAX_GAP, _MIN_LENGTH = 3, 3
# Progress within a wipe, its least rise, and the largest step as a share of the rise.
_WIPE_RANGE, _WIPE_RISE, _WIPE_STEP = (0.15, 0.85), 0.25, 0.6
# Least share of blank frames inside one transition: between two fades, and beside a cut.
_BLANK_BETWEEN_FADES, _BLANK_BESIDE_CUT = 0.25, 0.5


@dataclass(frozen=True, slots=True)
class Boundary:
    """Boundary between two shots: `frame` is the new shot's first, `first`..`last` the frames of the transition."""

    frame: int
    transition: Transition
    first: int
    last: int


def find_boundaries(
    signals: Signals, *, cut_ratio: float, radius: int, min_length: int, max_blank: int
) -> list[Boundary]:
    """Find the boundaries inside a video, at least `min_length` frames from each other and from both ends.

    A hard cut is a change that stands out from the frames around it and lasts. A gradual transition is a run of
    frames that are mixtures of what lies before and after, or patchworks of it; its boundary is its middle. Blank
    frames between a fade-out and a fade-in belong to one transition, unless there are many; half as many do between
    a cut and a fade.

    Args:
        signals: of all the video's frames.
        cut_ratio: change at a cut over the mean change around it.
        radius: frames to either side that are compared in `Signals.distance_across`.
        min_length: least length of a shot, in frames.
        max_blank: most blank frames inside one transition.

    Returns:
        Boundaries in order.
    """
    boundaries = extend_to_fades(find_cuts(signals, cut_ratio, radius), signals, radius, max_blank // 2)
    boundaries += find_gradual_transitions(signals, boundaries, radius)
    boundaries += find_wipes(signals, boundaries, radius)
    boundaries += find_quick_fades(signals, boundaries, radius)
    boundaries.sort(key=lambda boundary: boundary.first)
    return drop_short_shots(merge_across_blanks(boundaries, signals.blank, max_blank), signals, min_length)


def find_cuts(signals: Signals, cut_ratio: float, radius: int) -> list[int]:
    """Find the frames at which a new shot begins at once, or within a few blended frames.

    A change of part of the picture counts too (a jump cut), unless it is undone within ten seconds (a caption).
    """
    change = signals.change
    before, after = _shift(change, 1), _shift(change, -1)
    around = sum((_shift(change, lag) for lag in range(-_WINDOW, _WINDOW + 1) if lag), np.zeros_like(change))
    around_neighbours = (around - before - after) / (2 * _WINDOW - 2)
    isolated = (change > cut_ratio * (around / (2 * _WINDOW) + _NOISE)) & (
        change > _NEIGHBOUR_RATIO * np.maximum(before, after)
    )
    blended = change > _BLENDED_FACTOR * cut_ratio * (around_neighbours + _NOISE)
    blended &= (change > before) & (change >= after)
    lasting = signals.lasting_change > _LASTING * change
    candidates = np.flatnonzero((isolated | blended) & lasting & ~signals.is_explained).tolist()
    cuts = {
        frame
        for frame in candidates
        if is_beside_still_part(signals, frame, radius) or is_of_whole_picture(signals, frame, radius)
    }
    return sorted(cuts | set(find_page_turns(signals)))


def is_of_whole_picture(signals: Signals, frame: int, radius: int) -> bool:
    """Return whether a change that looks like a cut is neither one of a part of the picture nor taken back."""
    breadth = signals.breadth[frame]
    if signals.in_window[frame] or (breadth <= _ADDED_BREADTH and signals.appears[frame]):
        return False
    if breadth <= _BREADTH and is_undone(signals, frame, radius):
        return False
    return not (signals.kept[frame] > _KEPT_IF_BACK and comes_back(signals, frame, radius))


def is_beside_still_part(signals: Signals, frame: int, radius: int) -> bool:
    """Return whether the film beside a still part of the picture, such as a plot, changes as a whole.

    The still part reaches from edge to edge and stays for a second before and after; the film moves all the time.
    """
    first = max(frame - 2 * radius, 0)
    pictures = signals.thumbnails[first : frame + 2 * radius].astype(np.int16)
    at = frame - first
    for turned in (pictures, pictures.transpose(0, 2, 1)):
        is_still = (np.ptp(turned, 0) <= _STILL).mean(1) >= _STILL_LINE
        above, below = (int(np.argmin([*lines, False])) for lines in (is_still, is_still[::-1]))
        if not _STILL_SHARE[0] <= max(above, below) / len(is_still) <= _STILL_SHARE[1]:
            continue
        split = above if above >= below else len(is_still) - below
        still, film = (turned[:, :split], turned[:, split:])[:: 1 if above >= below else -1]
        # What flickers in the still part is grain, and as much of it is in the film.
        moving, flickering = ((np.diff(part, axis=0) != 0).mean((1, 2)) for part in (film, still))
        moves = moving > 2 * flickering + _MOVING_BLOCKS
        roots = np.sqrt(np.abs(film[at] - film[at - 1]))
        is_broad = roots.sum() ** 2 > _FILM_BREADTH * roots.size * (roots * roots).sum()
        if is_broad and min(moves[: at - 1].mean(), moves[at:].mean()) > _MOVING_FRAMES:
            return True
    return False


def extend_to_fades(cuts: Sequence[int], signals: Signals, radius: int, max_blank: int) -> list[Boundary]:
    """Return the cuts, those after which a picture comes out of blank frames as one fade with these.

    Cutting to black before a picture fades in, and pictures that come out of black by a visible step, look like cuts.
    """
    boundaries = []
    for cut in cuts:
        first, last, overlay = _blank_frames(cut, signals, max_blank)
        end = last if signals.blank[last] else _full_contrast(signals.thumbnails, overlay, last, radius)
        if signals.blank[cut - 1 : cut + 1].any() and end - last >= _MIN_LENGTH:
            boundaries.append(Boundary((first + end + 1) // 2, "fade", first, end))
        else:
            boundaries.append(Boundary(cut, "cut", cut, cut))
    return boundaries


def _blank_frames(cut: int, signals: Signals, max_blank: int) -> tuple[int, int, NDArray[np.uint8]]:
    """Return the first blank frame and the one after the last, of those that a cut leads into or out of.

    Of more than `max_blank` frames that show nothing at all, not even the dark end of a fade, none belong to it.

    Returns:
        Both frames, and what most blank ones show, laid over the picture, such as a line of text, 12 x 16.
    """
    first = last = cut
    while signals.blank[cut] and last + 1 < len(signals) and signals.blank[last]:
        last += 1
    while not signals.blank[cut] and first and signals.blank[first - 1]:
        first -= 1
    # Beside a cut out of black may be the dark end of a fade.
    of_blank = signals.thumbnails[first : max(last, first + 1)]
    overlay = np.sort(of_blank, axis=0)[(len(of_blank) - 1) // 2]
    is_flat = is_alike(signals.thumbnails[first:last], overlay)
    return (first, last, overlay) if is_flat.sum() <= max_blank else (cut, cut, overlay)


def _full_contrast(thumbnails: NDArray[np.uint8], overlay: NDArray[np.uint8], start: int, radius: int) -> int:
    """Return the frame at which a picture that fades in has its full contrast; `start` where none does.

    Args:
        thumbnails: (n, 12, 16) mean luma of blocks.
        overlay: the same of a blank frame.
        start: frame after the blank ones.
        radius: a quarter of the longest fade, in frames.
    """
    pictures = thumbnails[start : start + 4 * radius]
    # A plain picture that is not black is no overlay over nothing.
    laid_over = overlay * (np.median(overlay) < BLACK)
    pixels = (pictures - laid_over.astype(np.float64)).reshape(len(pictures), -1)
    pixels -= pixels.mean(1, keepdims=True)
    contrast = np.sqrt((pixels * pixels).mean(1)) + 1e-9
    correlation = (pixels[1:] * pixels[:-1]).mean(1) / (contrast[1:] * contrast[:-1])
    breaks = np.flatnonzero(correlation < _SAME_SCENE)
    contrast = contrast[: int(breaks[0]) + 1 if len(breaks) else None]
    full = int(np.argmax(contrast >= _FULL_CONTRAST * contrast.max()))
    return start + full if contrast[0] < _DIM_CONTRAST * contrast[full] else start


def comes_back(signals: Signals, frame: int, radius: int) -> bool:
    """Return whether the picture before a frame comes back within ten seconds, or the one at it was there before.

    In luma and in colours: of scenes that are as bright, blurred luma alone takes one for another.
    """
    distance = _UNDONE_RADII * radius
    first = max(frame - distance, 0)
    nearby = slice(first, frame + distance)
    luma = signals.thumbnails[nearby].astype(np.int16).reshape(-1, signals.thumbnails[0].size)
    colours = signals.colours[nearby].cumsum(2, dtype=np.int32).reshape(len(luma), -1)
    at = frame - first

    def is_among(picture: int, frames: slice) -> bool:
        is_same = np.ones(len(luma[frames]), bool)
        for values, limit in ((luma, _BACK), (colours, _COLOURS_BACK)):
            change = np.abs(values[at] - values[at - 1]).sum()
            is_same &= np.abs(values[frames] - values[picture]).sum(1) < limit * change
        return bool(is_same.any())

    return is_among(at - 1, slice(at + 1, None)) or is_among(at, slice(at - 1))


def find_page_turns(signals: Signals) -> list[int]:
    """Find the frames at which still text gives way to other still text, which changes hardly any colours."""
    change = signals.point_change
    around = sum((_shift(change, lag) for lag in range(-_WINDOW, _WINDOW + 1) if lag), np.zeros_like(change))
    stands_out = change > _PAGE_RATIO * (around / (2 * _WINDOW) + _POINT_NOISE)
    is_new_page = (signals.replaced > _PAGE_REPLACED) & (signals.change < _PAGE_COLOURS)
    return [int(frame) for frame in np.flatnonzero(stands_out & is_new_page)]


def is_undone(signals: Signals, frame: int, radius: int) -> bool:
    """Return whether another change nearby takes back the change at a frame, as when a caption comes and goes."""
    distance = _UNDONE_RADII * radius
    first = max(frame - distance - 1, 0)
    changes = np.diff(signals.colours[first : frame + distance + 1].astype(np.int32), axis=0)
    change = changes[frame - first - 1]
    size = np.abs(change).sum()
    remaining = np.abs(changes + change).sum((1, 2)) / (np.abs(changes).sum((1, 2)) + size + 1)
    return bool(size >= _MIN_POINTS_CHANGED and remaining.min() < _UNDONE)


def _shift(values: Floats, lag: int) -> Floats:
    """Return the values `lag` frames earlier, mirrored at both ends."""
    sources = np.abs(np.arange(len(values)) - lag)
    last = len(values) - 1
    return np.asarray(values[np.clip(last - np.abs(last - sources), 0, last)])


def find_gradual_transitions(signals: Signals, cuts: Sequence[Boundary], radius: int) -> list[Boundary]:
    """Find the dissolves and fades, each at its middle; none near cuts and at both ends."""
    mixing = signals.distance_across * signals.mixture
    is_clear = signals.mixture > _CLEAR_MIXTURE
    passing = (mixing > _MIXING) & (signals.relative_distance > np.where(is_clear, _NEW_SCENE_IF_CLEAR, _NEW_SCENE))
    passing &= ~_near(cuts, radius, len(signals))
    passing[:radius] = passing[-radius:] = False
    relit = np.flatnonzero((signals.relit > 0) & (signals.change > _RELIT_CHANGE))
    boundaries = []
    for first, last in _bridged_runs(passing):
        peak = first + int(mixing[first : last + 1].argmax())
        has_blank = signals.blank[max(first - radius, 0) : last + radius + 1].any()
        is_new_scene = has_blank or signals.luma_correlation[peak] < _SAME_SCENE
        is_strong = mixing[peak] >= _MIXING_PEAK and signals.mixture[peak] >= _MIXTURE
        lit_within = np.searchsorted(relit, (first - radius // 2, last + radius // 2 + 1))
        if not has_blank and lit_within[0] < lit_within[1]:
            continue
        if last - first + 1 >= _MIN_LENGTH and is_strong and is_new_scene:
            transition: Transition = "fade" if has_blank else "dissolve" if is_clear[peak] else "gradual"
            boundaries.append(Boundary((first + last + 1) // 2, transition, first, last))
    return boundaries


def find_wipes(signals: Signals, boundaries: Sequence[Boundary], radius: int) -> list[Boundary]:
    """Find the wipes away from other boundaries, each at its middle: the new shot takes over step by step."""
    low, high = _WIPE_RANGE
    passing = (signals.wipe_progress > low) & (signals.wipe_progress < high)
    passing &= (signals.relative_distance > _NEW_SCENE) & (signals.luma_correlation < _SAME_SCENE)
    passing &= ~_near(boundaries, radius, len(signals))
    passing[:radius] = passing[-radius:] = False
    wipes = []
    for first, last in _bridged_runs(passing):
        steps = np.diff(signals.wipe_progress[first : last + 1][passing[first : last + 1]])
        rise = steps.sum()
        if len(steps) + 1 >= _MIN_LENGTH and rise > _WIPE_RISE and steps.max() < _WIPE_STEP * rise:
            wipes.append(Boundary((first + last + 1) // 2, "gradual", first, last))
    return wipes


def find_quick_fades(signals: Signals, boundaries: Sequence[Boundary], radius: int) -> list[Boundary]:
    """Find short blank stretches between different shots, away from other boundaries: fades too quick for mixtures."""
    is_taken = _near(boundaries, radius, len(signals))
    fades = []
    for first, last in _bridged_runs(signals.blank):
        middle = (first + last + 1) // 2
        is_new_scene = signals.relative_distance[middle] > _NEW_SCENE and signals.luma_correlation[middle] < _SAME_SCENE
        lasting = signals.lasting_change[first] > _LASTING * signals.change[first]
        if last - first < radius and is_new_scene and lasting and not is_taken[first : last + 1].any():
            fades.append(Boundary(middle, "fade", first, last))
    return fades


def _near(boundaries: Sequence[Boundary], radius: int, count: int) -> Flags:
    """Return the frames of boundaries and `radius` frames to either side."""
    near = np.zeros(count, bool)
    for boundary in boundaries:
        near[max(boundary.first - radius, 0) : boundary.last + radius + 1] = True
    return near


def _bridged_runs(passing: Flags) -> Iterator[tuple[int, int]]:
    """Yield the first and last index of each run of true values, across gaps of up to `_MAX_GAP`."""
    indices = np.flatnonzero(passing)
    if len(indices):
        breaks = np.flatnonzero(np.diff(indices) > _MAX_GAP + 1)
        firsts, lasts = indices[np.r_[0, breaks + 1]], indices[np.r_[breaks, len(indices) - 1]]
        yield from zip(firsts.tolist(), lasts.tolist(), strict=True)


def merge_across_blanks(boundaries: list[Boundary], blank: Flags, max_blank: int) -> list[Boundary]:
    """Merge neighbours with little but blank frames between them; fades at the video's ends are dropped."""
    count = len(blank)
    merged = [Boundary(0, "start", 0, 0)]
    for boundary in [*boundaries, Boundary(count, "start", count, count)]:
        previous = merged[-1]
        transitions = (previous.transition, boundary.transition)
        between = blank[previous.last : boundary.first + 1]
        limit, share = (max_blank / 2, _BLANK_BESIDE_CUT) if "cut" in transitions else (max_blank, _BLANK_BETWEEN_FADES)
        belong_together = 0 < between.sum() < limit and between.mean() >= share
        if belong_together and "start" in transitions:
            merged[-1] = previous if previous.transition == "start" else boundary
        elif belong_together:
            middle = (previous.first + boundary.last + 1) // 2
            merged[-1] = Boundary(middle, "fade", previous.first, boundary.last)
        else:
            merged.append(boundary)
    return [boundary for boundary in merged if boundary.transition != "start"]


def drop_short_shots(boundaries: list[Boundary], signals: Signals, min_length: int) -> list[Boundary]:
    """Drop boundaries that make a shot too short: cuts stay before gradual transitions, stronger before weaker."""

    def strength(boundary: Boundary) -> tuple[bool, float]:
        is_cut = boundary.transition == "cut"
        return is_cut, float((signals.change if is_cut else signals.distance_across)[boundary.frame])

    frames: list[int] = [0, len(signals)]
    kept = []
    for boundary in sorted(boundaries, key=strength, reverse=True):
        index = bisect.bisect(frames, boundary.frame)
        if boundary.frame - frames[index - 1] >= min_length and frames[index] - boundary.frame >= min_length:
            frames.insert(index, boundary.frame)
            kept.append(boundary)
    return sorted(kept, key=lambda boundary: boundary.frame)
