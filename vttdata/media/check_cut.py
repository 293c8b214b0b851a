"""Check a cut clip by decoding it: the frames of its span at their times, those at both ends, the length of its audio.

The pictures between the ends must be decoded without errors; how much they are like the source's is not judged.
FFmpeg's decoder of H.265 reports hardly any errors inside a picture, so that these are found in H.264 and VP9 alone.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path

from vttdata.errors import MediaError
from vttdata.media.decode import best_video, open_container, open_video
from vttdata.media.frames_in_span import SpanFrames, Thumbnail, thumbnail

_AAC_FRAME_SAMPLES = 1024
# Seconds: half the coarsest time base of common containers (Matroska: 1 ms).
_TIME_TOLERANCE = 0.0005


@dataclass(frozen=True, slots=True)
class ClipFrames:
    """Frames of a clip: their times in seconds, the first and the last picture, and the size in pixels."""

    times: list[float]
    first: Thumbnail
    last: Thumbnail
    width: int
    height: int


def verify_clip(clip: Path, span: SpanFrames) -> ClipFrames:
    """Decode a clip whole and compare it with the frames of the span it was cut from.

    Raises:
        MediaError: ``cut_mismatch`` when a packet cannot be decoded or a frame is decoded with errors, when one is
            missing, added or shown at another time, when the first or last picture is not the source's, or when the
            clip does not start at 0; what decoding raises.
    """
    frames = _read_clip(clip)
    if difference := _find_difference(frames, span):
        raise MediaError("cut_mismatch", difference)
    return frames


def _find_difference(frames: ClipFrames, span: SpanFrames) -> str | None:
    """Return what differs between a clip and its span, as a sentence."""
    for number, (time, pts) in enumerate(zip(frames.times, span.pts, strict=False)):
        expected = float((pts - span.pts[0]) * span.time_base)
        if abs(time - expected) > _TIME_TOLERANCE:
            return f"frame {number} of the clip is at {time:.4f} s instead of {expected:.4f} s."
    if len(frames.times) != len(span.pts):
        return f"the clip has {len(frames.times)} frames where the source has {len(span.pts)}."
    for name, picture, reference in (("first", frames.first, span.first), ("last", frames.last, span.last)):
        if not reference.is_shown_by(picture):
            return f"the clip's {name} frame is not that of the source."
    return None


def _read_clip(clip: Path) -> ClipFrames:
    """Decode every frame of a clip.

    Raises:
        MediaError: ``cut_mismatch`` when there is none or one is decoded with errors, and what decoding raises.
    """
    times: list[float] = []
    corrupt = 0
    first = last = None
    with open_video(clip) as video:
        for frame in video.frames():
            times.append(video.start_time + frame.time)
            corrupt += frame.picture.is_corrupt
            first, last = first or frame.picture, frame.picture
        tally = video.tally
    if tally.undecodable:
        facts = f"{tally.undecodable} of {tally.packets} packets of the clip cannot be decoded: {tally.first_error}"
        raise MediaError("cut_mismatch", facts)
    if first is None or last is None:
        raise MediaError("cut_mismatch", "the clip has no frame.")
    if corrupt:
        raise MediaError("cut_mismatch", f"{corrupt} of {len(times)} frames of the clip are decoded with errors.")
    return ClipFrames(times, thumbnail(first), thumbnail(last), last.width, last.height)


def verify_sound_length(clip: Path, shown: float, frames: int) -> float:
    """Decode a clip's sound, compare its length with that of the pictures, and return it in seconds.

    The pictures are a number of frames that are shown for some seconds in all.

    Raises:
        MediaError: ``cut_mismatch`` when it does not start at 0 or differs by more than one frame and one AAC frame.
    """
    samples, rate, start, end = 0, 1, None, math.inf
    with open_container(clip) as container:
        stream = container.streams.best("audio", related=best_video(container))
        for packet in container.demux(stream) if stream else ():
            if packet.pts is not None and packet.duration:
                end = float((packet.pts + packet.duration) * packet.time_base)
            for frame in packet.decode():
                start = frame.time if start is None else start
                samples, rate = samples + frame.samples, frame.rate
    # Before FFmpeg 9, the decoder gives out the whole last frame, of which the container says how much is sound.
    seconds = min(samples / rate, end - (start or 0.0))
    tolerance = shown / frames + _AAC_FRAME_SAMPLES / rate
    if start is None or abs(start) > _AAC_FRAME_SAMPLES / rate or abs(seconds - shown) > tolerance:
        raise MediaError("cut_mismatch", f"the clip has {seconds:.3f} s of sound for {shown:.3f} s of pictures.")
    return seconds
