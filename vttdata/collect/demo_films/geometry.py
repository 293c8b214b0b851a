"""Scenes of shapes: one crosses the picture, one bounces, two circle around each other."""

from __future__ import annotations

import math
from random import Random

from vttdata.collect.demo_films import props
from vttdata.collect.demo_films.drawing import Drawing, View, changing, moving
from vttdata.collect.demo_films.motifs import Motif, across, reflected, way, wordings
from vttdata.collect.demo_films.props import MOODS, PAINTS, Mood

_TURN = 16  # pictures of one whole turn
_BACKDROPS = (("blue", "green"), ("orange", "red"), ("purple",), ("white",), ("pink", "yellow"))  # for each light


def crossing(random: Random, mood: Mood) -> Motif:
    """A shape spins across the picture."""
    name, right = random.choice(("square", "triangle", "star")), random.random() < 0.5
    colour, backdrop = _colours(random, mood)
    captions = wordings(
        random,
        ("{who} {does} {way} {where}", "{where}, {who} {does} {way}", "{who} {does} {way}", "there is {who} {where}"),
        who=(f"a {colour} {name}", f"a spinning {colour} {name}", f"a {colour} {name} that turns"),
        does=("moves", "travels", "rolls"),
        way=way(right),
        where=(f"over a {backdrop} background", f"in front of a {backdrop} wall with stripes"),
    )

    def paint(view: View) -> Drawing:
        angles = [2 * math.pi * k / _TURN * (1 if right else -1) for k in range(_TURN)]
        sprites = [props.shape(view, name, 0.2, PAINTS[colour], angle) for angle in angles]
        path = across(view, right, 0.5, 0.1)
        return Drawing(props.striped(view, PAINTS[backdrop]).picture(), (changing(sprites, path, 8),))

    return Motif(captions, paint)


def bouncing(random: Random, mood: Mood) -> Motif:
    """A shape bounces off the edges of the picture."""
    name = random.choice(("circle", "square", "star"))
    colour, backdrop = _colours(random, mood)
    speed = (random.uniform(0.5, 0.9), random.uniform(0.4, 0.7))
    captions = wordings(
        random,
        (
            "{who} {does} off the {edges} {where}",
            "{where}, {who} {does}",
            "{who} {does} off the {edges}",
            "{who} in motion {where}",
        ),
        who=(f"a {colour} {name}", f"a small {colour} {name}", f"a {name} that is {colour}"),
        does=("bounces", "bounces again and again", "jumps around and bounces"),
        edges=("edges", "sides of the picture"),
        where=(f"on a {backdrop} background", f"in front of a {backdrop} wall"),
    )

    def paint(view: View) -> Drawing:
        def path(seconds: float, _: float) -> tuple[float, float]:
            x = reflected(0.3 + speed[0] * seconds, 0.14, view.aspect - 0.14)
            return x, reflected(0.2 + speed[1] * seconds, 0.14, 0.86)

        sprite = props.shape(view, name, 0.14, PAINTS[colour])
        return Drawing(props.striped(view, PAINTS[backdrop]).picture(), (moving(sprite, path),))

    return Motif(captions, paint)


def circling(random: Random, mood: Mood) -> Motif:
    """Two shapes circle around each other."""
    names = tuple(random.sample(("circle", "square", "triangle", "star"), 2))
    first, backdrop = _colours(random, mood)
    second = random.choice([name for name in PAINTS if name not in (first, backdrop)])
    speed = random.choice((-1, 1)) * random.uniform(1.2, 2.0)
    captions = wordings(
        random,
        ("{pair} {do} {where}", "{where}, {pair} {do}", "{pair} {do}", "two shapes, {pair}, {do}"),
        pair=(f"a {first} {names[0]} and a {second} {names[1]}", f"a {second} {names[1]} and a {first} {names[0]}"),
        do=("circle around each other", "go round and round", "dance around each other in circles"),
        where=(f"on a {backdrop} background", f"in front of a {backdrop} wall with stripes"),
    )

    def paint(view: View) -> Drawing:
        def circle(turn: float, seconds: float) -> tuple[float, float]:
            angle = speed * seconds + turn
            return view.aspect / 2 + 0.34 * math.cos(angle), 0.5 + 0.28 * math.sin(angle)

        left = moving(props.shape(view, names[0], 0.15, PAINTS[first]), lambda seconds, _: circle(0, seconds))
        right = moving(props.shape(view, names[1], 0.15, PAINTS[second]), lambda seconds, _: circle(math.pi, seconds))
        return Drawing(props.striped(view, PAINTS[backdrop]).picture(), (left, right))

    return Motif(captions, paint)


def _colours(random: Random, mood: Mood) -> tuple[str, str]:
    backdrop = random.choice(_BACKDROPS[MOODS.index(mood)])
    return random.choice([name for name in PAINTS if name != backdrop]), backdrop
