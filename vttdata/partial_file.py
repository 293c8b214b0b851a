"""Write a file in one step: it is whole, or not there."""

from __future__ import annotations

import contextlib
import glob
import os
import secrets
from collections.abc import Iterator
from pathlib import Path


@contextlib.contextmanager
def partial_file(path: Path) -> Iterator[Path]:
    """Yield a path beside a file, which takes the file's place after the block; an error leaves nothing of it.

    Raises:
        OSError: when it cannot take that place.
    """
    # Two processes that write the same file must not write into one.
    partial = path.with_name(f"{_beginning(path)}{secrets.token_hex(4)}.part")
    try:
        yield partial
        os.replace(partial, path)
    finally:
        partial.unlink(missing_ok=True)


def remove_partial_files(path: Path) -> None:
    """Remove what writes of a file left that were killed.

    Raises:
        OSError: when it cannot be removed.
    """
    for partial in path.parent.glob(f"{glob.escape(_beginning(path))}*.part"):
        partial.unlink(missing_ok=True)


def _beginning(path: Path) -> str:
    # Of a long name a part is left out.
    return f".{os.fsencode(path.name)[:100].decode('utf-8', 'ignore')}."
