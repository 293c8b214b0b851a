"""Draws simple pictures with numpy: shapes with smooth edges, sprites that move over a background, falling drops.

Lengths are in picture heights, with the origin at the top left, so that a drawing fits any size. What a picture means
is none of this module's business.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from random import Random

import numpy as np
import numpy.typing as npt

Colour = tuple[int, int, int]
Point = tuple[float, float]
Picture = npt.NDArray[np.uint8]
"""An RGB picture: uint8, height x width x 3."""

Path = Callable[[float, float], Point]
"""Where something is: a point, from the seconds since the shot began and the part of it that is over (0..1)."""

Actor = Callable[[Picture, float, float], None]
"""Something that draws itself into a picture, given the seconds since the shot began and the part that is over."""

_FINE = 3  # each pixel is the mean of 3 x 3: edges without steps


@dataclass(frozen=True, slots=True)
class View:
    """The size of the pictures to draw, in pixels."""

    width: int
    height: int

    @property
    def aspect(self) -> float:
        """The width in picture heights."""
        return self.width / self.height


@dataclass(frozen=True, slots=True)
class Sprite:
    """A picture with transparency: colours weighted by opacity, and what is let through of what lies below (of 256)."""

    colours: npt.NDArray[np.uint16]
    through: npt.NDArray[np.uint16]


@dataclass(frozen=True, slots=True)
class Drawing:
    """One shot: a background, and actors in the order in which they are drawn over it."""

    background: Picture
    actors: tuple[Actor, ...]

    def frame(self, seconds: float, part: float) -> Picture:
        """The picture at a time of the shot."""
        picture = self.background.copy()
        for actor in self.actors:
            actor(picture, seconds, part)
        return picture


class Canvas:
    """Paints shapes of one colour, the later over the earlier; transparent where nothing was painted.

    Args:
        width: in picture heights, as all lengths.
        height: in picture heights.
        view: how many pixels that is.
    """

    def __init__(self, width: float, height: float, view: View) -> None:
        rows, columns = (max(round(length * view.height), 1) * _FINE for length in (height, width))
        self._unit = view.height * _FINE
        self._colours = np.zeros((rows, columns, 3), np.uint8)
        self._opaque = np.zeros((rows, columns), np.bool_)

    def disc(self, centre: Point, radius: float, colour: Colour, *, flat: float = 1.0) -> Canvas:
        """A disc; with `flat` below 1 an ellipse that much lower than wide."""
        x, y = centre

        def inside(across: npt.NDArray[np.float64], down: npt.NDArray[np.float64]) -> npt.NDArray[np.bool_]:
            return ((across - x) / radius) ** 2 + ((down - y) / (radius * flat)) ** 2 <= 1

        return self._paint((x - radius, y - radius * flat, x + radius, y + radius * flat), inside, colour)

    def box(self, left: float, top: float, right: float, bottom: float, colour: Colour) -> Canvas:
        """A rectangle with level sides."""
        return self._paint((left, top, right, bottom), None, colour)

    def polygon(self, points: Sequence[Point], colour: Colour) -> Canvas:
        """A polygon without holes."""
        edges = list(zip(points, [*points[1:], points[0]], strict=True))

        def inside(across: npt.NDArray[np.float64], down: npt.NDArray[np.float64]) -> npt.NDArray[np.bool_]:
            odd = np.zeros(np.broadcast_shapes(across.shape, down.shape), np.bool_)
            for (x0, y0), (x1, y1) in edges:
                if y0 != y1:
                    odd ^= ((down < y0) != (down < y1)) & (across < x0 + (down - y0) * ((x1 - x0) / (y1 - y0)))
            return odd

        across, down = zip(*points, strict=True)
        return self._paint((min(across), min(down), max(across), max(down)), inside, colour)

    def below(self, height: Callable[[float], float], colour: Colour) -> Canvas:
        """Everything below a line that gives a height for each x."""
        rows, columns = self._opaque.shape
        line = np.array([height((column + 0.5) / self._unit) * self._unit for column in range(columns)])
        mask = np.arange(rows)[:, None] >= line
        self._colours[mask] = colour
        self._opaque |= mask
        return self

    def gradient(self, top: Colour, bottom: Colour) -> Canvas:
        """Fill everything, passing from one colour to the other."""
        steps = np.linspace(0, 1, self._opaque.shape[0])[:, None, None]
        self._colours[:] = np.rint(np.array(top) * (1 - steps) + np.array(bottom) * steps)
        self._opaque[:] = True
        return self

    def picture(self) -> Picture:
        """What was painted, over black."""
        return np.rint(self._mean(self._colours.astype(np.float32))).astype(np.uint8)

    def sprite(self) -> Sprite:
        """What was painted, transparent elsewhere."""
        through = np.rint(256 - 256 * self._mean(self._opaque[:, :, None].astype(np.float32)))
        colours = np.floor(self._mean(self._colours.astype(np.float32) * self._opaque[:, :, None]))
        return Sprite(np.minimum(colours, 256 - through).astype(np.uint16), through.astype(np.uint16))

    def _mean(self, values: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
        sums = sum(values[row::_FINE, column::_FINE] for row in range(_FINE) for column in range(_FINE))
        return np.asarray(sums / _FINE**2, dtype=np.float32)

    def _paint(
        self,
        bounds: tuple[float, float, float, float],
        inside: Callable[[npt.NDArray[np.float64], npt.NDArray[np.float64]], npt.NDArray[np.bool_]] | None,
        colour: Colour,
    ) -> Canvas:
        left, top, right, bottom = (round(bound * self._unit) for bound in bounds)
        area = np.s_[max(top, 0) : max(bottom, 0), max(left, 0) : max(right, 0)]
        colours, opaque = self._colours[area], self._opaque[area]
        if inside is None:
            colours[:], opaque[:] = colour, True
        elif opaque.size:
            down = (np.arange(opaque.shape[0])[:, None] + max(top, 0) + 0.5) / self._unit
            across = (np.arange(opaque.shape[1])[None, :] + max(left, 0) + 0.5) / self._unit
            mask = inside(across, down)
            colours[mask], opaque[mask] = colour, True
        return self


def paste(picture: Picture, sprite: Sprite, centre: Point) -> None:
    """Lay a sprite over a picture, its centre at a point; what lies outside is cut off."""
    height, width = sprite.through.shape[:2]
    top = round(centre[1] * picture.shape[0] - height / 2)
    left = round(centre[0] * picture.shape[0] - width / 2)
    rows = slice(max(top, 0), max(min(top + height, picture.shape[0]), 0))
    columns = slice(max(left, 0), max(min(left + width, picture.shape[1]), 0))
    if rows.start >= rows.stop or columns.start >= columns.stop:
        return
    part = np.s_[rows.start - top : rows.stop - top, columns.start - left : columns.stop - left]
    below = picture[rows, columns]
    below[:] = ((below * sprite.through[part]) >> 8) + sprite.colours[part]


def moving(sprite: Sprite, path: Path) -> Actor:
    """A sprite that follows a path."""
    return lambda picture, seconds, part: paste(picture, sprite, path(seconds, part))


def changing(sprites: Sequence[Sprite], path: Path, per_second: float) -> Actor:
    """Sprites that take turns while they follow a path: something that spins, flaps or flickers."""

    def draw(picture: Picture, seconds: float, part: float) -> None:
        paste(picture, sprites[int(seconds * per_second) % len(sprites)], path(seconds, part))

    return draw


def falling(view: View, random: Random, *, count: int, speed: Point, length: float, colour: Colour) -> Actor:
    """Drops or flakes everywhere, each a streak of `length` along its `speed` (heights per second, right and down)."""
    starts = np.array([(random.random(), random.random()) for _ in range(count)])
    pixels = max(round(length * view.height), 1)
    streak = np.arange(pixels)
    thick = max(view.height // 120, 1)
    size = np.array([view.aspect + 0.2, 1.2])

    def draw(picture: Picture, seconds: float, part: float) -> None:  # noqa: ARG001
        places = ((starts * size + np.array(speed) * seconds) % size - 0.1) * view.height
        rows = places[:, 1:].astype(int) + streak
        columns = (places[:, :1] + streak * (speed[0] / speed[1])).astype(int)
        for shift in range(thick):
            seen = (rows >= 0) & (rows < view.height) & (columns + shift >= 0) & (columns + shift < view.width)
            picture[rows[seen], columns[seen] + shift] = colour

    return draw


def turned(points: Iterable[Point], centre: Point, angle: float) -> list[Point]:
    """Points around the origin, turned clockwise by an angle (radians) and moved to a centre."""
    cosine, sine = math.cos(angle), math.sin(angle)
    return [(centre[0] + x * cosine - y * sine, centre[1] + x * sine + y * cosine) for x, y in points]


def star_points(radius: float, corners: int, inner: float) -> list[Point]:
    """A star with `corners` tips and notches at `inner` times the radius; a polygon where that is cos(pi/corners)."""
    angles = [math.pi * (k / corners - 0.5) for k in range(2 * corners)]
    radii = [radius, radius * inner] * corners
    return [(r * math.cos(angle), r * math.sin(angle)) for r, angle in zip(radii, angles, strict=True)]
