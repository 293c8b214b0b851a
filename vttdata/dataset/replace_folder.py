"""Replaces a folder of ours as a whole, and brings media files into it without copying them where that is possible."""

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
    """A new folder to fill, which takes the place of `folder` at the end, or vanishes after an error.

    The new one is filled beside the old one and then put in its place by two renames. Killed between them, the
    next call first puts the old one back.

    Args:
        folder: where the new one goes.
        marker: the file by which one of ours is known.
        what: the name of such a folder.

    Raises:
        VttdataError: when `folder` holds something else; it is left alone.
    """
    folder = folder.resolve()
    partial, old = (folder.with_name(f".{folder.name}.{suffix}") for suffix in ("partial", "old"))
    _recover(folder, old)
    if folder.exists() and not _is_ours(folder, marker):
        raise VttdataError(f"{folder}: holds something else than {what} of vttdata, and will not be replaced.")
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


def _recover(folder: Path, old: Path) -> None:
    if old.exists() and not folder.exists():
        old.rename(folder)
    shutil.rmtree(old, ignore_errors=True)


def _is_ours(folder: Path, marker: str) -> bool:
    return folder.is_dir() and ((folder / marker).is_file() or not any(folder.iterdir()))


def link_or_copy(original: Path, target: Path, sha256: str) -> None:
    """Hard-link a file, or copy it where links are not possible.

    Raises:
        VttdataError: when it is not there or its content has changed.
        OSError: when it cannot be written, such as on a full disk.
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
