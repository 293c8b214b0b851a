"""Scores of single pictures, against values worked out by hand from the papers' formulas."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays

from vttdata.media.filters.luma import Luma, blockiness, blur, cells, darkness, stands_still

pictures = arrays(np.uint8, array_shapes(min_dims=2, max_dims=2, min_side=1, max_side=70))


def columns(row: list[int], height: int = 40) -> Luma:
    return np.tile(np.array(row, dtype=np.uint8), (height, 1))


def drawn_picture(height: int = 120, width: int = 160) -> Luma:
    y, x = np.mgrid[:height, :width]
    discs = [(30, 40, 18, 200), (80, 60, 25, 60), (60, 120, 30, 150), (20, 100, 9, 230), (100, 130, 11, 40)]
    picture = 90 + 20 * np.sin(x / 3.0) * np.sin(y / 4.0)
    for top, left, radius, level in discs:
        picture[(y - top) ** 2 + (x - left) ** 2 < radius**2] = level
    levels: Luma = picture.astype(np.uint8)
    return levels


def gaussian(picture: Luma, sigma: float) -> Luma:
    reach = np.arange(-int(4 * sigma) - 1, int(4 * sigma) + 2)
    kernel = np.exp(-(reach**2) / (2 * sigma**2))
    blurred = picture.astype(float)
    for axis in (0, 1):
        padded = np.pad(blurred, [(len(reach) // 2,) * 2 if a == axis else (0, 0) for a in (0, 1)], mode="edge")
        blurred = np.apply_along_axis(np.convolve, axis, padded, kernel / kernel.sum(), "valid")
    levels: Luma = np.rint(blurred).astype(np.uint8)
    return levels


def quantised(picture: Luma, strength: float) -> Luma:
    """Blocks of 8 x 8 pulled towards their means, as a coarse quantiser does."""
    result = picture.astype(float)
    for top in range(0, picture.shape[0], 8):
        for left in range(0, picture.shape[1], 8):
            block = result[top : top + 8, left : left + 8]
            block[:] = block.mean() + (block - block.mean()) * (1 - strength)
    levels: Luma = np.rint(result).astype(np.uint8)
    return levels


def test_darkness_is_the_share_of_nearly_black_pixels() -> None:
    assert darkness(columns([16] * 30 + [120] * 10)) == 0.75


def test_a_letterbox_never_makes_a_picture_black() -> None:
    picture = np.full((360, 480), 16, dtype=np.uint8)
    picture[93:267] = drawn_picture(174, 480)
    assert darkness(picture) < 0.6


def test_a_step_scores_a_ninth_by_the_formula_of_crete() -> None:
    assert blur(columns([50] * 20 + [140] * 20)) == pytest.approx(1 / 9)


def test_a_step_spread_over_nine_pixels_scores_by_the_formula_of_crete() -> None:
    ramp = [50] * 20 + [50 + 9 * k for k in range(1, 9)] + [131] * 20
    assert blur(columns(ramp)) == pytest.approx(1 - 20 / 81)


def test_an_endless_slope_is_all_blur() -> None:
    assert blur(columns(list(range(20, 200)))) == 1.0


def test_the_blurred_direction_decides() -> None:
    picture = drawn_picture()
    smeared = np.apply_along_axis(np.convolve, 1, picture.astype(float), np.ones(15) / 15, "valid").astype(np.uint8)
    assert blur(smeared) == pytest.approx(blur(smeared.T))
    assert blur(smeared) > blur(picture) + 0.2


def test_blur_grows_with_the_strength_of_a_gaussian() -> None:
    scores = [blur(drawn_picture()), *(blur(gaussian(drawn_picture(), sigma)) for sigma in (0.7, 1.5, 3, 6))]
    assert scores == sorted(scores)
    assert scores[0] < 0.5
    assert scores[-1] > 0.8


def test_blockiness_grows_as_blocks_flatten() -> None:
    scores = [blockiness(quantised(drawn_picture(), strength)) for strength in (0, 0.3, 0.6, 0.9, 1)]
    assert scores == sorted(scores)
    assert scores[0] < 0.05
    assert scores[-1] > 0.7


def test_blocks_off_the_grid_are_not_seen() -> None:
    assert blockiness(quantised(drawn_picture(), 1)[3:, 3:]) == 0.0


def test_a_real_edge_on_the_grid_is_not_taken_for_blocks() -> None:
    assert blockiness(columns([40] * 80 + [200] * 80, 120)) < 0.4


def test_cells_are_means_over_the_grid() -> None:
    picture = np.kron(np.arange(11 * 32).reshape(11, 32) % 200, np.ones((16, 20))).astype(np.uint8)
    np.testing.assert_array_equal(cells(picture), np.arange(11 * 32).reshape(11, 32) % 200)


def test_noise_stands_still_and_a_moving_mouth_does_not() -> None:
    noise = np.random.default_rng(1)
    picture = drawn_picture(360, 640)
    first, second = (picture + noise.normal(0, 4, picture.shape).astype(np.int8) for _ in range(2))
    speaking = second.copy()
    speaking[200:220, 300:330] = 40
    assert stands_still(cells(first.astype(np.uint8)), cells(second.astype(np.uint8)))
    assert not stands_still(cells(first.astype(np.uint8)), cells(speaking.astype(np.uint8)))


def test_pictures_of_different_size_do_not_stand_still() -> None:
    assert not stands_still(cells(drawn_picture(120, 160)), cells(drawn_picture(160, 120)))


@given(pictures)
def test_scores_of_any_picture_are_ratios(picture: Luma) -> None:
    assert all(0.0 <= score(picture) <= 1.0 for score in (darkness, blur, blockiness))
    assert stands_still(cells(picture), cells(picture))


@given(st.integers(0, 255))
def test_a_picture_of_one_tone_is_neither_blurred_nor_blocky(level: int) -> None:
    picture = np.full((64, 64), level, dtype=np.uint8)
    assert (blur(picture), blockiness(picture)) == (0.0, 0.0)
