"""Frame-accurate cut of a span of a video into a file, verified by decoding.

Every clip is encoded again, since a stream copy can only begin at a keyframe. Spans are chosen elsewhere.
"""

from __future__ import annotations

import dataclasses
import functools
import hashlib
import os
import secrets
import statistics
import time
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from pathlib import Path
from typing import Annotated, Any, Literal

import ffmpeg
from annotated_types import Ge, Le, MultipleOf

from vttdata.errors import MediaError, UnavailableError
from vttdata.media.check_cut import verify_clip, verify_sound
from vttdata.media.decode import max_pixels, momentary_error
from vttdata.media.ffmpeg_program import SAFE_INPUT, ffmpeg_path, file_url
from vttdata.media.frames_in_span import TIMED_CONTAINERS, SpanFrames, read_span, read_span_from_packets
from vttdata.records import ClipMedia, Probe
from vttdata.settings import Strict
from vttdata.subprocesses import run

_ENCODERS: dict[str, dict[str, Any]] = {
    "h264": {"c:v": "libx264"},
    "h265": {"c:v": "libx265", "tag:v": "hvc1", "x265-params": "log-level=error:info=0:pools=none:frame-threads=1"},
    "vp9": {"c:v": "libvpx-vp9", "b:v": 0, "row-mt": 0, "cpu-used": 4},
}
_ENCODING = {
    # The bytes must not depend on the number of cores; builds run several cuts at a time.
    "threads:v": 1,
    "fps_mode": "passthrough",
    "flags": "+bitexact",
    "fflags": "+bitexact",
    "map_metadata": -1,
    "map_chapters": -1,
    # B-frames without an edit list.
    "movflags": "+faststart+negative_cts_offsets",
    # Else the order of packets would depend on the threads' timing.
    "max_interleave_delta": 0,
    "f": "mp4",
}
_SCALER = "bicubic+accurate_rnd+full_chroma_int+bitexact"


