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
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.barcode import Movie, packet_times, read_beeps, read_sound, read_video, write_barcode
from vttdata.errors import MediaError
from vttdata.media import cut as cutting
from vttdata.media.cut import MediaSettings, clip_size, cut
from vttdata.media.ffmpeg import ffmpeg_path
from vttdata.media.probe import probe
from vttdata.media.span import read_span
from vttdata.media.verify import verify_clip, verify_sound
from vttdata.records import ClipMedia

KINDS = ("30 fps", "30000/1001 fps", "variable", "rotated", "offset")
SPANS_PER_KIND = 12
SECONDS = 16
FOREVER = float("inf")


def varied_ticks(seed: int) -> list[int]:
    """Frame times in 1/90000 s with gaps from a 90th of a second to a third of a second."""
    draw, ticks = random.Random(seed), [0]
    while ticks[-1] < SECONDS * 90000:
        ticks.append(ticks[-1] + draw.choice([1001, 1500, 3003, 3003, 3003, 6006, draw.randrange(1000, 30000)]))
    return ticks


@pytest.fixture(scope="session")
def movies(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Movie]:
    folder = tmp_path_factory.mktemp("barcodes")
    frames, sound = range(SECONDS * 30), (0.0, float(SECONDS))
    thirty, ntsc = Fraction(1, 30), Fraction(1001, 30000)
    return {
        "30 fps": write_barcode(folder / "thirty.mp4", frames, thirty, sound=sound),
        "30000/1001 fps": write_barcode(folder / "ntsc.mp4", frames, ntsc, sound=sound),
        "variable": write_barcode(folder / "variable.mp4", varied_ticks(5), Fraction(1, 90000), sound=sound),
        "rotated": write_barcode(folder / "rotated.mp4", frames, thirty, sound=sound, size=(120, 160), turn=90),
        "offset": write_barcode(folder / "offset.mp4", [n + 163 for n in frames], thirty, sound=(5.6, 5.0 + SECONDS)),
    }


def random_span(movie: Movie, kind: str, number: int) -> tuple[float, float]:
    """Every other span begins and ends on frames; the others anywhere."""
    draw = random.Random(f"{kind} {number}")
    start, length = draw.uniform(0, movie.times[-1] - 4), draw.uniform(0.8, 3.5)
    if number % 2:
        return start, start + length
    inside = movie.inside(start, start + length)
    return movie.times[inside[0]], movie.times[inside[-1] + 1]


def cut_file(source: Path, start: float, end: float, target: Path, **changed: object) -> ClipMedia:
    return cut(source, probe(source), start, end, target, MediaSettings(**changed))  # type: ignore[arg-type]


def assert_exact(movie: Movie, start: float, end: float, clip: Path) -> None:
    expected = movie.inside(start, end)
    shown = read_video(clip)
    assert [number for number, _ in shown] == expected
    spacing = [movie.times[number] - movie.times[expected[0]] for number in expected]
    assert [time for _, time in shown] == pytest.approx(spacing, abs=1e-6)


def assert_in_step(movie: Movie, start: float, end: float, clip: Path) -> None:
    inside = movie.inside(start, end)
    first, last = movie.clock[inside[0]], movie.clock[inside[-1]]
    expected = {second: second - first for second in range(99) if first + 0.05 < second < last - 0.25}
    heard = {second: begin for begin, second in read_beeps(read_sound(clip))}
    assert expected.keys() <= heard.keys()
    for second, begin in expected.items():
        assert heard[second] == pytest.approx(begin, abs=0.025)


