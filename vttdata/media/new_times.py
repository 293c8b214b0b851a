"""Copy of a video with new times, for files whose times go back, such as transport streams joined end to end."""

from __future__ import annotations

from pathlib import Path

from vttdata.errors import MediaError
from vttdata.media.ffmpeg_program import SAFE_INPUT, ffmpeg_path, file_url
from vttdata.partial_file import partial_file
from vttdata.records import Probe
from vttdata.subprocesses import run


def copy_with_new_times(source: Path, probe: Probe, target: Path, seconds: float) -> None:
    """Write the used streams of a file to an MP4 file, each part that begins anew after the part before it.

    Packets are copied, so that the pictures are those of the source. `seconds` is a wall-clock limit.

    Raises:
        MediaError: ``timestamps`` when ffmpeg cannot do that, or ``timeout``.
        OSError: when `target` cannot be written.
    """
    options = [part for name, value in SAFE_INPUT.items() for part in (f"-{name}", value)]
    used = [index for index in (probe.video_stream, probe.audio_stream) if index is not None]
    streams = [part for index in used for part in ("-map", f"0:{index}")]
    with partial_file(target) as partial:
        command = [ffmpeg_path(), "-v", "error", "-y", *options, "-i", file_url(source), *streams]
        command += ["-c", "copy", "-map_metadata", "-1", "-fflags", "+bitexact", "-f", "mp4", file_url(partial)]
        done = run(command, seconds=seconds)
        if done.stopped:
            raise MediaError("timeout", "ffmpeg exceeded the time limit for a copy with new times.")
        if done.code:
            raise MediaError("timestamps", "the file's times go back, and ffmpeg cannot copy it with new ones.")
