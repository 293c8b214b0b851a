"""Cutting and checking by packets and both ends finds what decoding every frame finds."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import av
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.helpers.barcode import KINDS, Movie, write_barcode
from vttdata.errors import MediaError
from vttdata.media.check_cut import read_all, read_ends, verify_clip
from vttdata.media.cut import MediaSettings, cut
from vttdata.media.frames_in_span import ReferenceFrame, SpanFrames, read_span, read_span_from_packets
from vttdata.media.probe import probe

FOREVER = float("inf")
Change = Callable[[list[Any]], None]


def assert_same_span(fast: SpanFrames, full: SpanFrames) -> None:
    for fact in ("pts", "time_base", "end_pts", "decoded_from"):
        assert getattr(fast, fact) == getattr(full, fact)
    assert (fast.all_decoded, full.all_decoded) == (False, True)
    for ends in ((fast.first, full.first), (fast.last, full.last)):
        pictures = [[end.frame, *end.neighbours] for end in ends]
        np.testing.assert_array_equal(pictures[0], pictures[1])


@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(kind=st.sampled_from(KINDS), start=st.floats(0, 16), length=st.floats(0.1, 4))
def test_span_from_packets_is_that_of_all_frames(
    movies: dict[str, Movie], kind: str, start: float, length: float
) -> None:
    movie = movies[kind]
    fast = read_span_from_packets(movie.path, start, start + length, FOREVER)
    if not movie.inside(start - 1e-6, start + length - 1e-6):
        assert fast is None
    else:
        assert fast is not None
        assert_same_span(fast, read_span(movie.path, start, start + length, FOREVER))


@pytest.mark.parametrize(("name", "codec"), [("a.mkv", "libx264"), ("a.mp4", "libx265"), ("a.webm", "libvpx-vp9")])
def test_span_from_packets_of_other_containers_and_codecs(name: str, codec: str, tmp_path: Path) -> None:
    movie = write_barcode(tmp_path / name, range(150), Fraction(1, 25), codec=codec)
    for start, end in ((0.0, 0.04), (2.03, 4.9), (5.0, 9.0)):
        fast = read_span_from_packets(movie.path, start, end, FOREVER)
        assert fast is not None
        assert_same_span(fast, read_span(movie.path, start, end, FOREVER))


def remux(source: Path, target: Path, change: Change) -> None:
    """Write the video packets of a file to another after a change to the list of them, in decoding order."""
    with av.open(str(source)) as reader, av.open(str(target), "w") as writer:
        stream = writer.add_stream_from_template(reader.streams.video[0])
        packets = [packet for packet in reader.demux(video=0) if packet.size]
        change(packets)
        for packet in packets:
            packet.stream = stream
            writer.mux(packet)


def drop(packets: list[Any]) -> None:
    """Drop a frame that no other refers to, by its `nal_ref_idc`, and nothing that would show at the ends."""
    del packets[next(index for index, packet in enumerate(packets) if index > 9 and not bytes(packet)[4] & 96)]


def swap_times(packets: list[Any]) -> None:
    packets[10].pts, packets[11].pts = packets[11].pts, packets[10].pts


def swap_order(packets: list[Any]) -> None:
    """Store the bytes of two frames at each other's place."""
    for index, data in ((10, bytes(packets[11])), (11, bytes(packets[10]))):
        packet = av.Packet(data)
        packet.pts, packet.dts, packet.time_base = packets[index].pts, packets[index].dts, packets[index].time_base
        packets[index] = packet


def blank(packets: list[Any]) -> None:
    """Overwrite a packet with zeros."""
    packet = av.Packet(bytes(packets[12].size))
    packet.pts, packet.dts, packet.time_base = packets[12].pts, packets[12].dts, packets[12].time_base
    packets[12] = packet


@pytest.mark.parametrize("change", [drop, swap_times, swap_order, blank], ids=lambda change: change.__name__)
def test_wrong_frames_between_the_ends_are_refused(movies: dict[str, Movie], change: Change, tmp_path: Path) -> None:
    movie, clip, wrong = movies["30 fps"], tmp_path / "clip.mp4", tmp_path / "wrong.mp4"
    cut(movie.path, probe(movie.path), 4.0, 5.0, clip, MediaSettings(audio=False))
    span = read_span(movie.path, 4.0, 5.0, FOREVER)
    remux(clip, wrong, change)
    frames = read_ends(wrong)
    assert frames is None or len(frames.times) < 30
    with pytest.raises(MediaError):
        verify_clip(wrong, span)


@pytest.mark.parametrize("shift", [-1, 1])
def test_shifted_clip_is_refused_by_its_ends(movies: dict[str, Movie], shift: int, tmp_path: Path) -> None:
    movie, clip = movies["30 fps"], tmp_path / "clip.mp4"
    start, end = movie.times[120 + shift], movie.times[150 + shift]
    cut(movie.path, probe(movie.path), start, end, clip, MediaSettings())
    span = read_span_from_packets(movie.path, 4.0, 5.0, FOREVER)
    frames = read_ends(clip)
    assert span is not None
    assert frames is not None
    assert len(frames.times) == len(span.pts)
    assert not span.first.is_shown_by(frames.first)
    assert not span.last.is_shown_by(frames.last)
    with pytest.raises(MediaError, match="first frame is not"):
        verify_clip(clip, span)


@pytest.mark.parametrize("kind", KINDS)
def test_ends_of_a_clip_are_those_of_all_its_frames(movies: dict[str, Movie], kind: str, tmp_path: Path) -> None:
    cut(movies[kind].path, probe(movies[kind].path), 2.0, 13.0, tmp_path / "clip.mp4", MediaSettings())
    fast, full = read_ends(tmp_path / "clip.mp4"), read_all(tmp_path / "clip.mp4")
    assert fast is not None
    assert fast.times == pytest.approx(full.times, abs=1e-9)
    assert (fast.width, fast.height) == (full.width, full.height)
    for picture, whole in ((fast.first, full.first), (fast.last, full.last)):
        assert ReferenceFrame(picture, ()).is_shown_by(whole)
        np.testing.assert_array_equal(picture, whole)


def test_frame_damaged_between_the_ends_of_a_span_is_found(movies: dict[str, Movie], tmp_path: Path) -> None:
    source, probed = tmp_path / "source.mp4", probe(movies["30 fps"].path)
    with av.open(str(movies["30 fps"].path)) as container:
        # The keyframe after it, at 8.3 s, is the last of the span.
        packet = next(
            packet for packet in container.demux(video=0) if packet.pts and packet.pts * packet.time_base >= 7
        )
        position, size = packet.pos, packet.size
    data = bytearray(movies["30 fps"].path.read_bytes())
    data[position : position + size] = bytes(size)
    source.write_bytes(data)
    assert read_span_from_packets(source, 6.0, 12.0, FOREVER) is not None
    with pytest.raises(MediaError) as caught:
        cut(source, probed, 6.0, 12.0, tmp_path / "clip.mp4", MediaSettings())
    assert caught.value.reason == "damaged"
    assert not (tmp_path / "clip.mp4").exists()
