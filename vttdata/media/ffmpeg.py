"""Finds the ffmpeg program and gives the options under which hostile files are opened. Knows no codec settings."""

from __future__ import annotations

import functools
import os
import re
import shutil
import subprocess
from pathlib import Path

from vttdata.errors import VttdataError

DEMUXERS = (
    "mov,mp4,m4a,3gp,3g2,mj2,matroska,webm,avi,flv,live_flv,mpegts,mpeg,mpegvideo,asf,ogg,mxf,rm,gif,ivf,nut,"
    "h264,hevc,m4v,dv,wtv,vob,obu,av1,yuv4mpegpipe,swf,nsv,vc1,dirac"
)
"""Containers that hold media and nothing else: no playlist or script format that could name other files or hosts."""

SAFE_INPUT = {"protocol_whitelist": "file", "format_whitelist": DEMUXERS}
"""Demuxer options for any file that is not ours, for PyAV and the program alike."""


def file_url(path: Path) -> str:
    """A path as ffmpeg must see it: whatever characters it holds, it is opened as a local file."""
    return "file:" + os.path.abspath(path)


@functools.cache
def ffmpeg_path() -> str:
    """The ffmpeg program: ``VTTDATA_FFMPEG``, else the one on the PATH, else the static one from ``imageio-ffmpeg``.

    Raises:
        VttdataError: when there is none.
    """
    wanted = os.environ.get("VTTDATA_FFMPEG")
    chosen = shutil.which(wanted or "ffmpeg")
    if wanted and not chosen:
        raise VttdataError(f"VTTDATA_FFMPEG is '{wanted}', which is no program that can be run.")
    if chosen:
        return chosen
    try:
        import imageio_ffmpeg

        return str(imageio_ffmpeg.get_ffmpeg_exe())
    except (ImportError, RuntimeError) as error:
        raise VttdataError("No ffmpeg was found: install it, or `pip install 'vttdata[build]'`.") from error


@functools.cache
def ffmpeg_version() -> str:
    """The version that the ffmpeg program states, for provenance."""
    done = subprocess.run([ffmpeg_path(), "-version"], capture_output=True, text=True, timeout=30, check=False)
    match = re.match(r"ffmpeg version (\S+)", done.stdout)
    return match.group(1) if match else "unknown"
