"""Draw simple animated scenes with numpy: shapes with smooth edges, sprites that follow paths, falling drops.

Lengths are in frame heights, with the origin at the top left, so that a drawing fits any frame size. Colours are names
of `COLOURS` or hexadecimal, as in ``#ffaa32``. What a drawing shows is defined in `props` and `motifs`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from random import Random
from typing import Self

import numpy as np
import numpy.typing as npt

Point = tuple[float, float]
Frame = npt.NDArray[np.uint8]
"""RGB frame: uint8, height x width x 3."""

Path = Callable[[float, float], Point]
"""Position as a function of the seconds since the shot began and of the share of the shot that is over (0..1)."""

Actor = Callable[[Frame, float, float], None]
"""Function that draws something into a frame, given the arguments of a `Path`."""

COLOURS = {
    "red": "#d63031",
    "orange": "#ec8422",
    "yellow": "#f6d03e",
    "green": "#2ea043",
    "blue": "#2d5cd2",
    "purple": "#8442b0",
    "pink": "#f080b0",
    "white": "#f4f4f0",
}
"""Colours on whose names people agree; captions use the same names."""

# Each pixel is the mean of 3 x 3 samples, which smooths the edges.
_SAMPLES = 3


def rgb(colour: str) -> tuple[int, int, int]:
    """Return red, green and blue (0..255) of a colour."""
    red, green, blue = bytes.fromhex(COLOURS.get(colour, colour)[1:])
    return red, green, blue


def darken(colour: str, factor: float) -> str:
    """Return a colour with its components multiplied by a factor (0..1)."""
    return "#" + bytes(round(factor * component) for component in rgb(colour)).hex()


@dataclass(frozen=True, slots=True)
class View:
    """Size of the frames to draw, in pixels."""

    width: int
    height: int

    @property
    def aspect(self) -> float:
        """Return the width in frame heights."""
        return self.width / self.height


@dataclass(frozen=True, slots=True)
class Sprite:
    """Image with transparency: colours weighted by opacity, and the share (of 256) of the background that stays."""

    colours: npt.NDArray[np.uint16]
    transparency: npt.NDArray[np.uint16]

    def facing(self, right: bool) -> Sprite:
        """Return the sprite as drawn, or mirrored to face left."""
        if right:
            return self
        return Sprite(*(np.ascontiguousarray(plane[:, ::-1]) for plane in (self.colours, self.transparency)))


class Canvas:
    """Surface for shapes of one colour, each drawn over the earlier ones; transparent where nothing was drawn.

    Its width and height are in frame heights, as all lengths; the view says how many pixels these have.
    """

    def __init__(self, width: float, height: float, view: View) -> None:
        rows, columns = (max(round(length * view.height), 1) * _SAMPLES for length in (height, width))
        self._unit = view.height * _SAMPLES
        self._colours = np.zeros((rows, columns, 3), np.uint8)
        self._opaque = np.zeros((rows, columns, 1), np.bool_)

    def box(self, left: float, top: float, right: float, bottom: float, colour: str) -> Self:
        """Draw an upright rectangle."""
        return self._fill((left, top, right, bottom), colour)

    def disc(self, centre: Point, radius: float, colour: str, *, flatness: float = 1.0) -> Self:
        """Draw a disc; with `flatness` below 1 an ellipse whose height is that share of its width."""
        (x, y), half_height = centre, radius * flatness
        bounds = (x - radius, y - half_height, x + radius, y + half_height)
        return self._fill(bounds, colour, lambda xs, ys: ((xs - x) / radius) ** 2 + ((ys - y) / half_height) ** 2 <= 1)

    def polygon(self, colour: str, *points: Point) -> Self:
        """Draw a polygon without holes."""

        def inside(xs: npt.NDArray[np.float64], ys: npt.NDArray[np.float64]) -> npt.NDArray[np.bool_]:
            odd = np.zeros(np.broadcast_shapes(xs.shape, ys.shape), np.bool_)
            for (x0, y0), (x1, y1) in zip(points, [*points[1:], points[0]], strict=True):
                if y0 != y1:
                    odd ^= ((ys < y0) != (ys < y1)) & (xs < x0 + (ys - y0) * ((x1 - x0) / (y1 - y0)))
            return odd

        xs, ys = zip(*points, strict=True)
        return self._fill((min(xs), min(ys), max(xs), max(ys)), colour, inside)

    def star(self, centre: Point, radius: float, tips: int, inner: float, colour: str, angle: float = 0) -> Self:
        """Draw a star with notches at `inner` times the radius; a regular polygon where that is cos(pi/tips)."""
        angles = [math.pi * (k / tips - 0.5) for k in range(2 * tips)]
        radii = [radius, radius * inner] * tips
        points = [(r * math.cos(corner), r * math.sin(corner)) for r, corner in zip(radii, angles, strict=True)]
        return self.polygon(colour, *turn(points, centre, angle))

    def below(self, height: Callable[[float], float], colour: str) -> Self:
        """Fill everything below a curve that gives a height for each x."""
        rows, columns, _ = self._opaque.shape
        curve = np.array([height((column + 0.5) / self._unit) * self._unit for column in range(columns)])
        mask = np.arange(rows)[:, None] >= curve
        self._colours[mask], self._opaque[mask] = rgb(colour), True
        return self

    def gradient(self, top: str, bottom: str) -> Self:
        """Fill the canvas with a vertical gradient."""
        steps = np.linspace(0, 1, self._opaque.shape[0])[:, None, None]
        self._colours[:] = np.rint(np.array(rgb(top)) * (1 - steps) + np.array(rgb(bottom)) * steps)
        self._opaque[:] = True
        return self

    def frame(self) -> Frame:
        """Return the drawing over black."""
        return np.rint(self._mean(self._colours)).astype(np.uint8)

    def sprite(self) -> Sprite:
        """Return the drawing, transparent where nothing was drawn."""
        transparency = np.rint(256 - 256 * self._mean(self._opaque)).astype(np.uint16)
        return Sprite(
            np.minimum(np.floor(self._mean(self._colours)), 256 - transparency).astype(np.uint16), transparency
        )

    def _mean(self, samples: npt.NDArray[np.generic]) -> npt.NDArray[np.float32]:
        values = samples.astype(np.float32)
        sums = sum(values[row::_SAMPLES, column::_SAMPLES] for row in range(_SAMPLES) for column in range(_SAMPLES))
        return np.asarray(sums / _SAMPLES**2, dtype=np.float32)

    def _fill(
        self,
        bounds: tuple[float, float, float, float],
        colour: str,
        inside: Callable[[npt.NDArray[np.float64], npt.NDArray[np.float64]], npt.NDArray[np.bool_]] | None = None,
    ) -> Self:
        left, top, right, bottom = (max(round(bound * self._unit), 0) for bound in bounds)
        area = np.s_[top:bottom, left:right]
        rows, columns, _ = self._opaque[area].shape
        xs, ys = np.arange(columns)[None, :] + left + 0.5, np.arange(rows)[:, None] + top + 0.5
        mask = inside(xs / self._unit, ys / self._unit) if inside else ...
        self._colours[area][mask], self._opaque[area][mask] = rgb(colour), True
        return self


class Drawing:
    """One shot: a background, and actors in the order in which they are drawn over it."""

    def __init__(self, background: Canvas, *actors: Actor) -> None:
        self._background = background.frame()
        self._actors = actors

    def frame(self, seconds: float, progress: float) -> Frame:
        """Draw the frame at a time of the shot, given as for a `Path`."""
        frame = self._background.copy()
        for actor in self._actors:
            actor(frame, seconds, progress)
        return frame


def paste(frame: Frame, sprite: Sprite, centre: Point) -> None:
    """Draw a sprite over a frame, its centre at a point; clip what lies outside."""
    height, width = sprite.transparency.shape[:2]
    top = round(centre[1] * frame.shape[0] - height / 2)
    left = round(centre[0] * frame.shape[0] - width / 2)
    seen = np.s_[max(-top, 0) : max(frame.shape[0] - top, 0), max(-left, 0) : max(frame.shape[1] - left, 0)]
    below = frame[max(top, 0) : max(top + height, 0), max(left, 0) : max(left + width, 0)]
    below[:] = ((below * sprite.transparency[seen]) >> 8) + sprite.colours[seen]


def move(sprites: Sprite | Sequence[Sprite], path: Path, per_second: float = 0) -> Actor:
    """Move a sprite along a path; several sprites take turns, so that something spins, flaps or flickers."""
    poses = [sprites] if isinstance(sprites, Sprite) else sprites

    def draw(frame: Frame, seconds: float, progress: float) -> None:
        paste(frame, poses[int(seconds * per_second) % len(poses)], path(seconds, progress))

    return draw


def fall(view: View, random: Random, *, count: int, speed: Point, length: float, colour: str) -> Actor:
    """Fill the frame with drops or flakes, streaks of `length` along `speed` (heights per second, right and down)."""
    starts = np.array([(random.random(), random.random()) for _ in range(count)])
    streak = np.arange(max(round(length * view.height), 1))
    size = np.array([view.aspect + 0.2, 1.2])

    def draw(frame: Frame, seconds: float, _: float) -> None:
        positions = ((starts * size + np.array(speed) * seconds) % size - 0.1) * view.height
        rows = positions[:, 1:].astype(int) + streak
        columns = (positions[:, :1] + streak * (speed[0] / speed[1])).astype(int)
        for shift in range(max(view.height // 120, 1)):
            seen = (rows >= 0) & (rows < view.height) & (columns + shift >= 0) & (columns + shift < view.width)
            frame[rows[seen], columns[seen] + shift] = rgb(colour)

    return draw


def turn(points: Iterable[Point], centre: Point, angle: float) -> list[Point]:
    """Turn points clockwise around the origin by an angle (radians) and move the origin to a centre."""
    cosine, sine = math.cos(angle), math.sin(angle)
    return [(centre[0] + x * cosine - y * sine, centre[1] + x * sine + y * cosine) for x, y in points]
