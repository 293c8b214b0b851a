"""Decodes again, whole, what lies around cuts that were seen across frames left out, to tell their first frame.

Knows nothing of how cuts are found.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Any, NamedTuple

import av
import numpy as np

from vttdata.media.decode import Video
from vttdata.media.shots.fast.packets import WITHOUT_DEBLOCKING, Packets
from vttdata.media.shots.fast.reference_frames import Order
from vttdata.media.shots.histogram import describe, joined
from vttdata.media.shots.signals import steps_between

_MARGIN = 1.0  # seconds: transport streams are entered by decoding time, often after the keyframe that was meant


class Gap(NamedTuple):
    """Frames one of which begins something new: `first`..`last`; those before were left out, the last is known."""

    first: int
    last: int


def look_closer(video: Video, packets: Packets | Order, gaps: Sequence[Gap]) -> Iterator[int | None]:
    """The frame of each gap that differs most from the one before it.

    Decodes from the keyframe before a gap on, and once where several gaps have the same.

    Args:
        video: at its start.
        packets: its packets, or the order of its frames.
        gaps: in order, none beginning with the video's first frame.

    Yields:
        A frame for each gap; None where seeking does not lead there or the decoder fails.
    """
    pts = np.sort(packets.pts)

    def key(gap: Gap) -> int:
        return int(packets.keys[np.searchsorted(packets.keys, gap.first - 1, "right") - 1])

    for start, grouped in groupby(gaps, key):
        together = list(grouped)
        before, last = together[0].first - 1, together[-1].last
        seconds = float(packets.times[start]) - _MARGIN if start else None
        batches = list(describe(_shown(video, seconds, int(pts[start]), int(pts[before]), int(pts[last]))))
        count = sum(len(batch) for batch in batches)
        steps = steps_between(joined(*batches)) if count == last - before + 1 else None
        for gap in together:
            own = slice(gap.first - 1 - before, gap.last - before)
            yield None if steps is None else gap.first + int(steps[own].argmax())


def _shown(video: Video, seconds: float | None, key: int, first: int, last: int) -> Iterator[Any]:
    """The pictures from `first` to `last`, decoded from the keyframe `key` on; all three are times in the stream.

    Of those before `first` only what others refer to is decoded. Reads from about `seconds` on; None is for the start
    of the file.
    """
    context = video.stream.codec_context
    context.options = WITHOUT_DEBLOCKING
    context.skip_frame = "NONREF"
    begun = False
    try:
        if seconds is not None:
            video.seek(seconds)
        for packet in video.packets():
            begun = begun or packet.pts == key
            if not begun and packet.is_keyframe and packet.pts is not None and packet.pts > key:
                return
            if packet.pts is not None and packet.pts >= first:
                context.skip_frame = "DEFAULT"
            for picture in packet.decode() if begun else ():
                if picture.pts is None or picture.pts > last:
                    return
                if picture.pts >= first:
                    yield picture
                if picture.pts == last:
                    return
    except av.error.FFmpegError:
        return
