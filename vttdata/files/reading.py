"""Read files that may come from anybody: regular ones only, and those of a dataset only inside of its folder.

A pipe or a device may never end, and some special files pass for regular ones. Names and links in a dataset may say
anything.
"""

from __future__ import annotations

import errno
import hashlib
import lzma
import os
import stat
import sys
import zipfile
import zlib
from pathlib import Path, PurePosixPath, PureWindowsPath

from vttdata.errors import DescribeOSErrors, VttdataError

LINKS_OUT = "is a link that leads out of the dataset; put the file itself there"
"""Problem of a file, after its name."""

# The provenance of 100,000 inputs has 2^24 bytes, and the manifest of as many files.
_MAX_DESCRIPTION_BYTES = 2**26

# Of `zipfile` and its decompressors, for archives that are damaged.
ZIP_ERRORS = (
    *(zipfile.BadZipFile, zlib.error, lzma.LZMAError, EOFError, NotImplementedError, RuntimeError, KeyError),
    *(ValueError, OverflowError),
)


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
    with open(path, "rb", opener=_open_at_once) as stream:
        size = os.fstat(stream.fileno()).st_size
        # All that is asked for is allocated at once.
        data: bytes | None = stream.read(min(limit, size + 1))
    if data and not size:
        raise VttdataError(
            f"{path}: is not a regular file; the kernel writes it while it is read, and it may never end."
        )
    if data is None:
        raise OSError(errno.EAGAIN, "it waits for content", str(path))
    return data


def _open_at_once(path: str, flags: int) -> int:
    """Open a file without waiting, such as for the other end of a pipe; Windows has no such files in folders."""
    if sys.platform != "win32":
        flags |= os.O_NONBLOCK
    return os.open(path, flags)


def is_inside(name: str) -> bool:
    """Return whether a path from an untrusted file stays inside the folder that it starts from, links aside.

    Windows also has drives, and backslashes that divide folders.
    """
    path = PureWindowsPath(name) if sys.platform == "win32" else PurePosixPath(name)
    return not path.drive and not path.root and ".." not in path.parts


def links_out(dataset: Path, path: Path) -> bool:
    """Return whether a file of a dataset is a link, or in a linked folder, that leads out of the dataset.

    In the Hub's cache every file is a link to a blob beside the snapshots.
    """
    target = path.resolve()
    roots = [dataset.resolve()]
    if dataset.parent.name == "snapshots":
        roots.append((dataset.parent.parent / "blobs").resolve())
    return not any(target.is_relative_to(root) for root in roots)


def read_description(dataset: Path, name: str) -> bytes:
    """Return the content of a file that describes a dataset, such as its card.

    Raises:
        VttdataError: If it cannot be read, is a link that leads out of the dataset, or is too large.
    """
    path = dataset / name
    with DescribeOSErrors(f"{path}: cannot be read"):
        if links_out(dataset, path):
            raise VttdataError(f"{path}: {LINKS_OUT}.")
        data = read_regular(path, _MAX_DESCRIPTION_BYTES + 1)
    if len(data) > _MAX_DESCRIPTION_BYTES:
        raise VttdataError(f"{path}: is larger than {_MAX_DESCRIPTION_BYTES} bytes, the limit for such a file.")
    return data


def file_sha256(path: Path) -> str:
    """Return the SHA-256 of a file in hexadecimal digits."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()
