"""Where unreferenced frames are skipped, the fast method finds the same shots as the exact one."""

from __future__ import annotations

import subprocess
from pathlib import Path

import numpy as np
import pytest

from tests.media.shots.fast.test_fast import EXACT, FAST, outcome, outline
from tests.media.shots.test_detect import encode, scene, starts
from vttdata.media.decode import all_keyframes, open_video
from vttdata.media.ffmpeg_program import ffmpeg_path
from vttdata.media.shots.detect import detect_shots
from vttdata.media.shots.fast.bitstream import FrameReference, hevc_reference, mpeg_reference
from vttdata.media.shots.fast.packets import UnsupportedStreamError
from vttdata.media.shots.fast.reference_frames import describe_reference_frames, read_frame_order
from vttdata.media.shots.histogram import describe

HEVC = ("-c:v", "libx265", "-preset", "veryfast", "-pix_fmt", "yuv420p", "-x265-params", "log-level=none")
FIXED = (*HEVC[:-1], "log-level=none:keyint=40:scenecut=0:open-gop=1")
MPEG2 = ("-c:v", "mpeg2video", "-bf", "2", "-q:v", "4", "-pix_fmt", "yuv420p")
CODED = [(HEVC, "mp4"), (HEVC, "mkv"), (FIXED, "ts"), (MPEG2, "ts"), (MPEG2, "mkv")]


@pytest.fixture(scope="module")
def edited() -> np.ndarray:
    """Cuts at 50, 101 and 153."""
    return np.concatenate([scene(seed, length) for seed, length in ((1, 50), (2, 51), (3, 52), (4, 37))])


@pytest.mark.parametrize(("options", "container"), CODED)
def test_same_shots_are_found_from_reference_frames(
    tmp_path: Path, edited: np.ndarray, options: tuple[str, ...], container: str
) -> None:
    path = encode(tmp_path / f"edited.{container}", edited, *options)
    exact, fast = detect_shots(path, EXACT), detect_shots(path, FAST)
    assert (exact.method, fast.method) == ("exact", "fast")
    assert outline(fast) == outline(exact)
    assert starts(fast) == [(0, "start"), (50, "cut"), (101, "cut"), (153, "cut")]


@pytest.mark.parametrize(("options", "container"), CODED)
def test_reference_frames_are_described_as_in_a_full_decode(
    tmp_path: Path, edited: np.ndarray, options: tuple[str, ...], container: str
) -> None:
    path = encode(tmp_path / f"edited.{container}", edited, *options)
    with open_video(path) as video:
        order = read_frame_order(video)
    known = order.is_referenced
    with open_video(path) as video:
        histograms = np.concatenate([batch.histograms for batch in describe_reference_frames(video, order)])
    with open_video(path) as video:
        frames = list(video.frames())
        whole = np.concatenate([batch.histograms for batch in describe(frame.picture for frame in frames)])
    assert order.times[:-1].tolist() == [frame.time for frame in frames]
    assert known[0]
    assert known.mean() < 0.75
    assert np.array_equal(histograms[known], whole[known])
    assert len(histograms) == len(whole)


def test_other_codecs_and_streams_without_times_are_unsupported(tmp_path: Path, edited: np.ndarray) -> None:
    for name, options in (("a.avi", ("-c:v", "mpeg4", "-bf", "2")), ("a.h265", HEVC)):
        with open_video(encode(tmp_path / name, edited[:60], *options)) as video, pytest.raises(UnsupportedStreamError):
            read_frame_order(video)


