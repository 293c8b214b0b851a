"""Shots are told by what lies outside of a text, a logo or a still half, and by no figure that appears."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from PIL import Image, ImageDraw, ImageFont

from tests.media.shots.test_detect import HEIGHT, WIDTH, Frames, cuts, encode, scene, starts
from vttdata.media.decode import open_video
from vttdata.media.shots.detect import detect_shots

# Twice the size of the scenes, so that lines of text can be read.
HIGH, WIDE = 2 * HEIGHT, 2 * WIDTH
WHITE, GREY, YELLOW = (235, 235, 235), (120, 120, 120), (220, 200, 30)


def large_scene(seed: int, length: int, speed: float = 0.2) -> Frames:
    return np.kron(scene(seed, length, speed).astype(np.uint8), np.ones((1, 2, 2, 1), np.uint8))


def write(frames: Frames, size: int, top: int, colour: tuple[int, int, int], words: str = "(c) 2026 A Film Co") -> None:
    """Draw a line of text that lets the picture through at its edges."""
    mask = Image.new("L", (WIDE, HIGH))
    font = ImageFont.load_default(size)
    ImageDraw.Draw(mask).text((20, top), words, 255, font)
    share = np.asarray(mask)[..., None] / 255
    frames[:] = frames * (1 - share) + np.array(colour) * share


def cut_to_black_and_faded_in(black: int) -> Frames:
    """90 frames of a scene, black ones, and 90 of another scene that fades in within 25."""
    light = np.minimum(np.arange(90) / 25, 1)[:, None, None, None]
    faded = (large_scene(2, 90) * light).astype(np.uint8)
    return np.concatenate((large_scene(1, 90), np.zeros((black, HIGH, WIDE, 3), np.uint8), faded))


@pytest.mark.parametrize("black", [31, 60])
@pytest.mark.parametrize(
    ("size", "top", "colour"),
    [(8, 4, WHITE), (8, 126, YELLOW), (14, 4, GREY), (14, 120, GREY), (24, 2, GREY), (24, 4, WHITE), (24, 60, WHITE)],
)
@pytest.mark.sampled(4)
def test_cut_to_black_under_a_text_that_stays_is_found(
    tmp_path: Path, black: int, size: int, top: int, colour: tuple[int, int, int]
) -> None:
    frames = cut_to_black_and_faded_in(black)
    write(frames, size, top, colour, "(c) 2026 A Film Company Ltd")
    _, (first, kind), (second, _) = starts(detect_shots(encode(tmp_path / "a.mp4", frames)))
    assert (first, kind) == (90, "cut")
    assert 90 + black <= second <= 90 + black + 25


@pytest.mark.parametrize("rows", [slice(6, 22), slice(-22, -6)])
@pytest.mark.parametrize("columns", [slice(6, 22), slice(-22, -6)])
def test_cut_to_black_under_a_logo_in_a_corner_is_found(tmp_path: Path, rows: slice, columns: slice) -> None:
    frames = cut_to_black_and_faded_in(31)
    frames[:, rows, columns] = (210, 180, 40)
    frames[:, rows, columns][:, 4:9] = (20, 60, 200)
    _, (first, kind), (second, _) = starts(detect_shots(encode(tmp_path / "a.mp4", frames)))
    assert (first, kind) == (90, "cut")
    assert 121 <= second <= 146


def plot(width: int, height: int) -> Frames:
    """A white plot with axes and a line."""
    page = Image.new("RGB", (256, 256), "white")
    draw = ImageDraw.Draw(page)
    draw.line((20, 236, 236, 236), "black", 2)
    draw.line((20, 20, 20, 236), "black", 2)
    draw.line([(20 + 8 * k, 226 - 60 * abs(np.sin(k / 4)) - 3 * k) for k in range(27)], "blue", 3)
    draw.text((60, 8), "Loss by epoch", "black", ImageFont.load_default(14))
    return np.asarray(page.resize((width, height)))


@pytest.mark.parametrize("share", [0.4, 0.5, 0.6])
@pytest.mark.parametrize("side", ["left", "right", "top", "bottom"])
@pytest.mark.sampled(4)
def test_cuts_of_a_film_beside_a_still_part_are_found(tmp_path: Path, side: str, share: float) -> None:
    frames = np.concatenate([large_scene(seed, 40) for seed in (21, 22, 21)])
    if side in ("left", "right"):
        width = round(WIDE * share)
        frames[:, :, slice(0, width) if side == "left" else slice(-width, None)] = plot(width, HIGH)
    else:
        height = round(HIGH * share)
        frames[:, slice(0, height) if side == "top" else slice(-height, None)] = plot(WIDE, height)
    assert starts(detect_shots(encode(tmp_path / "a.mp4", frames))) == [(0, "start"), (40, "cut"), (80, "cut")]


@pytest.mark.parametrize("side", ["left", "bottom"])
def test_real_cuts_beside_a_plot_are_found(tmp_path: Path, shared: Path, side: str) -> None:
    with open_video(shared / "videos/shots/bikes.mp4") as video:
        size = (WIDE // 2, HIGH) if side == "left" else (WIDE, HIGH // 2)
        film = [frame.picture.reformat(*size, "rgb24").to_ndarray() for frame in video.frames()]
    frames = np.empty((len(film), HIGH, WIDE, 3), np.uint8)
    frames[:] = plot(WIDE, HIGH)
    frames[:, : size[1], -size[0] :] = film
    frames[:, HIGH - (HIGH - size[1]) :, : WIDE - size[0]] = frames[:1, HIGH - (HIGH - size[1]) :, : WIDE - size[0]]
    assert cuts(detect_shots(encode(tmp_path / "a.mp4", frames))) == [30, 76, 137, 187, 242]


def show(frames: Frames, shape: str, size: float, centre: float) -> None:
    """Draw a figure with a texture of its own: a person who stands on the lower edge, or a disc."""
    mask = Image.new("1", (WIDE, HIGH))
    draw = ImageDraw.Draw(mask)
    high, x = round(HIGH * size), round(WIDE * centre)
    if shape == "person":
        draw.ellipse((x - high // 6, HIGH - high, x + high // 6, HIGH - high + high // 3), 1)
        draw.rounded_rectangle((x - high // 4, HIGH - high + high // 3, x + high // 4, HIGH), high // 8, 1)
    else:
        draw.ellipse((x - high // 2, (HIGH - high) // 2, x + high // 2, (HIGH + high) // 2), 1)
    is_figure = np.asarray(mask)
    frames[:, is_figure] = large_scene(52, len(frames), 0)[:, is_figure]


@pytest.mark.parametrize("speed", [0, 0.2])
@pytest.mark.parametrize(
    ("shape", "size", "centre"),
    [("person", 0.7, 0.5), ("person", 0.95, 0.3), ("person", 0.95, 0.5), ("disc", 0.5, 0.3), ("disc", 0.7, 0.5)],
)
@pytest.mark.sampled(4)
def test_figure_that_appears_before_a_background_that_stays_is_no_boundary(
    tmp_path: Path, shape: str, size: float, centre: float, speed: float
) -> None:
    frames = large_scene(1, 110, speed)
    show(frames[60:], shape, size, centre)
    assert starts(detect_shots(encode(tmp_path / "a.mp4", frames))) == [(0, "start")]


def test_credits_that_roll_over_black_are_one_shot(tmp_path: Path) -> None:
    page = Image.new("RGB", (WIDE, 400))
    for line in range(22):
        words = ("Jane Example, director", "M. Sample, camera", "A. Nother, sound")[line % 3]
        ImageDraw.Draw(page).text((40 + 20 * (line % 3), 18 * line), words, "white", ImageFont.load_default(11))
    rolled = np.asarray(page)
    frames = np.stack([rolled[round(1.5 * k) :][:HIGH] for k in range(120)])
    assert starts(detect_shots(encode(tmp_path / "a.mp4", frames))) == [(0, "start")]


@pytest.mark.parametrize("speed", [0, 0.2])
def test_subtitles_over_a_dark_scene_are_no_boundary(tmp_path: Path, speed: float) -> None:
    frames = (large_scene(90, 150, speed) * 0.12).astype(np.uint8)
    for first, words in ((10, "They went home again."), (60, "No. Not before noon."), (105, "What did you say?")):
        write(frames[first : first + 35], 14, 118, WHITE, words)
    assert starts(detect_shots(encode(tmp_path / "a.mp4", frames))) == [(0, "start")]


@pytest.mark.parametrize("high", [36, 54])
def test_cuts_within_a_picture_in_the_picture_are_no_boundaries(tmp_path: Path, high: int) -> None:
    frames, wide = large_scene(70, 150), high * 16 // 9
    inner = np.concatenate([scene(80 + number, 50, 0.5)[:, :high, :wide] for number in range(3)])
    frames[:, HIGH - high - 8 : HIGH - 8, WIDE - wide - 8 : WIDE - 8] = inner
    assert starts(detect_shots(encode(tmp_path / "a.mp4", frames))) == [(0, "start")]
