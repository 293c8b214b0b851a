"""Draw films under overlays: logos, lines of text, timecodes, bars, insets, and figures that pop up.

Most shots end in black; where it lasts at most ten frames it belongs to one transition, else it is a shot. Footage is
mixed with drawn scenes. Run `python benchmarks/shots/run.py --overlays NUMBER`.
"""

from __future__ import annotations

from collections.abc import Callable
from random import Random

import numpy as np
from PIL import Image, ImageDraw, ImageFont

from benchmarks.shots.hard_cases import FRAMES, HEIGHT, RATE, WIDTH, Case, Footage, Picture, Show, Transitions
from vttdata.collect.demo_films.drawing import View
from vttdata.collect.demo_films.motifs import CATEGORIES, choose_motif
from vttdata.collect.demo_films.props import LIGHTS

Overlay = Callable[[Picture, int], None]
"""Function that draws over a picture, in place, what a frame has."""
Corner = tuple[slice, slice]
_INKS = ((235, 235, 235), (150, 150, 150), (230, 200, 40))
_LINES = ("(c) 2011 A Film Company Ltd", "All rights reserved", "LIVE from the river", "Directed by Jane Example")
_BLACKS = {"none": (0,), "short": (4, 7, 10), "long": (16, 25, 35, 50)}


def _scene(random: Random, footage: Footage, without: str = "") -> tuple[str, Show]:
    if random.random() < 0.75:
        return footage.show(random, without)
    query = random.choice(list(random.choice(list(CATEGORIES.values()))))
    drawing = choose_motif(query, random, random.choice(LIGHTS)).paint(View(WIDTH, HEIGHT))
    return f"drawn {query}", lambda frame: drawing.frame(frame / RATE, frame % FRAMES / FRAMES)


def _film(random: Random, footage: Footage, overlay: Overlay) -> tuple[Show, Transitions, list[tuple[int, int]]]:
    """Return shots of 1.8 to 3.5 s under an overlay, their transitions, and each black's first frame and end."""
    scene, take = _scene(random, footage)
    parts, transitions, blacks = [(0, 0, 0, take)], Transitions(), list[tuple[int, int]]()
    grain, lift, at = random.choice((0, 0, 2)), random.choice((0, 0, 10)), round(random.uniform(1.8, 3.5) * RATE)
    while at < FRAMES - 4 * RATE:
        scene, take = _scene(random, footage, scene)
        kind = random.choice(list(_BLACKS))
        black = random.choice(_BLACKS[kind])
        fade = round(random.uniform(0.4, 1.5) * RATE) if black and random.random() < 0.7 else 0
        after = (at + black, at + black + fade, "fade" if fade else "cut")
        transitions += [(at, at, "cut"), after] if kind == "long" else [(at, after[1], "fade" if black else "cut")]
        blacks += [(at, at + black)] if black else []
        parts.append((at, black, fade, take))
        at += black + fade + round(random.uniform(1.8, 3.5) * RATE)

    def show(frame: int) -> Picture:
        first, black, fade, take = [part for part in parts if part[0] <= frame][-1]
        light = np.clip((frame - first - black + (fade == 0)) / max(fade, 1), 0, 1) * (1 - lift / 255)
        noise = np.random.default_rng(frame).normal(0, grain, (HEIGHT, WIDTH, 1))
        picture = np.clip(take(frame) * light + lift + noise, 0, 255).astype(np.uint8)
        overlay(picture, frame)
        return picture

    return show, transitions, blacks


