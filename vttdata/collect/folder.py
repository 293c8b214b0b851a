"""List the video files of a folder by their names, without opening them."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from vttdata.errors import DescribeOSErrors, VttdataError
from vttdata.ids import VIDEO_EXTENSIONS
from vttdata.records import Candidate

MISSING = "missing"
"""Stamp of a file that is not there or cannot be looked at."""


def list_folder(folder: Path) -> Iterator[Candidate]:
    """Yield every video file below `folder`, sorted by path.

    Hidden files and folders are left out, and so is every file without a video's extension. Links are followed; a
    folder that is reached twice is listed once. A dangling link with a video's name is yielded too, so that its failure
    is recorded with the others.

    Returns:
        Candidates of kind ``file``: `locator` is the path below `folder` with forward slashes, `title` the file's
        name without extension, `stamp` its size and modification time.

    Raises:
        VttdataError: if `folder` or a subfolder cannot be read, a video's path is not valid UTF-8 and therefore cannot
            be stored in a table, or there is no video.
    """
    videos = others = 0
    for path in _walk(str(folder)):
        if os.path.splitext(path)[1].lower() not in VIDEO_EXTENSIONS:
            others += 1
            continue
        videos += 1
        relative = os.path.relpath(path, folder)
        try:
            relative.encode()
        except UnicodeEncodeError as error:
            raise VttdataError(
                f"{folder}: the file name {os.fsencode(relative)!r} is not valid UTF-8; rename it."
            ) from error
        locator = Path(relative)
        yield Candidate(kind="file", locator=locator.as_posix(), title=locator.stem, stamp=file_stamp(folder / locator))
    if not videos:
        extensions = " ".join(sorted(VIDEO_EXTENSIONS))
        raise VttdataError(f"{folder}: no video among {others} files; video names end in one of {extensions}.")


def file_stamp(path: Path) -> str:
    """Return a short text that changes when a file does: size and modification time, or `MISSING`."""
    try:
        status = path.stat()
    except OSError:
        return MISSING
    return f"{status.st_size}-{status.st_mtime_ns}"


def _walk(root: str) -> Iterator[str]:
    """Yield all files below `root` that are not hidden, in the order of their paths, entering each folder once."""
    entered: set[tuple[int, int]] = set()
    # An explicit stack, because folders may be nested more deeply than Python recurses.
    pending = [(root, True)]
    while pending:
        path, is_folder = pending.pop()
        if not is_folder:
            yield path
            continue
        with DescribeOSErrors(f"{path}: the folder cannot be read"):
            status = os.stat(path)
            with os.scandir(path) as scan:
                visible = [entry for entry in scan if not entry.name.startswith(".")]
            entries = [(e.path, os.path.isdir(e) if e.is_symlink() else e.is_dir()) for e in visible]
        if (status.st_dev, status.st_ino) not in entered:
            entered.add((status.st_dev, status.st_ino))
            # A folder sorts as its path with a slash, which puts its files where their paths belong.
            pending += sorted(entries, key=lambda entry: entry[0] + "/" * entry[1], reverse=True)
