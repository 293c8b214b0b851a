"""A cut takes any file name, gives the same bytes again, and leaves nothing behind when it fails."""

from __future__ import annotations

import os
import sys
from fractions import Fraction
from pathlib import Path

import pytest

from tests.helpers.barcode import Movie, read_video, write_barcode
from tests.helpers.cuts import cut_file, times_of
from vttdata.errors import MediaError
from vttdata.media.cut import MediaSettings, cut
from vttdata.media.probe import probe


@pytest.mark.parametrize(
    "name",
    [
        "a b.mp4",
        'it\'s "one".mp4',
        "two\nlines.mp4",
        "-i.mp4",
        "100%d%%.mp4",
        "фильм 影.mp4",
        "concat:a|b.mp4",
        "http:evil.mp4",
        "[0]:v,;x=\\.mp4",
    ],
)
def test_hostile_file_names_are_harmless(
    movies: dict[str, Movie], name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    movie = movies["30 fps"]
    monkeypatch.chdir(tmp_path)
    os.link(movie.path, name)
    media = cut_file(Path(name), 3.0, 3.2, Path("clip " + name))
    assert media.video == "clip " + name
    assert [number for number, _ in read_video(tmp_path / media.video)] == movie.inside(3.0, 3.2)


def test_bytes_do_not_depend_on_the_number_of_cores(movies: dict[str, Movie], tmp_path: Path) -> None:
    movie, cores = movies["variable"], os.sched_getaffinity(0)
    clips = [tmp_path / f"{number}.mp4" for number in range(3)]
    for clip in clips:
        if clip is clips[-1]:
            os.sched_setaffinity(0, {min(cores)})
        try:
            cut_file(movie.path, 3.0, 6.0, clip)
        finally:
            os.sched_setaffinity(0, cores)
    assert len({clip.read_bytes() for clip in clips}) == 1


def test_clip_names_neither_encoder_nor_source(tmp_path: Path) -> None:
    movie = write_barcode(tmp_path / "secretname.mp4", range(40), Fraction(1, 30), sound=(0.0, 2.0))
    cut_file(movie.path, 0.2, 1.0, tmp_path / "clip.mp4")
    data = (tmp_path / "clip.mp4").read_bytes()
    assert b"x264 - core" in movie.path.read_bytes()
    assert not [word for word in (b"x264 - core", b"Lavf", b"Lavc6", b"secretname") if word in data]


def test_damaged_source_is_an_error_and_leaves_no_file(movies: dict[str, Movie], tmp_path: Path) -> None:
    source, folder = tmp_path / "damaged.mp4", tmp_path / "clips"
    data = bytearray(movies["30 fps"].path.read_bytes())
    data[len(data) // 3 : len(data) * 2 // 3] = bytes(len(data) * 2 // 3 - len(data) // 3)
    source.write_bytes(data)
    times = times_of(movies["30 fps"].path)
    folder.mkdir()
    with pytest.raises(MediaError) as caught:
        cut(source, probe(source), times, 7.0, 9.0, folder / "clip.mp4", MediaSettings())
    assert caught.value.reason in ("damaged", "cut_failed", "cut_mismatch")
    assert os.listdir(folder) == []


def test_message_of_ffmpeg_is_passed_on_without_paths(
    movies: dict[str, Movie], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules["vttdata.media.cut"]._ENCODERS, "h264", {"c:v": "nonesuch"})
    with pytest.raises(MediaError) as caught:
        cut_file(movies["30 fps"].path, 1.0, 2.0, tmp_path / "clip.mp4")
    assert caught.value.reason == "cut_failed"
    assert caught.value.detail not in ("", "ffmpeg failed without a message.")
    assert str(tmp_path) not in caught.value.detail
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize(("start", "end"), [(99.0, 101.0), (3.0, 3.0), (5.0, 4.0), (2.001, 2.002)])
def test_span_without_frames_fails_and_keeps_an_older_clip(
    movies: dict[str, Movie], start: float, end: float, tmp_path: Path
) -> None:
    clip = tmp_path / "clip.mp4"
    clip.write_bytes(b"older")
    with pytest.raises(MediaError, match="no frame of the source lies between"):
        cut_file(movies["30 fps"].path, start, end, clip)
    assert clip.read_bytes() == b"older"
    assert os.listdir(tmp_path) == ["clip.mp4"]


def test_cut_over_its_time_limit_is_stopped(movies: dict[str, Movie], tmp_path: Path) -> None:
    source = movies["30 fps"].path
    with pytest.raises(MediaError) as caught:
        cut(source, probe(source), times_of(source), 1, 3, tmp_path / "clip.mp4", MediaSettings(), seconds_limit=0.0)
    assert caught.value.reason == "timeout"
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("target", ["missing/clip.mp4", "file/clip.mp4"])
def test_unwritable_target_is_an_oserror(movies: dict[str, Movie], target: str, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(OSError, match="clip"):
        cut_file(movies["30 fps"].path, 1.0, 2.0, tmp_path / target)
