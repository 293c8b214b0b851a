"""Black is black under what is laid over it, and a figure before a plain background begins no shot."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from PIL import Image, ImageDraw

from tests.media.shots.test_detect import Frames, encode, scene, starts
from tests.media.shots.test_still_parts import HIGH, WHITE, WIDE, large_scene, write
from vttdata.media.shots.detect import detect_shots

Found = list[tuple[int, str]]


@pytest.fixture
def detect(tmp_path: Path) -> Callable[[Frames], Found]:
    return lambda frames: starts(detect_shots(encode(tmp_path / "a.mp4", frames)))


def timecoded(frames: Frames) -> None:
    for number in range(len(frames)):
        write(frames[number : number + 1], 24, 60, WHITE, f"00:01:{number // 25:02}:{number % 25:02}")


def veiled(frames: Frames) -> None:
    """Lay a bright square over a corner that lets a third of the picture through."""
    frames[:, 6:40, 6:40] = frames[:, 6:40, 6:40] // 3 + 150


def inset(frames: Frames) -> None:
    frames[:, -48:, -80:] = scene(70, len(frames), 1)[:, :48, :80]


def film(black: int) -> Frames:
    """Three scenes of 45 frames; the second and the third fade in after black frames."""
    dark = np.zeros((black, HIGH, WIDE, 3), np.uint8)
    light = np.minimum(np.arange(45) / 18, 1)[:, None, None, None]
    first, second, third = (large_scene(seed, 45) for seed in (1, 2, 3))
    return np.concatenate((first, dark, (second * light).astype(np.uint8), dark, (third * light).astype(np.uint8)))


@pytest.mark.parametrize("lay", [timecoded, veiled, inset])
def test_cuts_to_black_under_what_is_laid_over_are_found(detect: Callable[[Frames], Found], lay: Callable) -> None:
    frames = film(30)
    lay(frames)
    found = detect(frames)
    assert [kind for _, kind in found] == ["start", "cut", "fade", "cut", "fade"]
    assert (found[1][0], found[3][0]) == (45, 120)


@pytest.mark.parametrize("lay", [timecoded, veiled, inset])
def test_short_black_under_what_is_laid_over_is_one_fade(detect: Callable[[Frames], Found], lay: Callable) -> None:
    frames = film(10)
    lay(frames)
    found = detect(frames)
    assert [kind for _, kind in found] == ["start", "fade", "fade"]
    assert (45 <= found[1][0] <= 73, 100 <= found[2][0] <= 128) == (True, True)


def cartoon(length: int) -> Frames:
    """A sky and a ground of one colour each, with a sun, in a little grain."""
    picture = Image.new("RGB", (WIDE, HIGH), (140, 190, 230))
    draw = ImageDraw.Draw(picture)
    draw.rectangle((0, 100, WIDE, HIGH), (110, 170, 80))
    draw.ellipse((20, 10, 50, 40), (240, 210, 60), "black")
    return np.asarray(picture) + np.random.default_rng(1).normal(0, 1, (length, HIGH, WIDE, 1))


def pop_up(frames: Frames, size: float, x: int, sway: int) -> None:
    """Draw a figure in a striped shirt that moves by `sway` pixels a frame and back."""
    for number, frame in enumerate(frames):
        picture = Image.fromarray(np.clip(frame, 0, 255).astype(np.uint8))
        draw, side, left = ImageDraw.Draw(picture), HIGH * size / 4, x + sway * (number % 6)
        top = HIGH - 4 * side
        draw.rounded_rectangle((left - side, top + side, left + side, HIGH + side), side, (200, 40, 60), "black", 2)
        for line in range(4):
            height = top + (2 + line / 2) * side
            draw.line((left - side, height, left + side, height), (30, 60, 160), 4)
        draw.ellipse((left - side, top, left + side, top + 2 * side), (230, 180, 150), "black", 2)
        for eye in (left - side / 3, left + side / 3):
            draw.ellipse((eye - 3, top + side / 2, eye + 3, top + side), "white", "black")
        frame[:] = np.asarray(picture)


@pytest.mark.parametrize("sway", [0, 1, 4])
@pytest.mark.parametrize(("size", "x", "length"), [(0.8, 128, 9), (0.9, 110, 14), (1.1, 85, 40), (1.1, 150, 9)])
@pytest.mark.sampled(4)
def test_figure_that_pops_up_before_a_plain_background_begins_no_shot(
    detect: Callable[[Frames], Found], size: float, x: int, length: int, sway: int
) -> None:
    frames = cartoon(100)
    pop_up(frames[45 : 45 + length], size, x, sway)
    assert detect(np.clip(frames, 0, 255)) == [(0, "start")]


def test_scene_before_the_same_plain_background_is_a_shot(detect: Callable[[Frames], Found]) -> None:
    frames = cartoon(100)
    pop_up(frames[:50], 0.9, 80, 1)
    pop_up(frames[50:], 1.3, 170, 1)
    assert (50, "cut") in detect(np.clip(frames, 0, 255))
