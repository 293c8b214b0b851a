"""Read regular files only: a pipe or a device may never end, and some special files pass for regular ones."""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path

from vttdata.errors import VttdataError


def refuse_special(path: Path) -> None:
    """Raise a VttdataError for a pipe, a device or a socket; an OSError for what is not there."""
    mode = path.stat().st_mode
    if not stat.S_ISREG(mode) and not stat.S_ISDIR(mode):
        raise VttdataError(f"{path}: is not a regular file; a pipe or a device may never end.")


def read_regular(path: Path, limit: int) -> bytes:
    """Return the first bytes of a regular file, at most `limit`.

    Raises:
        OSError: if it cannot be read, or has nothing to read yet.
        VttdataError: if it is a pipe, a device or a socket, or, like ``/proc/kmsg``, passes for a regular file and has
            content without a length.
    """
    refuse_special(path)
    with open(path, "rb", opener=lambda name, flags: os.open(name, flags | os.O_NONBLOCK)) as stream:
        data: bytes | None = stream.read(limit)
        has_length = os.fstat(stream.fileno()).st_size > 0
    if data and not has_length:
        raise VttdataError(
            f"{path}: is not a regular file; the kernel writes it while it is read, and it may never end."
        )
    if data is None:
        raise OSError(errno.EAGAIN, "it waits for content", str(path))
    return data
