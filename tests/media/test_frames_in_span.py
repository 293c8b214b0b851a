"""Frames that a span shows, and that every way of reading them finds the same."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import av
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.helpers.barcode import KINDS, Movie, write_barcode
from tests.helpers.cuts import times_of
from vttdata.errors import MediaError, UnavailableError
from vttdata.media.cut import MediaSettings, cut
from vttdata.media.frames_in_span import SpanFrames, Way, frames_shown, read_span, ways_to_read
from vttdata.media.probe import probe

FOREVER = float("inf")


def assert_same_frames(cheap: SpanFrames, full: SpanFrames) -> None:
    for fact in ("pts", "first_pts", "end_pts", "time_base"):
        assert getattr(cheap, fact) == getattr(full, fact)
    for ends in ((cheap.first, full.first), (cheap.last, full.last)):
        pictures = [[end.frame, *end.neighbours] for end in ends]
        np.testing.assert_array_equal(pictures[0], pictures[1])


@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(kind=st.sampled_from(KINDS), start=st.floats(6, 16), length=st.floats(0.1, 4))
def test_every_way_finds_the_same_frames(movies: dict[str, Movie], kind: str, start: float, length: float) -> None:
    path = movies[kind].path
    try:
        span = frames_shown(times_of(path), start, start + length)
    except MediaError:
        return
    readings = [read_span(path, span, way, FOREVER) for way in ways_to_read(probe(path), span)]
    found = [reading for reading in readings if reading]
    assert [reading.way for reading in found if reading.way.ends_only]
    assert found[-1].way == Way(None, ends_only=False)
    for reading in found[:-1]:
        assert_same_frames(reading, found[-1])


@pytest.mark.parametrize(("name", "codec"), [("a.mkv", "libx264"), ("a.mp4", "libx265"), ("a.webm", "libvpx-vp9")])
def test_ends_suffice_in_other_containers_and_codecs(name: str, codec: str, tmp_path: Path) -> None:
    movie = write_barcode(tmp_path / name, range(150), Fraction(1, 25), codec=codec)
    for start, end in ((0.6, 0.64), (2.03, 4.9), (5.0, 9.0)):
        span = frames_shown(times_of(movie.path), start, end)
        cheapest, *_, full = ways_to_read(probe(movie.path), span)
        readings = [read_span(movie.path, span, way, FOREVER) for way in (cheapest, full)]
        assert readings[0]
        assert readings[1]
        assert readings[0].way.ends_only
        assert_same_frames(readings[0], readings[1])


@pytest.mark.parametrize(
    ("start", "end", "numbers", "shown"),
    [
        (0.0, 2.0, (0, 1), (0.0, 2.0)),
        (5.0, 9.0, (2, 4), (5.0, 9.0)),
        (5.0, 6.0, (2, 2), (5.0, 6.0)),
        (4.0, 8.04, (2, 3), (4.0, 8.04)),
        (7.95, 8.5, (3, 4), (8.0, 8.5)),
        (7.95, 8.98, (3, 4), (8.0, 9.0)),
        (8.5, 99.0, (4, 5), (8.5, 12.0)),
        (10.0, 11.0, (5, 5), (10.0, 11.0)),
    ],
)
def test_picture_on_screen_opens_the_span(
    start: float, end: float, numbers: tuple[int, int], shown: tuple[float, float]
) -> None:
    span = frames_shown(np.array([0.0, 1.0, 4.0, 8.0, 8.04, 9.0, 12.0]), start, end)
    assert (span.first, span.last) == numbers
    assert (span.begin, span.end) == shown


@pytest.mark.parametrize(("start", "end"), [(5.0, 5.0), (5.0, 4.5), (7.95, 7.98), (12.0, 13.0), (99.0, 100.0)])
def test_span_without_frames_is_refused(start: float, end: float) -> None:
    with pytest.raises(MediaError) as caught:
        frames_shown(np.array([0.0, 1.0, 4.0, 8.0, 9.0, 12.0]), start, end)
    assert caught.value.reason == "cut_failed"


def test_span_that_begins_before_the_first_picture_is_refused() -> None:
    times = np.array([1.0, 1.04, 1.08])
    assert frames_shown(times, 0.95, 2.0).begin == 1.0
    with pytest.raises(MediaError, match=r"1\.000 s") as caught:
        frames_shown(times, 0.5, 2.0)
    assert caught.value.reason == "cut_failed"


def test_source_with_other_frames_than_measured_is_not_cut(movies: dict[str, Movie], tmp_path: Path) -> None:
    path, times = movies["30 fps"].path, times_of(movies["30 fps"].path)
    moved = times + np.where(np.arange(len(times)) > 60, 0.01, 0.0)
    for measured in (moved, np.delete(times, 75)):
        with pytest.raises(UnavailableError):
            cut(path, probe(path), measured, 1.0, 4.0, tmp_path / "clip.mp4", MediaSettings())
    assert not list(tmp_path.iterdir())


def test_frame_damaged_between_the_ends_of_a_span_is_found(movies: dict[str, Movie], tmp_path: Path) -> None:
    source, path = tmp_path / "source.mp4", movies["30 fps"].path
    with av.open(str(path)) as container:
        # The keyframe after it, at 8.3 s, is the last of the span.
        packet = next(
            packet for packet in container.demux(video=0) if packet.pts and packet.pts * packet.time_base >= 7
        )
        position, size = packet.pos, packet.size
    data = bytearray(path.read_bytes())
    data[position : position + size] = bytes(size)
    source.write_bytes(data)
    span = frames_shown(times_of(path), 6.0, 12.0)
    assert read_span(source, span, ways_to_read(probe(path), span)[0], FOREVER) is not None
    with pytest.raises(MediaError) as caught:
        cut(source, probe(path), times_of(path), 6.0, 12.0, tmp_path / "clip.mp4", MediaSettings())
    assert caught.value.reason == "damaged"
    assert not (tmp_path / "clip.mp4").exists()
