"""Motifs of the generated films: what one shot shows, chosen completely, captions included, before it is drawn.

`choose_motif` can therefore be used for captions alone. Captions mention only what is drawn.
"""

from __future__ import annotations

import functools
import itertools
import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random

from vttdata.collect.demo_films import drawing, props
from vttdata.collect.demo_films.drawing import COLOURS, Canvas, Drawing, Point, Sprite, View, fall, move
from vttdata.collect.demo_films.props import DAWN, DAY, GREY, LIGHTS, NIGHT, Light, background, landscape
from vttdata.json_types import JsonObject

Paint = Callable[[View], Drawing]

Choice = tuple[Paint, dict[str, str | Sequence[str]]]
"""Function that draws a motif, and the words for what was chosen, by their names in the wordings."""

VEHICLE_COLOURS = ("red", "yellow", "blue", "white", "orange")


@dataclass(frozen=True, slots=True)
class Motif:
    """One shot before it is drawn: its captions, all different, and a function that draws it."""

    captions: tuple[str, ...]
    paint: Paint


def choose_motif(query: str, random: Random, light: Light) -> Motif:
    """Choose colours, directions and captions of the motif that a query finds; outdoor motifs have the given light."""
    paint, words = MOTIFS[query](random, light)
    return Motif(write_captions(random, {"light": light.phrases} | words | read_wordings()[query]), paint)


@functools.cache
def read_wordings() -> JsonObject:
    """Read the wordings of all motifs, by query."""
    # Worker processes import this module and mostly draw no film.
    from vttdata.files.strict_yaml import read_yaml

    return read_yaml(Path(__file__).with_name("wordings.yaml"))


def write_captions(random: Random, words: Mapping[str, str | Sequence[str]]) -> tuple[str, ...]:
    """Return all sentences that the patterns make of the words, without repeats, in random order; patterns take turns.

    `words` are alternatives by name, which may contain other words in braces; ``patterns`` are those of the sentences.
    """
    alternatives = {name: [text] if isinstance(text, str) else text for name, text in words.items()}
    patterns = alternatives.pop("patterns")
    choices = [dict(zip(alternatives, chosen, strict=True)) for chosen in itertools.product(*alternatives.values())]
    groups = []
    for pattern in random.sample(patterns, len(patterns)):
        sentences = {pattern.format(**choice).format(**choice) for choice in choices}
        group = sorted({re.sub(r"\ba (?=[aeio])", "an ", sentence) for sentence in sentences})
        groups.append(random.sample(group, len(group)))
    interleaved = itertools.chain.from_iterable(itertools.zip_longest(*groups))
    return tuple(dict.fromkeys(sentence for sentence in interleaved if sentence is not None))


def bounce_shape(random: Random, light: Light) -> Choice:
    """Bounce a shape off the edges of the frame."""
    name = random.choice(("circle", "square", "star"))
    colour, backdrop = choose_colours(random, light)
    speed = (random.uniform(0.5, 0.9), random.uniform(0.4, 0.7))

    def paint(view: View) -> Drawing:
        def path(seconds: float, _: float) -> Point:
            x = reflect(0.3 + speed[0] * seconds, 0.14, view.aspect - 0.14)
            return x, reflect(0.2 + speed[1] * seconds, 0.14, 0.86)

        return Drawing(props.stripes(view, backdrop), move(props.shape(view, name, 0.14, colour), path))

    return paint, {"colour": colour, "name": name, "backdrop": backdrop}


def spin_shape(random: Random, light: Light) -> Choice:
    """Spin a shape across the frame."""
    name, right = random.choice(("square", "triangle", "star")), toss(random)
    colour, backdrop = choose_colours(random, light)

    def paint(view: View) -> Drawing:
        angles = [2 * math.pi * k / 16 * (1 if right else -1) for k in range(16)]
        sprites = [props.shape(view, name, 0.2, colour, angle) for angle in angles]
        return Drawing(props.stripes(view, backdrop), move(sprites, across(view, right, 0.5, 0.1), 8))

    return paint, {"colour": colour, "name": name, "backdrop": backdrop, "way": way(right)}


