"""Find the video files of a folder by their ids."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from vttdata.errors import VttdataError
from vttdata.ids import VIDEO_EXTENSIONS


def locate_videos(folder: Path, video_ids: Iterable[str] | None = None) -> dict[str, Path]:
    """Return the video files in a folder and its subfolders by their names without extension.

    Args:
        folder: folder of videos; a dataset and a build have theirs in subfolders.
        video_ids: ids that are wanted; None for every video.

    Raises:
        VttdataError: when it is not a folder, or two files are called like one wanted id.
    """
    if not folder.is_dir():
        raise VttdataError(f"{folder}: not a folder of videos.")
    wanted = None if video_ids is None else set(video_ids)
    files: dict[str, Path] = {}
    for path in sorted(folder.rglob("*")):
        if path.suffix.lower() not in VIDEO_EXTENSIONS or (wanted is not None and path.stem not in wanted):
            continue
        if path.stem in files and files[path.stem].resolve() != path.resolve():
            raise VttdataError(f"{folder}: two videos are called {path.stem!a}: {files[path.stem]} and {path}.")
        files[path.stem] = path
    return files
