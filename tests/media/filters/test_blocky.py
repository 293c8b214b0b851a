"""Visibility of the block edges of codecs, on pictures with and without an 8 x 8 grid."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tests.media.filters.pictures import any_picture, drawn_picture, equal_rows
from vttdata.media.base_filter import SampledPicture
from vttdata.media.filters.blocky import Blocky
from vttdata.media.luma import Luma


def block_visibility(luma: Luma) -> float:
    return Blocky().score_picture(SampledPicture.from_luma(luma))


def quantised(picture: Luma, strength: float) -> Luma:
    """Pull the pixels of each block of 8 x 8 towards their mean, as a coarse quantiser does."""
    result = picture.astype(float)
    for top in range(0, picture.shape[0], 8):
        for left in range(0, picture.shape[1], 8):
            block = result[top : top + 8, left : left + 8]
            block[:] = block.mean() + (block - block.mean()) * (1 - strength)
    levels: Luma = np.rint(result).astype(np.uint8)
    return levels


def test_blockiness_grows_as_blocks_flatten() -> None:
    scores = [block_visibility(quantised(drawn_picture(), strength)) for strength in (0, 0.3, 0.6, 0.9, 1)]
    assert scores == sorted(scores)
    assert scores[0] < 0.05
    assert scores[-1] > 0.7


def test_blocks_off_the_grid_are_ignored() -> None:
    assert block_visibility(quantised(drawn_picture(), 1)[3:, 3:]) == 0.0


def test_object_edge_on_the_grid_is_no_block_edge() -> None:
    assert block_visibility(equal_rows([40] * 80 + [200] * 80, 120)) < 0.4


@given(any_picture)
def test_blockiness_of_any_picture_is_a_ratio(picture: Luma) -> None:
    assert 0.0 <= block_visibility(picture) <= 1.0


@given(st.integers(0, 255))
def test_uniform_picture_is_not_blocky(level: int) -> None:
    assert block_visibility(np.full((64, 64), level, dtype=np.uint8)) == 0.0
