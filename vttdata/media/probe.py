"""Read the metadata declared by a media file's container, without decoding; malformed files are refused."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import av

from vttdata.errors import MediaError
from vttdata.media.container_structure import check_structure
from vttdata.media.decode import MICROSECONDS, best_video, check_memory, check_momentary, open_container, stated_seconds
from vttdata.media.interlacing import field_order
from vttdata.records import Probe

PROBING_SECONDS = 120.0
"""Wall-clock limit for reading a container's facts, which takes a moment."""

# Wall-clock seconds allowed for each second of video.
_DECODING_PATIENCE = 20.0
# Less than the bookkeeping of a container alone takes.
_MIN_BYTES_PER_SECOND = 125.0
# One megabit: more than most videos of the web have.
_USUAL_BYTES_PER_SECOND = 125_000.0
# ITU-T H.273, tables 2 to 4: ffmpeg's names in the order of their numbers; what is reserved or not stated has none.
_PRIMARIES, _TRANSFERS, _MATRICES = (
    {number: name for number, name in enumerate(names.split()) if name != "-"}
    for names in (
        "- bt709 - - bt470m bt470bg smpte170m smpte240m film bt2020 smpte428 smpte431 smpte432",
        "- bt709 - - bt470m bt470bg smpte170m smpte240m linear log100 log316 iec61966-2-4 bt1361e iec61966-2-1 "
        "bt2020-10 bt2020-12 smpte2084 smpte428 arib-std-b67",
        "gbr bt709 - - fcc bt470bg smpte170m smpte240m ycgco bt2020nc bt2020c smpte2085 chroma-derived-nc "
        "chroma-derived-c ictcp",
    )
)
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
        stated = (container.duration or 0) / MICROSECONDS
        excess = check_structure(path, container.format.name, stated)
        video = best_video(container)
        audio = _best_audio(container, video)
        used = [stream for stream in (video, audio) if stream is not None]
        notes = _check_tracks(container, used)
        if excess:
            _check_samples(path, used, stated)
            notes.append(f"the 'mdat' box announces {excess} bytes more than the file has; no frame is missing")
        picture = _first_picture(path, container, video)
        rotation = 0 if picture is None else -int(picture.rotation) % 360
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
            color_transfer=_TRANSFERS.get(context.color_trc),
            color_primaries=_PRIMARIES.get(context.color_primaries),
            color_matrix=_MATRICES.get(context.colorspace),
            field_order=None if picture is None else field_order(picture),
            note="; ".join(notes) or None,
        )


def decoding_limit(probed: Probe | None, size: int) -> float:
    """Return the wall-clock seconds after which decoding a file is given up: far more than a healthy file needs.

    The duration of its container's facts is believed as far as the size in bytes allows.
    """
    stated = probed.container_seconds if probed else 0.0
    seconds = min(stated, size / _MIN_BYTES_PER_SECOND) if stated > 0 else size / _USUAL_BYTES_PER_SECOND
    return PROBING_SECONDS + _DECODING_PATIENCE * seconds


def _best_audio(container: Any, video: Any) -> Any:
    """Return the sound that ffmpeg would choose too, or the first that can be decoded; None without sound."""
    best = container.streams.best("audio", related=video)
    tracks = (best, *container.streams.audio) if best else container.streams.audio
    return next((track for track in tracks if _track_problem(container, track) is None), next(iter(tracks), None))


def _check_tracks(container: Any, used: Sequence[Any]) -> list[str]:
    """Refuse a file of which a used track cannot be read; return what is wrong with its other tracks."""
    notes = []
    for stream in container.streams:
        if stream.type in ("video", "audio") and (problem := _track_problem(container, stream)):
            if stream in used:
                raise MediaError("damaged", f"{problem}.")
            notes.append(f"{problem}, and is not used")
    return notes


def _track_problem(container: Any, stream: Any) -> str | None:
    track = f"track {stream.index} ({stream.type})"
    if stream.codec_context is None:
        return f"{track} has a codec that is not known"
    # Fragmented files state no number of samples in any track.
    is_fragmented = all(each.frames == 0 for each in container.streams if each.type in ("video", "audio"))
    if container.format.name == _ISO_MEDIA and stream.frames == 0 and stream.duration and not is_fragmented:
        return f"{track} states a duration but holds no sample"
    return None


def _check_samples(path: Path, used: Sequence[Any], stated: float) -> None:
    """Check by the index of ISO media whose last box is cut off that the samples of the used tracks are in the file.

    Raises:
        MediaError: ``truncated`` with what is missing; also for fragmented files, whose index is spread over the file.
    """
    size = path.stat().st_size
    states = f"the container states {stated:.2f} s, and the file ends after {size} bytes"
    for stream in used:
        if not stream.frames:
            raise MediaError("truncated", f"{states}, within a fragment.")
        samples = [entry for entry in stream.index_entries if not entry.is_discard]
        lost = [entry.timestamp for entry in samples if entry.pos + entry.size > size]
        if lost:
            until = float(min(lost) * stream.time_base)
            facts = f"{len(lost)} of {len(samples)} {stream.type} samples are missing, from {max(until, 0):.2f} s on"
            raise MediaError("truncated", f"{states}: {facts}.")


def _first_picture(path: Path, container: Any, video: Any) -> av.VideoFrame | None:
    """Decode the first picture, since PyAV gives the display matrix and fields with pictures only; None at errors."""
    try:
        return next(container.decode(video))  # type: ignore[no-any-return]
    except (StopIteration, av.error.FFmpegError) as error:
        check_memory(error)
        check_momentary(path, error)
        return None
