"""Replace a folder as a whole, and bring media files into it without copying them where possible."""

from __future__ import annotations

import contextlib
import shutil
from collections.abc import Iterator
from pathlib import Path

from vttdata.dataset.manifest import MANIFEST
from vttdata.errors import DescribeOSErrors, VttdataError
from vttdata.files.file_lock import LockHeldError, hold_lock
from vttdata.files.output_file import link_file
from vttdata.files.reading import file_sha256


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
        VttdataError: If `folder` holds something else, which is left alone, or another process is replacing it.
    """
    folder = folder.resolve()
    partial, old = (folder.with_name(f".{folder.name}.{suffix}") for suffix in ("partial", "old"))
    is_replaceable = folder.is_dir() and ((folder / marker).is_file() or not any(folder.iterdir()))
    if folder.exists() and not is_replaceable:
        raise VttdataError(f"{folder}: is not {what} of vttdata and is not replaced; choose another folder.")
    folder.parent.mkdir(parents=True, exist_ok=True)
    with contextlib.ExitStack() as stack:
        try:
            stack.enter_context(hold_lock(folder.with_name(f".{folder.name}.lock"), temporary=True))
        except LockHeldError as error:
            raise VttdataError(
                f"{folder}: another command is writing it; wait for it or choose another folder."
            ) from error
        if old.exists() and not folder.exists():
            old.rename(folder)
        # What a process that was killed has left.
        for path in (old, partial):
            shutil.rmtree(path, ignore_errors=True)
        try:
            partial.mkdir()
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
    with DescribeOSErrors(f"{original}: the clip's file cannot be read"):
        found = file_sha256(original)
    if found != sha256:
        raise VttdataError(f"{original}: the clip's content has changed; delete the file and build again.")
    link_file(original, target)
