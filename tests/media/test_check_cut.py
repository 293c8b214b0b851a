"""Frames of a span, and the refusal of clips that show other frames or damaged ones."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import av
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.helpers.barcode import KINDS, Movie
from tests.helpers.cuts import cut_file, read_shown
from vttdata.errors import MediaError
from vttdata.media.check_cut import verify_clip, verify_sound_length

Change = Callable[[list[Any]], None]


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(kind=st.sampled_from(KINDS), start=st.floats(0, 16), length=st.floats(0.1, 2))
def test_frames_in_a_span_are_those_whose_packets_lie_in_it(
    movies: dict[str, Movie], kind: str, start: float, length: float
) -> None:
    movie = movies[kind]
    if not movie.inside(start - 1e-6, start + length - 1e-6):
        return
    expected = movie.shown(start - 1e-6, start + length - 1e-6)
    found = read_shown(movie.path, start, start + length)
    times = [float((pts - found.pts[0]) * found.time_base) for pts in found.pts]
    assert times == pytest.approx([time for _, time in expected], abs=2e-5)


def test_clip_of_another_span_is_refused(movies: dict[str, Movie], tmp_path: Path) -> None:
    movie, clip, frame = movies["30 fps"], tmp_path / "clip.mp4", 1 / 30
    cut_file(movie.path, 4.0, 5.0, clip)
    verify_clip(clip, read_shown(movie.path, 4.0, 5.0))
    for start, end, found in (
        (4.0 + frame, 5.0 + frame, "first frame is not"),
        (4.0 - frame, 5.0 - frame, "first frame is not"),
        (4.0, 5.0 + frame, "has 30 frames where the source has 31"),
        (4.0, 5.0 - frame, "has 30 frames where the source has 29"),
    ):
        with pytest.raises(MediaError, match=found) as caught:
            verify_clip(clip, read_shown(movie.path, start, end))
        assert caught.value.reason == "cut_mismatch"
    with pytest.raises(MediaError, match="s of sound"):
        verify_sound_length(clip, 1.1, 33)


def test_wrong_frame_times_are_refused(movies: dict[str, Movie], tmp_path: Path) -> None:
    movie = movies["30 fps"]
    cut_file(movie.path, 4.0, 5.0, tmp_path / "clip.mp4")
    ntsc = read_shown(movies["30000/1001 fps"].path, 4.0, 5.0)
    with pytest.raises(MediaError, match=r"frame 16 of the clip is at 0\.5333 s instead of 0\.5339 s"):
        verify_clip(tmp_path / "clip.mp4", ntsc)


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


def replace_data(packets: list[Any], index: int, data: bytes) -> None:
    """Give a packet other bytes and leave its times."""
    packet = av.Packet(data)
    packet.pts, packet.dts, packet.time_base = packets[index].pts, packets[index].dts, packets[index].time_base
    packets[index] = packet


def swap_order(packets: list[Any]) -> None:
    """Store the bytes of two frames at each other's place."""
    first, second = bytes(packets[10]), bytes(packets[11])
    replace_data(packets, 10, second)
    replace_data(packets, 11, first)


def blank(packets: list[Any]) -> None:
    """Overwrite a packet with zeros."""
    replace_data(packets, 12, bytes(packets[12].size))


def add_noise(packets: list[Any]) -> None:
    """Overwrite a third of the packets with noise, but for the lengths of their units and the heads of their slices."""
    noise = np.random.default_rng(0)
    for index in range(len(packets) // 3, 2 * len(packets) // 3):
        data = bytes(packets[index])
        head = data[:20]
        # No byte is 0, so that no start code appears.
        replace_data(packets, index, head + noise.integers(1, 256, len(data) - len(head), np.uint8).tobytes())


@pytest.mark.parametrize("change", [drop, swap_times, swap_order, blank, add_noise], ids=lambda change: change.__name__)
def test_wrong_or_damaged_frames_between_the_ends_are_refused(
    movies: dict[str, Movie], change: Change, tmp_path: Path
) -> None:
    movie, clip, wrong = movies["30 fps"], tmp_path / "clip.mp4", tmp_path / "wrong.mp4"
    cut_file(movie.path, 4.0, 5.0, clip, audio=False)
    span = read_shown(movie.path, 4.0, 5.0)
    remux(clip, wrong, change)
    verify_clip(clip, span)
    with pytest.raises(MediaError) as caught:
        verify_clip(wrong, span)
    assert caught.value.reason in ("cut_mismatch", "timestamps")
