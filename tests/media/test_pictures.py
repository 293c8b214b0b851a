"""Frames spread over a video, as players show them, and resizing by a stated formula."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from tests.helpers.barcode import Movie, read_number, write_barcode
from vttdata.errors import MediaError
from vttdata.media.pictures import resize, resize_weights, sample_frames

SIZES = st.integers(1, 60)


@pytest.mark.parametrize(("number", "expected"), [(1, [0]), (2, [0, 29]), (4, [0, 9, 19, 29]), (0, list(range(30)))])
def test_frames_are_spread_from_the_first_to_the_last(number: int, expected: list[int], tmp_path: Path) -> None:
    movie = write_barcode(tmp_path / "movie.mp4", range(30), Fraction(1, 10))
    frames = list(sample_frames(movie.path, number))
    assert [read_number(frame.picture.mean(axis=2)) for frame in frames] == expected
    assert [frame.time for frame in frames] == pytest.approx([movie.times[index] for index in expected])


def test_frames_of_a_part_lie_in_it(tmp_path: Path) -> None:
    movie = write_barcode(tmp_path / "movie.mp4", range(30), Fraction(1, 10))
    frames = list(sample_frames(movie.path, 3, 1.0, 2.0))
    assert [read_number(frame.picture.mean(axis=2)) for frame in frames] == [10, 14, 19]
    with pytest.raises(MediaError, match="no frame lies between 5 and 6 s"):
        list(sample_frames(movie.path, 3, 5.0, 6.0))


def test_frames_are_turned_and_stretched_as_players_show_them(movies: dict[str, Movie], tmp_path: Path) -> None:
    (frame,) = sample_frames(movies["rotated"].path, 1)
    assert read_number(frame.picture.mean(axis=2)) == 0
    wide = write_barcode(tmp_path / "wide.mp4", range(3), Fraction(1, 10), aspect="16:9")
    assert next(sample_frames(wide.path, 1)).picture.shape == (120, 213, 3)


@given(SIZES, SIZES, st.sampled_from(["bicubic", "bilinear"]))
def test_resizing_keeps_a_plain_area_and_a_mirror_image(length: int, resized: int, method: str) -> None:
    weights = resize_weights(length, resized, method)  # type: ignore[arg-type]
    np.testing.assert_allclose(weights.sum(axis=1), 1, atol=1e-5)
    np.testing.assert_allclose(weights, weights[::-1, ::-1], atol=1e-5)


def test_resizing_keeps_a_slope_away_from_the_border() -> None:
    for length, resized in [(100, 37), (37, 100), (64, 64)]:
        centres = (np.arange(resized) + 0.5) * length / resized - 0.5
        inside = slice(resized // 4, -resized // 4)
        line = resize_weights(length, resized) @ np.arange(length, dtype=np.float32)
        np.testing.assert_allclose(line[inside], centres[inside], atol=0.02)


@pytest.mark.parametrize("size", [(240, 320), (30, 20), (224, 224)])
def test_resizing_is_that_of_pillow_before_it_rounds(size: tuple[int, int]) -> None:
    pixels = np.random.default_rng(3).integers(0, 256, (*size, 1), dtype=np.uint8)
    for method, name in (("bicubic", Image.Resampling.BICUBIC), ("bilinear", Image.Resampling.BILINEAR)):
        picture = Image.fromarray(pixels[:, :, 0].astype(np.float32)).resize((50, 40), name)
        resized = resize(pixels, 40, 50, method)[:, :, 0]  # type: ignore[arg-type]
        np.testing.assert_allclose(resized, np.clip(np.asarray(picture), 0, 255), atol=1e-3)


def test_half_of_a_step_has_the_weights_of_the_formula() -> None:
    # Four pixels to two: pixel 0 lies at 1, so pixels 0 to 3 are 0.25, 0.25, 0.75 and 1.25 kernel units away.
    kernel = np.array([0.8671875, 0.8671875, 0.2265625, -0.0703125])
    np.testing.assert_allclose(resize_weights(4, 2)[0], kernel / kernel.sum(), atol=1e-6)
