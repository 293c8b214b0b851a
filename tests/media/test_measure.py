"""Measuring whole videos: real files, and small ones made with ffmpeg whose content is known."""

from __future__ import annotations

import random
import subprocess
from pathlib import Path

import numpy as np
import pytest

from vttdata.errors import MediaError
from vttdata.media.decode import open_video
from vttdata.media.ffmpeg_program import ffmpeg_path
from vttdata.media.luma import luma_of
from vttdata.media.measure import correct_probe, measure
from vttdata.media.probe import probe

X264 = ("-c:v", "libx264", "-preset", "veryfast", "-threads", "1")
MOVING = "testsrc2=s=160x120:r=25"
STILL = "testsrc2=s=320x240:r=25,trim=end_frame=1,loop=-1:1,setpts=N/25/TB"


def film(path: Path, source: str, seconds: float, *options: str) -> Path:
    command = [ffmpeg_path(), "-v", "error", "-y", "-f", "lavfi", "-i", source, "-t", str(seconds)]
    subprocess.run([*command, *(options or X264), str(path)], check=True)
    return path


def test_frames_of_a_plain_video_are_counted(tmp_path: Path) -> None:
    found = measure(film(tmp_path / "a.mp4", MOVING, 4))
    assert (found.frames, found.seconds, found.first_frame_time) == (100, 4.0, 0.0)
    assert not found.variable_frame_rate
    assert (found.scores["dark"], found.scores["frozen"]) == (0.0, 0.0)


@pytest.mark.parametrize(("name", "rate"), [("a.h264", 60), ("a.avi", 60), ("a.mp4", 60), ("b.mp4", 24000 / 1001)])
def test_frame_rate_is_that_of_the_decoded_frames(name: str, rate: float, tmp_path: Path) -> None:
    """ffmpeg writes an AVI file whose unit of time is a tenth of a frame from a raw stream."""
    file, raw = tmp_path / name, tmp_path / "raw.h264"
    picture = ("-f", "lavfi", "-i", f"testsrc2=s=64x48:r={rate}:d=2", "-c:v", "libx264", "-bf", "2")
    subprocess.run([ffmpeg_path(), "-v", "error", *picture, str(raw if name == "a.avi" else file)], check=True)
    if name == "a.avi":
        subprocess.run([ffmpeg_path(), "-v", "quiet", "-i", str(raw), "-c", "copy", str(file)], check=True)
    stated = probe(file)
    corrected = correct_probe(stated, measure(file))
    assert corrected.frame_rate == pytest.approx(rate, rel=1e-4)
    assert (corrected == stated) is name.endswith("mp4")
    assert bool(corrected.note) is not name.endswith("mp4")


def test_black_and_very_dim_videos_are_dark(tmp_path: Path) -> None:
    dim = "testsrc2=s=160x120:r=10,eq=contrast=0.06:brightness=-0.44"
    assert measure(film(tmp_path / "black.mp4", "color=black:s=160x120:r=10", 3)).scores["dark"] == 1.0
    assert measure(film(tmp_path / "dim.mp4", dim, 3)).scores["dark"] == 1.0


def test_dark_is_a_share_of_time(tmp_path: Path) -> None:
    source = MOVING + ",drawbox=t=fill:c=black:enable='between(t,2,3.99)'"
    assert measure(film(tmp_path / "a.mp4", source, 6)).scores["dark"] == pytest.approx(1 / 3)


def test_letterboxed_video_is_not_dark(tmp_path: Path) -> None:
    assert measure(film(tmp_path / "a.mp4", MOVING + ",pad=160:300:0:90", 2)).scores["dark"] == 0.0


@pytest.mark.parametrize("options", [(*X264, "-crf", "28", "-g", "50"), ("-c:v", "mpeg4", "-q:v", "20")])
def test_still_picture_is_frozen_in_any_codec(tmp_path: Path, options: tuple[str, ...]) -> None:
    source = STILL + ",noise=alls=4:allf=t:all_seed=1"
    assert measure(film(tmp_path / "a.mp4", source, 6, *options)).scores["frozen"] > 0.9


def test_slide_show_is_frozen_between_changes(tmp_path: Path) -> None:
    slides = "testsrc2=s=160x120:r=25,fps=1,fps=25"
    assert measure(film(tmp_path / "a.mp4", slides, 10)).scores["frozen"] == pytest.approx(0.5, abs=0.06)


def test_frozen_does_not_depend_on_the_frame_rate(tmp_path: Path) -> None:
    often = measure(film(tmp_path / "often.mp4", "testsrc2=s=160x120:r=1/2,fps=20", 12))
    seldom = measure(film(tmp_path / "seldom.mp4", "testsrc2=s=160x120:r=1/2", 12))
    assert seldom.frames == 6
    assert seldom.scores["frozen"] == often.scores["frozen"] == pytest.approx(18 / 23)


@pytest.mark.parametrize(
    ("suffix", "options", "quantisers"),
    [(".avi", ("-c:v", "mpeg4", "-q:v"), (2, 8, 31)), (".avi", ("-c:v", "mjpeg", "-q:v"), (2, 8, 31)),
     (".mp4", ("-c:v", "libx264", "-preset", "ultrafast", "-threads", "1", "-qp"), (18, 32, 46))],
)  # fmt: skip
def test_blockiness_grows_with_the_quantiser(
    tmp_path: Path, suffix: str, options: tuple[str, ...], quantisers: tuple[int, ...]
) -> None:
    source = "mandelbrot=s=320x240:r=5,gblur=sigma=1"
    names = [tmp_path / f"{quantiser}{suffix}" for quantiser in quantisers]
    pairs = zip(names, quantisers, strict=True)
    scores = [measure(film(path, source, 1, *options, str(quantiser))).scores["blocky"] for path, quantiser in pairs]
    assert scores == sorted(scores)
    assert scores[-1] > scores[0] + 0.15


