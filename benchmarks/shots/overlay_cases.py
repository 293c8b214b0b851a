"""Draw films under overlays: logos, lines of text, timecodes, bars, insets, and figures that pop up.

Half of the films' shots end in black; where it lasts at most ten frames it belongs to one transition, else it is a
shot. Footage is mixed with drawn scenes. Run `python benchmarks/shots/run.py --overlays NUMBER`.
"""

from __future__ import annotations

from random import Random

import numpy as np
from PIL import Image, ImageDraw

from benchmarks.shots.hard_cases import FRAMES, HEIGHT, RATE, WIDTH, Case, Footage, Picture, Show, Transitions
from benchmarks.shots.hard_cases import _font as font
from vttdata.collect.demo_films.drawing import View
from vttdata.collect.demo_films.motifs import CATEGORIES, choose_motif
from vttdata.collect.demo_films.props import LIGHTS

_INKS = ((235, 235, 235), (150, 150, 150), (230, 200, 40))
_LINES = ("(c) 2011 A Film Company Ltd", "All rights reserved", "LIVE from the river", "Directed by Jane Example")
_SHORT, _LONG = (4, 7, 10), (16, 25, 35, 50)


def _scene(random: Random, footage: Footage, without: str) -> tuple[str, Show]:
    if random.random() < 0.75:
        return footage.show(random, without)
    query = random.choice(list(random.choice(list(CATEGORIES.values()))))
    drawing = choose_motif(query, random, random.choice(LIGHTS)).paint(View(WIDTH, HEIGHT))
    return f"drawn {query}", lambda frame: drawing.frame(frame / RATE, frame % FRAMES / FRAMES)


def _film(random: Random, footage: Footage) -> tuple[Show, Transitions, list[tuple[int, int]]]:
    """Return shots of 1.8 to 3.5 s with their transitions, and the first frame and the end of each black."""
    scene, take = _scene(random, footage, "")
    parts, transitions, blacks = [(0, 0, 0, take)], Transitions(), list[tuple[int, int]]()
    at = round(random.uniform(1.8, 3.5) * RATE)
    while at < FRAMES - 4 * RATE:
        scene, take = _scene(random, footage, scene)
        black = random.choice((0, random.choice(_SHORT), random.choice(_LONG)))
        fade = round(random.uniform(0.4, 1.5) * RATE) if black and random.random() < 0.7 else 0
        if black > max(_SHORT):
            transitions += [(at, at, "cut"), (at + black, at + black + fade, "fade" if fade else "cut")]
        else:
            transitions.append((at, at + black + fade, "fade" if black else "cut"))
        blacks += [(at, at + black)] if black else []
        parts.append((at, black, fade, take))
        at += black + fade + round(random.uniform(1.8, 3.5) * RATE)

    def show(frame: int) -> Picture:
        first, black, fade, take = [part for part in parts if part[0] <= frame][-1]
        return (take(frame) * np.clip((frame - first - black + (fade == 0)) / max(fade, 1), 0, 1)).astype(np.uint8)

    return show, transitions, blacks


def _write(picture: Picture, words: str, place: tuple[int, int], size: int, ink: tuple[int, int, int]) -> Picture:
    image = Image.fromarray(picture)
    ImageDraw.Draw(image).text(place, words, ink, font(size))
    return np.asarray(image)


