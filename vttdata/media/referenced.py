"""Sees the pictures of a video that others are predicted from, and fills in those that a decoder may leave out.

For codecs whose packets are frames, one each. No error can add up, since nothing decoded is predicted from what is
left out. Knows nothing of shots.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterator
from dataclasses import dataclass

import av
import numpy as np

from vttdata.media.decode import Video
from vttdata.media.histogram import Descriptions, describe, joined
from vttdata.media.packets import EvidenceError, Indices
from vttdata.media.signals import Flags, Floats
from vttdata.media.sparse import interpolated

_CODECS = frozenset({"hevc", "mpeg1video", "mpeg2video"})
_REFERENCED_ONLY = {"skip_frame": "noref"}
_CONTEXT = 8  # pictures before a gap by which a jump across it is judged


@dataclass(frozen=True, slots=True)
class Order:
    """When the n frames of a video are shown.

    Attributes:
        pts: (n,) presentation times in the stream's time base, ascending.
        keys: the keyframes, as 0-based indices of frames; the first is 0.
        times: (n + 1,) seconds: when each frame starts, and when the last one ends.
    """

    pts: Indices
    keys: Indices
    times: Floats


def read_order(video: Video, usual_interval: float) -> Order:
    """Read through a stream without decoding it.

    Args:
        video: at its start.
        usual_interval: seconds of the last frame, where the container gives none.

    Raises:
        EvidenceError: unless its decoder can leave out pictures, each packet has a time of its own, and a keyframe is
            shown first.
    """
    if video.stream.codec_context.codec.canonical_name not in _CODECS:
        raise EvidenceError
    times, keys, lengths = array("q"), array("q"), array("q")
    for packet in video.packets():
        if packet.size:
            if packet.pts is None or packet.is_discard or packet.is_corrupt:
                raise EvidenceError
            times.append(packet.pts)
            lengths.append(packet.duration or 0)
            if packet.is_keyframe:
                keys.append(packet.pts)
    pts = np.sort(np.array(times))
    if not len(keys) or keys[0] != pts[0] or not np.all(np.diff(pts) > 0):
        raise EvidenceError
    last = float(lengths[int(np.argmax(times))] * video.stream.time_base) or usual_interval
    seconds = [video.seconds_of(int(one)) for one in pts]
    return Order(pts, np.searchsorted(pts, np.sort(np.array(keys))), np.array([*seconds, seconds[-1] + last]))


def describe_referenced(video: Video, order: Order, known: Flags) -> Iterator[Descriptions]:
    """Descriptions of all frames of a video, those left out filled in by what is known around them.

    Args:
        video: at its start.
        order: its frames.
        known: (n,) false at first; set here for the frames that were decoded.

    Raises:
        EvidenceError: when the decoder fails or gives a frame that was not to be expected.
    """
    video.stream.codec_context.options = _REFERENCED_ONLY
    places: list[int] = []
    run: Descriptions | None = None
    for batch in describe(_pictures(video, order, places)):
        known[places[-len(batch) :]] = True
        fresh = 0 if run is None else len(run) - 1
        run = batch if run is None else joined(run, batch)
        own = np.array(places[-len(run) :])
        filled = interpolated(run, own - own[0])
        yield filled[own[fresh] - own[0] + (fresh > 0) :]
        run, places[:] = run[-_CONTEXT:], places[-_CONTEXT:]
    if run is None:
        raise EvidenceError
    if places[-1] < len(known) - 1:
        yield run[-1:].repeated(len(known) - 1 - places[-1])


def _pictures(video: Video, order: Order, places: list[int]) -> Iterator[av.VideoFrame]:
    """The pictures that are decoded; notes which frames they are."""
    try:
        for packet in video.packets():
            for picture in packet.decode():
                place = -1 if picture.pts is None else int(np.searchsorted(order.pts, picture.pts))
                expected = places[-1] < place < len(order.pts) if places else place == 0
                if not expected or order.pts[place] != picture.pts:
                    raise EvidenceError
                places.append(place)
                yield picture
    except av.error.FFmpegError as error:
        raise EvidenceError from error
