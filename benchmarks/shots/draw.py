"""Draws planned videos frame by frame: footage with camera moves, drawn scenes, slides, transitions and events."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random

import av
import numpy as np

from benchmarks.shots.plan import Event, Plan, PlannedShot
from benchmarks.shots.takes import Planes, Reel
from vttdata.collect.scenery import CATEGORIES, MOODS, View

Size = tuple[int, int]
"""Width and height in pixels; even."""

Painter = Callable[[int], Planes]
"""A shot: the picture at a frame of it, counted from where it first shows."""

_BLACK = (16, 128, 128)
_WHITE = (235, 128, 128)


def frames(plan: Plan, size: Size, footage: Path, folder: Path) -> Iterator[Planes]:
    """Every frame of a planned video."""
    shots = plan.shots
    shows = [shot.mixed[0] if shot.mixed else shot.first for shot in shots]
    ends = [shot.mixed[1] + 1 if shot.mixed else shot.first for shot in shots[1:]] + [plan.frames]
    painters = {}
    for number, shot in enumerate(shots):
        painters = {one: painter for one, painter in painters.items() if one >= number - 1}
        painters[number] = _painter(shot, ends[number] - shows[number], plan.rate, size, footage, folder)
        for frame in range(shows[number], shows[number + 1] if number + 1 < len(shots) else plan.frames):
            picture = painters[number](frame - shows[number])
            if shot.mixed and frame <= shot.mixed[1]:
                before = painters[number - 1](frame - shows[number - 1])
                picture = _mix(shot, before, picture, frame - shot.mixed[0] + 1, shot.mixed[1] - shot.mixed[0] + 2)
            for event in shot.events:
                if event.first <= frame <= event.last:
                    picture = _flash(picture) if event.kind == "flash" else _with_text(picture, event)
            yield _letterboxed(picture, plan.shape) if plan.shape else picture


def _painter(shot: PlannedShot, length: int, rate: float, size: Size, footage: Path, folder: Path) -> Painter:
    random = Random(shot.seed)
    if shot.content == "slide":
        slide = _slide(random, size)
        return lambda _: slide
    inner = _drawn(random, rate, length) if shot.take is None else _filmed(shot, random, footage, folder)
    steps = {"twos": lambda t: t // 2 * 2, "fifths": lambda t: t - (t % 5 == 4), "still": lambda _: 0}
    step = steps.get(shot.move, lambda t: t)
    camera = _camera(shot, random, length)
    grade = _grade(random) if shot.take else None

    def paint(frame: int) -> Planes:
        source = inner(step(frame))
        scale, x, y = camera(step(frame) / max(length - 1, 1))
        picture = _framed(source, size, scale, x, y)
        return (grade[picture[0]], picture[1], picture[2]) if grade is not None else picture

    return paint


def _filmed(shot: PlannedShot, random: Random, footage: Path, folder: Path) -> Painter:
    """The take from somewhere on, back and forth where it is shorter than the shot; at times mirrored."""
    assert shot.take is not None
    reel = Reel(shot.take, footage, folder)
    last, start, mirrored = len(reel) - 1, random.randrange(len(reel)), random.random() < 0.5

    def paint(frame: int) -> Planes:
        planes = reel.planes(last - abs(last - (start + frame) % (2 * last)))
        return (planes[0][:, ::-1], planes[1][:, ::-1], planes[2][:, ::-1]) if mirrored else planes

    return paint


def _drawn(random: Random, rate: float, length: int) -> Painter:
    _, choose = random.choice(random.choice(list(CATEGORIES.values())))
    drawing = choose(random, random.choice(MOODS)).paint(View(640, 360))

    def paint(frame: int) -> Planes:
        picture = drawing.frame(frame / rate, frame / length)
        return _planes(av.VideoFrame.from_ndarray(picture, format="rgb24").reformat(format="yuv420p"))

    return paint


def _camera(shot: PlannedShot, random: Random, length: int) -> Callable[[float], tuple[float, float, float]]:
    """Scale (1 and more) and place (0..1 each way) of the window at a part of the shot."""
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
            turns = [math.sin(speed * part + 7 * number) for number, speed in enumerate(speeds)]
            return 1.15, 0.5 + 0.25 * (turns[0] + turns[1]), 0.5 + 0.25 * (turns[2] + turns[3])

        return shaken
    return lambda _: (1.0, 0.5, 0.5)


def _framed(source: Planes, size: Size, scale: float, x: float, y: float) -> Planes:
    """The source enlarged to fill the picture, and `scale` times more; of what hangs over, the window at (x, y)."""
    width, height = size
    own_height, own_width = source[0].shape
    fill = max(width / own_width, height / own_height) * scale
    wide, high = (max(round(own * fill / 2) * 2, own_size) for own, own_size in ((own_width, width), (own_height, height)))
    large = _planes(_frame(source).reformat(wide, high, interpolation="BILINEAR"))
    left, top = round((wide - width) * x / 2) * 2, round((high - height) * y / 2) * 2
    return (
        large[0][top : top + height, left : left + width],
        *(large[k][top // 2 : (top + height) // 2, left // 2 : (left + width) // 2] for k in (1, 2)),
    )  # type: ignore[return-value]


def _frame(planes: Planes) -> av.VideoFrame:
    flat = np.concatenate([plane.ravel() for plane in planes])
    height, width = planes[0].shape
    return av.VideoFrame.from_ndarray(flat.reshape(height * 3 // 2, width), format="yuv420p")


def _planes(frame: av.VideoFrame) -> Planes:
    return tuple(  # type: ignore[return-value]
        np.frombuffer(plane, np.uint8).reshape(-1, plane.line_size)[: plane.height, : plane.width]
        for plane in frame.planes
    )


def _grade(random: Random) -> np.ndarray:
    """A tone curve, so that takes used twice differ a little."""
    levels = np.clip((np.arange(256) - 16) / 219, 0, 1) ** random.uniform(0.8, 1.25)
    return (16 + 219 * levels).round().astype(np.uint8)


def _flat(like: Planes, colour: tuple[int, int, int]) -> Planes:
    return tuple(np.full_like(plane, value) for plane, value in zip(like, colour, strict=True))  # type: ignore


def _blend(one: Planes, other: Planes, weight: float) -> Planes:
    """`weight` (0..1) of the other picture."""
    share = round(weight * 256)
    return tuple(  # type: ignore[return-value]
        ((a.astype(np.uint16) * (256 - share) + b.astype(np.uint16) * share + 128) >> 8).astype(np.uint8)
        for a, b in zip(one, other, strict=True)
    )


def _mix(shot: PlannedShot, before: Planes, after: Planes, step: int, steps: int) -> Planes:
    part = step / steps
    if shot.entry == "dissolve":
        return _blend(before, after, part)
    if shot.entry == "fade":
        dark = min(abs(2 * part - 1) * 1.1, 1)  # black for a tenth of the time
        black = _flat(after, _BLACK)
        return _blend(black, before if part < 0.5 else after, max(dark - 0.1, 0))
    return _wiped(before, after, part, shot.seed % 4)


def _wiped(before: Planes, after: Planes, part: float, way: int) -> Planes:
    """The new picture enters over a straight edge from one of four sides."""
    result = []
    for old, new in zip(before, after, strict=True):
        mixed = old.copy()
        size = old.shape[way // 2]
        edge = slice(0, round(size * part)) if way % 2 else slice(size - round(size * part), size)
        place = (edge, slice(None)) if way // 2 == 0 else (slice(None), edge)
        mixed[place] = new[place]
        result.append(mixed)
    return tuple(result)  # type: ignore[return-value]


def _flash(picture: Planes) -> Planes:
    return _blend(picture, _flat(picture, _WHITE), 0.72)


def _with_text(picture: Planes, event: Event) -> Planes:
    """A caption of made-up letters on a plate, low in the picture or, one time in three, large in its middle."""
    random = Random(event.seed)
    planes = tuple(plane.copy() for plane in picture)
    height, width = planes[0].shape
    large = random.random() < 1 / 3
    top, high = (0.3, 0.3) if large else (0.72, 0.16)
    plate = (slice(int(top * height) // 2 * 2, int((top + high) * height) // 2 * 2), slice(width // 20 * 2, width - width // 20 * 2))
    if random.random() < 0.6:
        for plane, value, divisor in zip(planes, random.choice((_BLACK, _WHITE, (60, 180, 110), (150, 60, 160))), (1, 2, 2), strict=True):
            plane[plate[0].start // divisor : plate[0].stop // divisor, plate[1].start // divisor : plate[1].stop // divisor] = value
    ink = random.choice((235, 16)) if planes[0][plate].std() > 5 else (16 if planes[0][plate].mean() > 128 else 235)
    _write(planes[0][plate], random, ink, 1 if large else 2)
    return planes  # type: ignore[return-value]


def _write(area: np.ndarray, random: Random, ink: int, lines: int) -> None:
    """Lines of letters, five by seven dots each, in place."""
    dot = max(area.shape[0] // (lines * 9), 1)
    columns = area.shape[1] // (6 * dot)
    for line in range(lines):
        for column in range(random.randint(columns // 2, columns)):
            if random.random() < 0.15:
                continue
            dots = np.array([random.random() < 0.5 for _ in range(35)]).reshape(7, 5).repeat(dot, 0).repeat(dot, 1)
            y, x = (line * 9 + 1) * dot, column * 6 * dot
            part = area[y : y + 7 * dot, x : x + 5 * dot]
            part[dots[: part.shape[0], : part.shape[1]]] = ink


def _slide(random: Random, size: Size) -> Planes:
    """A page of a lecture: light, with a heading, lines of text and at times a coloured figure."""
    width, height = size
    page = (np.full((height, width), random.choice((235, 235, 225, 40)), np.uint8), *(np.full((height // 2, width // 2), 128, np.uint8) for _ in range(2)))
    ink = 235 if page[0][0, 0] < 128 else 30
    _write(page[0][height // 16 : height // 5, width // 16 : -width // 16], random, ink, 1)
    _write(page[0][height // 4 : -height // 10, width // 16 : -width // 16], random, ink, random.randint(4, 9))
    if random.random() < 0.5:
        x, y = random.randrange(width // 4, width // 2) // 2, random.randrange(height // 4, height // 2) // 2
        for plane, divisor in zip(page, (1, 2, 2), strict=True):
            scale = 2 // divisor
            plane[y * scale : (y + height // 6) * scale, x * scale : (x + width // 6) * scale] = random.randrange(60, 200)
    return page


def _letterboxed(picture: Planes, shape: float) -> Planes:
    """Black bars above and below, or at the sides, so that the picture between has the shape (width by height)."""
    planes = tuple(plane.copy() for plane in picture)
    height, width = planes[0].shape
    y = max(round((height - width / shape) / 4) * 2, 0)
    x = max(round((width - height * shape) / 4) * 2, 0)
    for plane, value, divisor in zip(planes, _BLACK, (1, 2, 2), strict=True):
        rows, columns = y // divisor, x // divisor
        plane[:rows] = plane[plane.shape[0] - rows :] = value
        plane[:, :columns] = plane[:, plane.shape[1] - columns :] = value
    return planes  # type: ignore[return-value]
