"""A span that is read from packets and both ends is what decoding every frame finds."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import av
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.helpers.barcode import KINDS, Movie, write_barcode
from vttdata.errors import MediaError
from vttdata.media.cut import MediaSettings, cut
from vttdata.media.frames_in_span import SpanFrames, read_span, read_span_from_packets
from vttdata.media.probe import probe

FOREVER = float("inf")


def assert_same_span(from_packets: SpanFrames, full: SpanFrames) -> None:
    for fact in ("pts", "time_base", "end_pts", "decoded_from"):
        assert getattr(from_packets, fact) == getattr(full, fact)
    assert (from_packets.all_decoded, full.all_decoded) == (False, True)
    for ends in ((from_packets.first, full.first), (from_packets.last, full.last)):
        pictures = [[end.frame, *end.neighbours] for end in ends]
        np.testing.assert_array_equal(pictures[0], pictures[1])


@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(kind=st.sampled_from(KINDS), start=st.floats(0, 16), length=st.floats(0.1, 4))
def test_span_from_packets_is_that_of_all_frames(
    movies: dict[str, Movie], kind: str, start: float, length: float
) -> None:
    movie = movies[kind]
    from_packets = read_span_from_packets(movie.path, start, start + length, FOREVER)
    if not movie.inside(start - 1e-6, start + length - 1e-6):
        assert from_packets is None
    else:
        assert from_packets is not None
        assert_same_span(from_packets, read_span(movie.path, start, start + length, FOREVER))


@pytest.mark.parametrize(("name", "codec"), [("a.mkv", "libx264"), ("a.mp4", "libx265"), ("a.webm", "libvpx-vp9")])
def test_span_from_packets_of_other_containers_and_codecs(name: str, codec: str, tmp_path: Path) -> None:
    movie = write_barcode(tmp_path / name, range(150), Fraction(1, 25), codec=codec)
    for start, end in ((0.0, 0.04), (2.03, 4.9), (5.0, 9.0)):
        from_packets = read_span_from_packets(movie.path, start, end, FOREVER)
        assert from_packets is not None
        assert_same_span(from_packets, read_span(movie.path, start, end, FOREVER))


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
