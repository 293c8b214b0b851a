"""Frames of planned videos: footage and drawn scenes with camera moves, and overlays."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random

import av
import numpy as np

from benchmarks.shots.footage import Pixels, Planes, Reel
from benchmarks.shots.overlay import Size, flashed, letterboxed, mixed, slide, with_text
from benchmarks.shots.plan import Move, Plan, PlannedShot
from vttdata.collect.demo_films.drawing import View
from vttdata.collect.demo_films.motifs import CATEGORIES, choose_motif
from vttdata.collect.demo_films.props import LIGHTS

Painter = Callable[[int], Planes]
"""Function from a frame of a shot, counted from where it is first visible, to its picture."""


def frames(plan: Plan, size: Size, footage: Path, folder: Path) -> Iterator[Planes]:
    """Yield every frame of a planned video."""
    shots = plan.shots
    shows = [shot.mixed[0] if shot.mixed else shot.first for shot in shots]
    ends = [shot.mixed[1] + 1 if shot.mixed else shot.first for shot in shots[1:]] + [plan.frames]
    painters: dict[int, Painter] = {}
    for number, shot in enumerate(shots):
        painters = {one: painter for one, painter in painters.items() if one >= number - 1}
        painters[number] = _painter(shot, ends[number] - shows[number], plan.rate, size, footage, folder)
        for frame in range(shows[number], shows[number + 1] if number + 1 < len(shots) else plan.frames):
            picture = painters[number](frame - shows[number])
            if shot.mixed and frame <= shot.mixed[1]:
                before = painters[number - 1](frame - shows[number - 1])
                picture = mixed(shot, before, picture, frame - shot.mixed[0] + 1, shot.mixed[1] - shot.mixed[0] + 2)
            for event in shot.events:
                if event.first <= frame <= event.last:
                    picture = flashed(picture) if event.kind == "flash" else with_text(picture, event)
            yield letterboxed(picture, plan.shape) if plan.shape else picture


def _painter(shot: PlannedShot, length: int, rate: float, size: Size, footage: Path, folder: Path) -> Painter:
    random = Random(shot.seed)
    if shot.content == "slide":
        page = slide(random, size)
        return lambda _: page
    inner = _drawn(random, rate, length) if shot.take is None else _filmed(shot, random, footage, folder)
    camera = _camera(shot, random, length)
    grade = _grade(random) if shot.take else None

    def paint(frame: int) -> Planes:
        shown = _shown(shot.move, frame)
        source = inner(shown)
        scale, x, y = camera(shown / max(length - 1, 1))
        picture = _framed(source, size, scale, x, y)
        return (grade[picture[0]], picture[1], picture[2]) if grade is not None else picture

    return paint


def _shown(move: Move, frame: int) -> int:
    """Return the frame that is seen, where frames are shown more than once."""
    if move == "twos":
        return frame // 2 * 2
    if move == "fifths":
        return frame - (frame % 5 == 4)
    return 0 if move == "still" else frame


def _filmed(shot: PlannedShot, random: Random, footage: Path, folder: Path) -> Painter:
    """Show the take from a random frame on, back and forth where it is too short, and mirrored at random."""
    assert shot.take is not None
    reel = Reel(shot.take, footage, folder)
    last, start, mirrored = len(reel) - 1, random.randrange(len(reel)), random.random() < 0.5

    def paint(frame: int) -> Planes:
        planes = reel.planes(last - abs(last - (start + frame) % (2 * last)))
        return (planes[0][:, ::-1], planes[1][:, ::-1], planes[2][:, ::-1]) if mirrored else planes

    return paint


def _drawn(random: Random, rate: float, length: int) -> Painter:
    query = random.choice(list(random.choice(list(CATEGORIES.values()))))
    drawing = choose_motif(query, random, random.choice(LIGHTS)).paint(View(640, 360))

    def paint(frame: int) -> Planes:
        picture = drawing.frame(frame / rate, frame / length)
        return _planes(av.VideoFrame.from_ndarray(picture, format="rgb24").reformat(format="yuv420p"))

    return paint


def _camera(shot: PlannedShot, random: Random, length: int) -> Callable[[float], tuple[float, float, float]]:
    """Return the function from a part of the shot to the window's scale (1 or more) and position (0..1 each way)."""
    x0, y0, x1, y1 = (random.random() for _ in range(4))
    far, outward = random.uniform(1.25, 1.7), random.random() < 0.5
    if shot.move == "pan":
        return lambda part: (far, x0 + (x1 - x0) * part, y0 + (y1 - y0) * part)
    if shot.move == "whip":
        at = random.uniform(0.3, 0.7)
        side = round(x0)
        return lambda part: (1.6, abs(side - 1 / (1 + math.exp(-(part - at) * length / 2.5))), y0)
    if shot.move == "zoom":
        return lambda part: (1 + (far - 1) * (1 - part if outward else part), 0.5, 0.5)
    if shot.move == "shake":
        speeds = [random.uniform(2, 9) * length / 25 for _ in range(4)]

        def shaken(part: float) -> tuple[float, float, float]:
            sines = [math.sin(speed * part + 7 * number) for number, speed in enumerate(speeds)]
            return 1.15, 0.5 + 0.25 * (sines[0] + sines[1]), 0.5 + 0.25 * (sines[2] + sines[3])

        return shaken
    return lambda _: (1.0, 0.5, 0.5)


def _framed(source: Planes, size: Size, scale: float, x: float, y: float) -> Planes:
    """Enlarge the source to fill the picture and `scale` times more, and crop the window at (x, y)."""
    width, height = size
    source_height, source_width = source[0].shape
    fill = max(width / source_width, height / source_height) * scale
    wide, high = (
        max(round(size_in * fill / 2) * 2, size_out)
        for size_in, size_out in ((source_width, width), (source_height, height))
    )
    large = _planes(_frame(source).reformat(wide, high, interpolation="BILINEAR"))
    left, top = round((wide - width) * x / 2) * 2, round((high - height) * y / 2) * 2
    rows, columns = slice(top // 2, (top + height) // 2), slice(left // 2, (left + width) // 2)
    return large[0][top : top + height, left : left + width], large[1][rows, columns], large[2][rows, columns]


def _frame(planes: Planes) -> av.VideoFrame:
    flat = np.concatenate([plane.ravel() for plane in planes])
    height, width = planes[0].shape
    return av.VideoFrame.from_ndarray(flat.reshape(height * 3 // 2, width), format="yuv420p")


def _planes(frame: av.VideoFrame) -> Planes:
    planes: list[Pixels] = []
    for plane in frame.planes:
        rows = np.frombuffer(memoryview(plane), np.uint8).reshape(-1, plane.line_size)
        planes.append(rows[: plane.height, : plane.width])
    return planes[0], planes[1], planes[2]


def _grade(random: Random) -> Pixels:
    """Return a random tone curve, so that takes used twice differ a little."""
    levels = np.clip((np.arange(256) - 16) / 219, 0, 1) ** random.uniform(0.8, 1.25)
    return (16 + 219 * levels).round().astype(np.uint8)
