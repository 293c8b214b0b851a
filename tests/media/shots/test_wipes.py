"""Wipes are one boundary; motion that fills the picture is none."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from tests.media.shots.test_detect import HEIGHT, WIDTH, Frames, encode, scene, starts
from vttdata.media.shots.detect import detect_shots

X, Y = np.meshgrid((np.arange(WIDTH) + 0.5) / WIDTH, (np.arange(HEIGHT) + 0.5) / HEIGHT)
PLACES = {
    "from the left": X,
    "from the right": 1 - X,
    "from above": Y,
    "from below": 1 - Y,
    "from a corner": (X + Y) / 2,
}
"""Part of the transition at which each pixel changes over."""


def wiped(before: Frames, after: Frames, length: int, places: np.ndarray) -> Frames:
    parts = (np.arange(1, length + 1) / (length + 1))[:, None, None, None]
    mixed = np.where(places[..., None] < parts, after[:length], before[-length:])
    return np.concatenate((before[:-length], mixed, after[length:]))


@pytest.mark.parametrize("length", [10, 18])
@pytest.mark.parametrize("way", PLACES)
def test_wipe_is_divided_near_its_middle(tmp_path: Path, way: str, length: int) -> None:
    frames = wiped(scene(31, 60), scene(32, 60), length, PLACES[way])
    found = starts(detect_shots(encode(tmp_path / "a.mp4", frames)))
    assert [kind for _, kind in found] == ["start", "gradual"]
    assert found[1][0] == pytest.approx(60 - length / 2, abs=length / 2)


def crossed(frames: Frames, step: int) -> None:
    """Draw a wall as wide as the picture that passes from left to right."""
    wall = scene(33, 1)[0]
    for index in range(2 * WIDTH // step):
        right = min(step * (index + 1), 2 * WIDTH)
        own = slice(max(right - WIDTH, 0), min(right, WIDTH))
        frames[60 + index, :, own] = wall[:, own]


def grown(frames: Frames, step: int) -> None:
    """Turn the camera ever faster."""
    for index in range(len(frames)):
        frames[index] = np.roll(frames[0], -step * index * index // 40, axis=1)


@pytest.mark.parametrize("spoil", [crossed, grown])
def test_motion_that_fills_the_picture_is_no_boundary(tmp_path: Path, spoil: Callable[[Frames, int], None]) -> None:
    frames = scene(34, 140)
    spoil(frames, 16)
    assert starts(detect_shots(encode(tmp_path / "a.mp4", frames))) == [(0, "start")]
