"""Cuts a span out of a video into a file of its own, exact to the frame, and verifies what it wrote.

Every clip is coded again, since a stream copy can only begin at a keyframe. It does not choose spans.
"""

from __future__ import annotations

import hashlib
import os
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal

import ffmpeg
from annotated_types import Ge, Le, MultipleOf

from vttdata.errors import MediaError
from vttdata.media.check_cut import verify_clip, verify_sound
from vttdata.media.ffmpeg import SAFE_INPUT, ffmpeg_path, file_url
from vttdata.media.frames_in_span import TIMED_CONTAINERS, SpanFrames, read_span
from vttdata.records import ClipMedia, Probe
from vttdata.settings import STRICT
from vttdata.subprocesses import run

_ENCODERS: dict[str, dict[str, Any]] = {
    "h264": {"c:v": "libx264"},
    "h265": {"c:v": "libx265", "tag:v": "hvc1", "x265-params": "log-level=error:info=0:pools=none:frame-threads=1"},
    "vp9": {"c:v": "libvpx-vp9", "b:v": 0, "row-mt": 0, "cpu-used": 4},
}
_FIXED = {
    "threads:v": 1,  # the bytes must not depend on the number of cores; builds run several cuts at a time
    "fps_mode": "passthrough",
    "flags": "+bitexact",
    "fflags": "+bitexact",
    "map_metadata": -1,
    "map_chapters": -1,
    "movflags": "+faststart+negative_cts_offsets",  # B-frames without an edit list
    "max_interleave_delta": 0,  # else the order of packets would depend on the threads' timing
    "f": "mp4",
}
_PARTIAL = ".part"
_SCALER = "bicubic+accurate_rnd+full_chroma_int+bitexact"


@dataclass(frozen=True, slots=True)
class MediaSettings:
    """How clips are written: always MP4, square pixels, 8 bits, upright, sound (if any) as AAC with at most 2 channels.

    Fields:
        keep: ``files`` writes every clip as a file into the build; ``none`` publishes only its source and span.
        height: lines of a clip; its width follows the source's display aspect. A smaller source is never enlarged;
            None keeps the source's size. Odd sizes are scaled down to even ones. MSR-VTT's files have 240 lines.
        codec: ``h264``, which every reader knows, ``h265`` or ``vp9``.
        quality: constant rate factor on the codec's own scale, lower is better; 23 is x264's default.
        audio: whether the source's sound is kept.
    """

    __pydantic_config__: ClassVar[dict[str, Any]] = STRICT

    keep: Literal["files", "none"] = "files"
    height: Annotated[int, Ge(32), Le(4320), MultipleOf(2)] | None = 240
    codec: Literal["h264", "h265", "vp9"] = "h264"
    quality: Annotated[int, Ge(0), Le(40)] = 23
    audio: bool = True


def cut(
    source: Path,
    probe: Probe,
    start: float,
    end: float,
    target: Path,
    settings: MediaSettings,
    *,
    seconds_limit: float = 600.0,
) -> ClipMedia:
    """Write the frames of `source` whose time lies in [start, end) to `target`, with their own spacing in time.

    The clip starts at time 0 with its first frame; sound is taken from that frame's time to the end of the last frame,
    silence where the source has none. Its bytes depend on the source, the span, the settings and ffmpeg's version
    alone, on every x86-64 processor with AVX2 (on others the sound may be rounded otherwise). The file appears under
    its name only when it has been verified.

    One cut decodes the source twice from the keyframe before the span to the span's end, codes the span once and
    decodes the clip once, all on one thread: 1.1 to 1.4 times the CPU time of a bare re-encode, 0.1 to 0.25 s for
    each second of 360p to 720p video at the default settings. Memory does not grow with the source.

    Args:
        source: a local video file.
        probe: what `vttdata.media.probe.probe` says of it; names the streams to take.
        start: seconds since the container's start time, as `vttdata.media.decode` gives them.
        end: seconds, above `start`; what lies after the source's last frame is ignored.
        target: the file to write, in an existing folder; an old one is replaced.
        settings: size, codec, quality, sound.
        seconds_limit: wall-clock limit for all of it.

    Returns:
        What was found on decoding the clip; `video` is the name of `target`.

    Raises:
        MediaError: ``cut_failed`` (nothing in the span, or ffmpeg's own last line), ``cut_mismatch`` (the clip does not
            show what the source shows), ``timeout``, or what decoding the source raises.
        OSError: when `target` cannot be written or the disk is full.
    """
    deadline = time.monotonic() + seconds_limit
    partial = target.with_name(f".{target.name}{_PARTIAL}")
    partial.touch()
    try:
        span = read_span(source, start, end, deadline, from_start=probe.container not in TIMED_CONTAINERS)
        media = _write(_Job(source, probe, settings, partial, span), deadline)
        os.replace(partial, target)
    finally:
        partial.unlink(missing_ok=True)
    return media


