"""Scenes of animals: a fish under water, a bird in the sky, a butterfly over flowers."""

from __future__ import annotations

import math
from random import Random

from vttdata.collect.demo_films import props
from vttdata.collect.demo_films.drawing import Actor, Canvas, Drawing, View, changing, falling, moving
from vttdata.collect.demo_films.motifs import Motif, across, pick_two, way, wordings
from vttdata.collect.demo_films.props import PAINTS, Mood


def swimming(random: Random, mood: Mood) -> Motif:  # noqa: ARG001
    """A fish swims under water among bubbles."""
    colour, right, seed = random.choice(("orange", "yellow", "red", "pink")), random.random() < 0.5, random.random()
    captions = wordings(
        random,
        (
            "{who} {does} {way} {where}",
            "{where}, {who} {does} {way}",
            "{who} {does} {where}",
            "{who} {does} among bubbles",
        ),
        who=(f"a {colour} fish", f"a {colour} fish with a white stripe", f"a lonely {colour} fish"),
        does=("swims", "is swimming", "glides"),
        way=way(right),
        where=("under water", "between water plants", "in the blue sea"),
    )

    def paint(view: View) -> Drawing:
        background = Canvas(view.aspect, 1, view).gradient((70, 170, 214), (16, 62, 122))
        background.below(lambda x: 0.9 + 0.03 * math.sin(4 * x + 6 * seed), (206, 184, 130))
        for k in range(5):
            x = (0.15 + 0.37 * k + seed) % view.aspect
            background.polygon(
                [(x, 0.95), (x - 0.03, 0.7), (x + 0.02, 0.5 + 0.03 * k), (x + 0.05, 0.95)], (40, 130, 84)
            )
        sprites = [props.facing(props.fish(view, PAINTS[colour], tail), right) for tail in (-1, 0, 1, 0)]
        straight = across(view, right, 0.46, 0.1)

        def path(seconds: float, part: float) -> tuple[float, float]:
            return straight(seconds, part)[0], 0.46 + 0.08 * math.sin(2.2 * seconds)

        bubbles = falling(view, Random(seed), count=26, speed=(0.02, -0.22), length=0.012, colour=(214, 240, 250))
        return Drawing(background.picture(), (bubbles, changing(sprites, path, 6)))

    return Motif(captions, paint)


def flying(random: Random, mood: Mood) -> Motif:
    """A bird flies across the sky past two clouds."""
    colour, right, hills = random.choice(("red", "white", "yellow", "blue")), random.random() < 0.5, random.random()
    captions = wordings(
        random,
        (
            "{who} {does} {way} {where} {light}",
            "{light}, {who} {does} {where}",
            "{who} {does} {where} {way}",
            "{who} {does} across the sky {light}",
        ),
        who=(f"a {colour} bird", f"a {colour} bird that flaps its wings"),
        does=("flies", "is flying", "passes"),
        where=("over the hills", "high above the meadow", "past two clouds"),
        way=way(right),
        light=mood.phrases,
    )

    def paint(view: View) -> Drawing:
        sprites = [
            props.facing(props.bird(view, PAINTS[colour], wing), right) for wing in (1, 0.4, -0.3, -0.9, -0.3, 0.4)
        ]
        straight, drift = across(view, right, 0.36, 0.1), 0.2 if right else -0.2

        def path(seconds: float, part: float) -> tuple[float, float]:
            return straight(seconds, part)[0], 0.36 + 0.06 * math.sin(3 * seconds)

        def cloud(k: int) -> Actor:
            return moving(props.cloud(view), lambda _, part: (0.45 + 0.85 * k - drift * part, 0.2 + 0.2 * k))

        return Drawing(
            props.landscape(view, mood, 0.82, hills).picture(), (cloud(0), cloud(1), changing(sprites, path, 12))
        )

    return Motif(captions, paint)


def fluttering(random: Random, mood: Mood) -> Motif:
    """A butterfly flutters over flowers."""
    colour, petals = pick_two(random, ("red", "pink", "purple", "orange", "white"))
    hills, turn = random.random(), random.uniform(0.8, 1.3)
    captions = wordings(
        random,
        (
            "{who} {does} {where} {light}",
            "{light}, {who} {does} {where}",
            "{who} {does} {where}",
            "{who} {does} over the flowers",
        ),
        who=(f"a {colour} butterfly", f"one {colour} butterfly"),
        does=("flutters", "flies around", "dances"),
        where=(f"above {petals} flowers", f"over a bed of {petals} flowers", f"among flowers with {petals} petals"),
        light=mood.phrases,
    )

    def paint(view: View) -> Drawing:
        background = props.landscape(view, mood, 0.6, hills)
        for k in range(7):
            props.flower(background, view.aspect * (k + 0.5) / 7, 0.97, 0.24 + 0.08 * (k * 3 % 4), PAINTS[petals])
        sprites = [props.butterfly(view, PAINTS[colour], spread) for spread in (1, 0.6, 0.2, 0.6)]

        def path(seconds: float, _: float) -> tuple[float, float]:
            x = view.aspect / 2 + 0.6 * math.sin(turn * seconds)
            return x, 0.42 + 0.14 * math.sin(2.3 * turn * seconds) + 0.02 * math.sin(19 * seconds)

        return Drawing(background.picture(), (changing(sprites, path, 10),))

    return Motif(captions, paint)
