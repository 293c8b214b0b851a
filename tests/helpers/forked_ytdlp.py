"""Program of a forked process that runs yt-dlp as `vttdata.collect.ytdlp_program` does."""

from __future__ import annotations

import io
import os
import sys

import yt_dlp
import yt_dlp.extractor

from vttdata.collect.ytdlp_program import run_guarded
from vttdata.subprocesses import _prepare_program

# Extractors compile their expressions when they are asked for the first time.
for extractor in yt_dlp.extractor.gen_extractor_classes():
    extractor.suitable("http://127.0.0.1/film.mp4")


def main() -> None:
    """Run yt-dlp; the first argument is the limit of memory, the others are those of the program."""
    os.setsid()
    _prepare_program(int(sys.argv[1]))
    del sys.argv[1]
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(encoding="utf-8")
    run_guarded()
