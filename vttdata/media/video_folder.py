"""Find the video files of a folder by their ids."""

from __future__ import annotations

import filecmp
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
        VttdataError: when it is not a folder, or two files that differ are called like one wanted id.
    """
    if not folder.is_dir():
        raise VttdataError(f"{folder}: not a folder of videos.")
    wanted = None if video_ids is None else set(video_ids)
    files: dict[str, Path] = {}
    for path in sorted(folder.rglob("*")):
        is_wanted = wanted is None or path.stem in wanted
        if not is_wanted or path.suffix.lower() not in VIDEO_EXTENSIONS or not path.is_file():
            continue
        other = files.get(path.stem)
        # A build has its clips in the dataset, too.
        if other is not None and not other.samefile(path) and not filecmp.cmp(other, path, shallow=False):
            raise VttdataError(f"{folder}: two videos are called {path.stem!a}: {other} and {path}.")
        files[path.stem] = path
    return files
