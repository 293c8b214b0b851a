"""What changes all colours and is no cut is none, and cuts that change hardly any colours are found."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from PIL import Image, ImageDraw, ImageFont

from tests.media.shots.test_detect import HEIGHT, WIDTH, Frames, encode, scene, starts
from vttdata.media.shots.detect import detect_shots
from vttdata.media.shots.structure import compare_structure, measure_rectangle, measure_unmixed

X, Y = np.meshgrid(np.arange(WIDTH), np.arange(HEIGHT))


@pytest.fixture
def detect(tmp_path: Path) -> Callable[[Frames], list[tuple[int, str]]]:
    """Return a function that encodes frames and gives each shot's first frame and transition."""
    options = ("-c:v", "libx264", "-preset", "veryfast", "-crf", "20", "-pix_fmt", "yuv420p")

    def found(frames: Frames) -> list[tuple[int, str]]:
        return starts(detect_shots(encode(tmp_path / "a.mp4", np.clip(frames, 0, 255), *options)))

    return found


def test_light_that_is_switched_on_and_off_is_no_boundary(detect: Callable) -> None:
    frames = scene(51, 150)
    frames[:50] *= 0.6
    frames[100:] *= 0.6
    assert detect(frames) == [(0, "start")]


def test_light_that_is_switched_on_for_good_is_no_boundary(detect: Callable) -> None:
    frames = scene(58, 100)
    frames[:50] *= 0.7
    assert detect(frames) == [(0, "start")]


def test_light_that_goes_back_to_nearly_what_it_was_is_no_boundary(detect: Callable) -> None:
    frames = scene(55, 150)
    frames[:50] *= 0.5
    frames[100:] *= 0.56
    assert detect(frames) == [(0, "start")]