def circle_shapes(random: Random, light: Light) -> Choice:
    """Circle two shapes around each other."""
    names = random.sample(("circle", "square", "triangle", "star"), 2)
    first, backdrop = choose_colours(random, light)
    colours = (first, random.choice([colour for colour in COLOURS if colour not in (first, backdrop)]))
    speed = random.choice((-1, 1)) * random.uniform(1.2, 2.0)

    def paint(view: View) -> Drawing:
        def path(start: float, seconds: float, _: float) -> Point:
            angle = speed * seconds + start
            return view.aspect / 2 + 0.34 * math.cos(angle), 0.5 + 0.28 * math.sin(angle)

        sprites = [props.shape(view, name, 0.15, colour) for name, colour in zip(names, colours, strict=True)]
        paths = [functools.partial(path, start) for start in (0, math.pi)]
        return Drawing(props.stripes(view, backdrop), *map(move, sprites, paths))

    shapes = [f"a {colour} {name}" for name, colour in zip(names, colours, strict=True)]
    return paint, {"first": shapes[0], "second": shapes[1], "backdrop": backdrop}


def drive_car(random: Random, light: Light) -> Choice:
    """Drive a car along a road past hills."""
    colour, right, phase = random.choice(VEHICLE_COLOURS), toss(random), random.random()

    def paint(view: View) -> Drawing:
        scenery = props.road(landscape(view, light, 0.62, phase), view)
        for k in range(4):
            props.fir(scenery, (0.2 + 0.45 * k + 0.2 * phase) % view.aspect, 0.7, 0.34)
        cloud = move(props.cloud(view), lambda _, progress: (0.3 + 0.15 * progress, 0.16))
        car = props.car(view, colour).facing(right)
        return Drawing(scenery, cloud, move(car, across(view, right, 0.81, 0.1)))

    return paint, {"colour": colour, "way": way(right), "scenery": "dark hills" if light.stars else "green trees"}


def cross_bridge(random: Random, light: Light) -> Choice:
    """Move a train over a bridge across a river."""
    colour, right, phase = random.choice(VEHICLE_COLOURS), toss(random), random.random()

    def paint(view: View) -> Drawing:
        scenery = landscape(view, light, 0.6, phase)
        scenery.box(0, 0.84, view.aspect, 1, "#346eaa").box(0, 0.62, view.aspect, 0.68, "#968c82")
        for k in range(6):
            scenery.box(0.15 + 0.34 * k, 0.68, 0.22 + 0.34 * k, 0.9, "#887e76")
        train = props.train(view, colour).facing(right)
        return Drawing(scenery, move(train, across(view, right, 0.505, 0.4)))

    return paint, {"colour": colour, "way": way(right)}


def meet_on_street(random: Random, light: Light) -> Choice:
    """Drive a bus and a car in opposite directions."""
    first, second = random.sample(VEHICLE_COLOURS, 2)
    right, phase = toss(random), random.random()

    def paint(view: View) -> Drawing:
        scenery = props.road(landscape(view, light, 0.6, phase), view)
        bus, car = props.bus(view, first).facing(right), props.car(view, second).facing(not right)
        far = move(bus, across(view, right, 0.68, 0.2))
        return Drawing(scenery, far, move(car, across(view, not right, 0.86, 0.1)))

    return paint, {"first": first, "second": second}


def rain_on_house(random: Random, light: Light) -> Choice:  # noqa: ARG001
    """Let rain fall on a house while a cloud passes, always under a grey sky."""
    wall = random.choice(("white", "yellow", "pink", "orange", "blue"))
    left, phase = random.uniform(0.2, 0.9), random.random()

    def paint(view: View) -> Drawing:
        scenery = props.house(landscape(view, GREY, 0.76, phase), left, 0.84, wall)
        rain = fall(view, Random(phase), count=140, speed=(0.25, 1.3), length=0.05, colour="#b0c8e2")
        cloud = props.cloud(view, "#606672")
        return Drawing(scenery, move(cloud, lambda _, progress: (0.2 + (view.aspect - 0.4) * progress, 0.14)), rain)

    return paint, {"wall": wall, "light": GREY.phrases}


