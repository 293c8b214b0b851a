"""Clips of interlaced films have no combs, keep their times, and look like the film that was filmed."""

from __future__ import annotations

import subprocess
from fractions import Fraction
from pathlib import Path

import av
import numpy as np
import pytest

from tests.helpers.barcode import write_barcode
from tests.helpers.cuts import cut_file, read_shown, times_of
from vttdata.media import probe
from vttdata.media.cut import MediaSettings, ffmpeg_command
from vttdata.media.ffmpeg_program import ffmpeg_path
from vttdata.media.filters import FilterSettings, screen

# A patchwork that moves by ten pixels from field to field.
SCENE = "mandelbrot=s=640x240:r=50:maxiter=300:start_scale=2:end_scale=2,trim=end_frame=1,loop=-1:1"
MOVING = f"{SCENE},crop=320:240:x='mod(n*6,300)':y=0,gblur=1.5,setpts=N/50/TB,trim=end_frame=200,format=yuv420p"
MPEG2 = ("-c:v", "mpeg2video", "-b:v", "20M", "-g", "12")
FIELDS = ("-flags", "+ilme+ildct")
SOURCES = {
    "top.mpg": ("tff", (*MPEG2, *FIELDS)),
    "bottom.mpg": ("bff", (*MPEG2, *FIELDS)),
    "top.ts": ("tff", (*MPEG2, *FIELDS)),
    "top.mp4": ("tff", ("-c:v", "libx264", "-crf", "12", "-x264-params", "tff=1")),
    "bottom.mkv": ("bff", ("-c:v", "libx264", "-crf", "12", "-x264-params", "bff=1")),
}
ORDER = {"tff": "top_first", "bff": "bottom_first"}
WEAVE = {"tff": "tinterlace=interleave_top,setfield=tff", "bff": "tinterlace=interleave_bottom,setfield=bff"}


def write(path: Path, graph: str, *coding: str) -> Path:
    command = [ffmpeg_path(), "-v", "error", "-y", "-f", "lavfi", "-i", MOVING, "-vf", graph, *coding, str(path)]
    subprocess.run(command, check=True)
    return path


def grey(path: Path) -> np.ndarray:
    with av.open(str(path)) as container:
        return np.stack([frame.to_ndarray(format="gray") for frame in container.decode(video=0)]).astype(float)


def psnr(found: np.ndarray, expected: np.ndarray) -> float:
    """Return the PSNR inside, in dB: what comes in at the edges is on one field alone."""
    error = (found - expected)[:, 8:-8, 16:-16]
    return float(10 * np.log10(255**2 / np.mean(error**2)))


@pytest.mark.parametrize("file", SOURCES)
@pytest.mark.sampled(1)
def test_clip_of_an_interlaced_film_looks_like_the_film_at_its_times(file: str, tmp_path: Path) -> None:
    order, coding = SOURCES[file]
    source = write(tmp_path / file, WEAVE[order], *coding)
    assert probe(source).field_order == ORDER[order]
    times = times_of(source)
    assert len(times) == 101
    media = cut_file(source, float(times[20]), float(times[60]), tmp_path / "clip.mp4", height=None, quality=10)
    assert media.frames == 40
    clip = probe(tmp_path / "clip.mp4")
    assert clip.field_order == "progressive"
    # The field that comes first is of the time of the frame.
    expected = grey(write(tmp_path / "film.mkv", "select='not(mod(n,2))'", "-c:v", "ffv1", "-r", "25"))[20:60]
    combed = grey(source)[20:60]
    found = grey(tmp_path / "clip.mp4")
    assert psnr(combed, expected) < 30
    assert psnr(found, expected) > 40


@pytest.mark.parametrize("marked", [True, False])
@pytest.mark.sampled(1)
def test_film_without_combs_is_left_as_it_is_though_marked(marked: bool, tmp_path: Path) -> None:
    film = "select='not(mod(n,2))',setpts=N/25/TB"
    expected = grey(write(tmp_path / "film.mkv", film, "-c:v", "ffv1", "-r", "25"))
    fields = ("-x264-params", "tff=1") if marked else ()
    source = write(
        tmp_path / "a.mp4", f"{film},setfield={'tff' if marked else 'prog'}", "-r", "25", *fields, "-crf", "8"
    )
    assert probe(source).field_order == ("top_first" if marked else "progressive")
    cut_file(source, 0.0, 4.0, tmp_path / "clip.mp4", height=None, quality=10)
    found = grey(tmp_path / "clip.mp4")
    assert len(found) == 100
    assert psnr(found, expected) > 45


