"""Clips are exact to the frame and in step with their sound, judged by reading barcodes and beeps back."""

from __future__ import annotations

import os
import random
import subprocess
from fractions import Fraction
from pathlib import Path

import av
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.helpers.barcode import KINDS, Movie, packet_times, read_beeps, read_sound, read_video, write_barcode
from tests.helpers.cuts import cut_file
from vttdata.media.cut import clip_size
from vttdata.media.ffmpeg_program import ffmpeg_path
from vttdata.media.probe import probe

SPANS_PER_KIND = 12


def random_span(movie: Movie, kind: str, number: int) -> tuple[float, float]:
    """Every other span begins and ends on frames; the others anywhere."""
    draw = random.Random(f"{kind} {number}")
    start, length = draw.uniform(0, movie.times[-1] - 4), draw.uniform(0.8, 3.5)
    if number % 2:
        return start, start + length
    inside = movie.inside(start, start + length)
    return movie.times[inside[0]], movie.times[inside[-1] + 1]


def assert_exact(movie: Movie, start: float, end: float, clip: Path) -> None:
    expected, shown = movie.shown(start, end), read_video(clip)
    assert [number for number, _ in shown] == [number for number, _ in expected]
    assert [time for _, time in shown] == pytest.approx([time for _, time in expected], abs=1e-5)


def assert_in_step(movie: Movie, start: float, end: float, clip: Path) -> None:
    number, after = movie.shown(start, end)[-1]
    first, last = movie.clock[number] - after, movie.clock[number]
    expected = {second: second - first for second in range(99) if first + 0.05 < second < last - 0.25}
    heard = {second: begin for begin, second in read_beeps(read_sound(clip))}
    assert expected.keys() <= heard.keys()
    for second, begin in expected.items():
        assert heard[second] == pytest.approx(begin, abs=0.025)


@pytest.mark.parametrize("number", range(SPANS_PER_KIND))
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.sampled(15)
def test_random_span_is_cut_to_the_frame_with_sound_in_sync(
    movies: dict[str, Movie], kind: str, number: int, tmp_path: Path
) -> None:
    movie, clip = movies[kind], tmp_path / "clip.mp4"
    start, end = random_span(movie, kind, number)
    media = cut_file(movie.path, start, end, clip, height=(240, 90)[number % 2])
    assert_exact(movie, start, end, clip)
    assert_in_step(movie, start, end, clip)
    shown_for = media.seconds
    frame = shown_for / media.frames
    assert media.audio_seconds == pytest.approx(shown_for, abs=frame + 1024 / 48000)
    assert (media.width, media.height) == ((160, 120), (120, 90))[number % 2]
    assert os.listdir(tmp_path) == ["clip.mp4"]


@pytest.mark.parametrize(
    ("name", "codec", "sound_codec"),
    [
        ("a.mkv", "libx264", "libopus"),
        ("a.ts", "libx264", "aac"),
        ("a.ts", "mpeg2video", "mp2"),
        ("a.avi", "mpeg4", "mp2"),
    ],
)
@pytest.mark.sampled(2)
def test_containers_with_poor_seeking_are_cut_to_the_frame(
    name: str, codec: str, sound_codec: str, tmp_path: Path
) -> None:
    movie = write_barcode(
        tmp_path / name, range(300), Fraction(1, 25), sound=(0, 12), codec=codec, sound_codec=sound_codec
    )
    cut_file(movie.path, 7.3, 9.1, tmp_path / "clip.mp4")
    assert_exact(movie, 7.3, 9.1, tmp_path / "clip.mp4")


@pytest.mark.parametrize("codec", ["h265", "vp9"])
def test_other_codecs_are_cut_to_the_frame(movies: dict[str, Movie], codec: str, tmp_path: Path) -> None:
    movie, clip = movies["variable"], tmp_path / "clip.mp4"
    cut_file(movie.path, 5.0, 6.5, clip, codec=codec, quality=30)
    assert_exact(movie, 5.0, 6.5, clip)
    assert_in_step(movie, 5.0, 6.5, clip)


def test_sound_that_starts_late_is_preceded_by_silence(tmp_path: Path) -> None:
    movie = write_barcode(tmp_path / "late.mp4", range(210), Fraction(1, 30), sound=(2.9, 7.0))
    media = cut_file(movie.path, 2.0, 6.0, tmp_path / "clip.mp4")
    assert_in_step(movie, 2.0, 6.0, tmp_path / "clip.mp4")
    assert np.abs(read_sound(tmp_path / "clip.mp4"))[: int(0.9 * 48000)].max() < 0.01
    assert media.audio_seconds == pytest.approx(4.0, abs=0.001)


@pytest.mark.parametrize(("start", "end"), [(4.0, 7.0), (6.0, 7.0)])
def test_sound_that_ends_early_is_followed_by_silence(start: float, end: float, tmp_path: Path) -> None:
    movie = write_barcode(tmp_path / "short.mp4", range(240), Fraction(1, 30), sound=(0.0, 5.2))
    media = cut_file(movie.path, start, end, tmp_path / "clip.mp4")
    sound = read_sound(tmp_path / "clip.mp4")
    assert media.audio_seconds == pytest.approx(end - start, abs=0.001)
    assert np.abs(sound[int(max(5.4 - start, 0) * 48000) :]).max() < 0.01


def test_clip_without_sound_has_no_audio_seconds(movies: dict[str, Movie], tmp_path: Path) -> None:
    media = cut_file(movies["30 fps"].path, 1.0, 1.5, tmp_path / "clip.mp4", audio=False)
    assert media.audio_seconds is None
    with av.open(str(tmp_path / "clip.mp4")) as container:
        assert not container.streams.audio


