"""Replace a folder as a whole, and bring media files into it without copying them where possible."""

from __future__ import annotations

import contextlib
import os
import shutil
from collections.abc import Iterator
from pathlib import Path

from vttdata.dataset.manifest import MANIFEST
from vttdata.dataset.shards import file_sha256
from vttdata.errors import VttdataError


@contextlib.contextmanager
def replace_folder(folder: Path, *, marker: str = MANIFEST, what: str = "a dataset") -> Iterator[Path]:
    """Yield an empty folder that takes the place of `folder` after the block, or is removed after an error.

    The new folder is filled beside the old one and then put in its place by two renames. If the process is killed
    between them, the next call first restores the old folder.

    Args:
        folder: Folder to replace; missing and empty ones are fine.
        marker: File by which a folder of this kind is recognised.
        what: Name of this kind, for messages.

    Raises:
        VttdataError: If `folder` holds something else, which is left alone.
    """
    folder = folder.resolve()
    partial, old = (folder.with_name(f".{folder.name}.{suffix}") for suffix in ("partial", "old"))
    if old.exists() and not folder.exists():
        old.rename(folder)
    shutil.rmtree(old, ignore_errors=True)
    is_replaceable = folder.is_dir() and ((folder / marker).is_file() or not any(folder.iterdir()))
    if folder.exists() and not is_replaceable:
        raise VttdataError(f"{folder}: is not {what} of vttdata and is not replaced; choose another folder.")
    shutil.rmtree(partial, ignore_errors=True)
    partial.mkdir(parents=True)
    try:
        yield partial
    except BaseException:
        shutil.rmtree(partial, ignore_errors=True)
        raise
    if folder.exists():
        folder.rename(old)
    partial.rename(folder)
    shutil.rmtree(old, ignore_errors=True)


def link_or_copy(original: Path, target: Path, sha256: str) -> None:
    """Hard-link a clip's file, or copy it where links are not possible.

    Raises:
        VttdataError: If it is missing or its content has changed.
        OSError: If it cannot be written, for example since the disk is full.
    """
    try:
        found = file_sha256(original)
    except OSError as error:
        raise VttdataError(f"{original}: the clip's file cannot be read ({error.strerror or error}).") from error
    if found != sha256:
        raise VttdataError(f"{original}: the clip's content has changed; delete the file and build again.")
    try:
        os.link(original, target)
    except OSError:
        shutil.copyfile(original, target)
