"""Replace a folder as a whole, and bring media files into it without copying them where possible."""

from __future__ import annotations

import contextlib
import shutil
from collections.abc import Iterator
from pathlib import Path

from vttdata.dataset.manifest import MANIFEST, read_dataset_manifest
from vttdata.errors import DISK_ERRORS, DescribeOSErrors, VttdataError
from vttdata.files.file_lock import LockHeldError, hold_lock
from vttdata.files.output_file import link_file
from vttdata.files.own_folder import FolderKind, check_own
from vttdata.files.reading import file_sha256


def _dataset_names(folder: Path) -> frozenset[str]:
    manifest = read_dataset_manifest(folder)
    # Manifests of other programs have no files with checksums and a version.
    return frozenset({MANIFEST, *manifest["files"]} if manifest["version"] and manifest["files"] else ())


DATASET = FolderKind("a dataset", MANIFEST, _dataset_names)


@contextlib.contextmanager
def replace_folder(folder: Path, kind: FolderKind = DATASET) -> Iterator[Path]:
    """Yield an empty folder that takes the place of `folder` after the block, or is removed after an error.

    The new folder is filled beside the old one and then put in its place by two renames. If the process is killed
    between them, the next call first restores the old folder.

    Args:
        folder: Folder to replace; missing and empty ones are fine.
        kind: What the folder is replaced by, and may hold.

    Raises:
        VttdataError: If `folder` holds something else, which is left alone, or another process is replacing it.
    """
    folder = folder.resolve()
    partial, old = _beside(folder)
    check_own(folder, kind)
    folder.parent.mkdir(parents=True, exist_ok=True)
    with _locked(folder):
        _clear(folder)
        try:
            partial.mkdir()
            yield partial
        except BaseException as error:
            shutil.rmtree(partial, ignore_errors=True)
            # A write to a full disk names no file.
            if isinstance(error, OSError) and error.errno in DISK_ERRORS and error.filename is None:
                raise OSError(error.errno, error.strerror, str(folder)) from error
            raise
        if folder.exists():
            folder.rename(old)
        partial.rename(folder)
        shutil.rmtree(old, ignore_errors=True)


def restore_folder(folder: Path) -> None:
    """Put a folder back that a process which was killed while it replaced it took away, and remove what it left.

    Raises:
        VttdataError: If another process is replacing it.
    """
    folder = folder.resolve()
    if any(path.exists() for path in _beside(folder)):
        with _locked(folder):
            _clear(folder)


def _clear(folder: Path) -> None:
    partial, old = _beside(folder)
    if old.exists() and not folder.exists():
        old.rename(folder)
    for path in (old, partial):
        shutil.rmtree(path, ignore_errors=True)


def _beside(folder: Path) -> tuple[Path, Path]:
    """Return where a folder is filled that replaces another one, and where that one goes meanwhile."""
    return folder.with_name(f".{folder.name}.vttdata-partial"), folder.with_name(f".{folder.name}.vttdata-old")


@contextlib.contextmanager
def _locked(folder: Path) -> Iterator[None]:
    with contextlib.ExitStack() as stack:
        try:
            stack.enter_context(hold_lock(folder.with_name(f".{folder.name}.lock"), temporary=True))
        except LockHeldError as error:
            raise VttdataError(
                f"{folder}: another command is writing it; wait for it or choose another folder{error.advice}."
            ) from error
        yield


def link_or_copy(original: Path, target: Path, sha256: str) -> None:
    """Hard-link a clip's file, or copy it where links are not possible.

    Raises:
        VttdataError: If it is missing or its content has changed.
        OSError: If it cannot be written, for example since the disk is full.
    """
    with DescribeOSErrors(f"{original}: the clip's file cannot be read"):
        found = file_sha256(original)
    if found != sha256:
        raise VttdataError(f"{original}: the clip's content has changed; build again.")
    link_file(original, target)
