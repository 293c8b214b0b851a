"""Scenes of sports: a ball that bounces on grass, a basketball thrown into a basket, tennis over a net."""

from __future__ import annotations

import math
from random import Random

from vttdata.collect.demo_films import props
from vttdata.collect.demo_films.drawing import Canvas, Colour, Drawing, Sprite, View, changing, moving
from vttdata.collect.demo_films.motifs import Motif, pick_two, way, wordings
from vttdata.collect.demo_films.props import PAINTS, Mood

_TURN = 12  # pictures of one whole turn


def bouncing_ball(random: Random, mood: Mood) -> Motif:
    """A ball bounces over a meadow."""
    first, second = pick_two(random, ("red", "yellow", "blue", "white", "purple", "pink"))
    right, hills, beat = random.random() < 0.5, random.random(), random.uniform(0.9, 1.2)
    captions = wordings(
        random,
        (
            "{who} {does} {where} {way} {light}",
            "{light}, {who} {does} {where}",
            "{who} {does} {way} {where}",
            "{who} {does} on the grass {light}",
        ),
        who=(f"a {first} ball", f"a {first} ball with a {second} band", f"a {first} and {second} ball"),
        does=("bounces", "hops", "keeps bouncing"),
        where=("over a meadow", "across the field"),
        way=way(right),
        light=mood.phrases,
    )

    def paint(view: View) -> Drawing:
        def path(seconds: float, part: float) -> tuple[float, float]:
            phase = seconds / beat % 1
            return view.aspect * (part if right else 1 - part), 0.84 - 2.2 * phase * (1 - phase)

        sprites = _spinning(view, 0.1, (PAINTS[first], PAINTS[second]), right)
        return Drawing(props.landscape(view, mood, 0.72, hills).picture(), (changing(sprites, path, 12),))

    return Motif(captions, paint)


def basketball(random: Random, mood: Mood) -> Motif:
    """A basketball flies into a basket, again and again."""
    right, hills, beat = random.random() < 0.5, random.random(), random.uniform(1.6, 2.2)
    captions = wordings(
        random,
        (
            "{who} {does} {where} {light}",
            "{light}, {who} {does} {where}",
            "{who} {does} {where}",
            "{who} {does} {where} again and again",
        ),
        who=("a basketball", "an orange ball", "an orange basketball"),
        does=("flies", "is thrown", "drops"),
        where=("into a basket", "through a hoop", f"into the basket on the {'right' if right else 'left'}"),
        light=mood.phrases,
    )

    def paint(view: View) -> Drawing:
        hoop = view.aspect - 0.34 if right else 0.34
        away = -1 if right else 1

        def path(seconds: float, _: float) -> tuple[float, float]:
            phase = seconds / beat % 1
            flight, fall = min(phase / 0.7, 1), max(phase - 0.7, 0) / 0.3
            x = hoop + away * (1 - flight) * (view.aspect - 0.8)
            return x, 0.8 - 0.42 * flight - 1.1 * flight * (1 - flight) + 0.48 * fall

        background = props.landscape(view, mood, 0.8, hills).box(
            hoop - away * 0.16 - 0.015, 0.2, hoop - away * 0.16 + 0.015, 0.9, (90, 92, 98)
        )
        background.box(hoop - away * 0.14 - 0.015, 0.12, hoop - away * 0.14 + 0.015, 0.44, PAINTS["white"])
        net = moving(_net(view), lambda *_: (hoop, 0.46))
        ball = changing(_spinning(view, 0.075, (PAINTS["orange"], (150, 70, 24)), not right), path, 10)
        return Drawing(background.picture(), (ball, net))

    return Motif(captions, paint)


def tennis(random: Random, mood: Mood) -> Motif:  # noqa: ARG001
    """A tennis ball flies back and forth over a net."""
    court, beat = random.choice(("green", "blue", "orange")), random.uniform(0.9, 1.3)
    captions = wordings(
        random,
        (
            "{who} {does} {how} {where}",
            "{where}, {who} {does} {how}",
            "{who} {does} {how}",
            "tennis {where}: {who} {does} {how}",
        ),
        who=("a tennis ball", "a yellow ball", "a small yellow tennis ball"),
        does=("flies", "is hit", "goes"),
        how=("back and forth over the net", "over the net from one side to the other and back"),
        where=(f"on a {court} court", f"on a {court} tennis court"),
    )

    def paint(view: View) -> Drawing:
        def path(seconds: float, _: float) -> tuple[float, float]:
            swing = math.cos(math.pi * seconds / beat)
            return view.aspect / 2 + 0.7 * swing, 0.3 + 0.24 * swing * swing

        return Drawing(
            _court(view, PAINTS[court]).picture(),
            (changing(_spinning(view, 0.06, (PAINTS["yellow"], PAINTS["white"]), True), path, 10),),
        )

    return Motif(captions, paint)


def _spinning(view: View, radius: float, colours: tuple[Colour, Colour], right: bool) -> list[Sprite]:
    turn = 2 * math.pi / _TURN * (1 if right else -1)
    return [props.ball(view, radius, colours, turn * k) for k in range(_TURN)]


def _net(view: View) -> Sprite:
    canvas = Canvas(0.26, 0.2, view).box(0.01, 0.01, 0.25, 0.035, PAINTS["red"])
    for k in range(6):
        x = 0.02 + 0.042 * k
        canvas.polygon(
            [(x, 0.035), (x + 0.01, 0.035), (0.13 + (x - 0.12) * 0.6, 0.19), (0.12 + (x - 0.12) * 0.6, 0.19)],
            PAINTS["white"],
        )
    return canvas.sprite()


def _court(view: View, colour: Colour) -> Canvas:
    canvas = Canvas(view.aspect, 1, view).gradient((70, 96, 84), (120, 150, 130)).box(0, 0.5, view.aspect, 1, colour)
    middle, white = view.aspect / 2, PAINTS["white"]
    canvas.polygon([(0.12, 0.94), (0.3, 0.56), (view.aspect - 0.3, 0.56), (view.aspect - 0.12, 0.94)], white)
    canvas.polygon([(0.16, 0.92), (0.325, 0.575), (view.aspect - 0.325, 0.575), (view.aspect - 0.16, 0.92)], colour)
    canvas.box(middle - 0.02, 0.4, middle + 0.02, 1, (60, 62, 66))
    for k in range(9):
        canvas.box(middle - 0.02, 0.42 + 0.065 * k, middle + 0.02, 0.435 + 0.065 * k, white)
    return canvas.box(middle - 0.03, 0.38, middle + 0.03, 0.41, white)
