"""Spans of sources in many containers and codecs give exact clips; `benchmarks/spans.py` tries all of them."""

from __future__ import annotations

import subprocess
from fractions import Fraction
from pathlib import Path

import av
import numpy as np
import pytest

from tests.helpers.barcode import read_beeps, read_number, read_sound, read_video, write_barcode
from tests.helpers.cuts import cut_file, times_of
from tests.helpers.span_matrix import LONG_GOP, SHORT_GOP, Cell, try_cell
from vttdata.errors import MediaError
from vttdata.media.ffmpeg_program import ffmpeg_path

SAMPLE = [
    Cell("TS", "H.264, B-frames", LONG_GOP, "0"),
    Cell("TS", "MPEG-4 ASP", SHORT_GOP, "1.4 s"),
    Cell("M2TS", "HEVC", SHORT_GOP, "wrap"),
    Cell("MPG", "MPEG-2", LONG_GOP, "wrap"),
    Cell("MP4", "H.264, open GOP", SHORT_GOP, "edit list"),
    Cell("fragmented MP4", "H.264, intra refresh", SHORT_GOP, "1.4 s"),
    Cell("WebM", "VP9", LONG_GOP, "0"),
    Cell("FLV", "H.264, B-frames", SHORT_GOP, "1.4 s"),
    Cell("NUT", "MPEG-2, telecine", LONG_GOP, "0"),
    Cell("AVI", "MPEG-4 ASP", LONG_GOP, "0"),
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("matrix")


@pytest.mark.parametrize("cell", SAMPLE, ids=lambda cell: cell.name)
@pytest.mark.sampled(3)
def test_spans_of_a_source_give_exact_clips(cell: Cell, folder: Path) -> None:
    trials = list(try_cell(cell, folder))
    assert [(trial.span, trial.reason) for trial in trials if trial.outcome != "exact"] == []
    assert len(trials) == len(cell.spans())


def ffmpeg(*options: object) -> None:
    subprocess.run([ffmpeg_path(), "-v", "error", "-y", *map(str, options)], check=True, timeout=60)


def test_first_gop_of_a_transport_stream_is_not_lost(tmp_path: Path) -> None:
    source, clip = tmp_path / "a.ts", tmp_path / "clip.mp4"
    ffmpeg("-f", "lavfi", "-i", "testsrc2=s=320x240:r=30:d=12", "-c:v", "libx264", "-g", "60", source)
    for start, end, frames in ((0.0, 5.0, 150), (1.0, 4.0, 90), (0.0, 99.0, 360)):
        assert cut_file(source, start, end, clip).frames == frames


def test_head_that_cannot_be_decoded_is_not_part_of_a_clip(tmp_path: Path) -> None:
    whole, source, clip = tmp_path / "whole.ts", tmp_path / "a.ts", tmp_path / "clip.mp4"
    write_barcode(tmp_path / "a.mp4", range(300), Fraction(1, 25), sound=(0, 12))
    x264 = ("-c:v", "libx264", "-x264-params", "keyint=25:scenecut=0")
    ffmpeg("-i", tmp_path / "a.mp4", *x264, "-c:a", "copy", whole)
    with av.open(str(whole)) as container:
        # The frames up to the next keyframe, number 25, refer to what is left out.
        position = [packet.pos for packet in container.demux(video=0) if packet.size][8]
    source.write_bytes(whole.read_bytes()[position // 188 * 188 :])
    begin = times_of(source)[0]
    assert begin > 0.1
    with pytest.raises(MediaError, match=rf"first picture at {begin:.3f} s") as caught:
        cut_file(source, 0.0, 3.0, clip)
    assert caught.value.reason == "cut_failed"
    media = cut_file(source, begin, begin + 2, clip)
    assert [number for number, _ in read_video(clip)] == list(range(25, 75))
    assert media.audio_seconds == pytest.approx(2.0, abs=0.04)


# Frames of a screen recording, in seconds: a picture stays for 4 s, then for 2.5, with motion between and after.
SCREEN = (0.0, 0.04, 0.08, 4.1, 6.6, 6.64, 6.68, 9.5, 12.0)


@pytest.mark.parametrize("name", ["a.mp4", "a.mkv"])
@pytest.mark.parametrize(
    ("start", "end", "shown"),
    [
        (5.0, 9.0, [(3, 0.0), (4, 1.6), (5, 1.64), (6, 1.68)]),
        (1.0, 3.0, [(2, 0.0)]),
        (4.08, 6.62, [(3, 0.0), (4, 2.5)]),
        (0.0, 2.0, [(0, 0.0), (1, 0.04), (2, 0.08)]),
    ],
)
@pytest.mark.sampled(3)
def test_picture_that_stays_opens_a_clip(
    name: str, start: float, end: float, shown: list[tuple[int, float]], tmp_path: Path
) -> None:
    ticks = [round(seconds * 1000) for seconds in SCREEN]
    movie = write_barcode(tmp_path / name, ticks, Fraction(1, 1000), sound=(0.0, 13.0))
    media = cut_file(movie.path, start, end, tmp_path / "clip.mp4")
    begin = SCREEN[3] if start == 4.08 else start
    finish = 6.64 if end == 6.62 else end
    assert media.seconds == pytest.approx(finish - begin, abs=0.0015)
    assert media.audio_seconds == pytest.approx(finish - begin, abs=0.04)
    found = read_video(tmp_path / "clip.mp4")
    assert [number for number, _ in found] == [number for number, _ in shown]
    assert [time for _, time in found] == pytest.approx([time for _, time in shown], abs=0.0015)
    for heard, second in read_beeps(read_sound(tmp_path / "clip.mp4")):
        assert heard == pytest.approx(second - begin, abs=0.03)


def test_slides_of_a_coarse_time_base_are_divided_where_the_span_is(tmp_path: Path) -> None:
    source, clip = tmp_path / "slides.avi", tmp_path / "clip.mp4"
    movie = write_barcode(tmp_path / "slides.mkv", range(8), Fraction(1, 1), codec="ffv1")
    ffmpeg("-i", movie.path, "-c", "copy", source)
    media = cut_file(source, 2.25, 4.5, clip)
    assert read_video(clip) == [(2, 0.0), (3, pytest.approx(0.75, abs=0.001)), (4, pytest.approx(1.75, abs=0.001))]
    assert media.seconds == pytest.approx(2.25, abs=0.001)
    with av.open(str(clip)) as container:
        picture = next(container.decode(video=0)).to_ndarray(format="gray")
    assert read_number(np.asarray(picture)) == 2
