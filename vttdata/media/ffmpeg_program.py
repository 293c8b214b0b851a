"""Choice of the ffmpeg program, and options under which hostile files are opened; knows no codec settings."""

from __future__ import annotations

import functools
import os
import re
import shutil
import subprocess
from pathlib import Path

from vttdata.errors import DescribeOSErrors, VttdataError

# Containers that hold media and nothing else: no playlist or script format that could name other files or hosts.
DEMUXERS = (
    "mov,mp4,m4a,3gp,3g2,mj2,matroska,webm,avi,flv,live_flv,mpegts,mpeg,mpegvideo,asf,ogg,mxf,rm,gif,apng,ivf,nut,"
    "h264,hevc,m4v,dv,wtv,vob,obu,av1,yuv4mpegpipe,swf,nsv,vc1,dirac"
)

SAFE_INPUT = {"protocol_whitelist": "file", "format_whitelist": DEMUXERS}
"""Demuxer options for any untrusted file, for PyAV and the ffmpeg program alike."""


def file_url(path: Path) -> str:
    """Return a path as ffmpeg must see it: whatever characters it holds, it is opened as a local file."""
    return "file:" + os.path.abspath(path)


@functools.cache
def ffmpeg_path() -> str:
    """Return the ffmpeg program: ``VTTDATA_FFMPEG``, else the one that comes with the package ``imageio-ffmpeg``.

    Raises:
        VttdataError: when ``VTTDATA_FFMPEG`` cannot be run, or there is no ffmpeg at all.
    """
    # A program on the PATH is the last resort: the bytes of clips depend on ffmpeg's version, and old ones lack options
    # that are used here (Debian 12 has 5.1).
    named = os.environ.get("VTTDATA_FFMPEG")
    if named:
        program = shutil.which(named)
        if program is None:
            raise VttdataError(f"VTTDATA_FFMPEG is '{named}', which is not an executable program.")
        return program
    try:
        import imageio_ffmpeg

        return str(imageio_ffmpeg.get_ffmpeg_exe())
    except (ImportError, RuntimeError) as error:
        program = shutil.which("ffmpeg")
        if program is None:
            raise VttdataError("No ffmpeg was found; run `pip install 'vttdata[build]'`.") from error
        return program


@functools.cache
def ffmpeg_version() -> str:
    """Return the version that the ffmpeg program states, for provenance.

    Raises:
        VttdataError: when the program does not run or states none, and no video could be cut.
    """
    with DescribeOSErrors(f"{ffmpeg_path()}: cannot be run"):
        done = subprocess.run([ffmpeg_path(), "-version"], capture_output=True, text=True, timeout=30, check=False)
    match = re.match(r"ffmpeg version (\S+)", done.stdout)
    if match is None:
        raise VttdataError(f"{ffmpeg_path()}: states no version of ffmpeg, so it is not that program or does not work.")
    return match.group(1)
