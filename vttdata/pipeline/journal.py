"""Log of a build folder, and the lock that lets only one build work in it."""

from __future__ import annotations

import contextlib
import errno
import json
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

from vttdata.errors import VttdataError
from vttdata.files.file_lock import LockHeldError, LockOwner, hold_lock, named_owner, read_owner

# File that a build holds locked; it stays when the build ends.
LOCK = ".lock"
JOURNAL = "journal.jsonl"

# File that names the process of the build, and stands for the lock on a disk without locks.
LOCK_OWNER = ".lock.owner"


class Journal:
    """Append-only log with a JSON object on each line; for people, and never read back to decide anything."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def note(self, event: str, **facts: object) -> None:
        """Add an event with the current time."""
        line = {"time": datetime.now(UTC).isoformat(timespec="milliseconds"), "event": event, **facts}
        with self._path.open("a", encoding="utf-8", newline="\n") as stream:
            stream.write(json.dumps(line) + "\n")


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Hold the lock of a build folder; it is released when the process ends, however it ends.

    On a disk without locks, a file names the process that is at work.

    Raises:
        VttdataError: when another build holds it.
    """
    owner = folder / LOCK_OWNER
    with contextlib.ExitStack() as stack:
        try:
            stack.enter_context(hold_lock(folder / LOCK))
            # That of a build that was killed.
            owner.unlink(missing_ok=True)
        except LockHeldError as error:
            present = read_owner(owner) or LockOwner()
            raise VttdataError(f"{folder}: another build ({present}) is at work here; wait for it.") from error
        except OSError as error:
            if error.errno != errno.ENOLCK:
                raise
        try:
            stack.enter_context(named_owner(owner))
        except FileExistsError as error:
            present = read_owner(owner) or LockOwner()
            raise VttdataError(
                f"{folder}: another build ({present} on {present.host}) is at work here, or was killed: file locks do "
                f"not work on this disk; if that build has ended, delete {owner}."
            ) from error
        yield


def write_json(path: Path, value: object) -> None:
    """Write a JSON file in one step, so that a reader sees the old content or the new one."""
    temporary = path.with_name(path.name + ".tmp")
    temporary.write_text(json.dumps(value, indent=2, ensure_ascii=False) + "\n", encoding="utf-8", newline="\n")
    temporary.replace(path)
