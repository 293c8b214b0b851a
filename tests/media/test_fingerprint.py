"""Fingerprints of drawn films: what an edit may change, and what never makes a difference."""

from __future__ import annotations

import subprocess
from pathlib import Path

import av
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.helpers.films import X264, edit, encode, write_film
from vttdata.media.decode import open_video
from vttdata.media.ffmpeg_program import ffmpeg_path
from vttdata.media.fingerprint import Fingerprinter, fingerprint
from vttdata.media.measure import measure
from vttdata.split.near_duplicates.samples import ORIENTATIONS, collect_samples, decode_words, differing_bits

TINT = "colorchannelmixer=.393:.769:.189:0:.349:.686:.168:0:.272:.534:.131"


@pytest.fixture(scope="module")
def film(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_film(tmp_path_factory.mktemp("film") / "film.mp4", seed=1)


def distance(one: np.ndarray, other: np.ndarray) -> float:
    bits, of = differing_bits(one, other)
    return float(bits.sum() / of.sum())


def words(path: Path) -> np.ndarray:
    return decode_words(fingerprint(path))


@pytest.mark.parametrize(
    ("graph", "options"),
    [
        ("null", ("-c:v", "mpeg4", "-q:v", "10")),
        ("null", ("-c:v", "libx264", "-crf", "38", "-pix_fmt", "yuv420p10le")),
        ("scale=96:96", ()),
        ("scale=426:240", ()),
        ("hue=s=0", ()),
        (TINT, ()),
        ("eq=brightness=0.1:contrast=1.3", ()),
        ("pad=iw:ih*4/3:0:(oh-ih)/2", ()),
        ("pad=iw*4/3:ih:(ow-iw)/2:0", ()),
        ("pad=iw:ih*4/3:0:(oh-ih)/2,drawbox=x=4:y=4:w=16:h=8:color=white:t=fill", ()),
        ("fps=6", ()),
        ("fps=30", ()),
        ("format=rgb24", ("-c:v", "ffv1", "-pix_fmt", "bgr0")),
    ],
)
def test_edited_copy_differs_in_few_bits(film: Path, tmp_path: Path, graph: str, options: tuple[str, ...]) -> None:
    copy = words(edit(film, tmp_path / "copy.mkv", graph, *options))
    assert distance(words(film), copy) < 0.12


@pytest.mark.parametrize(
    "graph",
    [
        "crop=iw*0.95:ih*0.95",
        "drawbox=x=iw*0.8:y=ih*0.05:w=iw*0.15:h=ih*0.15:color=white:t=fill",
        "drawbox=x=iw*0.1:y=ih*0.82:w=iw*0.8:h=ih*0.12:color=black:t=fill",
    ],
    ids=["crop", "logo", "caption"],
)
def test_crop_or_overlay_leaves_most_bits(film: Path, tmp_path: Path, graph: str) -> None:
    assert distance(words(film), words(edit(film, tmp_path / "copy.mp4", graph))) < 0.25


def test_unrelated_film_differs_in_half_of_the_bits(film: Path, tmp_path: Path) -> None:
    assert distance(words(film), words(write_film(tmp_path / "other.mp4", seed=2))) == pytest.approx(0.5, abs=0.08)


@pytest.mark.parametrize(
    ("graph", "mirrored", "rotation"),
    [("hflip", True, 0), ("vflip", True, 180), ("hflip,vflip", False, 180), ("transpose=clock", False, 90),
     ("transpose=cclock", False, 270), ("transpose=cclock_flip", True, 270), ("transpose=clock_flip", True, 90)],
)  # fmt: skip
def test_hashes_of_a_film_follow_from_those_of_a_turned_copy(
    film: Path, tmp_path: Path, graph: str, mirrored: bool, rotation: int
) -> None:
    samples = collect_samples([("copy", fingerprint(edit(film, tmp_path / "copy.mp4", graph)))])
    distances = {
        turn: distance(words(film)[:, :2], samples.oriented_words(np.arange(len(samples.words)), orientation))
        for orientation, turn in enumerate(ORIENTATIONS)
    }
    assert distances.pop((mirrored, rotation)) < 0.05
    assert min(distances.values()) > 0.3


def test_rotation_is_applied(film: Path, tmp_path: Path) -> None:
    turned = tmp_path / "turned.mp4"
    tag = [ffmpeg_path(), "-v", "error", "-display_rotation", "90", "-i", str(film), "-c", "copy", str(turned)]
    subprocess.run(tag, check=True, timeout=60)
    baked = edit(turned, tmp_path / "baked.mp4", "null")
    assert distance(words(turned), words(baked)) < 0.05
    assert distance(words(turned), words(film)) > 0.3


def test_hashes_of_pictures_without_contrast_are_zero(tmp_path: Path) -> None:
    frames = np.zeros((40, 90, 160, 3))
    frames[20:] = 180
    frames[20:, 75:] += np.random.default_rng(1).normal(0, 60, (3, 32, 3)).repeat(5, 0).repeat(5, 1)
    found = words(encode(tmp_path / "flat.mp4", frames))
    assert len(found) == 8
    assert (found[:4] == 0).all()
    assert (found[4:, 0] == 0).all()
    assert (found[4:, 1] != 0).all()


def test_each_half_second_begun_has_one_sample(tmp_path: Path) -> None:
    assert len(words(write_film(tmp_path / "film.mp4", 3, seconds=4))) == 8
    short = edit(tmp_path / "film.mp4", tmp_path / "short.mp4", "trim=end=2.6")
    assert len(words(short)) == 6


def test_start_time_is_subtracted(film: Path, tmp_path: Path) -> None:
    late = edit(film, tmp_path / "late.ts", "null", *X264, "-output_ts_offset", "7")
    assert len(words(late)) == len(words(film))
    assert distance(words(film), words(late)) < 0.05


def pictures(film: Path) -> list[tuple[float, av.VideoFrame]]:
    with open_video(film) as video:
        return [(frame.time, frame.picture) for frame in video.frames()]


@given(left_out=st.sets(st.integers(1, 79)))
def test_pictures_between_samples_make_no_difference(film: Path, left_out: set[int]) -> None:
    fingerprinter = Fingerprinter()
    for index, (time, picture) in enumerate(_PICTURES or _PICTURES.extend(pictures(film)) or _PICTURES):
        if index % 5 == 0 or index not in left_out:
            fingerprinter.add(time, picture)
    assert fingerprinter.finish(8.0) == fingerprint_of_all(film)


_PICTURES: list[tuple[float, av.VideoFrame]] = []


def fingerprint_of_all(film: Path) -> object:
    if film not in _KNOWN:
        _KNOWN[film] = fingerprint(film)
    return _KNOWN[film]


_KNOWN: dict[Path, object] = {}


def test_missing_pictures_repeat_the_one_before(film: Path) -> None:
    fingerprinter = Fingerprinter()
    for time, picture in pictures(film)[:1]:
        fingerprinter.add(time, picture)
    found = decode_words(fingerprinter.finish(5.0))
    assert len(found) == 10
    assert (found == found[0]).all()


def test_fingerprint_ends_after_a_day(film: Path) -> None:
    fingerprinter = Fingerprinter()
    fingerprinter.add(0.0, pictures(film)[0][1])
    assert len(decode_words(fingerprinter.finish(1e15))) == 2 * 24 * 3600


def test_fingerprint_without_pictures_is_empty() -> None:
    assert Fingerprinter().finish(10.0).hashes == ""


def test_fingerprint_while_measuring_is_the_same(film: Path) -> None:
    fingerprinter = Fingerprinter()
    found = measure(film, watch=fingerprinter.add)
    assert fingerprinter.finish(found.seconds) == fingerprint(film)
