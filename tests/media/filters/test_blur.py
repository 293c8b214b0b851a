"""The blur effect, against values worked out by hand from the formulas of Crete et al. 2007."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.media.filters.pictures import any_picture, drawn_picture, equal_rows
from vttdata.media.base_filter import SampledPicture
from vttdata.media.filters.blur import Blur
from vttdata.media.luma import Luma


def blur_effect(luma: Luma) -> float:
    return Blur().score_picture(SampledPicture.from_luma(luma))


def gaussian(picture: Luma, sigma: float) -> Luma:
    reach = np.arange(-int(4 * sigma) - 1, int(4 * sigma) + 2)
    kernel = np.exp(-(reach**2) / (2 * sigma**2))
    blurred = picture.astype(float)
    for axis in (0, 1):
        padded = np.pad(blurred, [(len(reach) // 2,) * 2 if a == axis else (0, 0) for a in (0, 1)], mode="edge")
        blurred = np.apply_along_axis(np.convolve, axis, padded, kernel / kernel.sum(), "valid")
    levels: Luma = np.rint(blurred).astype(np.uint8)
    return levels


def test_step_edge_scores_one_ninth() -> None:
    assert blur_effect(equal_rows([50] * 20 + [140] * 20)) == pytest.approx(1 / 9)


def test_ramp_over_nine_pixels_scores_by_the_formula() -> None:
    ramp = [50] * 20 + [50 + 9 * k for k in range(1, 9)] + [131] * 20
    assert blur_effect(equal_rows(ramp)) == pytest.approx(1 - 20 / 81)


def test_ramp_over_the_whole_picture_scores_one() -> None:
    assert blur_effect(equal_rows(list(range(20, 200)))) == 1.0


def test_more_blurred_direction_decides() -> None:
    picture = drawn_picture()
    smeared = np.apply_along_axis(np.convolve, 1, picture.astype(float), np.ones(15) / 15, "valid").astype(np.uint8)
    assert blur_effect(smeared) == pytest.approx(blur_effect(smeared.T))
    assert blur_effect(smeared) > blur_effect(picture) + 0.2


def test_blur_grows_with_the_strength_of_a_gaussian() -> None:
    pictures = [drawn_picture(), *(gaussian(drawn_picture(), sigma) for sigma in (0.7, 1.5, 3, 6))]
    scores = [blur_effect(picture) for picture in pictures]
    assert scores == sorted(scores)
    assert scores[0] < 0.5
    assert scores[-1] > 0.8


@given(any_picture)
def test_blur_of_any_picture_is_a_ratio(picture: Luma) -> None:
    assert 0.0 <= blur_effect(picture) <= 1.0


@given(st.integers(0, 255))
def test_uniform_picture_is_not_blurred(level: int) -> None:
    assert blur_effect(np.full((64, 64), level, dtype=np.uint8)) == 0.0
