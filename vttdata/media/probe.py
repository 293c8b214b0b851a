"""Reads what a media file says of itself, and refuses files whose structure is damaged. Decodes nothing."""

from __future__ import annotations

import struct
from pathlib import Path
from typing import Any, BinaryIO

from vttdata.errors import MediaError
from vttdata.media.decode import best_video, open_container
from vttdata.records import Probe

PROBING_SECONDS = 120.0
"""Wall-clock limit for reading a container's facts, which takes a moment."""

_PATIENCE_PER_SECOND = 20.0
_LEAST_BYTES_PER_SECOND = 125.0  # less than the bookkeeping of a container alone takes
_USUAL_BYTES_PER_SECOND = 125_000.0  # a megabit: more than most of the web's videos have
_ISO_MEDIA = "mov,mp4,m4a,3gp,3g2,mj2"
_MICRO = 1_000_000


def probe(path: Path) -> Probe:
    """The container's facts about a video file.

    Args:
        path: a local file.

    Returns:
        A `Probe`: display width and height in pixels after rotation and pixel aspect, seconds, and stream indices as
        ffmpeg counts them.

    Raises:
        MediaError: ``empty``, ``unreadable``, ``truncated``, ``no_video``, ``unsupported`` or ``damaged``.
    """
    with open_container(path) as container:
        if container.format.name == _ISO_MEDIA:
            check_boxes(path)
        video = best_video(container)
        _check_tracks(container)
        rotation = _rotation(container, video)
        audio = container.streams.best("audio", related=video)
        width, height = _display_size(video, rotation)
        return Probe(
            container=container.format.name,
            video_codec=video.codec_context.codec.canonical_name,
            audio_codec=audio.codec_context.codec.canonical_name if audio else None,
            pixel_format=video.codec_context.pix_fmt or "unknown",
            width=width,
            height=height,
            rotation=rotation,
            frame_rate=float(video.average_rate or video.guessed_rate or 0),
            start_time=(container.start_time or 0) / _MICRO,
            container_seconds=_seconds(container, video),
            container_frames=video.frames or None,
            video_stream=video.index,
            audio_stream=audio.index if audio else None,
        )


def decoding_limit(probed: Probe | None, size: int) -> float:
    """Wall-clock seconds after which decoding a file is given up: far more than any healthy file needs.

    Follows the duration that the container states, as far as a file of `size` bytes can be that long, and the size
    where it states none.
    """
    stated = probed.container_seconds if probed else 0.0
    seconds = min(stated, size / _LEAST_BYTES_PER_SECOND) if stated > 0 else size / _USUAL_BYTES_PER_SECOND
    return PROBING_SECONDS + _PATIENCE_PER_SECOND * seconds


def check_boxes(path: Path) -> None:
    """Check that every top-level box of an ISO media file (ISO/IEC 14496-12, 4.2) lies inside the file.

    Raises:
        MediaError: ``truncated`` when one claims bytes beyond the end: the download or copy broke off.
    """
    size = path.stat().st_size
    position = 0
    with path.open("rb") as stream:
        while position + 8 <= size:
            length, kind = _box(stream, position, size)
            if position + length > size:
                missing = position + length - size
                raise MediaError("truncated", f"the '{kind}' box ends {missing} bytes after the end of the file.")
            position += length


def _box(stream: BinaryIO, position: int, size: int) -> tuple[int, str]:
    stream.seek(position)
    head = stream.read(16)
    length, name = struct.unpack(">I4s", head[:8])
    kind = name.decode("latin-1")
    if length == 1 and len(head) == 16:
        length = struct.unpack(">Q", head[8:])[0]
    elif length == 0:
        length = size - position
    if length < 8:
        raise MediaError("damaged", f"the box at byte {position} has an impossible length of {length}.")
    return length, kind


def _check_tracks(container: Any) -> None:
    for stream in container.streams:
        if stream.type not in ("video", "audio"):
            continue
        if stream.codec_context is None:
            raise MediaError("damaged", f"track {stream.index} ({stream.type}) does not say how it is coded.")
        if (
            stream.frames == 0
            and stream.duration
            and container.format.name == _ISO_MEDIA
            and not _fragmented(container)
        ):
            raise MediaError(
                "damaged", f"track {stream.index} ({stream.type}) announces a duration but holds no sample."
            )


def _fragmented(container: Any) -> bool:
    return all(stream.frames == 0 for stream in container.streams if stream.type in ("video", "audio"))


def _rotation(container: Any, video: Any) -> int:
    """Clockwise degrees a player turns the picture by; the display matrix is read off the first decodable frame."""
    import av

    try:
        picture = next(container.decode(video))
    except (StopIteration, av.error.FFmpegError):
        return 0
    return -int(picture.rotation) % 360


def _display_size(video: Any, rotation: int) -> tuple[int, int]:
    context = video.codec_context
    aspect = video.sample_aspect_ratio or 1
    width, height = round(context.width * aspect), context.height
    return (height, width) if rotation % 180 else (width, height)


def _seconds(container: Any, video: Any) -> float:
    if video.duration:
        return float(video.duration * video.time_base)
    return (container.duration or 0) / _MICRO
