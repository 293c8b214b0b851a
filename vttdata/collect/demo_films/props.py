"""Sprites and backgrounds of the generated scenes: skies, hills, houses, trees, vehicles, animals, balls.

Each sprite faces right. All lengths are in frame heights.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from vttdata.collect.demo_films.drawing import Canvas, Sprite, View, darken, rgb, turn

_SNOW_WHITE, _TYRE, _GLASS, _WOOD = "#f6f7fa", "#222226", "#c4e2f0", "#704c2e"


@dataclass(frozen=True, slots=True)
class Light:
    """Sky and ground of an outdoor shot, and phrases that describe them."""

    phrases: tuple[str, ...]
    sky: tuple[str, str]
    far: str
    ground: str
    stars: bool = False


# Five lights that differ clearly in colour, so that a change of light is a visible change of shot.
DAY = Light(("on a clear day", "under a blue sky", "in bright daylight"), ("#56a4ec", "#cee8fa"), "#78b082", "#5cac4e")
SUNSET = Light(("at sunset", "in the evening", "under an orange sky"), ("#783e78", "#fc9e54"), "#6e4660", "#56543c")
NIGHT = Light(
    ("at night", "under the stars", "in the dark of the night"),
    ("#161e4c", "#3a4682"),
    "#283258",
    "#243c3e",
    stars=True,
)
GREY = Light(("on a grey day", "under a grey sky", "in dull weather"), ("#808892", "#c8ccd0"), "#86928c", "#6a805c")
DAWN = Light(("at dawn", "under a pink sky", "early in the morning"), ("#d696be", "#ffe0c4"), "#b28ca8", "#7a9e6c")
LIGHTS = (DAY, SUNSET, NIGHT, GREY, DAWN)


def background(view: View) -> Canvas:
    """Return an empty canvas of the size of a frame."""
    return Canvas(view.aspect, 1, view)


def landscape(view: View, light: Light, horizon: float, phase: float) -> Canvas:
    """Draw a sky with two rows of hills and ground below `horizon`; `phase` (0..1) shifts the hills."""
    canvas = background(view).gradient(*light.sky)
    for k in range(50 if light.stars else 0):
        star = ((k * 0.7549 + phase) % 1 * view.aspect, (k * 0.5698 + phase) % 1 * horizon)
        canvas.disc(star, 0.004 + 0.003 * (k % 3), _SNOW_WHITE)
    return hills(canvas, view, light, horizon, phase)


def hills(canvas: Canvas, view: View, light: Light, horizon: float, phase: float) -> Canvas:
    """Draw the hills and the ground of a landscape without its sky."""
    waves = 3.0 + 2.0 * phase
    near = bytes((a + b) // 2 for a, b in zip(rgb(light.far), rgb(light.ground), strict=True)).hex()
    canvas.below(lambda x: horizon - 0.12 - 0.07 * math.sin(waves * x + 9 * phase), light.far)
    canvas.below(lambda x: horizon - 0.03 - 0.05 * math.sin(2 * waves * x + 5 * phase), f"#{near}")
    return canvas.box(0, horizon, view.aspect, 1, light.ground)


def stripes(view: View, colour: str) -> Canvas:
    """Draw slanted stripes of two shades of a colour."""
    canvas = background(view).box(0, 0, view.aspect, 1, colour)
    for k in range(-5, math.ceil(view.aspect / 0.2) + 1, 2):
        left = k * 0.2
        canvas.polygon(darken(colour, 0.9), (left, 1), (left + 0.2, 1), (left + 1.2, 0), (left + 1, 0))
    return canvas


def shape(view: View, name: str, radius: float, colour: str, angle: float = 0.0) -> Sprite:
    """Draw a circle, square, triangle or star with a thin dark rim, turned by an angle (radians)."""
    canvas, centre = Canvas(2.2 * radius, 2.2 * radius, view), (1.1 * radius, 1.1 * radius)
    tips, inner = {"square": (4, math.cos(math.pi / 4)), "triangle": (3, 0.5), "star": (5, 0.42)}.get(name, (0, 0))
    for size, paint in ((radius, "#28282c"), (0.9 * radius, colour)):
        if tips:
            canvas.star(centre, size, tips, inner, paint, angle)
        else:
            canvas.disc(centre, size, paint)
    return canvas.sprite()


def wheels(canvas: Canvas, xs: tuple[float, ...], y: float, radius: float) -> Canvas:
    """Draw wheels beside each other."""
    for x in xs:
        canvas.disc((x, y), radius, _TYRE).disc((x, y), radius * 0.45, "#aaacb2")
    return canvas


def car(view: View, colour: str) -> Sprite:
    """Draw a small car."""
    canvas = Canvas(0.46, 0.22, view).polygon(colour, (0.09, 0.1), (0.15, 0.02), (0.29, 0.02), (0.36, 0.1))
    canvas.polygon(_GLASS, (0.12, 0.1), (0.16, 0.04), (0.21, 0.04), (0.21, 0.1))
    canvas.polygon(_GLASS, (0.23, 0.1), (0.23, 0.04), (0.28, 0.04), (0.32, 0.1))
    canvas.box(0.02, 0.09, 0.44, 0.17, colour).disc((0.43, 0.12), 0.015, "yellow")
    return wheels(canvas, (0.11, 0.35), 0.17, 0.045).sprite()


def bus(view: View, colour: str) -> Sprite:
    """Draw a bus with a row of windows."""
    canvas = Canvas(0.74, 0.34, view).box(0.02, 0.02, 0.72, 0.28, colour).box(0.02, 0.2, 0.72, 0.22, _SNOW_WHITE)
    for k in range(5):
        canvas.box(0.06 + 0.13 * k, 0.06, 0.16 + 0.13 * k, 0.16, _GLASS)
    return wheels(canvas, (0.16, 0.57), 0.28, 0.055).sprite()


def train(view: View, colour: str) -> Sprite:
    """Draw an engine that pulls three wagons."""
    canvas = Canvas(1.5, 0.24, view)
    for k in range(3):
        canvas.box(0.02 + 0.37 * k, 0.05, 0.35 + 0.37 * k, 0.19, "#967854")
        canvas.box(0.35 + 0.37 * k, 0.16, 0.39 + 0.37 * k, 0.18, _TYRE)
        wheels(canvas, (0.09 + 0.37 * k, 0.28 + 0.37 * k), 0.2, 0.035)
    canvas.box(1.14, 0.09, 1.47, 0.19, colour).box(1.14, 0.02, 1.27, 0.19, colour)
    canvas.box(1.17, 0.05, 1.24, 0.11, _GLASS).box(1.38, 0.02, 1.42, 0.09, _TYRE)
    return wheels(canvas, (1.2, 1.31, 1.41), 0.2, 0.035).sprite()


def road(canvas: Canvas, view: View) -> Canvas:
    """Draw a road with a dashed line."""
    canvas.box(0, 0.72, view.aspect, 0.98, "#4a4c52")
    for k in range(8):
        canvas.box(0.06 + 0.28 * k, 0.84, 0.2 + 0.28 * k, 0.86, "#ecece2")
    return canvas


def house(canvas: Canvas, left: float, bottom: float, wall: str) -> Canvas:
    """Draw a house with a door, a lit window, a roof and a chimney."""
    eaves = bottom - 0.28
    canvas.box(left + 0.32, bottom - 0.5, left + 0.38, bottom - 0.3, "#82463c")
    canvas.box(left, eaves, left + 0.48, bottom, wall)
    canvas.polygon("#9c4234", (left - 0.06, eaves), (left + 0.24, bottom - 0.52), (left + 0.54, eaves))
    canvas.box(left + 0.06, bottom - 0.2, left + 0.2, bottom - 0.09, "yellow")
    canvas.box(left + 0.125, bottom - 0.2, left + 0.135, bottom - 0.09, _WOOD)
    return canvas.box(left + 0.3, bottom - 0.2, left + 0.42, bottom, _WOOD)


def fir(canvas: Canvas, x: float, bottom: float, height: float) -> Canvas:
    """Draw a fir tree of three tiers."""
    canvas.box(x - 0.02, bottom - 0.1 * height, x + 0.02, bottom, _WOOD)
    for k, green in enumerate(("#1c5c3c", "#1c683c", "#1c743c")):
        foot, half = bottom - (0.08 + 0.26 * k) * height, (0.3 - 0.07 * k) * height
        canvas.polygon(green, (x - half, foot), (x, foot - 0.42 * height), (x + half, foot))
    return canvas


def flower(canvas: Canvas, x: float, bottom: float, height: float, colour: str) -> Canvas:
    """Draw a flower on its stem."""
    y = bottom - height
    canvas.box(x - 0.008, y, x + 0.008, bottom, "#287832")
    for angle in (k * math.pi / 3 for k in range(6)):
        canvas.disc((x + 0.045 * math.cos(angle), y + 0.045 * math.sin(angle)), 0.032, colour)
    return canvas.disc((x, y), 0.03, "yellow")


def cloud(view: View, colour: str = _SNOW_WHITE) -> Sprite:
    """Draw a small cloud."""
    canvas = Canvas(0.5, 0.2, view).box(0.12, 0.14, 0.4, 0.2, colour)
    for x, y, radius in ((0.12, 0.13, 0.07), (0.22, 0.09, 0.08), (0.33, 0.11, 0.075), (0.4, 0.14, 0.055)):
        canvas.disc((x, y), radius, colour)
    return canvas.sprite()


def sun(view: View, radius: float) -> Sprite:
    """Draw a sun with rays."""
    canvas, centre = Canvas(3.2 * radius, 3.2 * radius, view), (1.6 * radius, 1.6 * radius)
    return canvas.star(centre, 1.5 * radius, 16, 0.72, "#ffc446").disc(centre, radius, "#ffde5c").sprite()


def ball(view: View, radius: float, colour: str, band: str, angle: float) -> Sprite:
    """Draw a ball with a band across, which makes its rotation visible."""
    canvas, centre = Canvas(2.1 * radius, 2.1 * radius, view), (1.05 * radius, 1.05 * radius)
    corners = [(0.97 * x * radius, 0.2 * y * radius) for x, y in ((-1, -1), (1, -1), (1, 1), (-1, 1))]
    return canvas.disc(centre, radius, colour).polygon(band, *turn(corners, centre, angle)).sprite()


def net(view: View) -> Sprite:
    """Draw the ring and net of a basket."""
    canvas = Canvas(0.26, 0.2, view).box(0.01, 0.01, 0.25, 0.035, "red")
    for x in (0.02 + 0.042 * k for k in range(6)):
        left, right = 0.12 + (x - 0.12) * 0.6, 0.13 + (x - 0.12) * 0.6
        canvas.polygon("white", (x, 0.035), (x + 0.01, 0.035), (right, 0.19), (left, 0.19))
    return canvas.sprite()


def tennis_court(view: View, colour: str) -> Canvas:
    """Draw a tennis court seen from above one end of its net."""
    right, middle = view.aspect, view.aspect / 2
    canvas = background(view).gradient("#466054", "#789682").box(0, 0.5, right, 1, colour)
    canvas.polygon("white", (0.12, 0.94), (0.3, 0.56), (right - 0.3, 0.56), (right - 0.12, 0.94))
    canvas.polygon(colour, (0.16, 0.92), (0.325, 0.575), (right - 0.325, 0.575), (right - 0.16, 0.92))
    canvas.box(middle - 0.02, 0.4, middle + 0.02, 1, "#3c3e42")
    for k in range(9):
        canvas.box(middle - 0.02, 0.42 + 0.065 * k, middle + 0.02, 0.435 + 0.065 * k, "white")
    return canvas.box(middle - 0.03, 0.38, middle + 0.03, 0.41, "white")


def boat(view: View, colour: str) -> Sprite:
    """Draw a sailing boat."""
    canvas = Canvas(0.5, 0.56, view).box(0.235, 0.02, 0.25, 0.44, _WOOD)
    canvas.polygon(_SNOW_WHITE, (0.26, 0.04), (0.26, 0.38), (0.45, 0.38))
    canvas.polygon(colour, (0.225, 0.08), (0.225, 0.38), (0.08, 0.38))
    return canvas.polygon(_WOOD, (0.04, 0.43), (0.48, 0.43), (0.4, 0.54), (0.11, 0.54)).sprite()


def balloon(view: View, colour: str) -> Sprite:
    """Draw a hot-air balloon with a basket."""
    canvas = Canvas(0.36, 0.54, view)
    for x in (0.125, 0.225):
        foot = (x - 0.18) * 0.7
        canvas.polygon(_WOOD, (x, 0.3), (x + 0.01, 0.3), (0.18 + foot, 0.48), (0.17 + foot, 0.48))
    canvas.disc((0.18, 0.19), 0.17, colour).polygon(colour, (0.045, 0.29), (0.315, 0.29), (0.22, 0.4), (0.14, 0.4))
    return canvas.disc((0.18, 0.19), 0.06, _SNOW_WHITE, flatness=2.8).box(0.13, 0.45, 0.23, 0.53, "#96683c").sprite()


def rocket(view: View, flame: float) -> Sprite:
    """Draw a rocket that points up, over a flame of a length."""
    canvas = Canvas(0.24, 0.7, view).polygon("#ffaa32", (0.08, 0.42), (0.16, 0.42), (0.12, 0.42 + flame))
    canvas.polygon("red", (0.02, 0.44), (0.12, 0.26), (0.22, 0.44)).box(0.07, 0.14, 0.17, 0.43, _SNOW_WHITE)
    return canvas.polygon("red", (0.07, 0.14), (0.12, 0.02), (0.17, 0.14)).disc((0.12, 0.22), 0.032, _GLASS).sprite()


def fish(view: View, colour: str, tail: float) -> Sprite:
    """Draw a fish whose tail is bent by `tail` (-1..1)."""
    bend, canvas = 0.03 * tail, Canvas(0.4, 0.24, view)
    canvas.polygon(colour, (0.12, 0.12), (0.02, 0.03 + bend), (0.05, 0.12), (0.02, 0.21 + bend))
    canvas.polygon(colour, (0.18, 0.06), (0.28, 0.05), (0.2, 0.01)).disc((0.23, 0.12), 0.14, colour, flatness=0.55)
    canvas.box(0.235, 0.06, 0.255, 0.18, _SNOW_WHITE)
    return canvas.disc((0.31, 0.1), 0.022, _SNOW_WHITE).disc((0.315, 0.1), 0.011, _TYRE).sprite()


def bird(view: View, colour: str, wing: float) -> Sprite:
    """Draw a bird in flight with its wings at `wing` (-1 down .. 1 up)."""
    canvas = Canvas(0.36, 0.32, view).polygon(colour, (0.1, 0.16), (0.02, 0.12), (0.02, 0.2))
    canvas.disc((0.18, 0.16), 0.1, colour, flatness=0.42).disc((0.27, 0.14), 0.035, colour)
    canvas.polygon("orange", (0.3, 0.13), (0.345, 0.145), (0.3, 0.155)).disc((0.28, 0.13), 0.008, _TYRE)
    return canvas.polygon(darken(colour, 0.75), (0.13, 0.15), (0.22, 0.15), (0.13, 0.15 - 0.13 * wing)).sprite()


def butterfly(view: View, colour: str, spread: float) -> Sprite:
    """Draw a butterfly with its wings spread by `spread` (0..1)."""
    canvas, width = Canvas(0.26, 0.22, view), 0.03 + 0.03 * spread
    for side in (-width, width):
        canvas.disc((0.13 + side, 0.08), width, colour, flatness=0.06 / width)
        canvas.disc((0.13 + side * 0.8, 0.15), width * 0.7, colour, flatness=0.045 / (width * 0.7))
        canvas.disc((0.13 + side, 0.08), width * 0.35, _SNOW_WHITE)
    return canvas.box(0.122, 0.05, 0.138, 0.19, "#3c281e").sprite()
