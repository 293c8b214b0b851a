"""Shots of drawn videos whose transitions are known to the frame, and of real ones with eye-checked truth."""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vttdata.errors import MediaError
from vttdata.media.decode import open_video
from vttdata.media.ffmpeg_program import ffmpeg_path
from vttdata.media.shots.boundaries import find_boundaries
from vttdata.media.shots.detect import Detection, ShotSettings, detect_shots
from vttdata.media.shots.histogram import Descriptions, describe
from vttdata.media.shots.signals import Signals, measure_signals

WIDTH, HEIGHT, RATE = 128, 72, 25
SINTEL_CUTS = [286, 348, 372, 523, 573, 610]
SINTEL_MOTION = [340, 356, 671, 684]
DOG_CUTS = [119, 149, 220, 372, 399, 431, 473, 489, 525, 824, 880, 955, 1032, 1067]
DOG_JUMP_CUTS = {119, 149, 220}

Frames = np.ndarray


def scene(seed: int, length: int, speed: float = 0.2) -> Frames:
    """A patchwork in one palette, coarse and fine, that moves by `speed` pixels a frame under a gliding box."""
    rng = np.random.default_rng(seed)
    base = rng.uniform(40, 210, 3)
    canvas = np.zeros((HEIGHT, 4 * WIDTH, 3)) + base
    for size, contrast in ((4, 10), (12, 20), (36, 35)):
        patches = rng.normal(0, contrast, (HEIGHT // size + 1, 4 * WIDTH // size + 1, 3))
        canvas += np.kron(patches, np.ones((size, size, 1)))[:HEIGHT, : 4 * WIDTH]
    frames = np.empty((length, HEIGHT, WIDTH, 3))
    for index in range(length):
        left = round(speed * index) % (3 * WIDTH)
        frames[index] = canvas[:, left : left + WIDTH]
        x = int((WIDTH - 16) * (0.5 + 0.5 * np.sin(index / 15)))
        frames[index, 20:36, x : x + 16] = base + 45
    return np.clip(frames + rng.normal(0, 2, (length, HEIGHT, WIDTH, 1)), 0, 255)


def dissolved(before: Frames, after: Frames, length: int) -> Frames:
    share = (np.arange(1, length + 1) / (length + 1))[:, None, None, None]
    mixed = before[-length:] * (1 - share) + after[:length] * share
    return np.concatenate((before[:-length], mixed, after[length:]))


def faded(before: Frames, after: Frames, length: int, black: int) -> Frames:
    dark = np.zeros((2 * length + black, HEIGHT, WIDTH, 3))
    return dissolved(dissolved(before, dark, length), after, length)


def encode(path: Path, frames: Frames, *options: str) -> Path:
    size = f"{frames.shape[2]}x{frames.shape[1]}"
    source = ["-f", "rawvideo", "-pix_fmt", "rgb24", "-s", size, "-r", str(RATE), "-i", "-"]
    coding = options or ("-c:v", "libx264", "-preset", "ultrafast", "-crf", "18", "-pix_fmt", "yuv420p")
    command = [ffmpeg_path(), "-v", "error", "-y", *source, *coding, str(path)]
    subprocess.run(command, input=frames.astype(np.uint8).tobytes(), check=True, timeout=60)
    return path


@pytest.fixture
def shots_of(tmp_path: Path) -> Callable[[Frames], list[tuple[int, str]]]:
    """Encodes frames and gives each found shot's first frame and transition."""

    def detect(frames: Frames) -> list[tuple[int, str]]:
        return starts(detect_shots(encode(tmp_path / "drawn.mp4", frames)))

    return detect


def starts(detection: Detection) -> list[tuple[int, str]]:
    return [(shot.first_frame, shot.transition) for shot in detection.shots]


def cuts(detection: Detection) -> list[int]:
    return [first for first, transition in starts(detection) if transition == "cut"]


@pytest.fixture(scope="module")
def three_scenes() -> Frames:
    return np.concatenate((scene(1, 40), scene(2, 25), scene(3, 35)))


def test_black_between_two_cuts_is_a_shot_from_half_a_second_on(shots_of: Callable) -> None:
    for length, expected in ((10, [(0, "start"), (65, "fade")]), (14, [(0, "start"), (60, "cut"), (74, "cut")])):
        black = np.zeros((length, HEIGHT, WIDTH, 3))
        assert shots_of(np.concatenate((scene(58, 60), black, scene(59, 60)))) == expected


def test_hard_cuts_are_found_to_the_frame(shots_of, three_scenes: Frames) -> None:
    assert shots_of(three_scenes) == [(0, "start"), (40, "cut"), (65, "cut")]


def test_cut_between_equal_palettes_in_another_arrangement_is_found(shots_of) -> None:
    one = scene(4, 30, speed=0)
    assert shots_of(np.concatenate((one, one[:, ::-1, ::-1]))) == [(0, "start"), (30, "cut")]


@pytest.mark.parametrize("length", [8, 16, 25])
def test_dissolve_is_divided_at_its_middle(shots_of, length: int) -> None:
    found = shots_of(dissolved(scene(5, 60), scene(6, 60), length))
    assert len(found) == 2
    assert found[1][0] == pytest.approx(60 - length / 2, abs=3)
    assert found[1][1] in ("dissolve", "gradual")


@pytest.mark.parametrize(("length", "black"), [(3, 3), (8, 4), (12, 12), (25, 6)])
def test_fade_through_black_is_one_boundary(shots_of, length: int, black: int) -> None:
    found = shots_of(faded(scene(7, 60), scene(8, 60), length, black))
    assert [transition for _, transition in found] == ["start", "fade"]
    assert found[1][0] == pytest.approx(60 + black / 2, abs=3)


@pytest.mark.parametrize("level", [0, 255])
def test_flash_is_no_boundary(shots_of, level: int) -> None:
    frames = scene(9, 80)
    frames[40:42] = level
    assert shots_of(frames) == [(0, "start")]


def test_cut_with_a_flash_is_one_boundary(shots_of) -> None:
    frames = np.concatenate((scene(10, 40), scene(11, 40)))
    frames[40:42] = 255
    found = shots_of(frames)
    assert len(found) == 2
    assert 40 <= found[1][0] <= 42


@pytest.mark.parametrize("speed", [1, 4, 10])
def test_pan_is_no_boundary(shots_of, speed: int) -> None:
    assert shots_of(scene(12, 25, speed)) == [(0, "start")]


def test_change_of_light_is_no_boundary(shots_of) -> None:
    light = np.interp(np.arange(80), [0, 30, 45, 80], [0.5, 0.5, 1, 1])[:, None, None, None]
    assert shots_of(scene(13, 80) * light) == [(0, "start")]


def test_fade_in_at_the_start_is_no_boundary(shots_of) -> None:
    light = np.interp(np.arange(80), [0, 5, 25], [0, 0, 1])[:, None, None, None]
    assert shots_of(scene(14, 80) * light) == [(0, "start")]


def test_boundaries_closer_than_the_minimum_length_become_one(tmp_path: Path) -> None:
    path = encode(tmp_path / "short.mp4", np.concatenate((scene(1, 30), scene(2, 10), scene(3, 30))))
    assert cuts(detect_shots(path)) == [30, 40]
    assert len(cuts(detect_shots(path, ShotSettings(min_seconds=0.6)))) == 1


def test_shots_cover_the_file_without_gaps_in_frames_and_seconds(tmp_path: Path, three_scenes: Frames) -> None:
    found = detect_shots(encode(tmp_path / "a.mp4", three_scenes), source_id="s1")
    assert (found.frames, found.fps, found.seconds) == (100, pytest.approx(25), pytest.approx(4))
    assert [(shot.start, shot.end) for shot in found.shots] == [(0, 1.6), (1.6, 2.6), (2.6, 4)]
    assert [(shot.first_frame, shot.last_frame) for shot in found.shots] == [(0, 39), (40, 64), (65, 99)]
    assert [(shot.source_id, shot.index) for shot in found.shots] == [("s1", 0), ("s1", 1), ("s1", 2)]


def test_times_follow_the_frames_at_a_variable_frame_rate(tmp_path: Path, three_scenes: Frames) -> None:
    halved = ["-vf", "select='lt(n,40)+not(mod(n,2))'", "-fps_mode", "vfr"]
    path = encode(tmp_path / "vfr.mp4", three_scenes, *halved, "-c:v", "libx264", "-crf", "18", "-pix_fmt", "yuv420p")
    found = detect_shots(path)
    with open_video(path) as video:
        times = [frame.time for frame in video.frames()]
    assert found.frames == len(times) == 70
    assert [shot.start for shot in found.shots] == [times[shot.first_frame] for shot in found.shots]
    assert [shot.start for shot in found.shots] == pytest.approx([0, 1.6, 2.64], abs=1e-3)
    assert found.shots[-1].end == found.seconds > times[-1]


@pytest.mark.parametrize(
    "options",
    [
        ("-c:v", "libx264", "-preset", "ultrafast", "-pix_fmt", "yuv420p10le"),
        ("-c:v", "libx264", "-preset", "ultrafast", "-pix_fmt", "yuv444p"),
        ("-c:v", "mpeg4", "-q:v", "3", "-vf", "scale=46:90"),
        ("-c:v", "ffv1", "-pix_fmt", "bgr0"),
        ("-c:v", "ffv1", "-pix_fmt", "gray"),
        ("-c:v", "libx264", "-preset", "ultrafast", "-pix_fmt", "yuv420p", "-vf", "scale=16:16"),
    ],
    ids=["10 bit", "4:4:4", "portrait", "rgb", "grey", "tiny"],
)
def test_cuts_are_found_in_any_pixel_format_and_size(
    tmp_path: Path, three_scenes: Frames, options: tuple[str, ...]
) -> None:
    assert cuts(detect_shots(encode(tmp_path / "any.mkv", three_scenes, *options))) == [40, 65]


def test_single_frame_is_one_shot(tmp_path: Path) -> None:
    found = detect_shots(encode(tmp_path / "one.mp4", scene(1, 1)))
    assert (found.frames, found.seconds) == (1, pytest.approx(0.04))
    assert starts(found) == [(0, "start")]


def test_shots_have_darkness_motion_and_colours(tmp_path: Path) -> None:
    red = np.full((30, HEIGHT, WIDTH, 3), (220, 30, 30))
    frames = np.concatenate((np.zeros((30, HEIGHT, WIDTH, 3)), scene(1, 30, 0), scene(2, 30, 4), red))
    black, still, moving, plain = detect_shots(encode(tmp_path / "a.mp4", frames)).shots
    assert (black.dark, still.dark, plain.dark) == (1, 0, 0)
    assert plain.motion < still.motion < moving.motion <= 1
    for shot in (black, still, moving, plain):
        assert np.reshape(shot.colours, (3, 8)).sum(1) == pytest.approx([1, 1, 1], abs=1e-3)
    luma, _, red_difference = np.reshape(plain.colours, (3, 8))
    assert (luma.argmax(), red_difference.argmax()) == (3, 6)  # BT.601: Y 91, Cr 211 of 255; bins begin at 24 + 32k


def test_thread_count_does_not_change_shots(tmp_path: Path, three_scenes: Frames) -> None:
    path = encode(tmp_path / "a.mp4", three_scenes)
    assert detect_shots(path, threads=2) == detect_shots(path, threads=1) == detect_shots(path)


def test_signals_do_not_depend_on_how_frames_are_batched(tmp_path: Path, three_scenes: Frames) -> None:
    with open_video(encode(tmp_path / "a.mp4", three_scenes)) as video:
        batches = list(describe(frame.picture for frame in video.frames()))

    def divided(size: int) -> Iterator[Descriptions]:
        for batch in batches:
            yield from (batch[start : start + size] for start in range(0, len(batch), size))

    whole = measure_signals(iter(batches), RATE)
    for size in (1, 7):
        again = measure_signals(divided(size), RATE)
        assert all(np.array_equal(getattr(whole, name), getattr(again, name)) for name in Signals.__dataclass_fields__)


def test_unusable_files_are_refused_with_a_reason(tmp_path: Path) -> None:
    (tmp_path / "empty.mp4").touch()
    (tmp_path / "text.mp4").write_text("#EXTM3U\nhttp://example.org/a.ts\n")
    sound = ["-f", "lavfi", "-i", "sine=d=0.2", str(tmp_path / "sound.mp4")]
    subprocess.run([ffmpeg_path(), "-v", "error", *sound], check=True, timeout=60)
    for name, reason in (("empty", "empty"), ("text", "unreadable"), ("sound", "no_video"), ("missing", "io_error")):
        with pytest.raises(MediaError) as caught:
            detect_shots(tmp_path / f"{name}.mp4")
        assert caught.value.reason == reason


def test_damaged_packets_are_refused(tmp_path: Path, three_scenes: Frames) -> None:
    path = encode(tmp_path / "a.mp4", three_scenes)
    data = bytearray(path.read_bytes())
    middle = len(data) // 2
    data[middle : middle + 6000] = b"\xff" * 6000
    path.write_bytes(data)
    with pytest.raises(MediaError) as caught:
        detect_shots(path)
    assert caught.value.reason in ("damaged", "timestamps")


@st.composite
def any_signals(draw: st.DrawFn) -> Signals:
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    count = draw(st.integers(1, 200))
    chroma = rng.random(count)
    quiet = rng.random((8, count)) ** draw(st.integers(1, 8))
    flags = rng.random((5, count)) < draw(st.floats(0, 1))
    point_change, replaced, kept, relit = 255 * quiet[0], *quiet[1:4]
    thumbnails = rng.integers(0, 256, (count, 12, 16)).astype(np.uint8)
    colours = np.ones((count, 3, 8), np.uint16)
    return Signals(*quiet, *flags[:2], point_change, replaced, kept, relit, *flags[2:], chroma, colours, thumbnails)


@settings(max_examples=100, deadline=None)
@given(any_signals(), st.integers(1, 20))
def test_boundaries_are_ordered_and_keep_the_minimum_length(signals: Signals, min_length: int) -> None:
    boundaries = find_boundaries(signals, cut_ratio=2.1, radius=12, min_length=min_length, max_blank=25)
    places = [0, *(boundary.frame for boundary in boundaries), len(signals)]
    assert all(after - before >= min_length for before, after in pairwise(places)) or not boundaries
    assert {boundary.transition for boundary in boundaries} <= {"cut", "fade", "dissolve", "gradual"}


def test_all_hard_cuts_of_the_sintel_trailer_are_found_and_none_in_fast_motion(shared: Path) -> None:
    found = detect_shots(shared / "videos/shots/sintel-trailer-30s.mp4")
    assert cuts(found) == SINTEL_CUTS
    assert not {first for first, _ in starts(found)} & set(SINTEL_MOTION)
    fades = [first for first, transition in starts(found) if transition == "fade"]
    for near in (75, 473, 631):
        assert min(abs(first - near) for first in fades) <= 8


@pytest.mark.parametrize("name", ["dog.1.mp4", "dog.3.webm"])
def test_all_cuts_but_jump_cuts_are_found_in_the_dog_video_in_any_codec(shared: Path, name: str) -> None:
    found = set(cuts(detect_shots(shared / "videos/near-duplicates" / name)))
    assert set(DOG_CUTS) - DOG_JUMP_CUTS <= found <= set(DOG_CUTS)


def test_real_cuts_within_one_scene_are_found(shared: Path) -> None:
    assert cuts(detect_shots(shared / "videos/shots/vatex-sample.mp4")) == pytest.approx([26, 60, 96, 121, 175], abs=1)
    assert cuts(detect_shots(shared / "videos/shots/bikes.mp4")) == [30, 76, 137, 187, 242]


def test_real_dissolve_is_found_beside_a_real_cut(shared: Path) -> None:
    _, dissolve, cut = detect_shots(shared / "videos/codecs/nasa_13013.mp4").shots
    assert (dissolve.transition, cut.transition, cut.first_frame) == ("dissolve", "cut", 240)
    assert 150 <= dissolve.first_frame <= 180


@pytest.mark.parametrize("name", ["pattern-longer-no-bar.mp4", "chair-19-sd-bar.mp4"])
def test_hand_held_take_is_one_shot(shared: Path, name: str) -> None:
    assert len(detect_shots(shared / "videos/near-duplicates" / name).shots) == 1


@pytest.mark.parametrize(("name", "reason"), [("corrupted.mp4", "damaged"), ("zero-bytes.webm", "empty")])
def test_broken_files_are_refused(shared: Path, name: str, reason: str) -> None:
    with pytest.raises(MediaError) as caught:
        detect_shots(shared / "videos/broken" / name)
    assert caught.value.reason == reason
