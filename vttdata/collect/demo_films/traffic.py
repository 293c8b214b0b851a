"""Scenes of traffic: a car on a road, a bus that meets a car, a train on a bridge."""

from __future__ import annotations

from random import Random

from vttdata.collect.demo_films import props
from vttdata.collect.demo_films.drawing import Canvas, Drawing, View, moving
from vttdata.collect.demo_films.motifs import Motif, across, pick_two, way, wordings
from vttdata.collect.demo_films.props import PAINTS, Mood

_BODIES = ("red", "yellow", "blue", "white", "orange")


def driving(random: Random, mood: Mood) -> Motif:
    """A car drives along a road past hills."""
    colour, right, hills = random.choice(_BODIES), random.random() < 0.5, random.random()
    captions = wordings(
        random,
        (
            "{who} {does} {way} {where} {light}",
            "{light}, {who} {does} {where}",
            "{who} {does} {way} {where}",
            "{who} on its way {light}",
        ),
        who=(f"a {colour} car", f"a small {colour} car"),
        does=("drives", "rolls", "is driving"),
        way=way(right),
        where=("along a road", "on a country road", "past green trees" if not mood.stars else "past dark hills"),
        light=mood.phrases,
    )

    def paint(view: View) -> Drawing:
        background = _road(props.landscape(view, mood, 0.62, hills), view)
        for k in range(4):
            props.fir(background, (0.2 + 0.45 * k + 0.2 * hills) % view.aspect, 0.7, 0.34)
        sprite = props.facing(props.car(view, PAINTS[colour]), right)
        cloud = moving(props.cloud(view), lambda _, part: (0.3 + 0.15 * part, 0.16))
        return Drawing(background.picture(), (cloud, moving(sprite, across(view, right, 0.81, 0.1))))

    return Motif(captions, paint)


def meeting(random: Random, mood: Mood) -> Motif:
    """A bus and a car drive in opposite directions."""
    first, second = pick_two(random, _BODIES)
    right, hills = random.random() < 0.5, random.random()
    captions = wordings(
        random,
        (
            "{pair} {do} {where} {light}",
            "{light}, {pair} {do} {where}",
            "{pair} {do}",
            "two vehicles, {pair}, {do} {where}",
        ),
        pair=(f"a {first} bus and a {second} car", f"a {second} car and a {first} bus"),
        do=("pass each other", "meet", "drive past each other"),
        where=("on a road", "on a wide street"),
        light=mood.phrases,
    )

    def paint(view: View) -> Drawing:
        background = _road(props.landscape(view, mood, 0.6, hills), view).picture()
        bus = props.facing(props.bus(view, PAINTS[first]), right)
        car = props.facing(props.car(view, PAINTS[second]), not right)
        far = moving(bus, across(view, right, 0.68, 0.2))
        return Drawing(background, (far, moving(car, across(view, not right, 0.86, 0.1))))

    return Motif(captions, paint)


def crossing_bridge(random: Random, mood: Mood) -> Motif:
    """A train crosses a bridge over a river."""
    colour, right, hills = random.choice(_BODIES), random.random() < 0.5, random.random()
    captions = wordings(
        random,
        (
            "{who} {does} {where} {way} {light}",
            "{light}, {who} {does} {where}",
            "{who} {does} {where}",
            "{who} on {where}",
        ),
        who=(f"a train with a {colour} engine", f"a {colour} engine with three wagons", "a train with three wagons"),
        does=("crosses", "rolls over", "goes over"),
        where=("a bridge", "a stone bridge above the water"),
        way=way(right),
        light=mood.phrases,
    )

    def paint(view: View) -> Drawing:
        background = props.landscape(view, mood, 0.6, hills)
        background.box(0, 0.84, view.aspect, 1, (52, 110, 170)).box(0, 0.62, view.aspect, 0.68, (150, 140, 130))
        for k in range(6):
            background.box(0.15 + 0.34 * k, 0.68, 0.22 + 0.34 * k, 0.9, (136, 126, 118))
        sprite = props.facing(props.train(view, PAINTS[colour]), right)
        return Drawing(background.picture(), (moving(sprite, across(view, right, 0.505, 0.4)),))

    return Motif(captions, paint)


def _road(canvas: Canvas, view: View) -> Canvas:
    canvas.box(0, 0.72, view.aspect, 0.98, (74, 76, 82))
    for k in range(8):
        canvas.box(0.06 + 0.28 * k, 0.84, 0.2 + 0.28 * k, 0.86, (236, 236, 226))
    return canvas