def snow_on_trees(random: Random, light: Light) -> Choice:
    """Let snow fall on fir trees; at night where the sky would be blue, or as grey as that of the rain."""
    light = NIGHT if light in (DAY, GREY) else light
    count, phase = random.choice((3, 4, 5)), random.random()

    def paint(view: View) -> Drawing:
        scenery = landscape(view, light, 0.72, phase).box(0, 0.76, view.aspect, 1, "#e8eef6")
        for k in range(count):
            x = view.aspect * (k + 0.5) / count
            props.fir(scenery, x, 0.84 + 0.06 * ((k * 7) % 3 - 1), 0.5 + 0.12 * ((k * 5) % 3))
        flakes = (
            fall(view, Random(f"{phase}{speed}"), count=90, speed=(0.06, speed), length=0.012, colour="#fafafe")
            for speed in (0.22, 0.34)
        )
        return Drawing(scenery, *flakes)

    return paint, {"number": {3: "three", 4: "four", 5: "five"}[count], "light": light.phrases}


def raise_sun(random: Random, light: Light) -> Choice:
    """Raise the sun behind the hills, at dawn where it would be night."""
    light, phase, x = DAWN if light.stars else light, random.random(), random.uniform(0.5, 1.3)

    def paint(view: View) -> Drawing:
        sun = move(props.sun(view, 0.13), lambda _, progress: (x, 0.72 - 0.5 * progress))
        hills = props.hills(background(view), view, light, 0.7, phase).sprite()
        cloud = move(props.cloud(view), lambda _, progress: (view.aspect * (0.1 + 0.7 * progress), 0.2))
        return Drawing(landscape(view, light, 0.7, phase), sun, move(hills, lambda *_: (view.aspect / 2, 0.5)), cloud)

    return paint, {}


def bounce_ball(random: Random, light: Light) -> Choice:
    """Bounce a ball over a meadow."""
    first, second = random.sample(("red", "yellow", "blue", "white", "purple", "pink"), 2)
    right, phase, beat = toss(random), random.random(), random.uniform(0.9, 1.2)

    def paint(view: View) -> Drawing:
        def path(seconds: float, progress: float) -> Point:
            bounce = seconds / beat % 1
            return view.aspect * (progress if right else 1 - progress), 0.84 - 2.2 * bounce * (1 - bounce)

        balls = spin_ball(view, 0.1, first, second, right)
        return Drawing(landscape(view, light, 0.72, phase), move(balls, path, 12))

    return paint, {"first": first, "second": second, "way": way(right)}


def throw_basketball(random: Random, light: Light) -> Choice:
    """Throw a basketball into a basket, again and again."""
    right, phase, beat = toss(random), random.random(), random.uniform(1.6, 2.2)

    def paint(view: View) -> Drawing:
        hoop, away = (view.aspect - 0.34, -1) if right else (0.34, 1)

        def path(seconds: float, _: float) -> Point:
            share = seconds / beat % 1
            flight, drop = min(share / 0.7, 1), max(share - 0.7, 0) / 0.3
            x = hoop + away * (1 - flight) * (view.aspect - 0.8)
            return x, 0.8 - 0.42 * flight - 1.1 * flight * (1 - flight) + 0.48 * drop

        scenery, post, board = landscape(view, light, 0.8, phase), hoop - away * 0.16, hoop - away * 0.14
        scenery.box(post - 0.015, 0.2, post + 0.015, 0.9, "#5a5c62")
        scenery.box(board - 0.015, 0.12, board + 0.015, 0.44, "white")
        balls = spin_ball(view, 0.075, "orange", "#964618", not right)
        return Drawing(scenery, move(balls, path, 10), move(props.net(view), lambda *_: (hoop, 0.46)))

    return paint, {"side": "right" if right else "left"}


def play_tennis(random: Random, light: Light) -> Choice:  # noqa: ARG001
    """Hit a tennis ball back and forth over a net."""
    court, beat = random.choice(("green", "blue", "orange")), random.uniform(0.9, 1.3)

    def paint(view: View) -> Drawing:
        def path(seconds: float, _: float) -> Point:
            swing = math.cos(math.pi * seconds / beat)
            return view.aspect / 2 + 0.7 * swing, 0.3 + 0.24 * swing * swing

        return Drawing(props.tennis_court(view, court), move(spin_ball(view, 0.06, "yellow", "white", True), path, 10))

    return paint, {"court": court}


