"""Transitions and overlays of composed videos: mixtures, flashes, captions, slides and black bars."""

from __future__ import annotations

from random import Random

import numpy as np

from benchmarks.shots.footage import Pixels, Planes
from benchmarks.shots.plan import Event, PlannedShot

Size = tuple[int, int]
"""Width and height in pixels; even."""

_BLACK = (16, 128, 128)
_WHITE = (235, 128, 128)


def mixed(shot: PlannedShot, before: Planes, after: Planes, step: int, steps: int) -> Planes:
    """Return the picture at a step of a gradual transition, 1 to `steps` - 1."""
    part = step / steps
    if shot.entry == "dissolve":
        return _blend(before, after, part)
    if shot.entry == "fade":
        # Black for a tenth of the time.
        dark = min(abs(2 * part - 1) * 1.1, 1)
        black = _flat(after, _BLACK)
        return _blend(black, before if part < 0.5 else after, max(dark - 0.1, 0))
    return _wiped(before, after, part, shot.seed % 4)


def _wiped(before: Planes, after: Planes, part: float, way: int) -> Planes:
    """Let the new picture enter over a straight edge from one of four sides."""
    result = []
    for old, new in zip(before, after, strict=True):
        mixed = old.copy()
        size = old.shape[way // 2]
        edge = slice(0, round(size * part)) if way % 2 else slice(size - round(size * part), size)
        region = (edge, slice(None)) if way // 2 == 0 else (slice(None), edge)
        mixed[region] = new[region]
        result.append(mixed)
    return tuple(result)  # type: ignore[return-value]


def _flat(like: Planes, colour: tuple[int, int, int]) -> Planes:
    return tuple(np.full_like(plane, value) for plane, value in zip(like, colour, strict=True))  # type: ignore[return-value]


def _blend(picture: Planes, other_picture: Planes, weight: float) -> Planes:
    """Mix two pictures, with `weight` (0..1) of the second."""
    share = round(weight * 256)
    return tuple(  # type: ignore[return-value]
        ((a.astype(np.uint16) * (256 - share) + b.astype(np.uint16) * share + 128) >> 8).astype(np.uint8)
        for a, b in zip(picture, other_picture, strict=True)
    )


def flashed(picture: Planes) -> Planes:
    """Brighten a picture as a camera's flash does."""
    return _blend(picture, _flat(picture, _WHITE), 0.72)


def with_text(picture: Planes, event: Event) -> Planes:
    """Draw a caption of random letters, mostly on a plate, low in the picture or large in its middle."""
    random = Random(event.seed)
    planes = _copied(picture)
    height, width = planes[0].shape
    large = random.random() < 1 / 3
    top, high = (0.3, 0.3) if large else (0.72, 0.16)
    rows, columns = (int(top * height), int((top + high) * height)), (width // 10, width - width // 10)
    if random.random() < 0.6:
        _fill(planes, rows, columns, random.choice((_BLACK, _WHITE, (60, 180, 110), (150, 60, 160))))
    area = planes[0][slice(*rows), slice(*columns)]
    light = area.mean() > 128 if area.std() <= 5 else random.random() < 0.5
    _write(area, random, 16 if light else 235, 1 if large else 2)
    return planes


def _copied(picture: Planes) -> Planes:
    return picture[0].copy(), picture[1].copy(), picture[2].copy()


def _fill(planes: Planes, rows: tuple[int, int], columns: tuple[int, int], colour: tuple[int, int, int]) -> None:
    """Paint a rectangle, given as first and end in luma pixels each way, in place."""
    for plane, value, divisor in zip(planes, colour, (1, 2, 2), strict=True):
        plane[rows[0] // divisor : rows[1] // divisor, columns[0] // divisor : columns[1] // divisor] = value


def _write(area: Pixels, random: Random, ink: int, lines: int) -> None:
    """Write lines of letters, five by seven dots each, in place."""
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


def slide(random: Random, size: Size) -> Planes:
    """Draw a lecture slide: light, with a heading, lines of text and, at random, a coloured figure."""
    width, height = size
    paper = random.choice((235, 235, 225, 40))
    page = _flat((np.empty((height, width), np.uint8), *(np.empty((height // 2, width // 2), np.uint8),) * 2), _WHITE)
    page[0][:] = paper
    ink = 235 if paper < 128 else 30
    _write(page[0][height // 16 : height // 5, width // 16 : -width // 16], random, ink, 1)
    _write(page[0][height // 4 : -height // 10, width // 16 : -width // 16], random, ink, random.randint(4, 9))
    if random.random() < 0.5:
        x, y = random.randrange(width // 4, width // 2), random.randrange(height // 4, height // 2)
        colour = (random.randrange(60, 200), random.randrange(60, 200), random.randrange(60, 200))
        _fill(page, (y, y + height // 3), (x, x + width // 3), colour)
    return page


def letterboxed(picture: Planes, shape: float) -> Planes:
    """Draw black bars, so that the picture between them has the shape (width by height)."""
    planes = _copied(picture)
    height, width = planes[0].shape
    y = max(round((height - width / shape) / 4) * 2, 0)
    x = max(round((width - height * shape) / 4) * 2, 0)
    for rows, columns in (
        ((0, y), (0, width)),
        ((height - y, height), (0, width)),
        ((0, height), (0, x)),
        ((0, height), (width - x, width)),
    ):
        _fill(planes, rows, columns, _BLACK)
    return planes
