"""The things that appear in generated scenes: skies, hills, houses, trees, vehicles, animals, balls. All made up.

Each is drawn around the middle of its own canvas, facing right, in picture heights.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from vttdata.collect.demo_films.drawing import Canvas, Colour, Sprite, View, star_points, turned

PAINTS: dict[str, Colour] = {
    "red": (214, 48, 49),
    "orange": (236, 132, 34),
    "yellow": (246, 208, 62),
    "green": (46, 160, 67),
    "blue": (45, 92, 210),
    "purple": (132, 66, 176),
    "pink": (240, 128, 176),
    "white": (244, 244, 240),
}
"""Colours that people agree on the names of."""

_WHITE: Colour = (246, 247, 250)
_TYRE: Colour = (34, 34, 38)
_GLASS: Colour = (196, 226, 240)
_WOOD: Colour = (112, 76, 46)
_SKIN_LINE: Colour = (60, 40, 30)


@dataclass(frozen=True, slots=True)
class Mood:
    """Sky and light of an outdoor shot, and how people put it into words."""

    phrases: tuple[str, ...]
    sky: tuple[Colour, Colour]
    far: Colour
    ground: Colour
    stars: bool = False


DAY = Mood(
    ("on a clear day", "under a blue sky", "in bright daylight"),
    ((86, 164, 236), (206, 232, 250)),
    (120, 176, 130),
    (92, 172, 78),
)
SUNSET = Mood(
    ("at sunset", "in the evening", "under an orange sky"),
    ((120, 62, 120), (252, 158, 84)),
    (110, 70, 96),
    (86, 84, 60),
)
NIGHT = Mood(
    ("at night", "under the stars", "in the dark of the night"),
    ((22, 30, 76), (58, 70, 130)),
    (40, 50, 88),
    (36, 60, 62),
    stars=True,
)
GREY = Mood(
    ("on a grey day", "under a grey sky", "in dull weather"),
    ((128, 136, 146), (200, 204, 208)),
    (134, 146, 140),
    (106, 128, 92),
)
DAWN = Mood(
    ("at dawn", "under a pink sky", "early in the morning"),
    ((214, 150, 190), (255, 224, 196)), (178, 140, 168), (122, 158, 108),
)  # fmt: skip
MOODS = (DAY, SUNSET, NIGHT, GREY, DAWN)
"""Five lights that differ clearly in colour, so that a change of light is a change of shot."""


def landscape(view: View, mood: Mood, horizon: float, lie: float) -> Canvas:
    """A sky with two rows of hills and ground below `horizon`; `lie` (0..1) says how the hills lie."""
    canvas = Canvas(view.aspect, 1.0, view).gradient(*mood.sky)
    if mood.stars:
        for k in range(50):
            place = ((k * 0.7549 + lie) % 1 * view.aspect, (k * 0.5698 + lie) % 1 * horizon)
            canvas.disc(place, 0.004 + 0.003 * (k % 3), _WHITE)
    return _hills(canvas, view, mood, horizon, lie)


def hills(view: View, mood: Mood, horizon: float, lie: float) -> Sprite:
    """The hills and the ground of a landscape without its sky, for what comes up behind them."""
    return _hills(Canvas(view.aspect, 1.0, view), view, mood, horizon, lie).sprite()


def _hills(canvas: Canvas, view: View, mood: Mood, horizon: float, lie: float) -> Canvas:
    swing = 3.0 + 2.0 * lie
    canvas.below(lambda x: horizon - 0.12 - 0.07 * math.sin(swing * x + 9 * lie), mood.far)
    near: Colour = tuple((a + b) // 2 for a, b in zip(mood.far, mood.ground, strict=True))  # type: ignore[assignment]
    canvas.below(lambda x: horizon - 0.03 - 0.05 * math.sin(2 * swing * x + 5 * lie), near)
    return canvas.box(0, horizon, view.aspect, 1, mood.ground)


def striped(view: View, colour: Colour) -> Canvas:
    """A plain background: slanted stripes of two shades of one colour."""
    canvas = Canvas(view.aspect, 1.0, view).box(0, 0, view.aspect, 1, colour)
    shade: Colour = tuple(round(0.9 * part) for part in colour)  # type: ignore[assignment]
    for k in range(-5, math.ceil(view.aspect / 0.2) + 1, 2):
        canvas.polygon([(k * 0.2, 1), (k * 0.2 + 0.2, 1), (k * 0.2 + 1.2, 0), (k * 0.2 + 1, 0)], shade)
    return canvas


def shape(view: View, name: str, radius: float, colour: Colour, angle: float = 0.0) -> Sprite:
    """A circle, square, triangle or star with a thin dark rim, turned by an angle (radians)."""
    canvas, centre = Canvas(2.2 * radius, 2.2 * radius, view), (1.1 * radius, 1.1 * radius)
    corners, inner = {"square": (4, math.cos(math.pi / 4)), "triangle": (3, 0.5), "star": (5, 0.42)}.get(name, (0, 0))
    for size, paint in ((radius, (40, 40, 44)), (0.9 * radius, colour)):
        if corners:
            canvas.polygon(turned(star_points(size, corners, inner), centre, angle), paint)
        else:
            canvas.disc(centre, size, paint)
    return canvas.sprite()


def facing(sprite: Sprite, right: bool) -> Sprite:
    """A sprite that looks the way it moves."""
    if right:
        return sprite
    return Sprite(np.ascontiguousarray(sprite.colours[:, ::-1]), np.ascontiguousarray(sprite.through[:, ::-1]))


def car(view: View, colour: Colour) -> Sprite:
    """A small car."""
    canvas = Canvas(0.46, 0.22, view)
    canvas.polygon([(0.09, 0.1), (0.15, 0.02), (0.29, 0.02), (0.36, 0.1)], colour)
    canvas.polygon([(0.12, 0.1), (0.16, 0.04), (0.21, 0.04), (0.21, 0.1)], _GLASS)
    canvas.polygon([(0.23, 0.1), (0.23, 0.04), (0.28, 0.04), (0.32, 0.1)], _GLASS)
    canvas.box(0.02, 0.09, 0.44, 0.17, colour).disc((0.43, 0.12), 0.015, PAINTS["yellow"])
    return _wheels(canvas, (0.11, 0.35), 0.17, 0.045).sprite()


def bus(view: View, colour: Colour) -> Sprite:
    """A bus with a row of windows."""
    canvas = Canvas(0.74, 0.34, view).box(0.02, 0.02, 0.72, 0.28, colour).box(0.02, 0.2, 0.72, 0.22, _WHITE)
    for k in range(5):
        canvas.box(0.06 + 0.13 * k, 0.06, 0.16 + 0.13 * k, 0.16, _GLASS)
    return _wheels(canvas, (0.16, 0.57), 0.28, 0.055).sprite()


def train(view: View, colour: Colour) -> Sprite:
    """An engine that pulls three wagons."""
    canvas = Canvas(1.5, 0.24, view)
    for k in range(3):
        canvas.box(0.02 + 0.37 * k, 0.05, 0.35 + 0.37 * k, 0.19, (150, 120, 84))
        canvas.box(0.35 + 0.37 * k, 0.16, 0.39 + 0.37 * k, 0.18, _TYRE)
        _wheels(canvas, (0.09 + 0.37 * k, 0.28 + 0.37 * k), 0.2, 0.035)
    canvas.box(1.14, 0.09, 1.47, 0.19, colour).box(1.14, 0.02, 1.27, 0.19, colour).box(1.17, 0.05, 1.24, 0.11, _GLASS)
    canvas.box(1.38, 0.02, 1.42, 0.09, _TYRE)
    return _wheels(canvas, (1.2, 1.31, 1.41), 0.2, 0.035).sprite()


def _wheels(canvas: Canvas, places: tuple[float, ...], height: float, radius: float) -> Canvas:
    for place in places:
        canvas.disc((place, height), radius, _TYRE).disc((place, height), radius * 0.45, (170, 172, 178))
    return canvas


def house(canvas: Canvas, left: float, bottom: float, wall: Colour) -> Canvas:
    """A house with a door, a window that is lit, a roof and a chimney."""
    canvas.box(left + 0.32, bottom - 0.5, left + 0.38, bottom - 0.3, (130, 70, 60))
    canvas.box(left, bottom - 0.28, left + 0.48, bottom, wall)
    canvas.polygon(
        [(left - 0.06, bottom - 0.28), (left + 0.24, bottom - 0.52), (left + 0.54, bottom - 0.28)], (156, 66, 52)
    )
    canvas.box(left + 0.06, bottom - 0.2, left + 0.2, bottom - 0.09, PAINTS["yellow"])
    canvas.box(left + 0.125, bottom - 0.2, left + 0.135, bottom - 0.09, _WOOD)
    return canvas.box(left + 0.3, bottom - 0.2, left + 0.42, bottom, _WOOD)


def fir(canvas: Canvas, x: float, bottom: float, height: float) -> Canvas:
    """A fir tree of three tiers."""
    canvas.box(x - 0.02, bottom - 0.1 * height, x + 0.02, bottom, _WOOD)
    for k in range(3):
        foot, wide = bottom - (0.08 + 0.26 * k) * height, (0.3 - 0.07 * k) * height
        canvas.polygon([(x - wide, foot), (x, foot - 0.42 * height), (x + wide, foot)], (28, 92 + 12 * k, 60))
    return canvas


def cloud(view: View, colour: Colour = _WHITE) -> Sprite:
    """A small cloud."""
    canvas = Canvas(0.5, 0.2, view)
    for x, y, radius in ((0.12, 0.13, 0.07), (0.22, 0.09, 0.08), (0.33, 0.11, 0.075), (0.4, 0.14, 0.055)):
        canvas.disc((x, y), radius, colour)
    return canvas.box(0.12, 0.14, 0.4, 0.2, colour).sprite()


def sun(view: View, radius: float) -> Sprite:
    """A sun with rays."""
    centre = (1.6 * radius, 1.6 * radius)
    canvas = Canvas(3.2 * radius, 3.2 * radius, view)
    canvas.polygon(turned(star_points(1.5 * radius, 16, 0.72), centre, 0), (255, 196, 70))
    return canvas.disc(centre, radius, (255, 222, 92)).sprite()


def ball(view: View, radius: float, colours: tuple[Colour, Colour], angle: float) -> Sprite:
    """A ball with a band across, so that one sees it turn."""
    centre = (1.05 * radius, 1.05 * radius)
    canvas = Canvas(2.1 * radius, 2.1 * radius, view).disc(centre, radius, colours[0])
    band = [
        (-0.97 * radius, -0.2 * radius),
        (0.97 * radius, -0.2 * radius),
        (0.97 * radius, 0.2 * radius),
        (-0.97 * radius, 0.2 * radius),
    ]
    return canvas.polygon(turned(band, centre, angle), colours[1]).sprite()


def boat(view: View, colour: Colour) -> Sprite:
    """A sailing boat."""
    canvas = Canvas(0.5, 0.56, view).box(0.235, 0.02, 0.25, 0.44, _WOOD)
    canvas.polygon([(0.26, 0.04), (0.26, 0.38), (0.45, 0.38)], _WHITE).polygon(
        [(0.225, 0.08), (0.225, 0.38), (0.08, 0.38)], colour
    )
    return canvas.polygon([(0.04, 0.43), (0.48, 0.43), (0.4, 0.54), (0.11, 0.54)], _WOOD).sprite()


def balloon(view: View, colour: Colour) -> Sprite:
    """A hot-air balloon with a basket."""
    canvas = Canvas(0.36, 0.54, view)
    for x in (0.125, 0.225):
        canvas.polygon(
            [(x, 0.3), (x + 0.01, 0.3), (0.18 + (x - 0.18) * 0.7, 0.48), (0.17 + (x - 0.18) * 0.7, 0.48)], _WOOD
        )
    canvas.disc((0.18, 0.19), 0.17, colour).polygon([(0.045, 0.29), (0.315, 0.29), (0.22, 0.4), (0.14, 0.4)], colour)
    return canvas.disc((0.18, 0.19), 0.06, _WHITE, flat=2.8).box(0.13, 0.45, 0.23, 0.53, (150, 104, 60)).sprite()


def rocket(view: View, flame: float) -> Sprite:
    """A rocket that points up, over a flame of a length."""
    canvas = Canvas(0.24, 0.7, view).polygon([(0.08, 0.42), (0.16, 0.42), (0.12, 0.42 + flame)], (255, 170, 50))
    canvas.polygon([(0.02, 0.44), (0.12, 0.26), (0.22, 0.44)], PAINTS["red"]).box(0.07, 0.14, 0.17, 0.43, _WHITE)
    return (
        canvas.polygon([(0.07, 0.14), (0.12, 0.02), (0.17, 0.14)], PAINTS["red"])
        .disc((0.12, 0.22), 0.032, _GLASS)
        .sprite()
    )


def fish(view: View, colour: Colour, tail: float) -> Sprite:
    """A fish; `tail` (-1..1) says how its tail is bent."""
    canvas = Canvas(0.4, 0.24, view)
    canvas.polygon([(0.12, 0.12), (0.02, 0.03 + 0.03 * tail), (0.05, 0.12), (0.02, 0.21 + 0.03 * tail)], colour)
    canvas.polygon([(0.18, 0.06), (0.28, 0.05), (0.2, 0.01)], colour).disc((0.23, 0.12), 0.14, colour, flat=0.55)
    return (
        canvas.box(0.235, 0.06, 0.255, 0.18, _WHITE)
        .disc((0.31, 0.1), 0.022, _WHITE)
        .disc((0.315, 0.1), 0.011, _TYRE)
        .sprite()
    )


def bird(view: View, colour: Colour, wing: float) -> Sprite:
    """A bird in flight; `wing` (-1 down .. 1 up) says where its wings are."""
    canvas = Canvas(0.36, 0.32, view).polygon([(0.1, 0.16), (0.02, 0.12), (0.02, 0.2)], colour)
    canvas.disc((0.18, 0.16), 0.1, colour, flat=0.42).disc((0.27, 0.14), 0.035, colour)
    canvas.polygon([(0.3, 0.13), (0.345, 0.145), (0.3, 0.155)], PAINTS["orange"]).disc((0.28, 0.13), 0.008, _TYRE)
    shade: Colour = tuple(round(0.75 * part) for part in colour)  # type: ignore[assignment]
    return canvas.polygon([(0.13, 0.15), (0.22, 0.15), (0.13, 0.15 - 0.13 * wing)], shade).sprite()


def butterfly(view: View, colour: Colour, spread: float) -> Sprite:
    """A butterfly with its wings more or less spread (0..1)."""
    canvas, width = Canvas(0.26, 0.22, view), 0.03 + 0.03 * spread
    for side in (-1, 1):
        canvas.disc((0.13 + side * width, 0.08), width, colour, flat=0.06 / width)
        canvas.disc((0.13 + side * width * 0.8, 0.15), width * 0.7, colour, flat=0.045 / (width * 0.7))
        canvas.disc((0.13 + side * width, 0.08), width * 0.35, _WHITE)
    return canvas.box(0.122, 0.05, 0.138, 0.19, _SKIN_LINE).sprite()


def flower(canvas: Canvas, x: float, bottom: float, height: float, colour: Colour) -> Canvas:
    """A flower on its stem."""
    canvas.box(x - 0.008, bottom - height, x + 0.008, bottom, (40, 120, 50))
    for k in range(6):
        angle = k * math.pi / 3
        canvas.disc((x + 0.045 * math.cos(angle), bottom - height + 0.045 * math.sin(angle)), 0.032, colour)
    return canvas.disc((x, bottom - height), 0.03, PAINTS["yellow"])