def _writer(random: Random) -> Callable[[Picture, str, float], None]:
    """Return a function that writes a line, as opaque as it is told, at one place in one style."""
    size, ink = random.choice((14, 20, 28, 40)), random.choice(_INKS)
    place = random.randint(10, 60), random.choice((8, HEIGHT // 2 - size, HEIGHT - 2 * size))

    def write(picture: Picture, words: str, share: float = 1.0) -> None:
        mask = Image.new("L", (WIDTH, HEIGHT))
        ImageDraw.Draw(mask).text(place, words, 255, ImageFont.load_default(size))
        opacity = np.asarray(mask)[..., None] / 255 * share
        picture[:] = picture * (1 - opacity) + np.array(ink) * opacity

    return write


def _corner(random: Random, high: int, wide: int) -> Corner:
    rows, columns = (slice(*random.choice(((14, 14 + size), (-14 - size, -14)))) for size in (high, wide))
    return rows, columns


def logo(random: Random, footage: Footage) -> tuple[Show, Transitions]:
    """Lay a logo over a corner, opaque or half so."""
    side, share = random.randint(30, 90), random.choice((0.6, 1.0))
    place = _corner(random, side, side)
    image = Image.new("RGB", (side, side), random.choice(_INKS))
    ImageDraw.Draw(image).ellipse((side // 4, side // 4, side * 3 // 4, side * 3 // 4), (20, 60, 200))

    def overlay(picture: Picture, _: int) -> None:
        picture[place] = picture[place] * (1 - share) + np.asarray(image) * share

    return _film(random, footage, overlay)[:2]


def line(random: Random, footage: Footage) -> tuple[Show, Transitions]:
    """Lay a line of text over all frames."""
    write, words = _writer(random), random.choice(_LINES)
    return _film(random, footage, lambda picture, _: write(picture, words))[:2]


def timecode(random: Random, footage: Footage) -> tuple[Show, Transitions]:
    """Count seconds and frames over the picture."""
    write = _writer(random)
    return _film(random, footage, lambda picture, frame: write(picture, f"0:01:{frame // RATE:02}:{frame % RATE:02}"))[
        :2
    ]


def bars(random: Random, footage: Footage) -> tuple[Show, Transitions]:
    """Lay black bars over the picture, above and below or on both sides, with a line of text."""
    width, turned, write = random.randint(30, 70), random.random() < 0.3, _writer(random)

    def overlay(picture: Picture, _: int) -> None:
        lines = picture.transpose(1, 0, 2) if turned else picture
        lines[:width] = lines[-width:] = 0
        write(picture, _LINES[0])

    return _film(random, footage, overlay)[:2]


def inset(random: Random, footage: Footage) -> tuple[Show, Transitions]:
    """Lay another take over a corner, smaller."""
    step, (_, other) = random.choice((3, 4, 5)), footage.show(random)
    place = _corner(random, HEIGHT // step, WIDTH // step)

    def overlay(picture: Picture, frame: int) -> None:
        picture[place] = other(frame)[: HEIGHT // step * step : step, : WIDTH // step * step : step]

    return _film(random, footage, overlay)[:2]


def on_black(random: Random, footage: Footage) -> tuple[Show, Transitions]:
    """Lay a line of text over each black; it comes with the black or earlier, at once or not, and goes or stays."""
    texts: list[tuple[int, int, int]] = []
    write, words = _writer(random), random.choice(_LINES)
    lead, trail, ramp = random.choice((0, 0, 20)), random.choice((0, 0, 40)), random.choice((1, 8))

    def overlay(picture: Picture, frame: int) -> None:
        for first, end in blacks:
            if first - lead <= frame < end + trail:
                write(picture, words, min((frame - first + lead + 1) / ramp, 1))

    show, transitions, blacks = _film(random, footage, overlay)
    return show, transitions


def figure(random: Random, footage: Footage) -> tuple[Show, Transitions]:
    """Let figures pop up and go, flat ones and some cut out of a take, before backgrounds that hardly move."""
    names, shows = zip(*(_scene(random, footage) for _ in range(3)), strict=True)
    length, still, other = FRAMES // 3, random.random() < 0.7, footage.show(random)[1]
    figures = [(15 + 50 * number, random.choice((9, 15, 20)), random.uniform(0.2, 0.8) * WIDTH,
                random.uniform(0.4, 1) * HEIGHT, random.choice((None, *_INKS))) for number in range(6)]  # fmt: skip

    def show(frame: int) -> Picture:
        picture = shows[frame // length](0 if still else frame)
        for first, shown, x, high, ink in figures:
            if first <= frame < first + shown:
                mask, r, x = Image.new("1", (WIDTH, HEIGHT)), high / 4, x + (frame - first) % 4
                ImageDraw.Draw(mask).rounded_rectangle((x - r, HEIGHT - high + r, x + r, HEIGHT + r), r, 1)
                ImageDraw.Draw(mask).ellipse((x - r, HEIGHT - high, x + r, HEIGHT - high + 2 * r), 1)
                picture = np.where(np.asarray(mask)[..., None], other(frame) if ink is None else np.uint8(ink), picture)
        return picture

    return show, [(length * n, length * n, "cut") for n in (1, 2) if names[n] != names[n - 1]]


OVERLAYS: dict[str, Case] = {case.__name__: case for case in (logo, line, timecode, bars, inset, on_black, figure)}
