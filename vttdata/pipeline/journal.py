"""Log of a build folder, and the lock that lets only one build work in it."""

from __future__ import annotations

import errno
import fcntl
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from vttdata.errors import VttdataError

# File that a build holds locked; it stays when the build ends.
LOCK = ".lock"


class Journal:
    """Append-only log with a JSON object on each line; for people, and never read back to decide anything."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def note(self, event: str, **facts: Any) -> None:
        """Add an event with the current time."""
        line = {"time": datetime.now(UTC).isoformat(timespec="milliseconds"), "event": event, **facts}
        with self._path.open("a", encoding="utf-8") as stream:
            stream.write(json.dumps(line) + "\n")


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Hold the lock of a build folder; the kernel releases it when the process ends, however it ends.

    Raises:
        VttdataError: when another build holds it, or there are no locks on this disk.
    """
    with (folder / LOCK).open("a+") as stream:
        try:
            fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            if error.errno not in (errno.EWOULDBLOCK, errno.EACCES):
                raise VttdataError(
                    f"{folder}: file locks do not work there ({error.strerror}), so that two builds could damage each "
                    "other; build on another disk with --out, or mount this one with locks."
                ) from error
            stream.seek(0)
            holder = stream.read().strip() or "unknown"
            raise VttdataError(f"{folder}: another build (process {holder}) is at work here; wait for it.") from error
        stream.truncate(0)
        stream.write(str(os.getpid()))
        stream.flush()
        yield


def write_json(path: Path, value: Any) -> None:
    """Write a JSON file in one step, so that a reader sees the old content or the new one."""
    temporary = path.with_name(path.name + ".tmp")
    temporary.write_text(json.dumps(value, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
    temporary.replace(path)
