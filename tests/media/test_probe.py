"""Facts of containers, read as users read them, and which tracks of a file decide whether it is used."""

from __future__ import annotations

import subprocess
from pathlib import Path

import av
import pytest

from tests.helpers.builds import film
from tests.helpers.cuts import cut_file
from vttdata.errors import MediaError
from vttdata.media import detect_shots, probe
from vttdata.media.ffmpeg_program import ffmpeg_path
from vttdata.media.measure import measure

X264 = ("-c:v", "libx264", "-preset", "ultrafast", "-g", "25")
MOVING = ("-f", "lavfi", "-i", "testsrc2=s=160x120:r=25:d=8")
TONES = ("-f", "lavfi", "-i", "sine=300:d=8", "-f", "lavfi", "-i", "sine=500:d=8")
COVER = ("-f", "lavfi", "-i", "mandelbrot=s=320x320:r=1,trim=end_frame=1")


def write(path: Path, *options: str) -> Path:
    subprocess.run([ffmpeg_path(), "-v", "error", "-y", *options, str(path)], check=True)
    return path


def refused(path: Path) -> MediaError:
    with pytest.raises(MediaError) as caught:
        probe(path)
    return caught.value


def test_path_may_be_text_as_loaded_rows_have_it(tmp_path: Path) -> None:
    video = film(tmp_path / "a film.mp4", 2)
    assert probe(str(video)) == probe(video)
    assert detect_shots(str(video)) == detect_shots(video)


def make_unknown(path: Path, track: int) -> None:
    """Give a sound track of an MP4 file, from 1, another codec, and take the description of its codec from it."""
    content = bytearray(path.read_bytes())
    place = content.index(b"moov")
    for _ in range(track):
        place = content.index(b"mp4a", content.index(b"stsd", place))
    description = content.index(b"esds", place)
    content[place : place + 4] = b"apac"
    content[description : description + 4] = b"dapa"
    path.write_bytes(content)


@pytest.mark.parametrize("unknown", [1, 2])
def test_sound_of_an_unknown_codec_beside_known_sound_is_a_note(unknown: int, tmp_path: Path) -> None:
    path = write(tmp_path / "a.mp4", *MOVING, *TONES, "-map", "0", "-map", "1", "-map", "2", *X264, "-c:a", "aac")
    make_unknown(path, unknown)
    facts = probe(path)
    assert (facts.audio_codec, facts.audio_stream) == ("aac", 3 - unknown)
    assert facts.note
    assert f"track {unknown} (audio)" in facts.note
    assert measure(path).frames == 200
    clip = cut_file(path, 1.0, 3.0, tmp_path / "clip.mp4")
    assert (clip.frames, clip.audio_seconds) == (50, pytest.approx(2, abs=0.05))


def test_file_whose_only_sound_cannot_be_decoded_is_refused(tmp_path: Path) -> None:
    path = write(tmp_path / "a.mp4", *MOVING, *TONES[:4], *X264, "-c:a", "aac")
    make_unknown(path, 1)
    problem = refused(path)
    assert problem.reason == "damaged"
    assert "track 1 (audio)" in problem.detail


def test_empty_second_track_is_a_note(shared: Path) -> None:
    path = shared / "videos" / "broken" / "sample_empty_track.mp4"
    facts = probe(path)
    assert facts.note
    assert "track 1 (video)" in facts.note
    assert measure(path).frames == facts.container_frames == 30


@pytest.mark.parametrize("excess", [8, 5000])
def test_media_box_that_announces_too_much_is_a_note(excess: int, tmp_path: Path) -> None:
    path = write(tmp_path / "a.mp4", *MOVING, *TONES[:4], *X264, "-movflags", "+faststart")
    content = bytearray(path.read_bytes())
    place = content.index(b"mdat") - 4
    content[place : place + 4] = (int.from_bytes(content[place : place + 4]) + excess).to_bytes(4)
    path.write_bytes(content)
    facts = probe(path)
    assert facts.note
    assert f"{excess} bytes" in facts.note
    assert measure(path).frames == 200