@pytest.mark.parametrize(
    ("size", "aspect", "pixels", "expected"),
    [((161, 121), "", "yuv420p", (160, 120)), ((160, 120), "16:9", "yuv420p10le", (212, 120))],
)
def test_odd_sizes_wide_pixels_and_ten_bits_are_converted(
    size: tuple[int, int], aspect: str, pixels: str, expected: tuple[int, int], tmp_path: Path
) -> None:
    movie = write_barcode(
        tmp_path / "a.mkv",
        range(60),
        Fraction(1, 25),
        size=size,
        codec="ffv1",
        pixel_format=pixels,
        aspect=aspect,
    )
    media = cut_file(movie.path, 0.7, 1.5, tmp_path / "clip.mp4", height=None)
    assert (media.width, media.height) == expected
    assert_exact(movie, 0.7, 1.5, tmp_path / "clip.mp4")
    with av.open(str(tmp_path / "clip.mp4")) as container:
        stream = container.streams.video[0]
        assert stream.pix_fmt == "yuv420p"
        assert stream.sample_aspect_ratio == 1


@pytest.mark.parametrize("turn", ["-display_hflip", "-display_vflip"])
def test_mirrored_sources_are_cut_as_displayed(turn: str, tmp_path: Path) -> None:
    movie = write_barcode(tmp_path / "plain.mp4", range(40), Fraction(1, 30))
    source, clip = tmp_path / "mirrored.mp4", tmp_path / "clip.mp4"
    copy = [ffmpeg_path(), "-v", "error", turn, "-i", str(movie.path), "-c", "copy", str(source)]
    subprocess.run(copy, check=True, timeout=60)
    assert cut_file(source, 0.5, 1.0, clip).frames == 15
    with av.open(str(clip)) as container, av.open(str(movie.path)) as plain:
        found = next(container.decode(video=0)).to_ndarray(format="gray").astype(float)
        stored = [frame.to_ndarray(format="gray").astype(float) for frame in plain.decode(video=0)][15]
    assert np.abs(found - (stored[:, ::-1] if "hflip" in turn else stored[::-1])).mean() < 5


def test_probed_streams_are_taken_and_all_others_dropped(movies: dict[str, Movie], tmp_path: Path) -> None:
    large = write_barcode(tmp_path / "large.mp4", range(90), Fraction(1, 25), size=(240, 180))
    (tmp_path / "text.srt").write_text("1\n00:00:00,000 --> 00:00:03,000\nhello\n")
    inputs = [part for path in (movies["30 fps"].path, large.path, tmp_path / "text.srt") for part in ("-i", str(path))]
    maps = ["-map", "2", "-map", "0:v", "-map", "0:a", "-map", "1:v", "-c", "copy", "-t", "4"]
    chosen = ["-disposition:v:0", "0", "-disposition:v:1", "default"]
    source, clip = tmp_path / "all.mkv", tmp_path / "clip.mp4"
    subprocess.run([ffmpeg_path(), "-v", "error", *inputs, *maps, *chosen, str(source)], check=True, timeout=60)
    cut_file(source, 1.0, 2.0, clip)
    assert [number for number, _ in read_video(clip)] == large.inside(1.0, 2.0)
    with av.open(str(clip)) as container:
        assert [stream.type for stream in container.streams] == ["video", "audio"]


def test_clip_has_no_hidden_frames_before_its_start(movies: dict[str, Movie], tmp_path: Path) -> None:
    media = cut_file(movies["rotated"].path, 6.1, 7.9, tmp_path / "clip.mp4")
    with av.open(str(tmp_path / "clip.mp4"), options={"ignore_editlist": "1"}) as container:
        frames = list(container.decode(video=0))
        assert container.start_time == 0
    assert (len(frames), frames[0].pts, frames[0].rotation) == (media.frames, 0, 0)


def test_long_last_frame_ends_with_the_span(tmp_path: Path) -> None:
    ticks = [*range(60), 600]
    movie = write_barcode(tmp_path / "still.mp4", ticks, Fraction(1, 30), sound=(0.0, 20.0))
    media = cut_file(movie.path, 1.0, 4.0, tmp_path / "clip.mp4")
    assert media.frames == 30
    assert media.seconds == pytest.approx(3.0, abs=1e-4)
    with av.open(str(tmp_path / "clip.mp4")) as container:
        assert (container.duration or 0) / 1e6 == pytest.approx(3.0, abs=1024 / 48000)


@given(
    width=st.integers(16, 8192),
    height=st.integers(16, 8192),
    wanted=st.none() | st.integers(16, 2160).map(lambda n: n * 2),
)
def test_clip_sizes_are_even_keep_the_aspect_and_never_grow(width: int, height: int, wanted: int | None) -> None:
    columns, lines = clip_size(width, height, wanted)
    assert columns % 2 == lines % 2 == 0
    assert 2 <= columns <= width
    assert 2 <= lines <= min(height, wanted or height)
    assert abs(columns - width * lines / height) <= 2 or columns == 2


@pytest.mark.parametrize("folder", ["codecs", "shots"])
@pytest.mark.long
def test_middle_of_real_videos_is_cut_to_the_frame(shared: Path, folder: str, tmp_path: Path) -> None:
    files = sorted((shared / "videos" / folder).iterdir())
    assert files
    for file in files:
        times = packet_times(file)
        start = times[len(times) // 3] - 1e-4
        end = min(start + 1, times[len(times) * 2 // 3])
        media = cut_file(file, start, end, tmp_path / "clip.mp4")
        assert media.frames == sum(start <= time < end for time in times), file.name
        assert (media.audio_seconds is None) == (probe(file).audio_codec is None), file.name
