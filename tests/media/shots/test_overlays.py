"""Captions, bars and frames over a scene are no boundaries; cuts under them, or in part of the picture, are."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from tests.media.shots.test_detect import HEIGHT, WIDTH, Frames, cuts, dissolved, encode, scene, starts
from vttdata.media.shots.detect import detect_shots

Draw = Callable[[Frames], None]


def lettered(frames: Frames) -> None:
    """Draw random letters on a plate over the lower third."""
    letters = np.random.default_rng(1).random((6, 50)) < 0.5
    frames[:, 48:66, 8:120] = 25
    frames[:, 51:63, 14:114][:, np.kron(letters, np.ones((2, 2), bool))] = 235


def framed(frames: Frames) -> None:
    """Draw black bars above and below, a quarter of the picture."""
    frames[:, :9] = frames[:, -9:] = 0


def in_a_picture(frames: Frames) -> None:
    """Draw a still frame around a moving picture, over a quarter of it."""
    border = scene(99, 1)[0]
    outside = np.ones((HEIGHT, WIDTH), bool)
    outside[5:67, 8:120] = False
    frames[:, outside] = border[outside]


@pytest.mark.parametrize("speed", [0, 0.3, 1])
@pytest.mark.parametrize("length", [20, 100])
def test_caption_that_appears_and_disappears_is_no_boundary(tmp_path: Path, speed: float, length: int) -> None:
    frames = scene(21, 160, speed)
    lettered(frames[30 : 30 + length])
    assert starts(detect_shots(encode(tmp_path / "a.mp4", frames))) == [(0, "start")]


@pytest.mark.parametrize("draw", [lettered, framed, in_a_picture])
def test_cut_under_an_overlay_that_stays_is_found(tmp_path: Path, draw: Draw) -> None:
    frames = np.concatenate((scene(22, 40), scene(23, 40)))
    draw(frames)
    assert cuts(detect_shots(encode(tmp_path / "a.mp4", frames))) == [40]


def test_caption_over_a_letterboxed_film_is_no_boundary(tmp_path: Path) -> None:
    frames = np.concatenate((scene(24, 90), scene(25, 60)))
    framed(frames)
    lettered(frames[30:70])
    assert cuts(detect_shots(encode(tmp_path / "a.mp4", frames))) == [90]


@pytest.mark.parametrize("bars", [np.s_[:, :26], np.s_[:, :, :40]])
def test_dissolve_is_found_between_bars_over_most_of_the_picture(tmp_path: Path, bars: tuple) -> None:
    frames = dissolved(scene(26, 60), scene(27, 60), 16)
    frames[bars] = 0
    frames[:, ::-1, ::-1][bars] = 0
    _, (at, kind) = starts(detect_shots(encode(tmp_path / "a.mp4", frames)))
    assert kind in ("dissolve", "gradual")
    assert at == pytest.approx(52, abs=3)


def test_jump_cuts_of_a_fixed_camera_are_found(shared: Path) -> None:
    assert {26, 60, 95} <= set(cuts(detect_shots(shared / "videos/shots/vatex-sample.mp4")))