def under_skies(skies: list[tuple[int, int]], lengths: list[int]) -> Frames:
    """One strip of ground, darker under each second sky; the halves of a sky have these levels."""
    ground, parts = scene(79, sum(lengths)), []
    for number, (sky, length) in enumerate(zip(skies, lengths, strict=True)):
        part = 0.3 * scene(99 + number, length) + np.repeat(sky, WIDTH // 2)[:, None]
        first = sum(lengths[:number])
        part[:, 56:] = ground[first : first + length, 56:] * (0.85 if number % 2 else 1)
        parts.append(part)
    return np.concatenate(parts)


def test_other_skies_over_the_same_ground_are_shots(detect: Callable) -> None:
    frames = under_skies([(190, 40), (110, 110), (40, 190)], [50, 50, 50])
    assert detect(frames) == [(0, "start"), (50, "cut"), (100, "cut")]


def test_picture_that_comes_back_after_more_than_ten_seconds_is_a_shot(detect: Callable) -> None:
    frames = under_skies([(120, 120), (10, 10), (120, 120)], [30, 260, 40])
    assert detect(frames) == [(0, "start"), (30, "cut"), (290, "cut")]


def test_arc_that_dazzles_while_the_iris_closes_is_no_dissolve(detect: Callable) -> None:
    frames = scene(54, 140)
    glow = 200 * np.exp(-((X - 40) ** 2 + (Y - 40) ** 2) / 2 / 30**2)[..., None] + 40
    iris = 1 - np.minimum(np.arange(1, 51) / 3, 1) / 2
    flicker = np.random.default_rng(54).uniform(0.6, 1.3, 140)[50:100]
    frames[50:100] = frames[50:100] * iris[:, None, None, None] + flicker[:, None, None, None] * glow
    assert {transition for _, transition in detect(frames)} <= {"start", "cut"}


def test_arc_that_flickers_for_seconds_is_no_boundary(detect: Callable) -> None:
    frames = scene(52, 170)
    glow = 300 * np.exp(-((X - 40) ** 2 + (Y - 40) ** 2) / 2 / 18**2)[..., None]
    flicker = np.random.default_rng(1).uniform(0.6, 1.2, 170)
    for first, end in ((30, 65), (80, 88), (110, 140)):
        frames[first:end] = frames[first:end] * 0.7 + flicker[first:end, None, None, None] * glow
    assert detect(frames) == [(0, "start")]


def test_window_that_opens_over_a_desktop_is_no_boundary(detect: Callable) -> None:
    frames = np.repeat(scene(53, 1), 140, 0)
    frames[40:, 10:50, 60:115] = 240
    frames[40:, 14:46:4, 64:110] = 30
    frames[90:, 30:66, 20:60] = scene(54, 1)[0, 30:66, 20:60]
    assert detect(frames) == [(0, "start")]


def test_cuts_in_a_window_in_the_corner_are_no_boundaries(detect: Callable) -> None:
    frames = scene(55, 150, 0.1)
    for number in range(3):
        frames[50 * number : 50 * number + 50, 4:30, 80:124] = scene(60 + number, 50)[:, 4:30, 80:124]
    assert detect(frames) == [(0, "start")]


@pytest.mark.parametrize("length", [4, 7])
def test_fast_turn_of_the_camera_is_no_boundary(detect: Callable, length: int) -> None:
    wide = np.concatenate(scene(57, 4, 3 * WIDTH / 4 + 60), 1)
    places = np.r_[
        np.zeros(50),
        2 * WIDTH * (0.5 - 0.5 * np.cos(np.pi * np.arange(1, length + 1) / length)),
        np.full(51, 2 * WIDTH),
    ]
    frames = []
    for start, goal in pairwise(places):
        lefts = np.linspace(start, start + 0.6 * (goal - start), 12).round().astype(int)
        frames.append(np.mean([wide[:, left : left + WIDTH] for left in lefts], 0))
    assert detect(np.stack(frames)) == [(0, "start")]


def page(number: int, paper: str = "white", ink: str = "black") -> np.ndarray:
    """Seven lines of eight words: all pages have about the same colours."""
    rng, picture = np.random.default_rng(number), Image.new("RGB", (4 * WIDTH, 4 * HEIGHT), paper)
    draw = ImageDraw.Draw(picture)
    for line in range(7):
        text = " ".join("".join(rng.choice(list("abcdeghmnorstu"), 5)) for _ in range(8))
        draw.text((30, 20 + 36 * line), text, ink, ImageFont.load_default(18))
    return np.asarray(picture, float)


@pytest.mark.parametrize("colours", [("white", "black"), ("#14141e", "white"), ("white", "#b0b0b0")])
def test_page_of_text_that_follows_another_is_a_shot(detect: Callable, colours: tuple[str, str]) -> None:
    frames = np.repeat(np.stack([page(1, *colours), page(2, *colours)]), (30, 30), axis=0)
    assert detect(frames) == [(0, "start"), (30, "cut")]


def test_lines_that_are_rewritten_on_a_page_are_no_boundary(detect: Callable) -> None:
    frames = np.repeat(page(1)[None], 60, 0)
    frames[30:, 130:200] = page(2)[130:200]
    assert detect(frames) == [(0, "start")]


def test_page_that_flashes_is_no_boundary(detect: Callable) -> None:
    frames = np.repeat(page(1)[None], 60, 0)
    frames[30:33] = page(2)
    assert detect(frames) == [(0, "start")]


def test_text_that_scrolls_on_every_second_frame_is_no_boundary(detect: Callable) -> None:
    text = np.concatenate([page(number)[20:272] for number in range(1, 5)])
    frames = np.stack([text[max(min(index // 2 * 16 - 160, 600), 0) :][:288] for index in range(110)])
    assert detect(frames) == [(0, "start")]


def test_lines_that_appear_on_a_page_are_no_boundary(detect: Callable) -> None:
    frames = np.repeat(page(4)[None], 60, 0)
    frames[:20, 192:] = 255
    frames[:40, 228:] = 255
    assert detect(frames) == [(0, "start")]


def test_cut_to_black_and_the_fade_in_after_it_are_one_fade(detect: Callable) -> None:
    black = 6
    after = scene(59, 80)
    after[: black + 25] *= np.r_[np.zeros(black), np.arange(25) / 25][:, None, None, None]
    _, (frame, transition), *others = detect(np.concatenate((scene(58, 60), after)))
    assert transition == "fade"
    assert 60 <= frame <= 85 + black
    assert not others


def fade_in(frames: Frames, length: int) -> Frames:
    frames[:length] *= np.linspace(0, 1, length)[:, None, None, None]
    return frames


def test_long_black_before_a_fade_in_is_a_shot(detect: Callable) -> None:
    black = np.zeros((20, HEIGHT, WIDTH, 3))
    found = detect(np.concatenate((scene(58, 60), black, fade_in(scene(59, 80), 25))))
    assert [transition for _, transition in found] == ["start", "cut", "fade"]
    assert (found[1][0], 80 <= found[2][0] <= 105) == (60, True)


def test_noise_in_the_dark_belongs_to_the_fade_in_after_it(detect: Callable) -> None:
    noise = np.random.default_rng(0).normal(0, 1.5, (8, HEIGHT, WIDTH, 3))
    _, (frame, transition) = detect(np.concatenate((scene(58, 60), 20 + noise, 20 + fade_in(scene(59, 80), 25))))
    assert (transition, 70 <= frame <= 80) == ("fade", True)


def test_fade_in_ends_before_the_next_cut(detect: Callable) -> None:
    black, stark = np.zeros((6, HEIGHT, WIDTH, 3)), 128 + 1.6 * (scene(60, 60) - 128)
    found = detect(np.concatenate((scene(58, 60), black, fade_in(scene(59, 30), 15), stark)))
    assert [transition for _, transition in found] == ["start", "fade", "cut"]
    assert (66 <= found[1][0] <= 74, found[2][0]) == (True, 96)


def test_cut_out_of_black_to_a_picture_that_brightens_a_little_is_a_cut(detect: Callable) -> None:
    black, after = np.zeros((20, HEIGHT, WIDTH, 3)), scene(59, 80)
    after[:25] *= np.linspace(0.8, 1, 25)[:, None, None, None]
    assert (80, "cut") in detect(np.concatenate((scene(58, 60), black, after)))


def test_fade_in_that_steps_out_of_black_includes_the_black(detect: Callable) -> None:
    after = scene(59, 80)
    after[:12] *= np.linspace(0.3, 1, 12)[:, None, None, None]
    found = detect(np.concatenate((scene(58, 60), np.zeros((8, HEIGHT, WIDTH, 3)), after)))
    assert [transition for _, transition in found] == ["start", "fade"]
    assert 68 <= found[1][0] <= 73


def test_cut_to_a_dim_picture_that_brightens_is_a_cut(detect: Callable) -> None:
    after = scene(59, 80)
    after[:25] *= np.linspace(0.3, 1, 25)[:, None, None, None]
    assert (60, "cut") in detect(np.concatenate((scene(58, 60), after)))


def test_black_at_the_start_and_the_fade_in_after_it_are_no_boundary(detect: Callable) -> None:
    frames = scene(60, 90)
    frames[:35] *= np.r_[np.zeros(12), 0.1 + 0.9 * np.arange(23) / 23][:, None, None, None]
    assert detect(frames) == [(0, "start")]


def test_cutting_to_another_scene_and_back_makes_two_cuts(detect: Callable) -> None:
    frames = scene(61, 150)
    frames[50:100] = scene(62, 50)
    assert detect(frames) == [(0, "start"), (50, "cut"), (100, "cut")]


def test_scene_as_bright_as_the_one_before_a_cut_is_not_that_one_again(detect: Callable) -> None:
    frames = scene(79, 150)
    for number, sky in enumerate(((120, 160, 200), (0, 5, 40), (210, 140, 150))):
        frames[50 * number : 50 * number + 50, :56] = 0.3 * scene(99 + number, 50)[:, :56] + sky
    frames[50:100, 56:] *= 0.75
    assert detect(frames) == [(0, "start"), (50, "cut"), (100, "cut")]


def test_cut_between_moving_pictures_is_found(detect: Callable) -> None:
    assert detect(np.concatenate((scene(61, 60, 4), scene(62, 60, 4)))) == [(0, "start"), (60, "cut")]


def test_cut_with_a_blended_frame_is_found(detect: Callable) -> None:
    before, after = scene(63, 50), scene(64, 50)
    frames = np.concatenate((before, (before[-1:] + after[:1]) / 2, after))
    _, (frame, transition) = detect(frames)
    assert transition == "cut"
    assert frame in (50, 51)


def picture(seed: int) -> np.ndarray:
    coarse = np.random.default_rng(seed).uniform(60, 180, (1, 12, 16))
    return coarse.repeat(3, 1).repeat(4, 2).astype(np.uint8)


def test_structure_is_kept_under_another_light_and_not_by_another_picture() -> None:
    old, other = picture(1), picture(2)
    assert compare_structure(old, (old * 0.5 + 20).astype(np.uint8)).kept > 0.85
    replaced = compare_structure(old, other)
    assert replaced.kept < 0.2
    assert replaced.replaced > 0.8


@pytest.mark.parametrize("level", [18, 240])
def test_windows_that_are_dark_or_dazzled_do_not_count(level: int) -> None:
    old = picture(1)
    relit = (old * 0.8).astype(np.uint8)
    relit[:, :, :32] = level
    assert compare_structure(old, relit).kept > 0.8


def test_structure_that_goes_is_not_kept() -> None:
    old, faint = picture(1), (100 + (picture(1) - 120.0) / 20).astype(np.uint8)
    assert compare_structure(old, faint).kept == 0


def test_slopes_are_no_structure() -> None:
    slope = np.linspace(60, 180, 64)[None, None].repeat(36, 1)
    same = compare_structure(slope.astype(np.uint8), (slope * 0.7).astype(np.uint8))
    assert (same.kept, same.replaced) == (0, 0)


def test_rectangle_of_changed_points_is_measured() -> None:
    old, new = picture(3), picture(3)
    new[:, 9:27, 16:48] = 255 - new[:, 9:27, 16:48]
    assert measure_rectangle(old, new, old, new) == pytest.approx(0.25, abs=0.02)
    assert measure_rectangle(old, old, old, old) == 1


def test_points_that_move_or_are_scattered_make_no_rectangle() -> None:
    still, changed, moved = (np.zeros((1, 36, 64), np.uint8) for _ in range(3))
    changed[:, 12:24, 24:40] = moved[:, 12:24, 24:40] = 200
    assert measure_rectangle(still, changed, still, changed) == 1 / 12
    assert measure_rectangle(still, changed, moved, changed) == 1
    moved[:, 12:24, 24:40] = 250
    assert measure_rectangle(still, changed, moved, changed) == 1
    hollow = changed.copy()
    hollow[:, 13:23, 25:39] = 0
    assert measure_rectangle(still, hollow, still, hollow) == 1
    for row in range(36):
        changed[:, row, [7 * row % 64, (7 * row + 21) % 64, (7 * row + 42) % 64]] = 200
    assert measure_rectangle(still, changed, still, changed) == 1


def test_bars_of_the_letterbox_are_no_structure_that_stays() -> None:
    old, other = picture(1), picture(2)
    old[:, :9] = old[:, 27:] = other[:, :9] = other[:, 27:] = 16
    assert compare_structure(old, other).kept < 0.2


def test_overlay_that_stays_says_nothing_about_the_picture() -> None:
    old, other = picture(1), picture(2)
    other[:, :18] = old[:, :18]
    assert compare_structure(old, other).kept < 0.2


def test_only_mixtures_are_mixed() -> None:
    old, new = picture(4), picture(5)
    mixture = (0.3 * old + 0.7 * new).astype(np.uint8)
    assert measure_unmixed(old, mixture, new) < 0.05
    assert measure_unmixed(old, picture(6), new) > 0.5
    beyond = np.clip(2.0 * new - old, 0, 255).astype(np.uint8)
    assert measure_unmixed(old, beyond, new) > 0.5
