"""Containers that store no presentation times, or not the length of the last frame, against copies that store both."""

from __future__ import annotations

import subprocess
from fractions import Fraction
from itertools import pairwise
from pathlib import Path
from typing import Any

import av
import pytest

from tests.helpers.barcode import read_beeps, read_number, read_sound, read_video, write_barcode
from tests.helpers.cuts import cut_file
from tests.helpers.session_files import make_once
from vttdata.errors import MediaError
from vttdata.media.decode import open_video
from vttdata.media.ffmpeg_program import ffmpeg_path
from vttdata.media.filters import FilterSettings, judge, screen
from vttdata.media.measure import measure
from vttdata.media.probe import probe
from vttdata.media.shots.detect import detect_shots

SHOTS = (
    "testsrc2=s=160x120:r=25:d=2[a];mandelbrot=s=160x120:r=25,trim=end_frame=50[b];"
    "smptehdbars=s=160x120:r=25:d=2[c];[a][b][c]concat=n=3"
)
X264 = ("-c:v", "libx264", "-bf", "5", "-x264-params", "b-pyramid=strict:b-adapt=0:keyint=60", "-threads", "1")
REFERENCES = {
    "h264.avi": "h264.mp4",
    "h264.asf": "h264.mp4",
    "h264.h264": "h264.mp4",
    "h264-pairs.ts": "h264.mp4",
    "mpeg4.avi": "mpeg4.mp4",
    "mpeg4-packed.avi": "mpeg4.mp4",
    "xvid.avi": "xvid.mkv",
    "mpeg2.avi": "mpeg2.mp4",
}


def ffmpeg(*options: object) -> None:
    subprocess.run([ffmpeg_path(), "-v", "error", "-y", *map(str, options)], check=True, timeout=60)


def packets_of(path: Path) -> tuple[Any, list[Any]]:
    with av.open(str(path)) as container:
        stream = container.streams.video[0]
        return bytes(stream.codec_context.extradata or b""), [
            packet for packet in container.demux(stream) if packet.size
        ]


def write_pairs(source: Path, target: Path) -> None:
    """Copy a transport stream with two pictures in each PES packet, which has room for the times of one."""
    with av.open(str(source)) as old, av.open(str(target), "w", format="mpegts") as new:
        packets = [packet for packet in old.demux(old.streams.video[0]) if packet.size]
        stream = new.add_stream_from_template(old.streams.video[0])
        for first, second in zip(packets[::2], packets[1::2], strict=True):
            pair = av.Packet(bytes(first) + bytes(second))
            pair.pts, pair.dts, pair.time_base, pair.stream = first.pts, first.dts, first.time_base, stream
            new.mux(pair)


def write_packed(source: Path, target: Path) -> None:
    """Copy MPEG-4 as DivX stores it: a B-frame in one chunk with the frame after it, then a chunk without a picture."""
    header, packets = packets_of(source)
    pictures = [bytes(packet) for packet in packets]
    types = [picture[picture.index(b"\0\0\1\xb6") + 4] >> 6 for picture in pictures]
    chunks: list[bytes] = []
    for picture, picture_type in zip(pictures, types, strict=True):
        if picture_type == 2:
            chunks[-1] += picture
            # A predicted picture with `vop_coded` 0 (ISO/IEC 14496-2, 6.2.5).
            chunks.append(b"\0\0\1\xb6" + (0b0101000010_011111).to_bytes(2, "big"))
        else:
            chunks.append(picture)
    chunks[0] = header + b"\0\0\1\xb2DivX503b1393p" + chunks[0]
    with av.open(str(target), "w") as container:
        stream: Any = container.add_stream("mpeg4", rate=25)
        stream.width, stream.height, stream.time_base = 160, 120, Fraction(1, 25)
        for number, chunk in enumerate(chunks):
            packet = av.Packet(chunk)
            packet.pts = packet.dts = number
            packet.time_base, packet.stream = Fraction(1, 25), stream
            container.mux(packet)


