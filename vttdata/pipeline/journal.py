"""Log of a build folder, and the lock that lets only one build work in it."""

from __future__ import annotations

import contextlib
import errno
import json
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from vttdata.errors import VttdataError
from vttdata.files.file_lock import LockHeldError, LockOwner, hold_lock, is_held, named_owner, read_owner

# File that a build holds locked; it stays when the build ends.
LOCK = ".lock"
JOURNAL = "journal.jsonl"

# File that names the process of the build, and stands for the lock on a disk without locks.
LOCK_OWNER = ".lock.owner"

# Beginning of the names of files that shards hold locked.
SHARD_LOCK = ".lock.shard-"


class Journal:
    """Append-only log with a JSON object on each line; for people, and never read back to decide anything."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def note(self, event: str, **facts: Any) -> None:
        """Add an event with the current time."""
        line = {"time": datetime.now(UTC).isoformat(timespec="milliseconds"), "event": event, **facts}
        with self._path.open("a", encoding="utf-8", newline="\n") as stream:
            stream.write(json.dumps(line) + "\n")


@contextmanager
def locked(folder: Path, *, shared: bool = False) -> Iterator[None]:
    """Hold the lock of a build folder; it is released when the process ends, however it ends.

    On a disk without locks, a file names the process that is at work. Shards, which ask for a shared lock, do without
    it there: they write nothing that another process writes, and the lock only keeps builds and merges away from them.

    Raises:
        VttdataError: when another build holds it.
    """
    with contextlib.ExitStack() as stack:
        try:
            (_hold_as_shard if shared else _hold_as_build)(folder, stack)
        except LockHeldError as error:
            owner = read_owner(folder / LOCK_OWNER) or LockOwner()
            raise _at_work(folder, f"another build ({owner})") from error
        yield


def _at_work(folder: Path, holder: str) -> VttdataError:
    return VttdataError(f"{folder}: {holder} is at work here; wait for it.")


def _hold_as_build(folder: Path, stack: contextlib.ExitStack) -> None:
    """Hold the lock that keeps all others away, once it is known that no shard is at work."""
    owner = folder / LOCK_OWNER
    try:
        stack.enter_context(hold_lock(folder / LOCK))
        for path in folder.glob(f"{SHARD_LOCK}*"):
            if is_held(path):
                raise _at_work(folder, "a shard of the build")
            path.unlink(missing_ok=True)
        # That of a build that was killed.
        owner.unlink(missing_ok=True)
    except OSError as error:
        if error.errno != errno.ENOLCK:
            raise
    try:
        stack.enter_context(named_owner(owner))
    except FileExistsError as error:
        present = read_owner(owner) or LockOwner()
        raise VttdataError(
            f"{folder}: another build ({present} on {present.host}) is at work here, or was killed: file locks do not "
            f"work on this disk; if that build has ended, delete {owner}."
        ) from error


def _hold_as_shard(folder: Path, stack: contextlib.ExitStack) -> None:
    """Hold a lock of this process alone, which builds and merges look for, once it is known that none is at work."""
    lock = folder / LOCK
    try:
        stack.enter_context(hold_lock(folder / f"{SHARD_LOCK}{secrets.token_hex(8)}", temporary=True))
        if is_held(lock):
            raise LockHeldError(str(lock))
    except OSError as error:
        if error.errno != errno.ENOLCK:
            raise


def write_json(path: Path, value: Any) -> None:
    """Write a JSON file in one step, so that a reader sees the old content or the new one."""
    temporary = path.with_name(path.name + ".tmp")
    temporary.write_text(json.dumps(value, indent=2, ensure_ascii=False) + "\n", encoding="utf-8", newline="\n")
    temporary.replace(path)
