"""Refine cuts between skipped frames by decoding around them in full: where they are, and whether they are cuts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Any, NamedTuple

import av
import numpy as np

from vttdata.media.decode import Video
from vttdata.media.shots.fast.packets import NO_DEBLOCKING
from vttdata.media.shots.features import SkippedFrames
from vttdata.media.shots.histogram import concatenate, describe
from vttdata.media.shots.signals import Floats, measure_signals

# Transport streams are seeked by decoding time, and often enter after the keyframe that was meant.
_SEEK_MARGIN_SECONDS = 1.0


class Gap(NamedTuple):
    """Frames `first` to `last`, in one of which a new shot begins; all but the last were skipped."""

    first: int
    last: int


class LocatedCut(NamedTuple):
    """Frame that differs most from the one before it, and whether its change is explained otherwise than by a cut."""

    frame: int
    is_explained: bool


def locate_cuts(
    video: Video, skipped: SkippedFrames, times: Floats, gaps: Sequence[Gap]
) -> Iterator[LocatedCut | None]:
    """Find the frame of each gap that differs most from the one before it.

    Across a gap motion hides that the structure of a picture stays; from one frame to the next it does not.

    Decodes from the keyframe before a gap on, and once where several gaps share a keyframe.

    Args:
        video: at its start.
        skipped: which of its n frames were skipped.
        times: (n + 1,) seconds: when each frame starts, and when the last one ends.
        gaps: in order, none beginning with the video's first frame.

    Yields:
        A cut for each gap; None where seeking does not lead there or the decoder fails.
    """
    pts, keyframes = skipped.pts, skipped.keyframes

    def keyframe_before(gap: Gap) -> int:
        return int(keyframes[np.searchsorted(keyframes, gap.first - 1, "right") - 1])

    for keyframe, members in groupby(gaps, keyframe_before):
        gaps_of_gop = list(members)
        before, last = gaps_of_gop[0].first - 1, gaps_of_gop[-1].last
        seek_to = float(times[keyframe]) - _SEEK_MARGIN_SECONDS if keyframe else None
        pictures = decode_range(video, seek_to, int(pts[keyframe]), int(pts[before]), int(pts[last]))
        batches = list(describe(pictures))
        is_complete = sum(len(batch) for batch in batches) == last - before + 1
        if not is_complete:
            yield from (None for _ in gaps_of_gop)
            continue
        signals = measure_signals([concatenate(*batches)], (len(pts) - 1) / float(times[-2] - times[0]))
        for gap in gaps_of_gop:
            frame = gap.first + int(signals.change[gap.first - before : gap.last - before + 1].argmax())
            yield LocatedCut(frame, bool(signals.is_explained[frame - before]))


def decode_range(video: Video, seek_to: float | None, keyframe: int, first: int, last: int) -> Iterator[Any]:
    """Yield the pictures from `first` to `last`, decoded from a keyframe on.

    Args:
        video: at any position.
        seek_to: seconds to seek to; None to read on from the start of the file.
        keyframe: presentation time of the keyframe, in the stream's time base like the next two.
        first: presentation time of the first picture; of those before it only references are decoded.
        last: presentation time of the last picture.
    """
    context = video.stream.codec_context
    context.options = NO_DEBLOCKING
    context.skip_frame = "NONREF"
    at_keyframe = False
    try:
        if seek_to is not None:
            video.seek(seek_to)
        for packet in video.packets():
            at_keyframe = at_keyframe or packet.pts == keyframe
            if not at_keyframe and packet.is_keyframe and packet.pts is not None and packet.pts > keyframe:
                return
            if packet.pts is not None and packet.pts >= first:
                context.skip_frame = "DEFAULT"
            for picture in packet.decode() if at_keyframe else ():
                if picture.pts is None or picture.pts > last:
                    return
                if picture.pts >= first:
                    yield picture
                if picture.pts == last:
                    return
    except av.error.FFmpegError:
        return
