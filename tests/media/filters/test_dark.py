"""Nearly black pixels and pictures."""

from __future__ import annotations

import numpy as np
from hypothesis import given

from tests.media.filters.pictures import any_picture, drawn_picture, equal_rows
from vttdata.media.base_filter import SampledPicture
from vttdata.media.filters.dark import Dark
from vttdata.media.luma import Luma, black_share


def test_black_share_counts_nearly_black_pixels() -> None:
    assert black_share(equal_rows([16] * 30 + [120] * 10)) == 0.75


@given(any_picture)
def test_black_share_of_any_picture_is_a_ratio(picture: Luma) -> None:
    assert 0.0 <= black_share(picture) <= 1.0


def test_letterboxed_picture_is_not_black() -> None:
    picture = np.full((360, 480), 16, dtype=np.uint8)
    picture[93:267] = drawn_picture(174, 480)
    assert black_share(picture) < 0.6


def test_dark_is_the_share_of_time_that_is_black() -> None:
    dark = Dark()
    dark.add(SampledPicture.from_luma(np.full((36, 48), 16, dtype=np.uint8), 3))
    dark.add(SampledPicture.from_luma(drawn_picture(36, 48)))
    assert dark.score() == 0.75
