"""The fast method finds the same shots as the exact one, and falls back to it on streams it cannot judge."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from av.video.frame import PictureType
from hypothesis import given
from hypothesis import strategies as st

from tests.media.shots.test_detect import dissolved, encode, faded, scene, starts
from tests.media.shots.test_overlays import lettered
from vttdata.errors import MediaError
from vttdata.media.decode import open_video
from vttdata.media.shots.detect import Detection, ShotSettings, detect_shots
from vttdata.media.shots.fast.bitstream import h264_frame_type
from vttdata.media.shots.fast.gop_decode import interpolate_gaps
from vttdata.media.shots.fast.gop_plan import plan_decoding
from vttdata.media.shots.fast.packets import Packets, read_packets
from vttdata.media.shots.histogram import Descriptions

FAST, EXACT = ShotSettings(method="fast"), ShotSettings(method="exact")
X264 = ("-c:v", "libx264", "-preset", "veryfast", "-pix_fmt", "yuv420p")
GROWTH = """
import resource, sys
from pathlib import Path
from vttdata.media.shots.detect import ShotSettings, detect_shots

before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
assert detect_shots(Path(sys.argv[1]), ShotSettings(method="fast")).method == "fast"
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
"""
REAL = [
    ("shots/bikes.mp4", "fast"),
    ("shots/sintel-trailer-30s.mp4", "fast"),
    ("near-duplicates/dog.1.mp4", "fast"),
    ("near-duplicates/dog.2.mp4", "exact"),
    ("near-duplicates/dog.3.webm", "exact"),
    ("near-duplicates/chair-19-sd-bar.mp4", "fast"),
    ("codecs/discard_first_keyframe.mp4", "exact"),
    ("codecs/test_non_zero_start.mp4", "fast"),
    ("codecs/h264_10bits.mp4", "fast"),
    ("codecs/h265_video.mp4", "fast"),
    ("codecs/testsrc2_mpeg4.avi", "exact"),
    ("codecs/nasa_13013.mp4", "fast"),
]


def outline(detection: Detection) -> tuple[object, ...]:
    """Return all of a detection but the method and the estimates of motion, darkness and colours."""
    spans = [(shot.first_frame, shot.last_frame, shot.start, shot.end, shot.transition) for shot in detection.shots]
    return detection.frames, detection.fps, detection.seconds, spans


@pytest.fixture(scope="module")
def edited() -> np.ndarray:
    """Cuts at 60, 131 and 200, a dissolve around 260 and a fade through black around 330."""
    parts = (scene(1, 60), scene(2, 71), scene(3, 69), dissolved(scene(4, 72), scene(5, 68), 16))
    return np.concatenate((*parts[:3], faded(parts[3], scene(6, 60), 8, 4)))


@pytest.mark.parametrize(
    "options",
    [X264, (*X264, "-g", "50"), (*X264, "-g", "300", "-sc_threshold", "0"), (*X264, "-bf", "0", "-g", "50")],
    ids=["default", "two seconds", "one GOP", "no B-frames"],
)
@pytest.mark.parametrize("container", ["mp4", "mkv", "ts"])
def test_fast_method_finds_the_same_shots(
    tmp_path: Path, edited: np.ndarray, options: tuple[str, ...], container: str
) -> None:
    path = encode(tmp_path / f"edited.{container}", edited, *options)
    exact, fast = detect_shots(path, EXACT), detect_shots(path, FAST)
    assert (exact.method, fast.method) == ("exact", "fast")
    assert outline(fast)[:3] == outline(exact)[:3]
    assert {60, 131, 200} <= {first for first, kind in starts(fast) if kind == "cut"}
    assert [kind for _, kind in starts(fast)] == [kind for _, kind in starts(exact)]
    assert [first for first, _ in starts(fast)] == pytest.approx([first for first, _ in starts(exact)], abs=2)


def test_fast_method_estimates_motion_darkness_and_colours(tmp_path: Path, edited: np.ndarray) -> None:
    path = encode(tmp_path / "edited.mp4", edited, *X264)
    for exact, fast in zip(detect_shots(path, EXACT).shots, detect_shots(path, FAST).shots, strict=True):
        assert fast.dark == pytest.approx(exact.dark, abs=0.05)
        assert fast.motion == pytest.approx(exact.motion, abs=0.01)
        assert fast.colours == pytest.approx(exact.colours, abs=0.06)


def test_fast_method_decodes_fewer_frames(tmp_path: Path, edited: np.ndarray) -> None:
    assert plan_decoding(packets_of(encode(tmp_path / "edited.mp4", edited, *X264))).needed.mean() < 0.75


def test_fast_method_keeps_no_decoded_pictures(tmp_path: Path, edited: np.ndarray) -> None:
    path = encode(tmp_path / "large.mp4", edited[:200], "-vf", "scale=1280:720", *X264, "-preset", "ultrafast")
    decoded = plan_decoding(packets_of(path)).needed.sum()
    grown = subprocess.run([sys.executable, "-c", GROWTH, path], stdout=subprocess.PIPE, text=True, check=True).stdout
    assert int(grown) < 100 * 2**10 < decoded * 1280 * 720 * 1.5 / 2**10


def packets_of(path: Path) -> Packets:
    with open_video(path) as video:
        return read_packets(video)


@pytest.mark.parametrize(
    "options",
    [
        (*X264, "-g", "1"),
        (*X264, "-g", "25", "-x264-params", "open-gop=1"),
        ("-c:v", "libvpx-vp9", "-deadline", "realtime", "-cpu-used", "8"),
    ],
    ids=["keyframes only", "open GOPs", "VP9"],
)
def test_unsupported_streams_are_decoded_in_full(tmp_path: Path, edited: np.ndarray, options: tuple[str, ...]) -> None:
    path = encode(tmp_path / "edited.mkv", edited[:100], *options)
    assert detect_shots(path, FAST) == detect_shots(path, EXACT)


@pytest.mark.parametrize("length", [20, 60])
def test_caption_is_no_boundary_in_the_fast_method(tmp_path: Path, length: int) -> None:
    frames = scene(21, 160, 0.3)
    lettered(frames[30 : 30 + length])
    path = encode(tmp_path / "text.mp4", frames, *X264)
    assert plan_decoding(packets_of(path)).needed.mean() < 0.75
    assert starts(detect_shots(path, FAST)) == [(0, "start")]


@pytest.mark.parametrize(("name", "method"), REAL)
def test_both_methods_agree_on_real_files(shared: Path, name: str, method: str) -> None:
    path = shared / "videos" / name
    fast = detect_shots(path, FAST)
    exact = detect_shots(path, EXACT)
    assert fast.method == method
    assert outline(fast)[:3] == outline(exact)[:3]
    assert [kind for _, kind in starts(fast)] == [kind for _, kind in starts(exact)]
    assert [first for first, _ in starts(fast)] == pytest.approx([first for first, _ in starts(exact)], abs=1)


def test_thread_count_does_not_change_the_fast_method(tmp_path: Path, edited: np.ndarray) -> None:
    path = encode(tmp_path / "edited.mp4", edited, *X264)
    assert detect_shots(path, FAST, threads=2) == detect_shots(path, FAST, threads=1)


def test_stream_that_begins_inside_a_gop_has_the_same_outcome(tmp_path: Path, edited: np.ndarray) -> None:
    path = encode(tmp_path / "whole.ts", edited, *X264)
    data = path.read_bytes()
    path.write_bytes(data[len(data) // 3 // 188 * 188 :])
    assert outcome(path, FAST) == outcome(path, EXACT)


def test_truncated_file_has_the_same_outcome(tmp_path: Path, edited: np.ndarray) -> None:
    for container in ("ts", "mkv"):
        path = encode(tmp_path / f"whole.{container}", edited, *X264)
        data = path.read_bytes()
        path.write_bytes(data[: 2 * len(data) // 3])
        assert outcome(path, FAST) == outcome(path, EXACT)


def outcome(path: Path, settings: ShotSettings) -> object:
    try:
        found = detect_shots(path, settings)
    except MediaError as error:
        return error.reason
    return found.frames, found.fps, found.seconds, len(found.shots)


@pytest.mark.parametrize("container", ["mp4", "ts"])
def test_frame_types_agree_with_the_decoder(tmp_path: Path, edited: np.ndarray, container: str) -> None:
    path = encode(tmp_path / f"a.{container}", edited[:150], *X264)
    packets = packets_of(path)
    with open_video(path) as video:
        is_b_frame = {frame.picture.pts: frame.picture.pict_type == PictureType.B for frame in video.frames()}
    kinds = dict(zip(packets.pts.tolist(), packets.frame_type.tolist(), strict=True))
    assert {pts for pts, kind in kinds.items() if kind} == {pts for pts, is_b in is_b_frame.items() if is_b}
    assert {1, 2} <= set(kinds.values())


@given(st.binary(max_size=40), st.sampled_from([0, 1, 2, 4]))
def test_any_bytes_give_a_frame_type_or_none(data: bytes, length_size: int) -> None:
    assert h264_frame_type(memoryview(data), length_size) in (0, 1, 2, None)


def test_skipped_frames_are_interpolated_linearly() -> None:
    histograms = np.zeros((2, 3, 16, 16), np.uint8)
    histograms[1] = 8
    cells = np.full((2, 3, 96), 100, np.int32) * np.array([1, 5])[:, None, None]
    luma = np.full((2, 2304), 50, np.uint8) + np.array([[0], [9]], np.uint8)
    filled = interpolate_gaps(Descriptions(histograms, cells, luma), np.array([0, 4]))
    assert filled.histograms[:, 0, 0, 0].tolist() == [0, 2, 4, 6, 8]
    assert filled.cells[:, 0, 0].tolist() == [100, 200, 300, 400, 500]
    assert filled.luma[:, 0].tolist() == [50, 50, 50, 50, 59]