def test_film_that_is_progressive_is_cut_without_deinterlacing(tmp_path: Path) -> None:
    movie = write_barcode(tmp_path / "film.mp4", range(60), Fraction(1, 30))
    span = read_shown(movie.path, 0.5, 1.0)
    assert not span.is_interlaced
    command = ffmpeg_command(movie.path, probe(movie.path), MediaSettings(), tmp_path / "clip.mp4", span)
    assert not [part for part in command if "bwdif" in part]


def test_film_is_restored_from_telecine_at_its_times(tmp_path: Path) -> None:
    film = "select='not(mod(n,2))',setpts=N/24/TB,fps=24"
    frames = grey(write(tmp_path / "film.mkv", film, "-c:v", "ffv1"))
    source = write(tmp_path / "telecine.mpg", f"{film},telecine=pattern=23,setfield=tff", *MPEG2, *FIELDS)
    assert probe(source).field_order == "top_first"
    times = times_of(source)
    cut_file(source, float(times[0]), float(times[-1]), tmp_path / "clip.mp4", height=None, quality=10)
    with av.open(str(tmp_path / "clip.mp4")) as container:
        shown = [frame.time for frame in container.decode(video=0)]
    assert shown == pytest.approx([float(time - times[0]) for time in times[:-1]], abs=1e-4)
    found = grey(tmp_path / "clip.mp4")
    assert len(found) == len(frames) * 5 // 4
    # Of five pictures the telecine mixes two, each of a frame before it and one after it.
    for index, picture in enumerate(found[1:-1], 1):
        near = frames[max(index * 4 // 5 - 1, 0) : index * 4 // 5 + 2]
        assert max(psnr(picture[np.newaxis], frame[np.newaxis]) for frame in near) > 40


@pytest.mark.parametrize("number", [1, 2, 3])
@pytest.mark.sampled(1)
def test_shortest_spans_of_an_interlaced_film_are_whole(number: int, tmp_path: Path) -> None:
    source = write(tmp_path / "a.mkv", WEAVE["tff"], "-c:v", "libx264", "-x264-params", "tff=1")
    for first in (0, 30, 100 - number):
        start, end = first / 25, (first + number) / 25
        media = cut_file(source, start, end - 0.001, tmp_path / "clip.mp4", height=None)
        assert (media.frames, media.seconds) == (number, pytest.approx(number / 25, abs=0.002))


@pytest.mark.long
def test_weak_combs_under_noise_are_removed(tmp_path: Path) -> None:
    weak = "lutyuv=y=(val-128)*.3+128:u=128:v=128,noise=alls=6:allf=t:all_seed=1"
    film = grey(
        write(tmp_path / "film.mkv", "lutyuv=y=(val-128)*.3+128:u=128:v=128,select='not(mod(n,2))'", "-c:v", "ffv1")
    )
    source = write(
        tmp_path / "a.mkv", f"{weak},{WEAVE['tff']}", "-c:v", "libx264", "-crf", "8", "-x264-params", "tff=1"
    )
    cut_file(source, 0.0, 4.0, tmp_path / "clip.mp4", height=None, quality=8)
    assert psnr(grey(tmp_path / "clip.mp4"), film) > psnr(grey(source), film) + 1


def test_recipe_may_refuse_interlaced_films(tmp_path: Path) -> None:
    for order in ("tff", "bff"):
        facts = probe(write(tmp_path / f"{order}.mpg", WEAVE[order], *MPEG2, *FIELDS))
        assert screen(facts, FilterSettings(min_seconds=0.0)) is None
        verdict = screen(facts, FilterSettings(min_seconds=0.0, keep_interlaced=False))
        assert verdict
        assert verdict[0] == "interlaced"
        assert verdict[1].startswith("upper" if order == "tff" else "lower")
