"""Frames of a span, and the refusal of clips that show other frames."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.helpers.barcode import KINDS, Movie
from vttdata.errors import MediaError
from vttdata.media.check_cut import verify_clip, verify_sound
from vttdata.media.cut import MediaSettings, cut
from vttdata.media.frames_in_span import read_span
from vttdata.media.probe import probe

FOREVER = float("inf")


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(kind=st.sampled_from(KINDS), start=st.floats(0, 16), length=st.floats(0.1, 2))
def test_frames_in_a_span_are_those_whose_packets_lie_in_it(
    movies: dict[str, Movie], kind: str, start: float, length: float
) -> None:
    movie = movies[kind]
    expected = movie.inside(start - 1e-6, start + length - 1e-6)
    if not expected:
        with pytest.raises(MediaError, match="no frame of the source"):
            read_span(movie.path, start, start + length, FOREVER)
        return
    found = read_span(movie.path, start, start + length, FOREVER)
    assert len(found.pts) == len(expected)
    times = [float((pts - found.pts[0]) * found.time_base) for pts in found.pts]
    assert times == pytest.approx([movie.times[number] - movie.times[expected[0]] for number in expected], abs=1e-6)


def test_clip_of_another_span_is_refused(movies: dict[str, Movie], tmp_path: Path) -> None:
    movie, clip, frame = movies["30 fps"], tmp_path / "clip.mp4", 1 / 30
    cut(movie.path, probe(movie.path), 4.0, 5.0, clip, MediaSettings())
    verify_clip(clip, read_span(movie.path, 4.0, 5.0, FOREVER))
    for start, end, found in (
        (4.0 + frame, 5.0 + frame, "first frame is not"),
        (4.0 - frame, 5.0 - frame, "first frame is not"),
        (4.0, 5.0 + frame, "has 30 frames where the source has 31"),
        (4.0, 5.0 - frame, "has 30 frames where the source has 29"),
    ):
        with pytest.raises(MediaError, match=found) as caught:
            verify_clip(clip, read_span(movie.path, start, end, FOREVER))
        assert caught.value.reason == "cut_mismatch"
    with pytest.raises(MediaError, match="s of sound"):
        verify_sound(clip, read_span(movie.path, 4.0, 5.1, FOREVER))


def test_wrong_frame_times_are_refused(movies: dict[str, Movie], tmp_path: Path) -> None:
    movie = movies["30 fps"]
    cut(movie.path, probe(movie.path), 4.0, 5.0, tmp_path / "clip.mp4", MediaSettings())
    ntsc = read_span(movies["30000/1001 fps"].path, 4.0, 5.0, FOREVER)
    with pytest.raises(MediaError, match=r"frame 16 of the clip is at 0\.5333 s instead of 0\.5339 s"):
        verify_clip(tmp_path / "clip.mp4", ntsc)