@pytest.mark.parametrize("percent", [40, 90])
def test_half_loaded_file_says_what_is_missing(percent: int, tmp_path: Path) -> None:
    whole = write(tmp_path / "whole.mp4", *MOVING, *TONES[:4], *X264, "-movflags", "+faststart")
    with av.open(str(whole)) as container:
        packets = [packet for packet in container.demux(video=0) if packet.size]
        ends = [(packet.pos + packet.size, packet.pts * packet.time_base) for packet in packets]
    content = whole.read_bytes()
    path = tmp_path / "half.mp4"
    path.write_bytes(content[: len(content) * percent // 100])
    lost = [time for end, time in ends if end > path.stat().st_size]
    problem = refused(path)
    assert problem.reason == "truncated"
    assert "states 8.0" in problem.detail
    assert f"after {path.stat().st_size} bytes" in problem.detail
    assert f"{len(lost)} of 200 video samples are missing, from {float(min(lost)):.2f} s on" in problem.detail


@pytest.mark.parametrize("percent", [10, 60, 99])
def test_file_that_ends_before_its_index_says_so(percent: int, tmp_path: Path) -> None:
    whole = write(tmp_path / "whole.mp4", *MOVING, *X264)
    content = whole.read_bytes()
    index = content.index(b"moov") - 4
    path = tmp_path / "half.mp4"
    kept = len(content) * percent // 100 if percent < 99 else (index + len(content)) // 2
    path.write_bytes(content[:kept])
    problem = refused(path)
    assert problem.reason == "truncated"
    assert f"after {kept} bytes" in problem.detail
    missing = (index if kept < index else len(content)) - kept
    assert f"needs {missing} bytes more" in problem.detail


def test_fragmented_file_that_was_cut_off_is_refused(tmp_path: Path) -> None:
    whole = write(tmp_path / "whole.mp4", *MOVING, *X264, "-movflags", "frag_keyframe+empty_moov")
    path = tmp_path / "half.mp4"
    path.write_bytes(whole.read_bytes()[: whole.stat().st_size // 2])
    assert refused(path).reason == "truncated"


@pytest.mark.parametrize("codec", ["mjpeg", "png"])
@pytest.mark.parametrize("cover_first", [True, False])
@pytest.mark.sampled(2)
def test_moving_track_is_taken_where_a_cover_picture_is_the_default(
    codec: str, cover_first: bool, tmp_path: Path
) -> None:
    video = write(tmp_path / "video.mkv", *MOVING, *TONES[:4], *X264)
    cover = write(tmp_path / "cover.mkv", *COVER, "-c:v", codec)
    order = ("-map", "1:v", "-map", "0:v", "-map", "0:a") if cover_first else ("-map", "0", "-map", "1:v")
    index = 0 if cover_first else 1
    marks = (f"-disposition:v:{index}", "default", f"-disposition:v:{1 - index}", "0")
    path = write(tmp_path / "a.mkv", "-i", str(video), "-i", str(cover), *order, "-c", "copy", *marks)
    facts = probe(path)
    assert (facts.video_codec, facts.width, facts.video_stream) == ("h264", 160, 1 if cover_first else 0)
    assert measure(path).frames == 200
    assert cut_file(path, 1.0, 3.0, tmp_path / "clip.mp4").width == 160


def test_sound_with_a_picture_is_no_video_and_says_so(tmp_path: Path) -> None:
    still = write(tmp_path / "still.mkv", *COVER, *TONES[:4], "-c:v", "mjpeg")
    marked = write(tmp_path / "marked.mkv", *COVER, *TONES[:4], "-c:v", "mjpeg", "-disposition:v", "attached_pic")
    album = write(tmp_path / "album.m4a", *COVER, *TONES[:4], "-c:v", "mjpeg", "-disposition:v", "attached_pic")
    for path in (still, marked, album):
        problem = refused(path)
        assert problem.reason == "no_video"
        assert "sound with a picture" in problem.detail
    assert refused(write(tmp_path / "sound.mka", *TONES[:4])).reason == "no_video"


def test_moving_jpeg_is_a_video_with_and_without_sound(tmp_path: Path) -> None:
    for name, options in (("a.avi", TONES[:4]), ("b.mkv", TONES[:4]), ("c.mov", ())):
        facts = probe(write(tmp_path / name, *MOVING, *options, "-c:v", "mjpeg"))
        assert (facts.video_codec, facts.note) == ("mjpeg", None)
