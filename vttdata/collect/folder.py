"""Lists the video files of a folder. Opens none of them: what they are is found out later."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from vttdata.errors import VttdataError
from vttdata.records import Candidate

_VIDEO_NAMES = (
    "mp4 m4v mov qt 3gp 3g2 f4v flv mkv webm avi divx asf wmv ogv ogm rm rmvb mxf nut gif "
    "ts mts m2ts mpg mpeg mpe m1v m2v vob ivf y4m"
)
EXTENSIONS = frozenset(f".{name}" for name in _VIDEO_NAMES.split())
"""File name extensions that are taken for videos, whatever their case."""


def list_folder(folder: Path) -> Iterator[Candidate]:
    """Yield every video file below `folder`, sorted by its path.

    Hidden files and folders are left out, and so is every file without a video's extension. Links are followed; a
    folder that is reached twice is listed once. A name that promises a video but leads nowhere is yielded too, for
    the failure to be recorded with the others.

    Args:
        folder: where to look.

    Returns:
        Candidates of kind ``file``: `locator` is the path below `folder` with forward slashes, `title` the file's
        name without extension, `stamp` its size and modification time.

    Raises:
        VttdataError: when `folder` or a folder in it cannot be read, when a video's path is not valid UTF-8 and so
            fits into no table, or when there is no video.
    """
    others = 0
    empty = True
    for path in _files(str(folder)):
        if os.path.splitext(path)[1].lower() not in EXTENSIONS:
            others += 1
            continue
        empty = False
        yield _candidate(folder, os.path.relpath(path, folder))
    if empty:
        known = " ".join(sorted(EXTENSIONS))
        raise VttdataError(f"{folder}: no video among {others} files; video names end in one of {known}.")


def file_stamp(path: Path) -> str:
    """A short text that changes when a file does: size and modification time, or ``missing``."""
    try:
        status = path.stat()
    except OSError:
        return "missing"
    return f"{status.st_size}-{status.st_mtime_ns}"


def _candidate(folder: Path, name: str) -> Candidate:
    try:
        name.encode()
    except UnicodeEncodeError as error:
        raise VttdataError(f"{folder}: the file name {os.fsencode(name)!r} is not valid UTF-8; rename it.") from error
    path = Path(name)
    return Candidate(kind="file", locator=path.as_posix(), title=path.stem, stamp=file_stamp(folder / path))


def _files(root: str) -> Iterator[str]:
    """All files below `root` that are not hidden, in the order of their paths; each real folder is entered once."""
    seen: set[tuple[int, int]] = set()
    pending = [(root, True)]
    while pending:
        path, is_folder = pending.pop()
        if not is_folder:
            yield path
            continue
        try:
            status = os.stat(path)
            entries = _entries(path)
        except OSError as error:
            raise VttdataError(f"{path}: the folder cannot be read ({error.strerror or error}).") from error
        if (status.st_dev, status.st_ino) not in seen:
            seen.add((status.st_dev, status.st_ino))
            pending += reversed(entries)


def _entries(folder: str) -> list[tuple[str, bool]]:
    """What is visible in a folder, sorted, each with whether it is a folder or a link to one."""
    with os.scandir(folder) as found:
        visible = [entry for entry in found if not entry.name.startswith(".")]
    listed = [(entry.path, os.path.isdir(entry) if entry.is_symlink() else entry.is_dir()) for entry in visible]
    return sorted(listed, key=lambda item: item[0] + "/" * item[1])
