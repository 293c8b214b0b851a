"""Versions of PyAV differ in what they cannot name; files are read alike with all of them."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path

import pytest
from av.sidedata.sidedata import Type

from tests.helpers.barcode import write_barcode
from tests.media.test_cut import cut_file
from vttdata.errors import MediaError
from vttdata.media import detect_shots
from vttdata.media.decode import open_video
from vttdata.media.ffmpeg_program import ffmpeg_path
from vttdata.media.measure import measure
from vttdata.media.pyav import display_matrix


def test_side_data_of_a_type_without_a_name_is_passed_over() -> None:
    assert Type(30_000) is Type(30_000)
    assert Type(30_000).value == 30_000
    assert Type["DISPLAYMATRIX"].value >= 0


def test_spatial_video_whose_frames_have_such_side_data_is_cut(shared: Path, tmp_path: Path) -> None:
    file = shared / "videos" / "odd" / "water_180_mvhevc_5frames.mov"
    with open_video(file) as video:
        seconds = [frame.time + frame.seconds for frame in video.frames()]
        assert len(seconds) == 5
    media = cut_file(file, 0.0, seconds[-1], tmp_path / "clip.mp4")
    assert media.frames == 5


@pytest.mark.parametrize("read", [detect_shots, measure])
def test_file_whose_decoder_cannot_be_opened_is_refused(read: Callable[[Path], object], tmp_path: Path) -> None:
    movie = tmp_path / "movie.mkv"
    picture = ["-f", "lavfi", "-i", "testsrc2=s=64x64:r=5:d=1"]
    subprocess.run([ffmpeg_path(), "-v", "error", *picture, "-c:v", "ffv1", "-level", "3", str(movie)], check=True)
    with open_video(movie) as video:
        header = bytes(video.stream.codec_context.extradata)
    content = movie.read_bytes()
    assert content.count(header) == 1
    movie.write_bytes(content.replace(header, header[::-1]))
    with pytest.raises(MediaError, match=r"^5 of 5 .*packets cannot be decoded") as error:
        read(movie)
    assert error.value.reason == "damaged"


@pytest.mark.parametrize("turn", [0, 90])
def test_display_matrix_is_there_only_for_turned_pictures(turn: int, tmp_path: Path) -> None:
    movie = write_barcode(tmp_path / "movie.mp4", range(3), Fraction(1, 25), turn=turn)
    with open_video(movie.path) as video:
        matrix = display_matrix(next(video.frames()).picture)
        assert video.time_base == Fraction(video.stream.time_base.numerator, video.stream.time_base.denominator)
    assert (matrix is None) == (turn == 0)
    if matrix is not None:
        # A quarter turn counter-clockwise, in 16.16 fixed point: a = d = 0, b = -c = +-1.
        assert (matrix[0], abs(matrix[1]), matrix[3], matrix[4]) == (0, 65536, -matrix[1], 0)