@dataclass(frozen=True, slots=True)
class _Job:
    source: Path
    probe: Probe
    settings: MediaSettings
    partial: Path
    span: SpanFrames

    @property
    def sound(self) -> bool:
        return self.settings.audio and self.probe.audio_stream is not None


def _write(job: _Job, deadline: float) -> ClipMedia:
    """Write and verify; where seeking led ffmpeg astray, once more from the start of the file."""
    try:
        return _attempt(job, job.span.decoded_from, deadline)
    except MediaError as error:
        if job.span.decoded_from is None or error.reason == "timeout":
            raise
    return _attempt(job, None, deadline)


def _attempt(job: _Job, seek: float | None, deadline: float) -> ClipMedia:
    done = run(_command(job, seek), seconds=max(deadline - time.monotonic(), 0))
    if done.stopped:
        raise MediaError("timeout", "ffmpeg took longer than the limit for a cut.")
    if done.code:
        raise MediaError("cut_failed", _last_line(done.stderr, job))
    shown = verify_clip(job.partial, job.span)
    with job.partial.open("rb") as stream:
        digest = hashlib.file_digest(stream, "sha256").hexdigest()
    return ClipMedia(
        video=job.partial.name.removeprefix(".").removesuffix(_PARTIAL),
        sha256=digest,
        bytes=job.partial.stat().st_size,
        frames=shown.frames,
        seconds=job.span.seconds,
        width=shown.width,
        height=shown.height,
        audio_seconds=verify_sound(job.partial, job.span) if job.sound else None,
    )


def _command(job: _Job, seek: float | None) -> list[str]:
    options: dict[str, Any] = SAFE_INPUT | {"threads": 1, "flags": "+bitexact"}
    if seek is not None:
        options |= {"ss": f"{seek:.6f}", "noaccurate_seek": None}
    streams = ffmpeg.input(file_url(job.source), **options)
    outputs = [_pictures(streams[str(job.probe.video_stream)], job.probe, job.span, job.settings)]
    if job.sound:
        outputs.append(_sound(streams[str(job.probe.audio_stream)], job.span))
    coding = _ENCODERS[job.settings.codec] | _FIXED
    coding |= {"crf": job.settings.quality, "enc_time_base:v": str(job.span.tick)}
    coding["bsf:v"] = _packet_filters(job.span, job.settings)
    graph = ffmpeg.output(*outputs, file_url(job.partial), **coding).overwrite_output()
    quiet = ("-hide_banner", "-nostdin", "-loglevel", "error", "-copyts", "-filter_complex_threads", "1")
    command: list[str] = graph.global_args(*quiet).compile(cmd=ffmpeg_path())
    return command


def _pictures(stream: Any, probe: Probe, span: SpanFrames, settings: MediaSettings) -> Any:
    """The frames picked by timestamp, which is exact whatever the frame rate, and rebased to 0."""
    width, height = clip_size(probe.width, probe.height, settings.height)
    stream = (
        stream.filter("settb", str(span.tick))
        .filter("trim", start_pts=span.ticks[0], end_pts=span.ticks[-1] + 1)
        .filter("setpts", f"PTS-({span.ticks[0]})")
    )
    return (
        stream.filter("scale", width, height, flags=_SCALER, out_range="tv")
        .filter("format", "yuv420p")
        .filter("setsar", 1)
    )


def clip_size(width: int, height: int, wanted: int | None) -> tuple[int, int]:
    """The even width and height, in pixels, of a clip from a source of `width` x `height`, never above these."""
    lines = max(min(wanted or height, height) // 2 * 2, 2)
    columns = round(width * lines / height / 2) * 2
    return max(min(columns, width // 2 * 2), 2), lines


def _sound(stream: Any, span: SpanFrames) -> Any:
    """The sound from the first frame's time on, gaps filled with silence, exactly as long as the pictures."""
    begin, end = span.ticks[0] * span.tick, span.until * span.tick
    return (
        stream.filter("atrim", start=f"{float(begin):.6f}", end=f"{float(end):.6f}")
        .filter("asetpts", f"round(PTS-{float(begin):.6f}/TB)")
        .filter("aresample", **{"async": 1, "first_pts": 0})
        .filter("aformat", channel_layouts="mono|stereo")
        .filter("apad")
        .filter("atrim", end=f"{span.seconds:.6f}")
    )


def _packet_filters(span: SpanFrames, settings: MediaSettings) -> str:
    """Give the last frame its length, and drop x264's note of its version and options (an SEI unit, type 6)."""
    last, rest = span.ticks[-1] - span.ticks[0], span.until - span.ticks[-1]
    length = rf"setts=pts=PTS:dts=DTS:duration=if(gte(PTS\,{last})\,{rest}\,DURATION)"
    return f"filter_units=remove_types=6,{length}" if settings.codec == "h264" else length


def _last_line(text: str, job: _Job) -> str:
    """The last thing that ffmpeg said, without the folders of this machine."""
    for path, name in ((job.source, "source"), (job.partial, "clip")):
        text = text.replace(file_url(path), name).replace(str(path), name)
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return lines[-1] if lines else "ffmpeg failed without a word."