def swim_fish(random: Random, light: Light) -> Choice:  # noqa: ARG001
    """Move a fish under water among bubbles."""
    colour, right, phase = random.choice(("orange", "yellow", "red", "pink")), toss(random), random.random()

    def paint(view: View) -> Drawing:
        sea = background(view).gradient("#46aad6", "#103e7a")
        sea.below(lambda x: 0.9 + 0.03 * math.sin(4 * x + 6 * phase), "#ceb882")
        for k in range(5):
            x = (0.15 + 0.37 * k + phase) % view.aspect
            sea.polygon("#288254", (x, 0.95), (x - 0.03, 0.7), (x + 0.02, 0.5 + 0.03 * k), (x + 0.05, 0.95))
        sprites = [props.fish(view, colour, tail).facing(right) for tail in (-1, 0, 1, 0)]
        bubbles = fall(view, Random(phase), count=26, speed=(0.02, -0.22), length=0.012, colour="#d6f0fa")
        return Drawing(sea, bubbles, move(sprites, across(view, right, 0.46, 0.1, swing=0.08, speed=2.2), 6))

    return paint, {"colour": colour, "way": way(right)}


def fly_bird(random: Random, light: Light) -> Choice:
    """Fly a bird across the sky past two clouds."""
    colour, right, phase = random.choice(("red", "white", "yellow", "blue")), toss(random), random.random()

    def paint(view: View) -> Drawing:
        def drift(k: int, _: float, progress: float) -> Point:
            return 0.45 + 0.85 * k - (0.2 if right else -0.2) * progress, 0.2 + 0.2 * k

        clouds = (move(props.cloud(view), functools.partial(drift, k)) for k in range(2))
        sprites = [props.bird(view, colour, wing).facing(right) for wing in (1, 0.4, -0.3, -0.9, -0.3, 0.4)]
        bird = move(sprites, across(view, right, 0.36, 0.1, swing=0.06, speed=3), 12)
        return Drawing(landscape(view, light, 0.82, phase), *clouds, bird)

    return paint, {"colour": colour, "way": way(right)}


def flutter_butterfly(random: Random, light: Light) -> Choice:
    """Flutter a butterfly over flowers."""
    colour, petals = random.sample(("red", "pink", "purple", "orange", "white"), 2)
    phase, speed = random.random(), random.uniform(0.8, 1.3)

    def paint(view: View) -> Drawing:
        def path(seconds: float, _: float) -> Point:
            x = view.aspect / 2 + 0.6 * math.sin(speed * seconds)
            return x, 0.42 + 0.14 * math.sin(2.3 * speed * seconds) + 0.02 * math.sin(19 * seconds)

        meadow = landscape(view, light, 0.6, phase)
        for k in range(7):
            props.flower(meadow, view.aspect * (k + 0.5) / 7, 0.97, 0.24 + 0.08 * (k * 3 % 4), petals)
        sprites = [props.butterfly(view, colour, spread) for spread in (1, 0.6, 0.2, 0.6)]
        return Drawing(meadow, move(sprites, path, 10))

    return paint, {"colour": colour, "petals": petals}


def sail_boat(random: Random, light: Light) -> Choice:
    """Rock a sailing boat over the waves."""
    colour, right = random.choice(("red", "orange", "green", "yellow")), toss(random)

    def paint(view: View) -> Drawing:
        sky = background(view).gradient(*light.sky).disc((0.35, 0.2), 0.09, "#ffeeb4")
        boat = move(props.boat(view, colour).facing(right), across(view, right, 0.47, -0.2, swing=0.025, speed=2.5))
        sea = Canvas(view.aspect + 0.8, 0.4, view)
        waves = sea.below(lambda x: 0.05 + 0.03 * math.sin(2 * math.pi * x / 0.4), "#2668a8").sprite()
        return Drawing(sky, boat, move(waves, lambda seconds, _: (view.aspect / 2 + seconds * 0.12 % 0.4 - 0.2, 0.83)))

    return paint, {"colour": colour, "way": way(right)}