@pytest.mark.parametrize("options", [FIXED, MPEG2], ids=["HEVC", "MPEG-2"])
def test_stream_cut_inside_a_gop_has_the_same_outcome(
    tmp_path: Path, edited: np.ndarray, options: tuple[str, ...]
) -> None:
    path = encode(tmp_path / "whole.ts", edited, *options)
    data = path.read_bytes()
    for part in (data[len(data) // 3 // 188 * 188 :], data[: 2 * len(data) // 3]):
        path.write_bytes(part)
        assert outcome(path, FAST) == outcome(path, EXACT)


@pytest.mark.parametrize("codec", ["libx264", "mjpeg", "libx265"])
def test_intra_only_streams_are_recognised(tmp_path: Path, edited: np.ndarray, codec: str) -> None:
    quiet = ("-x265-params", "log-level=none") if codec == "libx265" else ()
    alone = encode(tmp_path / "alone.mkv", edited[:60], "-c:v", codec, "-g", "1", "-pix_fmt", "yuvj420p", *quiet)
    assert all_keyframes(alone)
    assert starts(detect_shots(alone, FAST)) == [(0, "start"), (50, "cut")]
    assert not all_keyframes(encode(tmp_path / "groups.mkv", edited[:60], "-c:v", "libx264", "-g", "12"))


def test_stream_that_is_intra_only_at_first_is_decoded_with_deblocking(
    tmp_path: Path, edited: np.ndarray, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = encode(tmp_path / "a.ts", np.repeat(edited[:60], 5, 0), "-c:v", "libx264", "-g", "1", "-pix_fmt", "yuv420p")
    then = encode(tmp_path / "b.ts", edited, "-c:v", "libx264", "-crf", "35", "-pix_fmt", "yuv420p")
    path = tmp_path / "joined.mkv"
    joined = [ffmpeg_path(), "-v", "error", "-i", f"concat:{first}|{then}", "-c", "copy", str(path)]
    subprocess.run(joined, check=True, timeout=60)
    assert all_keyframes(path)
    seen = detect_shots(path, EXACT)
    monkeypatch.setattr("vttdata.media.shots.detect.all_keyframes", lambda _: False)
    assert seen == detect_shots(path, EXACT)


@pytest.mark.parametrize(("place", "length"), [(0.25, 24), (0.5, 24), (0.8, 40)])
def test_missing_reference_frames_have_the_same_outcome(
    tmp_path: Path, edited: np.ndarray, place: float, length: int
) -> None:
    path = encode(tmp_path / "damaged.ts", edited, *FIXED)
    data = path.read_bytes()
    hole = int(place * (len(data) // 188)) * 188
    path.write_bytes(data[:hole] + data[hole + length * 188 :])
    assert outcome(path, FAST) == outcome(path, EXACT)


def test_interlaced_streams_are_decoded_in_full(tmp_path: Path, edited: np.ndarray) -> None:
    path = encode(tmp_path / "fields.ts", edited, *MPEG2, "-flags", "+ildct+ilme", "-vf", "setfield=tff")
    assert detect_shots(path, FAST).method == "exact"


def test_frames_referenced_by_a_higher_temporal_layer_are_not_skipped(
    tmp_path: Path, edited: np.ndarray, monkeypatch: pytest.MonkeyPatch
) -> None:
    layered = (*HEVC[:-1], "log-level=none:temporal-layers=3")
    path = encode(tmp_path / "layers.mp4", edited[:60], *layered)
    with open_video(path) as video:
        assert not read_frame_order(video).is_referenced.all()

    def with_raised_layer(data: memoryview, length_size: int) -> FrameReference | None:
        reference = hevc_reference(data, length_size)
        return reference and FrameReference(reference.is_referenced, int(reference.is_referenced))

    monkeypatch.setattr("vttdata.media.shots.fast.reference_frames.hevc_reference", with_raised_layer)
    with open_video(path) as video, pytest.raises(UnsupportedStreamError):
        read_frame_order(video)


def test_references_are_read_from_packets() -> None:
    assert hevc_reference(memoryview(b"\0\0\0\1\x40\1\xff\0\0\1\x26\1\xaf"), 0) == (
        True,
        1,
    )  # parameters, IDR
    assert hevc_reference(memoryview(b"\0\2\x4e\1\0\3\0\3\xd0"), 2) == (False, 3)  # SEI, then a TRAIL_N
    assert hevc_reference(memoryview(b"\0\0\1\x20\1\xaf"), 0) is None  # broken link
    assert mpeg_reference(memoryview(b"\0\0\1\xb8\0\0\1\0\0\x0f\xff")) == (True, 0)
    assert mpeg_reference(memoryview(b"\0\0\1\0\0\x18\xff")) == (False, 0)
    assert mpeg_reference(memoryview(b"\0\0\1\0\0")) is None
    assert hevc_reference(memoryview(b""), 4) is None
