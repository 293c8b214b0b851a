"""Read the metadata declared by a media file's container, without decoding; malformed files are refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import av

from vttdata.errors import MediaError
from vttdata.media.container_structure import check_structure
from vttdata.media.decode import MICROSECONDS, best_video, check_memory, check_momentary, open_container, stated_seconds
from vttdata.records import Probe

PROBING_SECONDS = 120.0
"""Wall-clock limit for reading a container's facts, which takes a moment."""

# Wall-clock seconds allowed for each second of video.
_DECODING_PATIENCE = 20.0
# Less than the bookkeeping of a container alone takes.
_MIN_BYTES_PER_SECOND = 125.0
# One megabit: more than most videos of the web have.
_USUAL_BYTES_PER_SECOND = 125_000.0
_ISO_MEDIA = "mov,mp4,m4a,3gp,3g2,mj2"


def probe(path: str | Path) -> Probe:
    """Read the container's facts about a local video file.

    Returns:
        A `Probe`: display width and height in pixels after rotation and pixel aspect, seconds, and stream indices as
        ffmpeg counts them.

    Raises:
        MediaError: ``empty``, ``unreadable``, ``truncated``, ``gaps``, ``no_video``, ``unsupported`` or ``damaged``.
    """
    path = Path(path)
    with open_container(path) as container:
        check_structure(path, container.format.name, (container.duration or 0) / MICROSECONDS)
        video = best_video(container)
        _check_tracks(container)
        rotation = _rotation(path, container, video)
        audio = container.streams.best("audio", related=video)
        context = video.codec_context
        width, height = round(context.width * (video.sample_aspect_ratio or 1)), context.height
        if rotation % 180:
            width, height = height, width
        return Probe(
            container=container.format.name,
            video_codec=context.codec.canonical_name,
            audio_codec=audio.codec_context.codec.canonical_name if audio else None,
            pixel_format=context.pix_fmt or "unknown",
            width=width,
            height=height,
            rotation=rotation,
            frame_rate=float(video.average_rate or video.guessed_rate or 0),
            start_time=(container.start_time or 0) / MICROSECONDS,
            container_seconds=stated_seconds(container, video),
            container_frames=video.frames or None,
            video_stream=video.index,
            audio_stream=audio.index if audio else None,
        )


def decoding_limit(probed: Probe | None, size: int) -> float:
    """Return the wall-clock seconds after which decoding a file is given up: far more than a healthy file needs.

    The duration of its container's facts is believed as far as the size in bytes allows.
    """
    stated = probed.container_seconds if probed else 0.0
    seconds = min(stated, size / _MIN_BYTES_PER_SECOND) if stated > 0 else size / _USUAL_BYTES_PER_SECOND
    return PROBING_SECONDS + _DECODING_PATIENCE * seconds


def _check_tracks(container: Any) -> None:
    streams = [stream for stream in container.streams if stream.type in ("video", "audio")]
    # Fragmented files state no number of samples in any track.
    is_fragmented = all(stream.frames == 0 for stream in streams)
    for stream in streams:
        track = f"track {stream.index} ({stream.type})"
        if stream.codec_context is None:
            raise MediaError("damaged", f"{track} does not state its codec.")
        is_empty = stream.frames == 0 and stream.duration and container.format.name == _ISO_MEDIA
        if is_empty and not is_fragmented:
            raise MediaError("damaged", f"{track} states a duration but holds no sample.")


def _rotation(path: Path, container: Any, video: Any) -> int:
    """Return the clockwise degrees by which players turn the picture."""
    # PyAV gives the display matrix with decoded frames only.
    try:
        picture = next(container.decode(video))
    except (StopIteration, av.error.FFmpegError) as error:
        check_memory(error)
        check_momentary(path, error)
        return 0
    return -int(picture.rotation) % 360