def lift_balloon(random: Random, light: Light) -> Choice:
    """Lift a hot-air balloon over a landscape."""
    colour = random.choice(("red", "yellow", "purple", "green", "blue"))
    phase, x = random.random(), random.random()

    def paint(view: View) -> Drawing:
        start = 0.4 + x * (view.aspect - 0.9)
        balloon = props.balloon(view, colour)
        rising = move(balloon, lambda _, progress: (start + 0.15 * progress, 0.74 - 0.5 * progress))
        cloud = move(props.cloud(view), lambda _, progress: (view.aspect * (0.8 - 0.4 * progress), 0.3))
        return Drawing(landscape(view, light, 0.86, phase), cloud, rising)

    return paint, {"colour": colour}


def launch_rocket(random: Random, light: Light) -> Choice:
    """Launch a rocket, which leaves the frame."""
    phase, x = random.random(), random.uniform(0.5, 1.2)

    def paint(view: View) -> Drawing:
        sprites = [props.rocket(view, flame) for flame in (0.2, 0.26, 0.16, 0.24)]
        rocket = move(sprites, lambda _, progress: (x, 0.6 - 1.1 * max(progress - 0.1, 0) ** 1.6), 12)
        cloud = move(props.cloud(view), lambda _, progress: (view.aspect * (0.2 + 0.2 * progress), 0.2))
        return Drawing(landscape(view, light, 0.84, phase), cloud, rocket)

    return paint, {}


def toss(random: Random) -> bool:
    """Return True in one of two cases."""
    return random.random() < 0.5


def choose_colours(random: Random, light: Light) -> tuple[str, str]:
    """Choose a colour and another one for the backdrop, which differs between lights."""
    backdrops = (("blue", "green"), ("orange", "red"), ("purple",), ("white",), ("pink", "yellow"))
    backdrop = random.choice(backdrops[LIGHTS.index(light)])
    return random.choice([colour for colour in COLOURS if colour != backdrop]), backdrop


def way(right: bool) -> tuple[str, str]:
    """Return phrases for the direction of a movement."""
    return ("from left to right", "to the right") if right else ("from right to left", "to the left")


def across(
    view: View, right: bool, height: float, margin: float, *, swing: float = 0, speed: float = 0
) -> drawing.Path:
    """Return a path across the frame that starts and ends `margin` outside of it, and may swing up and down."""
    start, end = (-margin, view.aspect + margin) if right else (view.aspect + margin, -margin)
    return lambda seconds, progress: (start + (end - start) * progress, height + swing * math.sin(speed * seconds))


def reflect(distance: float, low: float, high: float) -> float:
    """Return the position of something that started at `low`, moved a distance, and was reflected at both ends."""
    return low + abs((distance + (high - low)) % (2 * (high - low)) - (high - low))


def spin_ball(view: View, radius: float, colour: str, band: str, right: bool) -> list[Sprite]:
    """Draw the phases of one turn of a ball."""
    step = 2 * math.pi / 12 * (1 if right else -1)
    return [props.ball(view, radius, colour, band, step * k) for k in range(12)]


# Motifs by category and by the query under which people would look for them.
CATEGORIES: dict[str, dict[str, Callable[[Random, Light], Choice]]] = {
    "geometry": {
        "bouncing shapes": bounce_shape,
        "spinning shapes": spin_shape,
        "two shapes in a circle": circle_shapes,
    },
    "traffic": {
        "car on a country road": drive_car,
        "train on a bridge": cross_bridge,
        "bus and car on the street": meet_on_street,
    },
    "weather": {"rain on a house": rain_on_house, "snow in the forest": snow_on_trees, "sunrise": raise_sun},
    "sports": {"bouncing ball": bounce_ball, "basketball throw": throw_basketball, "tennis match": play_tennis},
    "animals": {"fish under water": swim_fish, "bird in flight": fly_bird, "butterfly and flowers": flutter_butterfly},
    "travel": {"sailing boat": sail_boat, "hot-air balloon": lift_balloon, "rocket launch": launch_rocket},
}
MOTIFS = {query: motif for motifs in CATEGORIES.values() for query, motif in motifs.items()}