@pytest.mark.parametrize("number", range(SPANS_PER_KIND))
@pytest.mark.parametrize("kind", KINDS)
def test_a_random_span_is_cut_to_the_frame_with_its_sound_in_step(
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


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(kind=st.sampled_from(KINDS), start=st.floats(0, SECONDS), length=st.floats(0.1, 2))
def test_the_frames_found_in_a_span_are_those_whose_packets_lie_in_it(
    movies: dict[str, Movie], kind: str, start: float, length: float
) -> None:
    movie = movies[kind]
    expected = movie.inside(start - 1e-6, start + length - 1e-6)
    if not expected:
        with pytest.raises(MediaError, match="no frame of the source"):
            read_span(movie.path, start, start + length, FOREVER)
        return
    found = read_span(movie.path, start, start + length, FOREVER)
    assert len(found.ticks) == len(expected)
    times = [float((tick - found.ticks[0]) * found.tick) for tick in found.ticks]
    assert times == pytest.approx([movie.times[number] - movie.times[expected[0]] for number in expected], abs=1e-6)


@pytest.mark.parametrize(
    ("name", "codec", "sound_codec"),
    [
        ("a.mkv", "libx264", "libopus"),
        ("a.ts", "libx264", "aac"),
        ("a.ts", "mpeg2video", "mp2"),
        ("a.avi", "mpeg4", "mp2"),
    ],
)
def test_containers_with_poor_seeking_are_cut_to_the_frame(
    name: str, codec: str, sound_codec: str, tmp_path: Path
) -> None:
    movie = write_barcode(
        tmp_path / name, range(300), Fraction(1, 25), sound=(0, 12), codec=codec, sound_codec=sound_codec
    )
    cut_file(movie.path, 7.3, 9.1, tmp_path / "clip.mp4")
    assert_exact(movie, 7.3, 9.1, tmp_path / "clip.mp4")


@pytest.mark.parametrize("codec", ["h265", "vp9"])
def test_other_codecs_are_exact_too(movies: dict[str, Movie], codec: str, tmp_path: Path) -> None:
    movie, clip = movies["variable"], tmp_path / "clip.mp4"
    cut_file(movie.path, 5.0, 6.5, clip, codec=codec, quality=30)
    assert_exact(movie, 5.0, 6.5, clip)
    assert_in_step(movie, 5.0, 6.5, clip)


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
def test_hostile_file_names_are_only_names(
    movies: dict[str, Movie], name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    movie = movies["30 fps"]
    monkeypatch.chdir(tmp_path)
    os.link(movie.path, name)
    media = cut_file(Path(name), 3.0, 3.2, Path("clip " + name))
    assert media.video == "clip " + name
    assert_exact(movie, 3.0, 3.2, tmp_path / media.video)


def test_sound_that_starts_late_is_preceded_by_silence(tmp_path: Path) -> None:
    movie = write_barcode(tmp_path / "late.mp4", range(210), Fraction(1, 30), sound=(2.9, 7.0))
    media = cut_file(movie.path, 2.0, 6.0, tmp_path / "clip.mp4")
    assert_in_step(movie, 2.0, 6.0, tmp_path / "clip.mp4")
    assert np.abs(read_sound(tmp_path / "clip.mp4"))[: int(0.9 * 48000)].max() < 0.01
    assert media.audio_seconds == pytest.approx(4.0, abs=1 / 30 + 1024 / 48000)


@pytest.mark.parametrize(("start", "end"), [(4.0, 7.0), (6.0, 7.0)])
def test_sound_that_ends_early_is_followed_by_silence(start: float, end: float, tmp_path: Path) -> None:
    movie = write_barcode(tmp_path / "short.mp4", range(240), Fraction(1, 30), sound=(0.0, 5.2))
    media = cut_file(movie.path, start, end, tmp_path / "clip.mp4")
    sound = read_sound(tmp_path / "clip.mp4")
    assert media.audio_seconds == pytest.approx(end - start, abs=1 / 30 + 1024 / 48000)
    assert np.abs(sound[int(max(5.4 - start, 0) * 48000) :]).max() < 0.01


def test_a_clip_without_sound_says_so(movies: dict[str, Movie], tmp_path: Path) -> None:
    media = cut_file(movies["30 fps"].path, 1.0, 1.5, tmp_path / "clip.mp4", audio=False)
    assert media.audio_seconds is None
    with av.open(str(tmp_path / "clip.mp4")) as container:
        assert not container.streams.audio


@pytest.mark.parametrize(
    ("size", "aspect", "pixels", "expected"),
    [((161, 121), "", "yuv420p", (160, 120)), ((160, 120), "16:9", "yuv420p10le", (212, 120))],
)
def test_odd_sizes_wide_pixels_and_ten_bits_become_plain(
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
def test_mirrored_sources_are_mirrored_for_good(turn: str, tmp_path: Path) -> None:
    movie = write_barcode(tmp_path / "plain.mp4", range(40), Fraction(1, 30))
    source, clip = tmp_path / "mirrored.mp4", tmp_path / "clip.mp4"
    copy = [ffmpeg_path(), "-v", "error", turn, "-i", str(movie.path), "-c", "copy", str(source)]
    subprocess.run(copy, check=True, timeout=60)
    assert cut_file(source, 0.5, 1.0, clip).frames == 15
    with av.open(str(clip)) as container, av.open(str(movie.path)) as plain:
        found = next(container.decode(video=0)).to_ndarray(format="gray").astype(float)
        stored = [frame.to_ndarray(format="gray").astype(float) for frame in plain.decode(video=0)][15]
    assert np.abs(found - (stored[:, ::-1] if "hflip" in turn else stored[::-1])).mean() < 5


def test_the_probed_streams_are_taken_and_all_others_dropped(movies: dict[str, Movie], tmp_path: Path) -> None:
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


def test_a_clip_hides_nothing_before_its_start(movies: dict[str, Movie], tmp_path: Path) -> None:
    media = cut_file(movies["rotated"].path, 6.1, 7.9, tmp_path / "clip.mp4")
    with av.open(str(tmp_path / "clip.mp4"), options={"ignore_editlist": "1"}) as container:
        frames = list(container.decode(video=0))
        assert container.start_time == 0
    assert (len(frames), frames[0].pts, frames[0].rotation) == (media.frames, 0, 0)


def test_a_picture_that_stands_still_ends_with_the_span(tmp_path: Path) -> None:
    ticks = [*range(60), 600]
    movie = write_barcode(tmp_path / "still.mp4", ticks, Fraction(1, 30), sound=(0.0, 20.0))
    media = cut_file(movie.path, 1.0, 4.0, tmp_path / "clip.mp4")
    assert media.frames == 30
    assert media.seconds == pytest.approx(3.0, abs=1e-4)
    with av.open(str(tmp_path / "clip.mp4")) as container:
        assert (container.duration or 0) / 1e6 == pytest.approx(3.0, abs=1024 / 48000)


def test_the_same_span_gives_the_same_bytes_on_one_core_and_on_all(movies: dict[str, Movie], tmp_path: Path) -> None:
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


def test_a_clip_names_neither_the_encoder_nor_its_source(tmp_path: Path) -> None:
    movie = write_barcode(tmp_path / "secretname.mp4", range(40), Fraction(1, 30), sound=(0.0, 2.0))
    cut_file(movie.path, 0.2, 1.0, tmp_path / "clip.mp4")
    data = (tmp_path / "clip.mp4").read_bytes()
    assert b"x264 - core" in movie.path.read_bytes()
    assert not [word for word in (b"x264 - core", b"Lavf", b"Lavc6", b"secretname") if word in data]


def test_a_damaged_source_is_an_error_and_leaves_nothing(movies: dict[str, Movie], tmp_path: Path) -> None:
    source, folder = tmp_path / "damaged.mp4", tmp_path / "clips"
    data = bytearray(movies["30 fps"].path.read_bytes())
    data[len(data) // 3 : len(data) * 2 // 3] = bytes(len(data) * 2 // 3 - len(data) // 3)
    source.write_bytes(data)
    folder.mkdir()
    with pytest.raises(MediaError) as caught:
        cut_file(source, 7.0, 9.0, folder / "clip.mp4")
    assert caught.value.reason in ("damaged", "cut_failed", "cut_mismatch")
    assert os.listdir(folder) == []


def test_what_ffmpeg_says_is_passed_on_without_paths(
    movies: dict[str, Movie], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(cutting._ENCODERS, "h264", {"c:v": "nonesuch"})
    with pytest.raises(MediaError, match="Encoder not found") as caught:
        cut_file(movies["30 fps"].path, 1.0, 2.0, tmp_path / "clip.mp4")
    assert caught.value.reason == "cut_failed"
    assert str(tmp_path) not in caught.value.detail
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize(("start", "end"), [(99.0, 101.0), (3.0, 3.0), (5.0, 4.0), (2.001, 2.002)])
def test_a_span_without_frames_fails_and_keeps_an_older_clip(
    movies: dict[str, Movie], start: float, end: float, tmp_path: Path
) -> None:
    clip = tmp_path / "clip.mp4"
    clip.write_bytes(b"older")
    with pytest.raises(MediaError, match="no frame of the source lies between"):
        cut_file(movies["30 fps"].path, start, end, clip)
    assert clip.read_bytes() == b"older"
    assert os.listdir(tmp_path) == ["clip.mp4"]


def test_a_cut_over_its_limit_is_given_up(movies: dict[str, Movie], tmp_path: Path) -> None:
    source = movies["30 fps"].path
    with pytest.raises(MediaError) as caught:
        cut(source, probe(source), 1, 3, tmp_path / "clip.mp4", MediaSettings(), seconds_limit=0.0)
    assert caught.value.reason == "timeout"
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("target", ["missing/clip.mp4", "file/clip.mp4"])
def test_a_target_that_cannot_be_written_is_an_error_of_the_system(
    movies: dict[str, Movie], target: str, tmp_path: Path
) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(OSError, match="clip"):
        cut_file(movies["30 fps"].path, 1.0, 2.0, tmp_path / target)


def test_a_clip_that_is_not_its_span_is_noticed(movies: dict[str, Movie], tmp_path: Path) -> None:
    movie, clip, frame = movies["30 fps"], tmp_path / "clip.mp4", 1 / 30
    cut_file(movie.path, 4.0, 5.0, clip)
    verify_clip(clip, read_span(movie.path, 4.0, 5.0, FOREVER))
    for start, end, found in (
        (4.0 + frame, 5.0 + frame, "first frame is not"),
        (4.0 - frame, 5.0 - frame, "first frame is not"),
        (4.0, 5.0 + frame, "shows 30 frames where the source has 31"),
        (4.0, 5.0 - frame, "shows 30 frames where the source has 29"),
    ):
        with pytest.raises(MediaError, match=found) as caught:
            verify_clip(clip, read_span(movie.path, start, end, FOREVER))
        assert caught.value.reason == "cut_mismatch"
    with pytest.raises(MediaError, match="s of sound"):
        verify_sound(clip, read_span(movie.path, 4.0, 5.1, FOREVER))


def test_wrong_times_inside_a_clip_are_noticed(movies: dict[str, Movie], tmp_path: Path) -> None:
    cut_file(movies["30 fps"].path, 4.0, 5.0, tmp_path / "clip.mp4")
    ntsc = read_span(movies["30000/1001 fps"].path, 4.0, 5.0, FOREVER)
    with pytest.raises(MediaError, match=r"frame 16 of the clip is at 0\.5333 s instead of 0\.5339 s"):
        verify_clip(tmp_path / "clip.mp4", ntsc)


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
def test_the_middle_of_every_real_video_is_cut_exactly(shared: Path, folder: str, tmp_path: Path) -> None:
    files = sorted((shared / "videos" / folder).iterdir())
    assert files
    for file in files:
        times = packet_times(file)
        start = times[len(times) // 3] - 1e-4
        end = min(start + 1, times[len(times) * 2 // 3])
        media = cut_file(file, start, end, tmp_path / "clip.mp4")
        assert media.frames == sum(start <= time < end for time in times), file.name
        assert (media.audio_seconds is None) == (probe(file).audio_codec is None), file.name
