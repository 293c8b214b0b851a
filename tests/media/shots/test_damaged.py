"""Damaged files and files with false durations: an error or the shots of what can be decoded, never a hang."""

from __future__ import annotations

import dataclasses
import os
import re
import struct
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from vttdata.cli.main import main
from vttdata.errors import MediaError
from vttdata.media.ffmpeg_program import ffmpeg_path
from vttdata.media.probe import decoding_limit, probe
from vttdata.media.shots.detect import Detection, detect_shots

SCENES = "testsrc2=s=160x90:r=25:d=4,hue='h=90*floor(t)'"  # a cut each second
X264 = ("-c:v", "libx264", "-preset", "ultrafast", "-pix_fmt", "yuv420p", "-g", "25")
FILES = {
    "faststart.mp4": (*X264, "-movflags", "+faststart"),
    "moov-last.mp4": X264,
    "fragmented.mp4": (*X264, "-movflags", "frag_keyframe+empty_moov"),
    "a.mkv": X264,
    "a.ts": X264,
    "a.avi": ("-c:v", "mpeg4"),
    "a.webm": ("-c:v", "libvpx-vp9", "-deadline", "realtime", "-cpu-used", "8"),
}


def ffmpeg(*arguments: str | Path) -> str:
    command = [ffmpeg_path(), "-v", "error", "-nostdin", "-y", *map(str, arguments)]
    return subprocess.run(command, check=True, capture_output=True, text=True, timeout=60).stdout


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("whole")
    for name, options in FILES.items():
        ffmpeg("-f", "lavfi", "-i", SCENES, *options, folder / name)
    return folder


@pytest.fixture
def without(files: Path, tmp_path: Path) -> Callable[[str, str, str], Path]:
    """Return a function that copies a file without the packets for which an expression holds."""

    def copy(name: str, ending: str, dropped: str) -> Path:
        path = tmp_path / f"without.{ending}"
        ffmpeg("-i", files / name, "-c", "copy", "-bsf:v", f"noise=drop='{dropped}'", path)
        return path

    return copy


def shown_by_ffmpeg(path: Path) -> int:
    """Count the frames that the ffmpeg program decodes."""
    command = [ffmpeg_path(), "-nostdin", "-i", str(path), "-map", "0:v", "-fps_mode", "passthrough", "-f", "null", "-"]
    printed = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False).stderr
    return int((re.findall(r"frame= *(\d+)", printed) or ["0"])[-1])


def attempt(path: Path) -> Detection | MediaError:
    try:
        return detect_shots(path)
    except MediaError as error:
        return error


def check(found: Detection) -> None:
    """Check that the shots divide all frames and all the time."""
    assert found.shots
    assert [shot.first_frame for shot in found.shots] == [0, *(shot.last_frame + 1 for shot in found.shots[:-1])]
    assert found.shots[-1].last_frame + 1 == found.frames > 0
    assert found.shots[-1].end == found.seconds > found.shots[0].start


@pytest.mark.parametrize("share", [0.98, 0.6, 0.1, 0.03])
@pytest.mark.parametrize("name", FILES)
def test_truncated_file_is_refused_or_its_decodable_frames_are_counted(
    files: Path, tmp_path: Path, name: str, share: float
) -> None:
    data = (files / name).read_bytes()
    path = tmp_path / name
    path.write_bytes(data[: int(len(data) * share)])
    found = attempt(path)
    if isinstance(found, MediaError):
        assert found.reason in ("unreadable", "damaged", "truncated", "no_video")
        assert name.endswith(".mp4") or share < 0.2
    else:
        check(found)
        assert found.frames == shown_by_ffmpeg(path)
        assert found.seconds <= 4 * share + 0.6


@settings(max_examples=60, deadline=None)
@given(st.sampled_from(sorted(FILES)), st.floats(0, 1), st.binary(min_size=1, max_size=400))
@example("a.ts", 0.9905456081058859, b"B")  # a stream that was not there when the file was opened
def test_overwritten_bytes_give_an_error_or_a_consistent_result(
    tmp_path_factory: pytest.TempPathFactory, files: Path, name: str, share: float, junk: bytes
) -> None:
    data = bytearray((files / name).read_bytes())
    at = int(share * len(data))
    data[at : at + len(junk)] = junk
    path = tmp_path_factory.mktemp("junk") / name
    path.write_bytes(data)
    found = attempt(path)
    if isinstance(found, Detection):
        check(found)


