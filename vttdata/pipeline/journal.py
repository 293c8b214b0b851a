"""Log of a build folder, and the lock that lets only one build work in it."""

from __future__ import annotations

import contextlib
import errno
import fcntl
import json
import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import IO, Any

from vttdata.errors import VttdataError

# File that a build holds locked; it stays when the build ends.
LOCK = ".lock"
JOURNAL = "journal.jsonl"

# File that stands for the lock on a disk without locks.
LOCK_OWNER = ".lock.owner"


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
def locked(folder: Path, *, shared: bool = False) -> Iterator[None]:
    """Hold the lock of a build folder; the kernel releases it when the process ends, however it ends.

    On a disk without locks, a file names the process that is at work. Shards, which ask for a shared lock, do without
    it there: they write nothing that another process writes, and the lock only keeps builds and merges away from them.

    Raises:
        VttdataError: when another build holds it.
    """
    with contextlib.ExitStack() as stack:
        stream = stack.enter_context((folder / LOCK).open("a+"))
        try:
            fcntl.flock(stream, (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | fcntl.LOCK_NB)
        except OSError as error:
            if error.errno in (errno.EWOULDBLOCK, errno.EACCES):
                raise VttdataError(f"{folder}: {_lock_holder(stream)} at work here; wait for it.") from error
            if not shared:
                stack.enter_context(_held_by_file(folder / LOCK_OWNER))
        if not shared:
            stream.truncate(0)
            stream.write(str(os.getpid()))
            stream.flush()
        yield


def _lock_holder(stream: IO[str]) -> str:
    """Return who holds a lock that could not be taken, as the beginning of a sentence."""
    with contextlib.suppress(OSError):
        fcntl.flock(stream, fcntl.LOCK_SH | fcntl.LOCK_NB)
        return "a shard of the build is"
    stream.seek(0)
    return f"another build (process {stream.read().strip() or 'unknown'}) is"


@contextmanager
def _held_by_file(path: Path) -> Iterator[None]:
    """Create a file that names this process, and remove it at the end.

    Raises:
        VttdataError: when it is there, unless its process ran on this machine and has ended.
    """
    me = [socket.gethostname(), os.getpid()]
    for _ in range(2):
        try:
            with path.open("x", encoding="utf-8") as stream:
                json.dump(me, stream)
            break
        except FileExistsError as error:
            try:
                host, process = json.loads(path.read_text(encoding="utf-8"))
                is_gone = host == me[0] and not Path(f"/proc/{int(process)}").exists() and Path("/proc/self").exists()
            except (OSError, ValueError, TypeError):
                host, process, is_gone = "another machine", "unknown", False
            if not is_gone:
                raise VttdataError(
                    f"{path.parent}: another build (process {process} on {host}) is at work here, or was killed: file "
                    f"locks do not work on this disk; if that build has ended, delete {path}."
                ) from error
            path.unlink(missing_ok=True)
    else:
        raise VttdataError(f"{path.parent}: another build began at this moment; wait for it.")
    try:
        yield
    finally:
        path.unlink(missing_ok=True)


def write_json(path: Path, value: Any) -> None:
    """Write a JSON file in one step, so that a reader sees the old content or the new one."""
    temporary = path.with_name(path.name + ".tmp")
    temporary.write_text(json.dumps(value, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
    temporary.replace(path)