def _text(random: Random) -> tuple[str, tuple[int, int], int, tuple[int, int, int]]:
    size = random.choice((14, 20, 28, 40))
    place = random.randint(10, 60), random.choice((8, HEIGHT // 2 - size, HEIGHT - 2 * size))
    return random.choice(_LINES), place, size, random.choice(_INKS)


def logo(random: Random, footage: Footage) -> tuple[Show, Transitions]:
    """Lay a logo over a corner, opaque or half so."""
    show, transitions, _ = _film(random, footage)
    side, share = random.randint(30, 90), random.choice((0.6, 1.0))
    rows, columns = (slice(*random.choice(((16, 16 + side), (-16 - side, -16)))) for _ in "yx")
    image = Image.new("RGB", (side, side), tuple(random.randrange(256) for _ in "rgb"))
    ImageDraw.Draw(image).ellipse((side // 4, side // 4, side * 3 // 4, side * 3 // 4), random.choice(_INKS))

    def marked(frame: int) -> Picture:
        picture = show(frame).copy()
        picture[rows, columns] = picture[rows, columns] * (1 - share) + np.asarray(image) * share
        return picture

    return marked, transitions


def line(random: Random, footage: Footage) -> tuple[Show, Transitions]:
    """Lay a line of text over all frames."""
    show, transitions, _ = _film(random, footage)
    text = _text(random)
    return lambda frame: _write(show(frame), *text), transitions


def timecode(random: Random, footage: Footage) -> tuple[Show, Transitions]:
    """Count seconds and frames over the picture."""
    show, transitions, _ = _film(random, footage)
    _, *style = _text(random)
    return lambda frame: _write(show(frame), f"00:01:{frame // RATE:02}:{frame % RATE:02}", *style), transitions


def bars(random: Random, footage: Footage) -> tuple[Show, Transitions]:
    """Lay black bars over the picture, above and below or on both sides, with a line of text on some."""
    show, transitions, _ = _film(random, footage)
    width, turned, text = random.randint(30, 70), random.random() < 0.3, random.choice((None, _text(random)))

    def barred(frame: int) -> Picture:
        picture = show(frame).copy()
        lines = picture.transpose(1, 0, 2) if turned else picture
        lines[:width] = lines[-width:] = 0
        return _write(picture, *text) if text else picture

    return barred, transitions


def inset(random: Random, footage: Footage) -> tuple[Show, Transitions]:
    """Lay another take over a corner, smaller."""
    show, transitions, _ = _film(random, footage)
    step, (_, other) = random.choice((3, 4, 5)), footage.show(random)
    high, wide = -(-HEIGHT // step), -(-WIDTH // step)
    rows, columns = (slice(*random.choice(((12, 12 + n), (-12 - n, -12)))) for n in (high, wide))

    def covered(frame: int) -> Picture:
        picture = show(frame).copy()
        picture[rows, columns] = other(frame)[::step, ::step]
        return picture

    return covered, transitions


def on_black(random: Random, footage: Footage) -> tuple[Show, Transitions]:
    """Lay a line of text over each black; it comes with the black or earlier, and goes with it or later."""
    show, transitions, blacks = _film(random, footage)
    lead, trail = random.choice((0, 0, 20)), random.choice((0, 0, 40))
    texts = [(first - lead, end + trail, _text(random)) for first, end in blacks]

    def titled(frame: int) -> Picture:
        shown = [text for first, end, text in texts if first <= frame < end]
        return _write(show(frame), *shown[0]) if shown else show(frame)

    return titled, transitions


def figure(random: Random, footage: Footage) -> tuple[Show, Transitions]:
    """Let flat figures pop up and go before drawn backgrounds and still pictures."""
    scenes = [_scene(random, footage, "") for _ in range(3)]
    length, still = FRAMES // 3, random.random() < 0.7
    skins = [tuple(random.randrange(256) for _ in "rgb") for _ in range(6)]
    spots = [(random.uniform(0.2, 0.8) * WIDTH, random.uniform(0.4, 0.9) * HEIGHT) for _ in skins]
    spans = [(15 + 50 * number, 15 + 50 * number + random.choice((9, 15, 20))) for number in range(len(skins))]

    def show(frame: int) -> Picture:
        image = Image.fromarray(scenes[frame // length][1](0 if still else frame))
        for (first, end), skin, (x, high) in zip(spans, skins, spots, strict=True):
            if first <= frame < end:
                draw, sway, r = ImageDraw.Draw(image), (frame - first) % 4, high / 4
                draw.rounded_rectangle((x - r, HEIGHT - high + r, x + r, HEIGHT + r), r, skin, "black", 3)
                draw.ellipse((x - r + sway, HEIGHT - high, x + r + sway, HEIGHT - high + 2 * r), skin, "black", 3)
                for eye in (x - r / 3, x + r / 3):
                    draw.ellipse((eye - r / 5, HEIGHT - high + r / 2, eye + r / 5, HEIGHT - high + r), "white", "black")
        return np.asarray(image)

    shown = [scene for scene, _ in scenes]
    return show, [(length * n, length * n, "cut") for n in (1, 2) if shown[n] != shown[n - 1]]


OVERLAYS: dict[str, Case] = {case.__name__: case for case in (logo, line, timecode, bars, inset, on_black, figure)}
