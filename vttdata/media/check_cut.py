"""Check a cut clip: the frames of its span at their times, the frames at both ends, and the length of its audio.

The quality of the pictures between the ends is not judged.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from vttdata.errors import MediaError
from vttdata.media.decode import best_video, open_container, open_video
from vttdata.media.frames_in_span import SpanFrames, thumbnail

_AAC_FRAME_SAMPLES = 1024
# Seconds: half the coarsest time base of common containers (Matroska: 1 ms).
_TIME_TOLERANCE = 0.0005


@dataclass(frozen=True, slots=True)
class DecodedClip:
    """Number of a clip's frames and their size in pixels, by decoding."""

    frames: int
    width: int
    height: int


def verify_clip(clip: Path, span: SpanFrames) -> DecodedClip:
    """Decode a clip in full and compare it with the frames of the span it was cut from.

    Raises:
        MediaError: ``cut_mismatch`` when a frame is missing, added or shown at another time, when the first or last
            picture is not the source's, or when the clip does not start at 0; what decoding raises.
    """
    count = 0
    first = last = None
    with open_video(clip) as video:
        start = video.start_time
        for frame in video.frames():
            if count < len(span.pts):
                time, expected = start + frame.time, float((span.pts[count] - span.pts[0]) * span.time_base)
                if abs(time - expected) > _TIME_TOLERANCE:
                    facts = f"frame {count} of the clip is at {time:.4f} s instead of {expected:.4f} s."
                    raise MediaError("cut_mismatch", facts)
            first, last, count = first or frame, frame, count + 1
    if first is None or last is None or count != len(span.pts):
        raise MediaError("cut_mismatch", f"the clip has {count} frames where the source has {len(span.pts)}.")
    for name, frame, reference in (("first", first, span.first), ("last", last, span.last)):
        if not reference.is_shown_by(thumbnail(frame.picture)):
            raise MediaError("cut_mismatch", f"the clip's {name} frame is not that of the source.")
    return DecodedClip(count, last.picture.width, last.picture.height)


def verify_sound(clip: Path, span: SpanFrames) -> float:
    """Decode a clip's sound and compare its length with that of the pictures.

    Returns:
        The sound's length in seconds.

    Raises:
        MediaError: ``cut_mismatch`` when it does not start at 0 or differs by more than one frame and one AAC frame.
    """
    samples, rate, start = 0, 1, None
    with open_container(clip) as container:
        stream = container.streams.best("audio", related=best_video(container))
        for frame in container.decode(stream) if stream else ():
            start = frame.time if start is None else start
            samples, rate = samples + frame.samples, frame.rate
    seconds = samples / rate
    tolerance = span.seconds / len(span.pts) + _AAC_FRAME_SAMPLES / rate
    if start is None or abs(start) > _AAC_FRAME_SAMPLES / rate or abs(seconds - span.seconds) > tolerance:
        raise MediaError("cut_mismatch", f"the clip has {seconds:.3f} s of sound for {span.seconds:.3f} s of pictures.")
    return seconds
