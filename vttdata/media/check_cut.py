"""Check a cut clip: the frames of its span at their times, the frames at both ends, and the length of its audio.

The quality of the pictures between the ends is not judged.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import compress, pairwise
from pathlib import Path

import av

from vttdata.errors import MediaError
from vttdata.media.decode import best_video, check_memory, open_container, open_video
from vttdata.media.frames_in_span import SpanFrames, Thumbnail, decode_ends, thumbnail
from vttdata.media.h264_order import DisplayOrder, UnreadableOrderError
from vttdata.media.shots.fast.bitstream import FrameType, h264_nal_length_size, has_whole_units
from vttdata.media.shots.fast.packets import PacketTable, UnsupportedStreamError

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
    """Compare a clip with the frames of the span it was cut from.

    An H.264 clip is accepted by its packets and the pictures at both ends. All others, and those that would be refused,
    are decoded in full.

    Raises:
        MediaError: ``cut_mismatch`` when a frame is missing, added or shown at another time, when the first or last
            picture is not the source's, or when the clip does not start at 0; what decoding raises.
    """
    frames = read_ends(clip)
    if frames is None or _find_difference(frames, span):
        frames = read_all(clip)
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


def read_all(clip: Path) -> ClipFrames:
    """Decode every frame of a clip.

    Raises:
        MediaError: ``cut_mismatch`` when there is none, and what decoding raises.
    """
    times: list[float] = []
    first = last = None
    with open_video(clip) as video:
        for frame in video.frames():
            times.append(video.start_time + frame.time)
            first, last = first or frame.picture, frame.picture
    if first is None or last is None:
        raise MediaError("cut_mismatch", "the clip has no frame.")
    return _clip_frames(times, first, last)


def read_ends(clip: Path) -> ClipFrames | None:
    """Decode the first and the last frame of an H.264 clip; its packets tell the times and the order of the others.

    Returns:
        None where packets do not stand for frames, are damaged, or show their frames in another order than their times.
    """
    with open_video(clip) as video:
        extradata = bytes(video.stream.codec_context.extradata or b"")
        if video.stream.codec_context.codec.canonical_name != "h264":
            return None
        try:
            order, length_size = DisplayOrder(extradata), h264_nal_length_size(extradata)
            times_by_order: dict[tuple[int, int], int] = {}
            packets = PacketTable()
            for packet in video.packets():
                if packet.size:
                    data = memoryview(packet)
                    packets.add(packet, FrameType.I_OR_P if has_whole_units(data, length_size) else None)
                    times_by_order[order.add(data)] = packet.pts
            shown = [times_by_order[position] for position in sorted(times_by_order)]
            if not shown or shown[0] != packets.pts[0] or len(shown) != len(packets.pts):
                return None
            if any(later <= earlier for earlier, later in pairwise(shown)):
                return None
            keyframes = list(compress(packets.pts, packets.is_keyframe))
            pictures = decode_ends(video, keyframes, shown[:1], shown[-1:])
        except (UnsupportedStreamError, UnreadableOrderError, MediaError):
            return None
        except av.error.FFmpegError as error:
            check_memory(error)
            return None
        times = [video.start_time + video.seconds_of(pts) for pts in shown]
    return _clip_frames(times, pictures[shown[0]], pictures[shown[-1]])


def _clip_frames(times: list[float], first: av.VideoFrame, last: av.VideoFrame) -> ClipFrames:
    return ClipFrames(times, thumbnail(first), thumbnail(last), last.width, last.height)


def verify_sound(clip: Path, span: SpanFrames) -> float:
    """Decode a clip's sound, compare its length with that of the pictures, and return it in seconds.

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
    tolerance = span.seconds / len(span.pts) + _AAC_FRAME_SAMPLES / rate
    if start is None or abs(start) > _AAC_FRAME_SAMPLES / rate or abs(seconds - span.seconds) > tolerance:
        raise MediaError("cut_mismatch", f"the clip has {seconds:.3f} s of sound for {span.seconds:.3f} s of pictures.")
    return seconds
