"""Video files of a campaign: checked, and put into a form that browsers play with every frame at its time.

Browsers play H.264, VP8, VP9 and AV1 with 8 bits in MP4 and WebM. Other files are transcoded. A file that starts later
than at time 0 is repackaged: Chromium counts its times from 0 and seeks by another clock.
"""

from __future__ import annotations

import hashlib
from fractions import Fraction
from pathlib import Path

from vttdata.errors import MediaError, VttdataError
from vttdata.media.decode import best_video, open_container
from vttdata.media.ffmpeg_program import SAFE_INPUT, ffmpeg_path, file_url
from vttdata.media.probe import decoding_limit, probe
from vttdata.records import Probe
from vttdata.subprocesses import run

_CODECS = frozenset({"h264", "vp8", "vp9", "av1"})
_CONTAINERS = frozenset({".mp4", ".m4v", ".webm"})
_PIXELS = frozenset({"yuv420p", "yuvj420p"})
_SOUND = frozenset({None, "aac", "mp3", "opus", "vorbis"})
# Seconds by which the same frame's time may differ after repackaging: time bases of containers differ.
_TOLERANCE = 0.002


def prepare_video(video_id: str, file: Path, folder: Path, *, exact: bool) -> Path:
    """Return the file that the page plays; one that browsers cannot play is written anew into a folder.

    If `exact`, frames of the page's file must be those of the original, at the same times from the first one on.

    Raises:
        VttdataError: when the file is missing, damaged or cannot be made playable; the message names it.
    """
    try:
        facts = probe(file)
        page = file
        if not _is_playable(file, facts):
            folder.mkdir(parents=True, exist_ok=True)
            page = folder / f"{hashlib.sha256(video_id.encode()).hexdigest()[:16]}.mp4"
            _write_playable(file, facts, page)
        if exact and page != file:
            _compare(presentation_times(file), presentation_times(page))
    except MediaError as error:
        raise VttdataError(f"{file}: cannot be shown in a browser ({str(error).rstrip('.')}).") from error
    except OSError as error:
        raise VttdataError(f"{file}: cannot be read ({error.strerror or error}).") from error
    return page


def presentation_times(path: Path, *, from_start: bool = True) -> list[float]:
    """Return the time of every displayed frame in seconds, by its packets.

    Args:
        path: video file.
        from_start: count from the container's start; else give the file's own times, which a browser states as
            ``mediaTime``.

    Raises:
        MediaError: when the file cannot be read or states no times.
    """
    with open_container(path) as container:
        stream = best_video(container)
        start = Fraction(container.start_time or 0, 10**6) if from_start else 0
        packets = [packet for packet in container.demux(stream) if packet.size and not packet.is_discard]
        if not packets or any(packet.pts is None for packet in packets):
            raise MediaError("unsupported", "its packets do not state when they are shown.")
        return sorted(round(float(packet.pts * stream.time_base - start), 6) for packet in packets)


def _is_playable(file: Path, facts: Probe) -> bool:
    frame = 1 / facts.frame_rate if facts.frame_rate else 0.0
    return (
        facts.video_codec in _CODECS
        and facts.pixel_format in _PIXELS
        and facts.audio_codec in _SOUND
        and file.suffix.lower() in _CONTAINERS
        and abs(facts.start_time) < frame / 2
    )


def _write_playable(file: Path, facts: Probe, page: Path) -> None:
    """Repackage a file, or transcode it where its coding is none of the browsers'."""
    repack = facts.video_codec in _CODECS - {"vp8"} and facts.pixel_format in _PIXELS and facts.audio_codec in _SOUND
    coding: tuple[str, ...] = ("-c", "copy")
    if not repack:
        even = "scale=trunc(iw/2)*2:trunc(ih/2)*2"
        coding = ("-fps_mode", "passthrough", "-vf", even, "-c:v", "libx264", "-crf", "20", "-pix_fmt", "yuv420p")
        coding += ("-enc_time_base", "demux", "-c:a", "aac")
    safe: tuple[object, ...] = tuple(part for name, value in SAFE_INPUT.items() for part in (f"-{name}", value))
    streams = ("-map", f"0:{facts.video_stream}", *(("-map", f"0:{facts.audio_stream}") if facts.audio_codec else ()))
    command = (ffmpeg_path(), "-y", "-v", "error", *safe, "-i", file_url(file), *streams, *coding)
    limit = decoding_limit(facts, file.stat().st_size)
    done = run([*command, "-movflags", "+faststart", str(page)], seconds=limit)
    if done.code or done.stopped:
        page.unlink(missing_ok=True)
        problem = (done.stderr.strip().splitlines() or ["it took too long"])[-1]
        raise MediaError("unsupported", f"it could not be transcoded: {problem[:200]}")


def _compare(original: list[float], page: list[float]) -> None:
    same = len(original) == len(page) and all(
        abs((ours - page[0]) - (theirs - original[0])) <= _TOLERANCE
        for ours, theirs in zip(page, original, strict=True)
    )
    if not same:
        raise MediaError("unsupported", "its frames could not be kept at their times for the page.")