@dataclass(frozen=True, slots=True)
class MediaSettings(Strict):
    """Settings of clip files (recipe section `media`): MP4, square pixels, 8 bits, upright, at most 2 channels of AAC.

    Fields:
        keep: ``files`` writes every clip as a file into the build; ``none`` publishes only its source and span.
        height: lines of a clip; its width follows the source's display aspect. A smaller source is never enlarged;
            None keeps the source's size. Odd sizes are scaled down to even ones. MSR-VTT's files have 240 lines.
        codec: ``h264``, which every reader knows, ``h265`` or ``vp9``.
        quality: constant rate factor on the codec's own scale, lower is better; 23 is x264's default.
        audio: whether the source's sound is kept.
    """

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

    One cut decodes the source once from the keyframe before the span to the span's end and the frames at both ends
    again, codes the span once and decodes the clip, all on one thread: about 1.1 times the CPU time of a bare
    re-encode. Where the packets of the source tell too little, or the clip differs, every frame of the span is decoded
    again. Memory does not grow with the source.

    Args:
        source: a local video file.
        probe: its container's facts, by `vttdata.media.probe.probe`; names the streams to take.
        start: seconds since the container's start time, as `vttdata.media.decode` gives them.
        end: seconds, above `start`; what lies after the source's last frame is ignored.
        target: file to write, in an existing folder; replaced if it exists.
        settings: size, codec, quality, sound.
        seconds_limit: wall-clock limit for all of it.

    Returns:
        Facts found by decoding the clip; `video` is the name of `target`.

    Raises:
        MediaError: ``cut_failed`` (no frame in the span, or ffmpeg's last line), ``cut_mismatch`` (the clip differs
            from the source), ``timeout``, or what decoding the source raises.
        OSError: when `target` cannot be written or the disk is full.
    """
    deadline = time.monotonic() + seconds_limit
    # Two processes that were given the same clip must not write into one file.
    partial = target.with_name(f".{target.name}.{secrets.token_hex(4)}.part")
    partial.touch()
    try:
        for span in _read_spans(source, probe, start, end, deadline):
            try:
                media = _encode(source, probe, settings, partial, span, deadline)
                break
            except MediaError as error:
                is_last_attempt = span.all_decoded and span.decoded_from is None
                if is_last_attempt or error.reason == "timeout" or isinstance(error, UnavailableError):
                    raise
        os.replace(partial, target)
    finally:
        partial.unlink(missing_ok=True)
    return dataclasses.replace(media, video=target.name)


def _read_spans(source: Path, probe: Probe, start: float, end: float, deadline: float) -> Iterator[SpanFrames]:
    """Yield the frames of a span, cheapest reading first; each further one for when cutting by those before failed."""
    is_timed = probe.container in TIMED_CONTAINERS
    decode = functools.partial(read_span, from_start=not is_timed)
    for read in (read_span_from_packets, decode) if is_timed else (decode,):
        span = read(source, start, end, deadline)
        if span is None:
            continue
        if _may_lack_frames(span, probe, end):
            # At errors of the disk some demuxers end, or go on after a gap, without a word.
            again = read(source, start, end, deadline)
            if again is None or again.pts != span.pts:
                raise momentary_error()
        yield span
    # Seeking can lead ffmpeg astray; decoding from the start of the file cannot.
    if span is not None:
        yield dataclasses.replace(span, decoded_from=None)


def _may_lack_frames(span: SpanFrames, probe: Probe, end: float) -> bool:
    """Return whether a frame of a span lasts longer than usual, or the source seems to end before the span does."""
    intervals = [later - earlier for earlier, later in pairwise((*span.pts, span.end_pts))]
    usual = statistics.median_low(intervals)
    until_end = float(Fraction(end + probe.start_time) / span.time_base) - span.end_pts
    return max(intervals) > 1.5 * usual or until_end > 0.5 * usual


def _encode(
    source: Path, probe: Probe, settings: MediaSettings, partial: Path, span: SpanFrames, deadline: float
) -> ClipMedia:
    """Write the frames of a span to a partial file, and verify it."""
    command = ffmpeg_command(source, probe, settings, partial, span)
    done = run(command, seconds=max(deadline - time.monotonic(), 0))
    if done.stopped:
        raise MediaError("timeout", "ffmpeg exceeded the time limit for a cut.")
    # Where only the ends were decoded before, any message may be about a frame between them.
    if done.code or (done.stderr.strip() and not span.all_decoded):
        message = done.stderr
        # Messages must not name folders of this machine.
        for path, name in ((source, "source"), (partial, "clip")):
            message = message.replace(file_url(path), name).replace(str(path), name)
        lines = [line.strip() for line in message.splitlines() if line.strip()]
        raise MediaError("cut_failed", lines[-1] if lines else "ffmpeg failed without a message.")
    frames = verify_clip(partial, span)
    has_sound = settings.audio and probe.audio_stream is not None
    with partial.open("rb") as stream:
        digest = hashlib.file_digest(stream, "sha256").hexdigest()
    return ClipMedia(
        video=partial.name,
        sha256=digest,
        bytes=partial.stat().st_size,
        frames=len(frames.times),
        seconds=span.seconds,
        width=frames.width,
        height=frames.height,
        audio_seconds=verify_sound(partial, span) if has_sound else None,
    )


def ffmpeg_command(source: Path, probe: Probe, settings: MediaSettings, partial: Path, span: SpanFrames) -> list[str]:
    """Return the ffmpeg command that writes a clip, reading the source from where its span was decoded."""
    options: dict[str, Any] = SAFE_INPUT | {"threads": 1, "flags": "+bitexact", "max_pixels": max_pixels()}
    if span.decoded_from is not None:
        options |= {"ss": f"{span.decoded_from:.6f}", "noaccurate_seek": None}
    streams = ffmpeg.input(file_url(source), **options)
    # Frames are selected by timestamp, which is exact at any frame rate, and start at 0.
    width, height = clip_size(probe.width, probe.height, settings.height)
    pictures = (
        streams[str(probe.video_stream)]
        .filter("settb", str(span.time_base))
        .filter("trim", start_pts=span.pts[0], end_pts=span.pts[-1] + 1)
        .filter("setpts", f"PTS-({span.pts[0]})")
        .filter("scale", width, height, flags=_SCALER, out_range="tv")
        .filter("format", "yuv420p")
        .filter("setsar", 1)
    )
    outputs = [pictures]
    if settings.audio and probe.audio_stream is not None:
        # Sound is taken from the first frame's time on; its gaps are silence, and it ends with the pictures.
        begin, end = span.pts[0] * span.time_base, span.end_pts * span.time_base
        sound = (
            streams[str(probe.audio_stream)]
            .filter("atrim", start=f"{float(begin):.6f}", end=f"{float(end):.6f}")
            .filter("asetpts", f"round(PTS-{float(begin):.6f}/TB)")
            .filter("aresample", **{"async": 1, "first_pts": 0})
            .filter("aformat", channel_layouts="mono|stereo")
            .filter("apad")
            .filter("atrim", end=f"{span.seconds:.6f}")
        )
        outputs.append(sound)
    # Sets the last frame's duration, and drops x264's SEI unit (type 6) with its version and options.
    last, rest = span.pts[-1] - span.pts[0], span.end_pts - span.pts[-1]
    bitstream = rf"setts=pts=PTS:dts=DTS:duration=if(gte(PTS\,{last})\,{rest}\,DURATION)"
    encoding = _ENCODERS[settings.codec] | _ENCODING
    encoding |= {"crf": settings.quality, "enc_time_base:v": str(span.time_base)}
    encoding["bsf:v"] = f"filter_units=remove_types=6,{bitstream}" if settings.codec == "h264" else bitstream
    graph = ffmpeg.output(*outputs, file_url(partial), **encoding).overwrite_output()
    quiet = ("-hide_banner", "-nostdin", "-loglevel", "error", "-copyts", "-filter_complex_threads", "1")
    command: list[str] = graph.global_args(*quiet).compile(cmd=ffmpeg_path())
    return command


def clip_size(width: int, height: int, max_height: int | None) -> tuple[int, int]:
    """Return the width and height of a clip, even and at most those of its source, all in pixels."""
    lines = max(min(max_height or height, height) // 2 * 2, 2)
    columns = round(width * lines / height / 2) * 2
    return max(min(columns, width // 2 * 2), 2), lines
