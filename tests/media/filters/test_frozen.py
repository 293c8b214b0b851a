"""Motion between pictures half a second apart, by means over a grid of cells."""

from __future__ import annotations

import numpy as np
from hypothesis import given

from tests.media.filters.pictures import any_picture, drawn_picture
from vttdata.media.base_filter import SampledPicture
from vttdata.media.filters.frozen import Frozen, cell_means, is_still
from vttdata.media.luma import Luma


def test_cells_are_means_over_the_grid() -> None:
    picture = np.kron(np.arange(11 * 32).reshape(11, 32) % 200, np.ones((16, 20))).astype(np.uint8)
    np.testing.assert_array_equal(cell_means(picture), np.arange(11 * 32).reshape(11, 32) % 200)


def test_noise_is_still_and_a_moving_mouth_is_not() -> None:
    noise = np.random.default_rng(1)
    picture = drawn_picture(360, 640)
    first, second = (picture + noise.normal(0, 4, picture.shape).astype(np.int8) for _ in range(2))
    speaking = second.copy()
    speaking[200:220, 300:330] = 40
    assert is_still(cell_means(first.astype(np.uint8)), cell_means(second.astype(np.uint8)))
    assert not is_still(cell_means(first.astype(np.uint8)), cell_means(speaking.astype(np.uint8)))


def test_pictures_of_different_size_are_not_still() -> None:
    assert not is_still(cell_means(drawn_picture(120, 160)), cell_means(drawn_picture(160, 120)))


@given(any_picture)
def test_any_picture_is_still_beside_itself(picture: Luma) -> None:
    assert is_still(cell_means(picture), cell_means(picture))


def test_frozen_is_the_share_of_repeated_half_seconds() -> None:
    frozen = Frozen()
    for picture, periods in ((drawn_picture(36, 48), 3), (drawn_picture(48, 48), 2)):
        frozen.add(SampledPicture.from_luma(picture, periods))
    assert frozen.score() == 0.75


def test_single_half_second_is_not_frozen() -> None:
    frozen = Frozen()
    frozen.add(SampledPicture.from_luma(drawn_picture(36, 48)))
    assert frozen.score() == 0.0
