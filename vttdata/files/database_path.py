"""Refuse folders whose paths are too long for the databases that will be in them."""

from __future__ import annotations

import os
from pathlib import Path

from vttdata.errors import VttdataError

# SQLite takes paths of 511 bytes, of which the names of databases and their journals need some.
_MAX_BYTES = 470


def check_database_path(folder: Path, *, below: int = 0) -> None:
    """Check that SQLite can open a database in a folder, or in one whose name needs so many more bytes `below` it.

    Raises:
        VttdataError: when the path, with all links resolved, is too long.
    """
    length = len(os.fsencode(folder.resolve()))
    limit = _MAX_BYTES - below
    if length > limit:
        raise VttdataError(
            f"{folder}: this path has {length:,} bytes, and databases in it need one of at most {limit}; choose "
            "another folder."
        )
