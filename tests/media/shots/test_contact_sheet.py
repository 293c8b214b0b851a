"""Contact sheets: which frames are shown and how, and no file after an error."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import av
import numpy as np
import pytest

from tests.helpers.barcode import Array, read_number, write_barcode
from vttdata.errors import MediaError
from vttdata.media.shots.contact_sheet import draw_sheet
from vttdata.media.shots.detect import Detection
from vttdata.records import Shot

RATE = Fraction(1, 25)


def detection(*firsts: int, frames: int) -> Detection:
    ends = [*firsts[1:], frames]
    shots = tuple(
        Shot("", index, first / 25, end / 25, first, end - 1, "dissolve" if index else "start")
        for index, (first, end) in enumerate(zip(firsts, ends, strict=True))
    )
    return Detection(frames, 25.0, frames / 25, shots)


def read_png(path: Path) -> Array:
    """Read with ffmpeg's decoder, which checks the sums of all chunks."""
    with av.open(str(path), options={"err_detect": "crccheck+explode"}) as container:
        return next(container.decode(video=0)).to_ndarray(format="rgb24")


def thumbnails(sheet: Array, width: int, height: int, shots: int, columns: int) -> list[list[Array]]:
    found = []
    for number in range(shots):
        row, column = divmod(number, columns)
        y, x = row * 130 + 22 + (90 - height) // 2, column * 500 + 4 + (160 - width) // 2
        found.append([sheet[y : y + height, x + 164 * k : x + 164 * k + width] for k in range(3)])
    return found


@pytest.mark.parametrize(("turn", "shown"), [(0, (120, 90)), (90, (68, 90)), (270, (68, 90)), (180, (120, 90))])
def test_first_middle_and_last_frame_of_every_shot_are_shown_upright(
    tmp_path: Path, turn: int, shown: tuple[int, int]
) -> None:
    movie = write_barcode(tmp_path / "film.mp4", range(60), RATE, size=(160, 120), turn=turn)
    target = tmp_path / "sheet.png"
    draw_sheet(movie.path, detection(0, 10, 33, 34, frames=60), target, columns=3)
    sheet = read_png(target)
    assert sheet.shape == (2 * 130, 3 * 500, 3)
    pictures = thumbnails(sheet, *shown, shots=4, columns=3)
    numbers = [[read_number(picture.mean(axis=2)) for picture in row] for row in pictures]
    assert numbers == [[0, 4, 9], [10, 21, 32], [33, 33, 33], [34, 46, 59]]


def test_pixel_aspect_is_applied(tmp_path: Path) -> None:
    movie = write_barcode(tmp_path / "film.mp4", range(5), RATE, size=(160, 120), aspect="16:9")
    draw_sheet(movie.path, detection(0, frames=5), tmp_path / "sheet.png", columns=1)
    (pictures,) = thumbnails(read_png(tmp_path / "sheet.png"), 160, 90, 1, 1)
    assert [read_number(picture.mean(axis=2)) for picture in pictures] == [0, 2, 4]


def test_sheet_is_reproducible_and_replaces_an_older_one(tmp_path: Path) -> None:
    movie = write_barcode(tmp_path / "film.mp4", range(20), RATE)
    first, second = tmp_path / "first.png", tmp_path / "second.png"
    second.write_text("old")
    for target in (first, second):
        draw_sheet(movie.path, detection(0, 7, frames=20), target)
    assert first.read_bytes() == second.read_bytes()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["film.mp4", "first.png", "second.png"]


def test_transition_and_times_are_written_beside_the_pictures(tmp_path: Path) -> None:
    movie = write_barcode(tmp_path / "film.mp4", range(20), RATE)
    draw_sheet(movie.path, detection(0, 10, frames=20), tmp_path / "sheet.png", columns=2)
    sheet = read_png(tmp_path / "sheet.png")
    headings, clocks = sheet[:18], sheet[112:130]
    assert not np.array_equal(headings[:, :500], headings[:, 500:])
    assert not np.array_equal(clocks[:, 4:164], clocks[:, 168:328])
    assert (clocks[:, 4:164] > 200).any()


def test_video_that_ends_before_its_shots_leaves_no_sheet(tmp_path: Path) -> None:
    movie = write_barcode(tmp_path / "film.mp4", range(20), RATE)
    with pytest.raises(MediaError, match="ends before frame 20 of shot 0"):
        draw_sheet(movie.path, detection(0, frames=41), tmp_path / "sheet.png")
    assert [path.name for path in tmp_path.iterdir()] == ["film.mp4"]


def test_sheet_without_columns_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="at least one column"):
        draw_sheet(tmp_path / "film.mp4", detection(0, frames=5), tmp_path / "sheet.png", columns=0)
