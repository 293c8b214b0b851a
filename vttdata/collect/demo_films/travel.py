"""Scenes of travel: a boat on the waves, a hot-air balloon, a rocket that takes off."""

from __future__ import annotations

import math
from random import Random

from vttdata.collect.demo_films import props
from vttdata.collect.demo_films.drawing import Canvas, Drawing, View, changing, moving
from vttdata.collect.demo_films.motifs import Motif, across, way, wordings
from vttdata.collect.demo_films.props import PAINTS, Mood

_SEA = (38, 104, 168)


def sailing(random: Random, mood: Mood) -> Motif:
    """A sailing boat rocks over the waves."""
    colour, right = random.choice(("red", "orange", "green", "yellow")), random.random() < 0.5
    captions = wordings(
        random,
        (
            "{who} {does} {where} {way} {light}",
            "{light}, {who} {does} {way} {where}",
            "{who} {does} {where}",
            "{who} {does} {way} {light}",
        ),
        who=("a sailing boat", f"a boat with a {colour} sail", f"a boat with a white and a {colour} sail"),
        does=("sails", "moves", "rocks"),
        where=("over the waves", "on the sea", "across the water"),
        way=way(right),
        light=mood.phrases,
    )

    def paint(view: View) -> Drawing:
        background = Canvas(view.aspect, 1, view).gradient(*mood.sky).disc((0.35, 0.2), 0.09, (255, 238, 180))
        straight = across(view, right, 0.45, -0.2)

        def path(seconds: float, part: float) -> tuple[float, float]:
            return straight(seconds, part)[0], 0.47 + 0.025 * math.sin(2.5 * seconds)

        waves = Canvas(view.aspect + 0.8, 0.4, view).below(
            lambda x: 0.05 + 0.03 * math.sin(2 * math.pi * x / 0.4), _SEA
        )
        sea = moving(waves.sprite(), lambda seconds, _: (view.aspect / 2 + seconds * 0.12 % 0.4 - 0.2, 0.83))
        boat = moving(props.facing(props.boat(view, PAINTS[colour]), right), path)
        return Drawing(background.picture(), (boat, sea))

    return Motif(captions, paint)


def ballooning(random: Random, mood: Mood) -> Motif:
    """A hot-air balloon rises over a landscape."""
    colour, hills, x = random.choice(("red", "yellow", "purple", "green", "blue")), random.random(), random.random()
    captions = wordings(
        random,
        (
            "{who} {does} {where} {light}",
            "{light}, {who} {does} {where}",
            "{who} {does} {where}",
            "{light}, {who} {does}",
        ),
        who=(f"a {colour} hot-air balloon", f"a {colour} balloon with a basket", f"a large {colour} balloon"),
        does=("rises", "floats up", "climbs slowly"),
        where=("over the hills", "into the sky", "above the landscape"),
        light=mood.phrases,
    )

    def paint(view: View) -> Drawing:
        start = 0.4 + x * (view.aspect - 0.9)
        balloon = moving(props.balloon(view, PAINTS[colour]), lambda _, part: (start + 0.15 * part, 0.74 - 0.5 * part))
        cloud = moving(props.cloud(view), lambda _, part: (view.aspect * (0.8 - 0.4 * part), 0.3))
        return Drawing(props.landscape(view, mood, 0.86, hills).picture(), (cloud, balloon))

    return Motif(captions, paint)


def launching(random: Random, mood: Mood) -> Motif:
    """A rocket takes off and leaves the picture."""
    hills, x = random.random(), random.uniform(0.5, 1.2)
    captions = wordings(
        random,
        (
            "{who} {does} {where} {light}",
            "{light}, {who} {does} {where}",
            "{who} {does} {where}",
            "{light}, {who} {does}",
        ),
        who=("a rocket", "a white rocket with a red tip", "a white and red rocket"),
        does=("takes off", "lifts off", "flies up"),
        where=("from a meadow", "with a flame below it", "into the sky"),
        light=mood.phrases,
    )

    def paint(view: View) -> Drawing:
        sprites = [props.rocket(view, flame) for flame in (0.2, 0.26, 0.16, 0.24)]

        def path(_: float, part: float) -> tuple[float, float]:
            return x, 0.6 - 1.1 * max(part - 0.1, 0) ** 1.6

        cloud = moving(props.cloud(view), lambda _, part: (view.aspect * (0.2 + 0.2 * part), 0.2))
        return Drawing(props.landscape(view, mood, 0.84, hills).picture(), (cloud, changing(sprites, path, 12)))

    return Motif(captions, paint)
