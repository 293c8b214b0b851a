"""Scenes of weather: rain over a house, snow on fir trees, the sun that rises."""

from __future__ import annotations

from random import Random

from vttdata.collect.demo_films import props
from vttdata.collect.demo_films.drawing import Drawing, View, falling, moving
from vttdata.collect.demo_films.motifs import Motif, wordings
from vttdata.collect.demo_films.props import DAWN, DAY, GREY, NIGHT, PAINTS, Mood

_WALLS = ("white", "yellow", "pink", "orange", "blue")


def raining(random: Random, mood: Mood) -> Motif:  # noqa: ARG001
    """Rain falls over a house while a cloud drifts by; always under a grey sky."""
    light = GREY
    wall, left, seed = random.choice(_WALLS), random.uniform(0.2, 0.9), random.random()
    captions = wordings(
        random,
        (
            "{rain} {where} {light}",
            "{light}, {rain} {where}",
            "{rain} {where}",
            "a dark cloud passes while {rain} {where}",
        ),
        rain=("rain falls", "it rains", "heavy rain is falling", "rain pours down"),
        where=(f"over a {wall} house", f"on a {wall} house with a red roof", f"on the roof of a {wall} house"),
        light=light.phrases,
    )

    def paint(view: View) -> Drawing:
        background = props.house(props.landscape(view, light, 0.76, seed), left, 0.84, PAINTS[wall]).picture()
        rain = falling(view, Random(seed), count=140, speed=(0.25, 1.3), length=0.05, colour=(176, 200, 226))
        cloud = moving(props.cloud(view, (96, 102, 114)), lambda _, part: (0.2 + (view.aspect - 0.4) * part, 0.14))
        return Drawing(background, (cloud, rain))

    return Motif(captions, paint)


def snowing(random: Random, mood: Mood) -> Motif:
    """Snow falls on fir trees; at night where the sky would be blue or as grey as that of the rain."""
    light = NIGHT if mood in (DAY, GREY) else mood
    count, seed = random.choice((3, 4, 5)), random.random()
    number = {3: "three", 4: "four", 5: "five"}[count]
    captions = wordings(
        random,
        ("{snow} {where} {light}", "{light}, {snow} {where}", "{snow} {where}", "a winter scene: {snow} {where}"),
        snow=("snow falls", "it snows", "white flakes come down", "snowflakes are falling"),
        where=(f"on {number} fir trees", f"over a row of {number} trees", f"where {number} fir trees stand"),
        light=light.phrases,
    )

    def paint(view: View) -> Drawing:
        background = props.landscape(view, light, 0.72, seed).box(0, 0.76, view.aspect, 1, (232, 238, 246))
        for k in range(count):
            place = view.aspect * (k + 0.5) / count
            props.fir(background, place, 0.84 + 0.06 * ((k * 7) % 3 - 1), 0.5 + 0.12 * ((k * 5) % 3))
        flakes = [
            falling(view, Random(f"{seed}{speed}"), count=90, speed=(0.06, speed), length=0.012, colour=(250, 250, 254))
            for speed in (0.22, 0.34)
        ]
        return Drawing(background.picture(), tuple(flakes))

    return Motif(captions, paint)


def sunrise(random: Random, mood: Mood) -> Motif:
    """The sun rises behind the hills (never at night: there it would be no truth)."""
    light, hills, x = DAWN if mood.stars else mood, random.random(), random.uniform(0.5, 1.3)
    captions = wordings(
        random,
        (
            "{sun} {does} {where}",
            "{sun} {does} {where} while a cloud {drifts}",
            "{where}, {sun} {does}",
            "{sun} {does}",
        ),
        sun=("the sun", "a yellow sun", "a bright sun with rays"),
        does=("rises", "comes up", "climbs into the sky"),
        where=("behind the hills", "over the hills", "above a meadow"),
        drifts=("drifts by", "passes"),
    )

    def paint(view: View) -> Drawing:
        whole = props.landscape(view, light, 0.7, hills)
        sky = Drawing(whole.picture(), ())
        disc = moving(props.sun(view, 0.13), lambda _, part: (x, 0.72 - 0.5 * part))
        ground = moving(props.hills(view, light, 0.7, hills), lambda *_: (view.aspect / 2, 0.5))
        cloud = moving(props.cloud(view), lambda _, part: (view.aspect * (0.1 + 0.7 * part), 0.2))
        return Drawing(sky.background, (disc, ground, cloud))

    return Motif(captions, paint)
