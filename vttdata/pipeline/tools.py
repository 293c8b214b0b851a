"""Versions of the programs and libraries that decide, with the recipe, what a build gives."""

from __future__ import annotations

import functools
import importlib.metadata

from vttdata.media.ffmpeg_program import ffmpeg_version

_LIBRARIES = ("av", "datasets", "numpy", "pyarrow", "yt-dlp")


@functools.cache
def tool_versions() -> dict[str, str]:
    """Return the version of each by its name."""
    return {"ffmpeg": ffmpeg_version()} | {name: importlib.metadata.version(name) for name in _LIBRARIES}