@pytest.fixture(scope="module")
def streams(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder of films with three shots of two seconds, in containers with and without times."""

    def make(folder: Path) -> None:
        film = folder / "film.mkv"
        ffmpeg("-f", "lavfi", "-i", SHOTS, "-c:v", "ffv1", film)
        ffmpeg("-i", film, *X264, folder / "h264.mp4")
        for name in ("h264.avi", "h264.asf", "h264.h264", "h264.ts"):
            ffmpeg("-i", folder / "h264.mp4", "-c", "copy", folder / name)
        write_pairs(folder / "h264.ts", folder / "h264-pairs.ts")
        ffmpeg("-i", film, "-c:v", "mpeg4", "-bf", "1", "-b_strategy", "0", "-q:v", "4", folder / "mpeg4.mp4")
        ffmpeg("-i", folder / "mpeg4.mp4", "-c", "copy", folder / "mpeg4.avi")
        write_packed(folder / "mpeg4.mp4", folder / "mpeg4-packed.avi")
        ffmpeg("-i", film, "-c:v", "mpeg2video", "-bf", "2", "-q:v", "4", folder / "mpeg2.mp4")
        ffmpeg("-i", folder / "mpeg2.mp4", "-c", "copy", folder / "mpeg2.avi")
        ffmpeg("-i", film, "-c:v", "libxvid", "-bf", "2", "-q:v", "4", folder / "xvid.avi")
        ffmpeg("-i", folder / "xvid.avi", "-fps_mode", "passthrough", "-c:v", "ffv1", folder / "xvid.mkv")

    return make_once(tmp_path_factory, "streams-without-times", make)


def frames_of(path: Path) -> list[tuple[float, bytes]]:
    with open_video(path) as video:
        frames = [(frame.time, frame.picture.to_ndarray().tobytes()) for frame in video.frames()]
    return [(time - frames[0][0], picture) for time, picture in frames]


def times_by_ffmpeg(path: Path) -> list[float]:
    """Return the time of every frame as the ffmpeg program gives it to filters."""
    output = ("-map", "0:v:0", "-fps_mode", "passthrough", "-enc_time_base", "demux", "-f", "framehash", "-")
    command = [ffmpeg_path(), "-v", "error", "-copyts", "-i", str(path), *output]
    lines = subprocess.run(command, check=True, capture_output=True, text=True, timeout=60).stdout.splitlines()
    (base,) = (Fraction(line.split()[2]) for line in lines if line.startswith("#tb"))
    return [float(int(line.split(",")[2]) * base) for line in lines if not line.startswith("#")]


@pytest.mark.parametrize("name", REFERENCES)
def test_frames_without_times_have_those_of_a_copy_with_times(streams: Path, name: str) -> None:
    expected, shown = frames_of(streams / REFERENCES[name]), frames_of(streams / name)
    assert [picture for _, picture in shown] == [picture for _, picture in expected]
    assert [time for time, _ in shown] == pytest.approx([time for time, _ in expected], abs=0.0011)
    with open_video(streams / name) as video:
        times = [video.start_time + frame.time for frame in video.frames()]
    assert times == pytest.approx(times_by_ffmpeg(streams / name), abs=1e-6)


@pytest.mark.parametrize("codec", ["mpeg1video", "mpeg2video"])
@pytest.mark.parametrize("ending", ["avi", "asf"])
def test_last_frames_of_mpeg_without_times_are_as_long_as_others(
    streams: Path, tmp_path: Path, codec: str, ending: str
) -> None:
    copy, path = tmp_path / "a.mp4", tmp_path / f"a.{ending}"
    ffmpeg("-i", streams / "film.mkv", "-c:v", codec, "-bf", "2", "-q:v", "4", copy)
    ffmpeg("-i", copy, "-c", "copy", path)
    expected, shown = frames_of(copy), frames_of(path)
    assert [picture for _, picture in shown] == [picture for _, picture in expected]
    assert [later - time for (time, _), (later, _) in pairwise(shown[1:])] == pytest.approx([0.04] * 148, abs=0.0011)


@pytest.mark.parametrize("name", REFERENCES)
def test_streams_without_times_are_measured_and_divided_like_a_copy_with_times(streams: Path, name: str) -> None:
    path, reference = streams / name, streams / REFERENCES[name]
    expected, measured = measure(reference), measure(path)
    assert measured.frames == expected.frames
    shown_for = expected.seconds - expected.first_frame_time
    assert measured.seconds - measured.first_frame_time == pytest.approx(shown_for, abs=0.0011)
    assert not measured.variable_frame_rate
    detection = detect_shots(path)
    boundaries = [shot.first_frame for shot in detection.shots]
    assert boundaries == [shot.first_frame for shot in detect_shots(reference).shots]
    assert len(boundaries) == 3
    assert detection.seconds == pytest.approx(measured.seconds)


@pytest.mark.parametrize("name", REFERENCES)
@pytest.mark.sampled(2)
def test_clips_of_streams_without_times_show_the_frames_of_a_copy_with_times(
    streams: Path, name: str, tmp_path: Path
) -> None:
    clips = []
    for path in (streams / REFERENCES[name], streams / name):
        begin = measure(path).first_frame_time
        target = tmp_path / f"{path.name}.mp4"
        media = cut_file(path, begin + 1.52, begin + 2.36, target, height=None, quality=4)
        with av.open(str(target)) as container:
            clips.append([frame.to_ndarray(format="gray").astype(float) for frame in container.decode(video=0)])
        assert (media.frames, len(clips[-1])) == (21, 21)
        assert media.seconds == pytest.approx(0.84, abs=0.0011)
    assert all(abs(frame - expected).mean() < 1 for expected, frame in zip(*clips, strict=True))


@pytest.mark.parametrize(
    ("name", "options"),
    [("a.avi", ("-c:v", "copy", "-c:a", "mp2")), ("a.asf", ("-c:v", "copy", "-c:a", "wmav2")),
     ("a.avi", ("-c:v", "mpeg4", "-bf", "2", "-q:v", "4", "-c:a", "mp2"))],
)  # fmt: skip
@pytest.mark.sampled(1)
def test_clips_of_streams_without_times_are_in_step_with_their_sound(
    name: str, options: tuple[str, ...], tmp_path: Path
) -> None:
    movie, path, clip = tmp_path / "movie.mp4", tmp_path / name, tmp_path / "clip.mp4"
    write_barcode(movie, range(120), Fraction(1, 25), sound=(0, 5))
    ffmpeg("-i", movie, *options, path)
    with open_video(path) as video:
        shown = [(frame.time, read_number(frame.picture.to_ndarray(format="gray"))) for frame in video.frames()]
    for start, end in ((shown[0][0], 1.0), (1.01, 3.5), (3.3, 99.0)):
        media = cut_file(path, start, end, clip, height=None, quality=10)
        expected = [(time, number) for time, number in shown if start <= time < end]
        assert [number for number, _ in read_video(clip)] == [number for _, number in expected]
        assert media.seconds == pytest.approx(0.04 * len(expected), abs=0.0011)
        begins = {second: begin for begin, second in read_beeps(read_sound(clip))}
        for second in range(int(expected[0][0]) + 1, int(expected[-1][0])):
            assert begins[second] == pytest.approx(second - expected[0][0], abs=0.06)


def test_reason_for_times_that_go_back_names_frame_and_times(streams: Path, tmp_path: Path) -> None:
    joined = tmp_path / "joined.ts"
    joined.write_bytes(2 * (streams / "h264.ts").read_bytes())
    with pytest.raises(MediaError, match=r"times go back: frame 150 has 0\.000 s, .* before it 5\.960 s") as caught:
        measure(joined)
    assert caught.value.reason == "timestamps"
    ffmpeg("-i", joined, tmp_path / "new.mp4")
    assert measure(tmp_path / "new.mp4").frames == 300


@pytest.fixture(scope="module")
def second(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a video of 30 frames at 30000/1001 frames a second: 1.001 s."""
    path = tmp_path_factory.mktemp("second") / "second.mp4"
    ffmpeg("-f", "lavfi", "-i", "testsrc2=s=160x120:r=30000/1001", "-frames:v", 30, "-c:v", "libx264", path)
    return path


def copy_with_last_duration(source: Path, target: Path, milliseconds: int) -> Path:
    with av.open(str(source)) as old, av.open(str(target), "w") as new:
        packets = [packet for packet in old.demux(old.streams.video[0]) if packet.size]
        stream = new.add_stream_from_template(old.streams.video[0])
        last = max(packets, key=lambda packet: packet.pts or 0)
        last.duration = round(milliseconds / 1000 / last.time_base)
        for packet in packets:
            packet.stream = stream
            new.mux(packet)
    return target


@pytest.mark.parametrize("name", ["a.mkv", "a.flv", "a.mp4", "a.mov"])
def test_last_frame_is_shown_as_long_as_others_where_one_millisecond_is_stored(
    second: Path, tmp_path: Path, name: str
) -> None:
    path = copy_with_last_duration(second, tmp_path / name, 1)
    probed, measured = probe(path), measure(path)
    assert measured.seconds == pytest.approx(1.001, abs=0.0011)
    assert detect_shots(path).seconds == pytest.approx(measured.seconds)
    media = cut_file(path, 0.5, 99, tmp_path / "clip.mp4", audio=False)
    assert media.seconds == pytest.approx(15 * 1.001 / 30, abs=0.0021)
    wanted = FilterSettings(min_seconds=1.0)
    assert screen(probed, wanted) is None
    assert judge(measured, wanted) is None


def test_stored_length_of_the_last_frame_is_believed_when_it_is_long(second: Path, tmp_path: Path) -> None:
    path = copy_with_last_duration(second, tmp_path / "a.mkv", 500)
    assert measure(path).seconds == pytest.approx(0.968 + 0.5, abs=0.0011)
    assert detect_shots(path).seconds == pytest.approx(0.968 + 0.5, abs=0.0011)