def test_recording_without_its_first_keyframe_starts_at_the_next_one(files: Path, tmp_path: Path) -> None:
    packets = (files / "a.ts").read_bytes()
    beginning, rest = packets[: 3 * 188], packets[len(packets) // 188 // 8 * 188 :]
    path = tmp_path / "late.ts"
    path.write_bytes(beginning + rest)
    found = detect_shots(path)
    check(found)
    assert found.frames == 75
    assert found.shots[0].start == pytest.approx(found.seconds - 3)
    lengths = [shot.last_frame - shot.first_frame + 1 for shot in found.shots]
    assert lengths == [25, 25, 25]


@pytest.mark.parametrize("name", ["a.mkv", "a.webm"])
def test_stream_without_keyframes_is_refused(without, name: str) -> None:
    with pytest.raises(MediaError) as caught:
        detect_shots(without(name, "mkv", "key"))
    assert caught.value.reason in ("no_video", "damaged")


@pytest.mark.parametrize("ending", ["avi", "mp4", "mkv", "ts"])
def test_stream_without_packets_is_refused(without, ending: str) -> None:
    with pytest.raises(MediaError) as caught:
        detect_shots(without("a.avi", ending, "1"))
    assert caught.value.reason in ("no_video", "unreadable", "empty")


def test_lost_frames_leave_the_times_of_the_others(without) -> None:
    found = detect_shots(without("a.avi", "mkv", "between(n,30,39)"))
    check(found)
    assert (found.frames, found.seconds) == (90, pytest.approx(4))
    assert [shot.start for shot in found.shots] == pytest.approx([0, 1, 2, 3], abs=0.5)


@pytest.mark.parametrize("factor", [0.1, 10, 1e6])
def test_false_matroska_duration_changes_nothing(files: Path, tmp_path: Path, factor: float) -> None:
    data = bytearray((files / "a.mkv").read_bytes())
    position = data.index(b"\x44\x89\x88") + 3  # Matroska's Duration, a float of eight bytes
    (stated,) = struct.unpack(">d", data[position : position + 8])
    data[position : position + 8] = struct.pack(">d", stated * factor)
    path = tmp_path / "lying.mkv"
    path.write_bytes(data)
    found = detect_shots(path)
    assert probe(path).container_seconds == pytest.approx(4 * factor)
    assert (found.frames, found.seconds, len(found.shots)) == (100, pytest.approx(4), 4)


def test_false_mp4_duration_changes_nothing(files: Path, tmp_path: Path) -> None:
    data = bytearray((files / "faststart.mp4").read_bytes())
    for box, offset in ((b"mvhd", 20), (b"mdhd", 20), (b"tkhd", 24)):
        position = data.index(box) + offset
        stated = int.from_bytes(data[position : position + 4], "big")
        data[position : position + 4] = (10 * stated).to_bytes(4, "big")
    path = tmp_path / "lying.mp4"
    path.write_bytes(data)
    assert (detect_shots(path).frames, detect_shots(path).seconds) == (100, pytest.approx(4))


def test_time_limit_follows_the_stated_duration_up_to_what_the_size_allows(files: Path) -> None:
    stated_by_file = probe(files / "a.mkv")
    size = (files / "a.mkv").stat().st_size
    honest = decoding_limit(stated_by_file, size)
    lie, nothing = (dataclasses.replace(stated_by_file, container_seconds=stated) for stated in (1e12, 0))
    assert honest < decoding_limit(lie, size) < 24 * 3600
    assert decoding_limit(nothing, 10**9) > 3600
    assert decoding_limit(None, 0) > 0


def test_pipes_folders_and_devices_are_refused(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe.mp4"
    os.mkfifo(pipe)
    for path in (pipe, tmp_path, Path("/dev/zero")):
        with pytest.raises(MediaError, match="not a regular file"):
            detect_shots(path)


def test_file_without_end_stops_at_its_limit_and_the_next_one_is_read(
    files: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "endless.mkv"
    path.write_bytes((files / "a.mkv").read_bytes())
    os.truncate(path, 2**40)  # nothing but zeros, through which the reader looks for a next packet
    assert main(["video", "shots", "--limit", "4", str(path), str(files / "a.mkv")]) == 1
    printed = capsys.readouterr()
    assert printed.err == f"vttdata: {path}: the wall-clock limit was exceeded.\n"
    assert printed.out.startswith(f"{files / 'a.mkv'}: 4 shots, 100 frames")