def test_blur_grows_with_a_gaussian_filter(tmp_path: Path) -> None:
    strengths = (0.01, 1, 2, 4)
    sources = [f"mandelbrot=s=320x240:r=5,gblur=sigma={strength}" for strength in strengths]
    scores = [measure(film(tmp_path / f"{n}.mp4", source, 1)).scores["blur"] for n, source in enumerate(sources)]
    assert scores == sorted(scores)
    assert scores[-1] > scores[0] + 0.3


def test_rounded_timestamps_are_no_variable_frame_rate(tmp_path: Path) -> None:
    swing = "testsrc2=s=64x48:r=30,settb=1/1000,setpts='if(lt(N,20),N*100,2000+(N-20)*33)'"
    varying = film(tmp_path / "vfr.mp4", swing, 3, *X264, "-fps_mode", "passthrough")
    rounded = film(tmp_path / "cfr.mkv", "testsrc2=s=64x48:r=30000/1001", 3)
    remuxed = tmp_path / "remuxed.mp4"
    copy = [ffmpeg_path(), "-v", "error", "-i", str(rounded), "-c", "copy", str(remuxed)]
    subprocess.run(copy, check=True)
    assert measure(varying).variable_frame_rate
    assert not measure(rounded).variable_frame_rate
    assert not measure(remuxed).variable_frame_rate


@pytest.mark.parametrize("pixel_format", ["gray", "yuv420p10le", "bgr24", "yuyv422", "yuvj420p", "yuv410p"])
def test_luma_is_limited_range_for_any_pixel_format(tmp_path: Path, pixel_format: str) -> None:
    ramp = "gradients=s=67x51:c0=black:c1=white:x0=0:y0=0:x1=66:y1=0:n=2:r=5:speed=0.00001"
    codec = {"yuvj420p": "mjpeg", "bgr24": "rawvideo", "yuyv422": "rawvideo"}.get(pixel_format, "ffv1")
    path = film(tmp_path / "a.avi", ramp, 0.4, "-pix_fmt", pixel_format, "-c:v", codec)
    with open_video(path) as video:
        luma = luma_of(next(iter(video.frames())).picture)
    assert luma.shape == (51, 67)
    assert luma.dtype == np.uint8
    np.testing.assert_allclose(luma[25, [0, 33, 66]], [16, 126, 235], atol=3)


def test_undecodable_packets_are_damage(tmp_path: Path) -> None:
    path = film(tmp_path / "a.mp4", MOVING, 3)
    data, position = bytearray(path.read_bytes()), random.Random(3)
    start = data.index(b"mdat")
    for _ in range(6):
        offset = start + position.randrange(4000, 20000)
        data[offset : offset + 48] = position.randbytes(48)
    path.write_bytes(data)
    with pytest.raises(MediaError) as error:
        measure(path)
    assert error.value.reason == "damaged"


def test_sound_without_pictures_is_refused(tmp_path: Path) -> None:
    with pytest.raises(MediaError) as error:
        measure(film(tmp_path / "a.m4a", "sine=d=1", 1, "-c:a", "aac"))
    assert error.value.reason == "no_video"


def test_thread_count_does_not_change_measures(tmp_path: Path) -> None:
    path = film(tmp_path / "a.mp4", MOVING, 2)
    assert measure(path) == measure(path, threads=2)


@pytest.mark.parametrize(
    ("name", "frames", "seconds"),
    [("h264_10bits.mp4", 30, 1.0), ("discard_first_keyframe.mp4", 25, 1.0), ("av1_video.mkv", 125, 5.0),
     ("nasa_13013_rotated.mp4", 17, 0.567), ("testsrc2_mpeg4.avi", 30, 1.0), ("test_non_zero_start.mp4", 12, 0.4),
     ("testsrc2_odd_height_and_width_vp9.mp4", 25, 1.0), ("h265_video.mp4", 10, 1.0)],
)  # fmt: skip
def test_all_codecs_are_measured(shared: Path, name: str, frames: int, seconds: float) -> None:
    found = measure(shared / "videos/codecs" / name)
    assert found.frames == frames
    assert found.seconds == pytest.approx(seconds, abs=0.001)
    assert found.first_frame_time == pytest.approx(0, abs=1e-6)


@pytest.mark.parametrize("name", ["shots/bikes.mp4", "shots/sintel-trailer-30s.mp4", "near-duplicates/dog.1.mp4"])
def test_good_footage_stays_below_the_usual_thresholds(shared: Path, name: str) -> None:
    found = measure(shared / "videos" / name)
    assert found.scores["dark"] < 0.3
    assert found.scores["frozen"] < 0.2
    assert found.scores["blur"] < 0.6
    assert found.scores["blocky"] < 0.3


def test_broken_download_is_damaged(shared: Path) -> None:
    with pytest.raises(MediaError, match="1 of 50 video packets") as error:
        measure(shared / "videos/broken/corrupted.mp4")
    assert error.value.reason == "damaged"
