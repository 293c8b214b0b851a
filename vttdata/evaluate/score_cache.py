"""Keep arrays in files that are named by content, so that what is costly is computed once.

A file that is missing or damaged, and a disk that is full or read-only, only mean that it is computed again.
"""

from __future__ import annotations

import contextlib
import os
import struct
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from vttdata.files.reading import ZIP_ERRORS

T = TypeVar("T")

# Of all files in a folder; those that were not used for longest are deleted.
MAX_BYTES = 2**30
_SUFFIX = ".npz"


def read_arrays(folder: Path | None, name: str, decode: Callable[[Mapping[str, NDArray[Any]]], T]) -> T | None:
    """Return what was kept under a name, None if there is nothing or its file is damaged.

    Args:
        folder: of the files; None where nothing is kept.
        name: of the arrays.
        decode: makes the result of the arrays; a KeyError or ValueError means that they are damaged.
    """
    if folder is None:
        return None
    path = folder / f"{name}{_SUFFIX}"
    try:
        with np.load(path, allow_pickle=False) as file:
            result = decode(dict(file))
        os.utime(path)
    except (OSError, struct.error, *ZIP_ERRORS):
        return None
    return result


def keep_arrays(folder: Path | None, name: str, arrays: Mapping[str, NDArray[Any]]) -> None:
    """Write arrays to the file of a name in one step, and delete the oldest files if all are too large."""
    if folder is None:
        return
    with contextlib.suppress(OSError):
        folder.mkdir(parents=True, exist_ok=True)
        handle, temporary = tempfile.mkstemp(dir=folder, suffix=".part")
        try:
            with os.fdopen(handle, "wb") as stream:
                np.savez(stream, allow_pickle=False, **arrays)
            os.replace(temporary, folder / f"{name}{_SUFFIX}")
        except OSError:
            os.unlink(temporary)
            raise
        sizes = {path: path.stat() for path in folder.glob(f"*{_SUFFIX}")}
        total = sum(status.st_size for status in sizes.values())
        for path in sorted(sizes, key=lambda path: sizes[path].st_mtime):
            if total <= MAX_BYTES:
                break
            total -= sizes[path].st_size
            path.unlink(missing_ok=True)
