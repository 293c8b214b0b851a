"""Frame-accurate cut of a span of a video into a file, verified by decoding.

Every clip is encoded again, since a stream copy can only begin at a keyframe. Spans are chosen elsewhere.
"""

from __future__ import annotations

import dataclasses
import hashlib
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

import ffmpeg
import numpy as np
import numpy.typing as npt
from annotated_types import Ge, Le, MultipleOf

from vttdata.errors import MediaError, UnavailableError
from vttdata.media.check_cut import verify_clip, verify_sound_length
from vttdata.media.decode import max_pixels
from vttdata.media.ffmpeg_program import SAFE_INPUT, ffmpeg_path, file_url
from vttdata.media.frames_in_span import SpanFrames, frames_shown, read_span, ways_to_read
from vttdata.media.interlacing import deinterlace
from vttdata.media.tone_mapping import is_hdr, tone_map
from vttdata.partial_file import partial_file
from vttdata.records import INTERLACED, ClipMedia, Probe
from vttdata.settings import Strict
from vttdata.subprocesses import run

_ENCODERS: dict[str, dict[str, object]] = {
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
_QUIET = ("-hide_banner", "-nostdin", "-loglevel", "error", "-copyts", "-filter_complex_threads", "1")
SCALER = "bicubic+accurate_rnd+full_chroma_int+bitexact"


@dataclass(frozen=True, slots=True)
class MediaSettings(Strict):
    """Settings of clip files (recipe section `media`): MP4, square pixels, 8 bits, upright, at most 2 channels of AAC.

    Pictures of high dynamic range are tone-mapped to the standard one; see `vttdata.media.tone_mapping`. Interlaced
    ones are deinterlaced, each to one picture at its time; see `vttdata.media.interlacing`.

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
    times: npt.NDArray[np.float64],
    start: float,
    end: float,
    target: Path,
    settings: MediaSettings,
    *,
    seconds_limit: float = 600.0,
) -> ClipMedia:
    """Write what a player shows of `source` from `start` to `end` to `target`, frames with their own spacing in time.

    The clip starts at time 0 with its first frame; sound is taken from that time to the end of the last frame, silence
    where the source has none. Its frames are those that start in [start, end), and a picture that is on screen at
    `start` for a tenth of a second or longer; see `vttdata.media.frames_in_span.frames_shown`. The clip's bytes depend
    on the source, the span, the settings and ffmpeg's version alone, on every x86-64 processor with AVX2 (on others the
    sound, and on those with AVX-512 tone-mapped pictures, may be rounded otherwise). The file appears under its name
    only when it has been verified.

    One cut decodes the source once from the keyframe before the span to the span's end and the frames at both ends
    again, codes the span once and decodes the clip, all on one thread: about 1.1 times the CPU time of a bare
    re-encode. Where a reading does not find the frames that were measured, or the clip differs, the span is read in
    the next of the `ways_to_read`. Memory does not grow with the source, but for `times`.

    Args:
        source: a local video file.
        probe: its container's facts, by `vttdata.media.probe.probe`; names the streams to take.
        times: (n + 1,) seconds of its n frames as they were measured: when each starts, and when the last one ends;
            by `vttdata.media.measure.frame_times`.
        start: seconds since the container's start time, as `vttdata.media.decode` gives them.
        end: seconds, above `start`; what lies after the source's last frame is ignored.
        target: file to write, in an existing folder; replaced if it exists.
        settings: size, codec, quality, sound.
        seconds_limit: wall-clock limit for all of it.

    Returns:
        Facts found by decoding the clip; `video` is the name of `target`.

    Raises:
        MediaError: ``cut_failed`` (no frame in the span, nothing on screen at its start, or ffmpeg's last line),
            ``cut_mismatch`` (the clip differs from what was measured), ``timeout``, or what decoding the source raises.
        OSError: when `target` cannot be written or the disk is full.
    """
    deadline = time.monotonic() + seconds_limit
    span = frames_shown(times, start, end)
    ways = ways_to_read(probe, span)
    with partial_file(target) as partial:
        partial.touch()
        for way in ways:
            try:
                frames = read_span(source, span, way, deadline)
                if frames is not None:
                    media = _encode(source, probe, settings, partial, frames, deadline)
                    break
            except MediaError as error:
                if way is ways[-1] or error.reason == "timeout" or isinstance(error, UnavailableError):
                    raise
    return dataclasses.replace(media, video=target.name)


def _encode(
    source: Path, probe: Probe, settings: MediaSettings, partial: Path, span: SpanFrames, deadline: float
) -> ClipMedia:
    """Write the frames of a span to a partial file, and verify it."""
    command = ffmpeg_command(source, probe, settings, partial, span)
    done = run(command, seconds=max(deadline - time.monotonic(), 0))
    if done.stopped:
        raise MediaError("timeout", "ffmpeg exceeded the time limit for a cut.")
    # Where only the ends were decoded before, any message may be about a frame between them.
    if done.code or (done.stderr.strip() and span.way.ends_only):
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
        audio_seconds=verify_sound_length(partial, span.seconds, len(span.pts)) if has_sound else None,
    )


def ffmpeg_command(source: Path, probe: Probe, settings: MediaSettings, partial: Path, span: SpanFrames) -> list[str]:
    """Return the ffmpeg command that writes a clip, reading the source from where its span was read."""
    options: dict[str, Any] = SAFE_INPUT | {"threads": 1, "flags": "+bitexact", "max_pixels": max_pixels()}
    if span.way.begin is not None:
        options |= {"ss": f"{span.way.begin:.6f}", "noaccurate_seek": None}
    streams = ffmpeg.input(file_url(source), **options)
    # Frames are selected by timestamp, which is exact at any frame rate, and start at 0.
    width, height = clip_size(probe.width, probe.height, settings.height)
    pictures = (
        streams[str(probe.video_stream)]
        .filter("settb", str(span.time_base))
        .filter("trim", start_pts=span.first_pts, end_pts=span.pts[-1] + 1)
        .filter("setpts", f"max(PTS-({span.pts[0]}),0)")
    )
    if span.is_interlaced or probe.field_order in INTERLACED:
        pictures = deinterlace(pictures, span.time_base)
    if is_hdr(probe):
        pictures = tone_map(pictures.filter("scale", width, height, flags=SCALER), probe)
    else:
        pictures = pictures.filter("scale", width, height, flags=SCALER, out_range="tv").filter("format", "yuv420p")
    outputs = [pictures.filter("setsar", 1)]
    if settings.audio and probe.audio_stream is not None:
        begin, end = float(span.pts[0] * span.time_base), float(span.end_pts * span.time_base)
        sound = _shown_sound(streams[str(probe.audio_stream)], begin, end, span.seconds)
        outputs.append(sound)
    # Sets the last frame's duration, and drops x264's SEI unit (type 6) with its version and options.
    last, rest = span.pts[-1] - span.pts[0], span.end_pts - span.pts[-1]
    bitstream = rf"setts=pts=PTS:dts=DTS:duration=if(gte(PTS\,{last})\,{rest}\,DURATION)"
    encoding = _ENCODERS[settings.codec] | _ENCODING
    encoding |= {"crf": settings.quality, "enc_time_base:v": str(span.time_base)}
    encoding["bsf:v"] = f"filter_units=remove_types=6,{bitstream}" if settings.codec == "h264" else bitstream
    graph = ffmpeg.output(*outputs, file_url(partial), **encoding).overwrite_output()
    command: list[str] = graph.global_args(*_QUIET).compile(cmd=ffmpeg_path())
    return command


def _shown_sound(sound: Any, begin: float, end: float, seconds: float) -> Any:
    """Add the filters that take the sound between two timestamps of its file, in seconds, as long as the pictures.

    Its gaps are silence.
    """
    return (
        sound.filter("atrim", start=f"{begin:.6f}", end=f"{end:.6f}")
        .filter("asetpts", f"round(PTS-{begin:.6f}/TB)")
        .filter("aresample", **{"async": 1, "first_pts": 0})
        .filter("aformat", channel_layouts="mono|stereo")
        .filter("apad")
        .filter("atrim", end=f"{seconds:.6f}")
    )


def add_sound(clip: Path, source: Path, probe: Probe, begin: float, media: ClipMedia, target: Path) -> None:
    """Write a silent clip that `cut` wrote, and the sound of its source, to `target`; pictures are not coded again.

    Args:
        clip: the silent clip.
        source: a local video file with sound.
        probe: facts of the source.
        begin: timestamp of the source, in seconds, at which the clip begins.
        media: facts of the clip.
        target: file to write, in an existing folder; replaced if it exists.

    Raises:
        MediaError: ``cut_failed``, ``cut_mismatch`` where the sound is not as long as the pictures, or ``timeout``.
        OSError: when `target` cannot be written or the disk is full.
    """
    if media.seconds is None or media.frames is None:
        raise ValueError(f"{clip}: was not cut here")
    options: dict[str, Any] = SAFE_INPUT | {"threads": 1, "flags": "+bitexact"}
    sound = ffmpeg.input(file_url(source), **options)[str(probe.audio_stream)]
    sound = _shown_sound(sound, begin, begin + media.seconds, media.seconds)
    pictures = ffmpeg.input(file_url(clip), **SAFE_INPUT)["v"]
    coding = {name: value for name, value in _ENCODING.items() if name not in ("threads:v", "fps_mode")}
    with partial_file(target) as partial:
        graph = ffmpeg.output(pictures, sound, file_url(partial), **{"c:v": "copy"} | coding).overwrite_output()
        done = run(graph.global_args(*_QUIET).compile(cmd=ffmpeg_path()), seconds=600.0)
        if done.stopped or done.code:
            raise MediaError("timeout" if done.stopped else "cut_failed", "ffmpeg could not add the sound to a clip.")
        verify_sound_length(partial, media.seconds, media.frames)


def clip_size(width: int, height: int, max_height: int | None) -> tuple[int, int]:
    """Return the width and height of a clip, even and at most those of its source, all in pixels."""
    lines = max(min(max_height or height, height) // 2 * 2, 2)
    columns = round(width * lines / height / 2) * 2
    return max(min(columns, width // 2 * 2), 2), lines
