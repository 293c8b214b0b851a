"""Draw films under overlays, with cuts to black and fades, and figures that pop up before backgrounds that stay.

Black of up to ten frames belongs to one transition, longer black is a shot. Footage is mixed with drawn scenes. Run
`python benchmarks/shots/run.py --overlays NUMBER`.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from random import Random

import numpy as np
from PIL import Image, ImageDraw, ImageFont

from benchmarks.shots.hard_cases import FRAMES, HEIGHT, RATE, WIDTH, Case, Footage, Picture, Show, Transitions
from vttdata.collect.demo_films.drawing import View
from vttdata.collect.demo_films.motifs import CATEGORIES, choose_motif
from vttdata.collect.demo_films.props import LIGHTS

_INKS = ((235, 235, 235), (150, 150, 150), (230, 200, 40))
_WORDS = ("(c) 2011 A Film Company Ltd", "All rights reserved", "LIVE from the river")
_SHORT, _LONG = (4, 7, 10), (16, 25, 35, 50)


def _scene(random: Random, footage: Footage, without: str = "") -> tuple[str, Show]:
    if random.random() < 0.75:
        return footage.show(random, without)
    query = random.choice(list(random.choice(list(CATEGORIES.values()))))
    drawing = choose_motif(query, random, random.choice(LIGHTS)).paint(View(WIDTH, HEIGHT))
    return f"drawn {query}", lambda frame: drawing.frame(frame / RATE, frame % FRAMES / FRAMES)


def _layer(kind: str, random: Random, footage: Footage) -> Callable[[Picture, int, int], Picture]:
    """Return the function from a picture, its frame and the first one since the last cut to black to what is shown."""
    size, ink, words, share = (random.choice(values) for values in ((14, 20, 28, 40), _INKS, _WORDS, (0.6, 1.0)))
    x, y = random.randint(10, 60), random.choice((8, HEIGHT // 2 - size, HEIGHT - 2 * size))
    width, turned, step, (_, other) = random.randint(30, 70), random.random() < 0.3, random.choice((3, 4, 5)), (
        footage.show(random))  # fmt: skip
    high, wide = (HEIGHT // step, WIDTH // step) if kind == "inset" else (width + 20, width + 20)
    corner = tuple(slice(*random.choice(((14, 14 + side), (-14 - side, -14)))) for side in (high, wide))
    stays, ramp = random.choice((12, 40, FRAMES)), random.choice((1, 8))

    def lay(picture: Picture, frame: int, since: int) -> Picture:
        shown, mask = picture.copy(), Image.new("L", (WIDTH, HEIGHT))
        if kind == "inset":
            shown[corner] = other(frame)[: high * step : step, : wide * step : step]
        elif kind == "logo":
            shown[corner] = shown[corner] * (1 - share) + np.array(ink) * share
            shown[corner][10:20, 10:-10] = (20, 60, 200)
        elif kind == "bars":
            lines = shown.transpose(1, 0, 2) if turned else shown
            lines[:width] = lines[-width:] = 0
        if kind == "timecode":
            text, opacity = f"0:01:{frame // RATE:02}:{frame % RATE:02}", 1.0
        else:
            text, opacity = words, float(kind in ("line", "bars"))
            if kind == "on_black" and since <= frame < since + stays:
                opacity = min((frame - since + 1) / ramp, 1)
        ImageDraw.Draw(mask).text((x, y), text, round(255 * opacity), ImageFont.load_default(size))
        return (shown + (np.array(ink) - shown) * (np.asarray(mask)[..., None] / 255)).astype(np.uint8)

    return lay


def film(kind: str, random: Random, footage: Footage) -> tuple[Show, Transitions]:
    """Show shots of 1.8 to 3.5 s under an overlay: cuts, cuts to black, fades out and in; some grainy or with light."""
    lay, (scene, take) = _layer(kind, random, footage), _scene(random, footage)
    parts, transitions = [(0, 0, 0, 0, take)], Transitions()
    grain, lift, at = random.choice((0, 0, 2)), random.choice((0, 0, 10)), round(random.uniform(1.8, 3.5) * RATE)
    while at < FRAMES - 4 * RATE:
        scene, take = _scene(random, footage, scene)
        black = random.choice((0, random.choice(_SHORT), random.choice(_LONG)))
        fade = round(random.uniform(0.4, 1.5) * RATE) if black and random.random() < 0.7 else 0
        out = fade if black in _SHORT and random.random() < 0.3 else 0
        end = at + black + fade
        if black in _LONG:
            transitions += [(at, at, "cut"), (at + black, end, "fade" if fade else "cut")]
        else:
            transitions.append((at - out, end, "fade" if black else "cut"))
        parts.append((at, black, fade, out, take))
        at = end + round(random.uniform(1.8, 3.5) * RATE)

    def show(frame: int) -> Picture:
        index = max(number for number, part in enumerate(parts) if part[0] <= frame)
        first, black, fade, _, take = parts[index]
        light = np.clip((frame - first - black + (fade == 0)) / max(fade, 1), 0, 1)
        if index + 1 < len(parts) and parts[index + 1][3]:
            light = min(light, (parts[index + 1][0] - frame) / (parts[index + 1][3] + 1))
        noise = np.random.default_rng(frame).normal(0, grain, (HEIGHT, WIDTH, 1))
        picture = np.clip(take(frame) * light * (1 - lift / 255) + lift + noise, 0, 255).astype(np.uint8)
        return lay(picture, frame, first if black else FRAMES)

    return show, transitions


def figure(random: Random, footage: Footage) -> tuple[Show, Transitions]:
    """Let figures pop up and go, flat ones and some cut out of a take, before backgrounds that hardly move."""
    shows, name = [], ""
    for _ in range(3):
        name, take = _scene(random, footage, name)
        shows.append(take)
    length, still, (_, other) = FRAMES // 3, random.random() < 0.7, footage.show(random)
    figures = [(15 + 50 * number, random.choice((9, 15, 20)), random.uniform(0.2, 0.8) * WIDTH,
                random.uniform(0.4, 1) * HEIGHT, random.choice((None, *_INKS))) for number in range(6)]  # fmt: skip

    def show(frame: int) -> Picture:
        picture = shows[frame // length](0 if still else frame)
        for first, shown, x, high, ink in figures:
            if first <= frame < first + shown:
                mask, r = Image.new("1", (WIDTH, HEIGHT)), high / 4
                ImageDraw.Draw(mask).rounded_rectangle((x - r, HEIGHT - high + r, x + r, HEIGHT + r), r, 1)
                ImageDraw.Draw(mask).ellipse((x - r, HEIGHT - high, x + r, HEIGHT - high + 2 * r), 1)
                picture = np.where(np.asarray(mask)[..., None], other(frame) if ink is None else np.uint8(ink), picture)
        return picture

    return show, [(length, length, "cut"), (2 * length, 2 * length, "cut")]


OVERLAYS: dict[str, Case] = {
    **{kind: partial(film, kind) for kind in ("logo", "line", "timecode", "bars", "inset", "on_black")},
    figure.__name__: figure,
}
