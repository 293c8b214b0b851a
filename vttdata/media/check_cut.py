"""Decodes a clip and says whether it shows exactly the frames of the span that it was cut from, with sound as long.

Judges the times of all frames, the pictures at both ends and the length of the sound; it does not judge how well the
pictures between them are coded.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from vttdata.errors import MediaError
from vttdata.media.decode import best_video, open_container, open_video
from vttdata.media.frames_in_span import SpanFrames, thumbnail

_AAC_FRAME = 1024
_TIME_SLACK = 0.0005  # seconds: half the coarsest tick of the common containers (Matroska: 1 ms)


@dataclass(frozen=True, slots=True)
class Shown:
    """What decoding a clip showed: the number of its frames and their size in pixels."""

    frames: int
    width: int
    height: int


def verify_clip(clip: Path, span: SpanFrames) -> Shown:
    """Decode a clip in full and compare it with the frames of the span it was cut from.

    Raises:
        MediaError: ``cut_mismatch`` when a frame is missing, added or shown at another time, when the first or last
            picture is not the source's, or when the clip does not start at 0; what decoding raises.
    """
    shown = 0
    first = last = None
    with open_video(clip) as video:
        start = video.start_time
        for frame in video.frames():
            if shown < len(span.ticks):
                _check_time(shown, start + frame.time, float((span.ticks[shown] - span.ticks[0]) * span.tick))
            first, last, shown = first or frame, frame, shown + 1
    if first is None or last is None or shown != len(span.ticks):
        raise MediaError("cut_mismatch", f"the clip shows {shown} frames where the source has {len(span.ticks)}.")
    for name, frame, moment in (("first", first, span.first), ("last", last, span.last)):
        if not moment.shown_by(thumbnail(frame.picture)):
            raise MediaError("cut_mismatch", f"the clip's {name} frame is not the one that the source shows then.")
    return Shown(shown, last.picture.width, last.picture.height)


def verify_sound(clip: Path, span: SpanFrames) -> float:
    """Decode a clip's sound and compare its length with the pictures'.

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
    slack = span.seconds / len(span.ticks) + _AAC_FRAME / rate
    if start is None or abs(start) > _AAC_FRAME / rate or abs(seconds - span.seconds) > slack:
        raise MediaError("cut_mismatch", f"the clip has {seconds:.3f} s of sound to {span.seconds:.3f} s of pictures.")
    return seconds


def _check_time(index: int, found: float, expected: float) -> None:
    if abs(found - expected) > _TIME_SLACK:
        raise MediaError("cut_mismatch", f"frame {index} of the clip is at {found:.4f} s instead of {expected:.4f} s.")
