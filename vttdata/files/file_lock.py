"""Locks between processes: files that one process holds, and that the system releases however that process ends.

On disks without locks (ENOLCK), a file beside the lock's names the process at work, and stands for the lock. Beside the
lock of long work it lies on any disk: for messages, and for readers that may not write.
"""

from __future__ import annotations

import contextlib
import errno
import json
import os
import secrets
import socket
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from filelock import FileLock, Timeout

from vttdata.errors import VttdataError

# Whoever looks whether a lock is held holds it for a moment, which must not keep anybody from work.
_PATIENCE_SECONDS = 0.5
# People of one group may share a folder.
_MODE = 0o664


class LockHeldError(Exception):
    """Lock that another process holds.

    Fields:
        owner: the process, as far as it is known.
        advice: the end of a sentence on what to do, ``; ...``, where locks do not work; empty where they do.
    """

    def __init__(self, path: Path, *, advice: str = "") -> None:
        super().__init__(str(path))
        self.owner = read_owner(_owner_file(path)) or LockOwner()
        self.advice = advice


@contextlib.contextmanager
def hold_lock(path: Path, *, temporary: bool = False, named: bool = False) -> Iterator[None]:
    """Hold the lock of a file, which is created if need be.

    The file of a `temporary` lock is removed at the end. Beside a `named` one lies the file that names this process.

    Raises:
        LockHeldError: when another process holds it.
        OSError: when the file cannot be written.
    """
    owner, has_locks = _owner_file(path), True
    with contextlib.ExitStack() as stack:
        try:
            stack.enter_context(_system_lock(path, temporary=temporary))
        except OSError as error:
            if error.errno != errno.ENOLCK:
                raise
            has_locks = False
            if temporary:
                path.unlink(missing_ok=True)
        if named and has_locks:
            # That of a process that was killed.
            owner.unlink(missing_ok=True)
        if named or not has_locks:
            try:
                stack.enter_context(named_owner(owner))
            except FileExistsError as error:
                advice = f"; file locks do not work on this disk: if that process has ended, delete {owner}"
                raise LockHeldError(path, advice=advice) from error
        yield


@contextlib.contextmanager
def _system_lock(path: Path, *, temporary: bool = False) -> Iterator[None]:
    """Hold a lock as `hold_lock` does; OSError with ENOLCK on a disk without locks."""
    lock = FileLock(path, timeout=_PATIENCE_SECONDS, mode=_MODE, thread_local=False)
    try:
        lock.acquire()
    except (OSError, NotImplementedError) as error:
        # Versions of the library differ in what they raise where locks do not work, and some say that it is held.
        if _lacks_locks(path):
            raise OSError(errno.ENOLCK, os.strerror(errno.ENOLCK), str(path)) from error
        if isinstance(error, Timeout | FileNotFoundError) and path.parent.is_dir():
            raise LockHeldError(path) from error
        raise
    try:
        if temporary and not path.exists():
            # Its former holder has removed it after this process opened it.
            raise LockHeldError(path)
        yield
    finally:
        if temporary:
            # Windows removes no open file, and `filelock` does so there when it has closed it.
            with contextlib.suppress(OSError):
                path.unlink()
        lock.release()


@contextlib.contextmanager
def wait_for_lock(
    path: Path, on_wait: Callable[[], None], seconds: float, *, temporary: bool = True, named: bool = False
) -> Iterator[None]:
    """Hold a lock as `hold_lock` does; while another process holds it, wait at most so long.

    `on_wait` is called once when there is something to wait for.

    Raises:
        VttdataError: when it is still held.
        OSError: when the file cannot be written.
    """
    until, has_waited = time.monotonic() + seconds, False
    with contextlib.ExitStack() as stack:
        while True:
            try:
                stack.enter_context(hold_lock(path, temporary=temporary, named=named))
                break
            except LockHeldError as error:
                if time.monotonic() >= until:
                    raise VttdataError(
                        f"{path}: another process has held this lock for {seconds:g} s; wait for it{error.advice}."
                    ) from error
            if not has_waited:
                has_waited = True
                on_wait()
            time.sleep(_PATIENCE_SECONDS)
        yield


def is_held(path: Path) -> bool:
    """Return whether a process holds the `named` lock of a file, which need not be there."""
    if not path.exists():
        return False
    try:
        with _system_lock(path):
            return False
    except LockHeldError:
        return True
    except OSError:
        # Who may not write there, or has a disk without locks, is told by the file that names the process.
        owner = read_owner(_owner_file(path))
        return owner is not None and not owner.has_ended()


def _owner_file(path: Path) -> Path:
    return path.with_name(f"{path.name}.owner")


def _lacks_locks(beside: Path) -> bool:
    """Return whether even a new file, of which nobody else knows, cannot be locked beside another."""
    path = beside.with_name(f"{beside.name}.{secrets.token_hex(8)}")
    try:
        with FileLock(path, timeout=0):
            return False
    except (Timeout, NotImplementedError):
        return True
    except OSError as error:
        return error.errno in (errno.ENOLCK, errno.ENOSYS, errno.ENOTSUP, errno.EOPNOTSUPP, errno.EINVAL)
    finally:
        with contextlib.suppress(OSError):
            path.unlink()


@dataclass(frozen=True, slots=True)
class LockOwner:
    """Process that holds a lock or held it when it was killed, and the machine it runs on."""

    host: str = "another machine"
    process: int | None = None

    def has_ended(self) -> bool:
        """Return whether the process is known to have ended, which can be said on its own machine only."""
        return self.process is not None and self.host == socket.gethostname() and not _may_run(self.process)

    def __str__(self) -> str:
        process = f"process {'unknown' if self.process is None else self.process}"
        return process if self.host == socket.gethostname() else f"{process} on {self.host}"


@contextlib.contextmanager
def named_owner(path: Path) -> Iterator[None]:
    """Create a file that names this process, and remove it at the end.

    Raises:
        FileExistsError: when it is there, unless its process ran on this machine and has ended.
    """
    for _ in range(2):
        try:
            with path.open("x", encoding="utf-8", newline="\n") as stream:
                json.dump([socket.gethostname(), os.getpid()], stream)
            break
        except FileExistsError:
            owner = read_owner(path)
            if owner is not None and not owner.has_ended():
                raise
            path.unlink(missing_ok=True)
    else:
        raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), str(path))
    try:
        yield
    finally:
        path.unlink(missing_ok=True)


def read_owner(path: Path) -> LockOwner | None:
    """Return the process that a file names, of which nothing is known if it is damaged; None without the file."""
    try:
        host, process = json.loads(path.read_text(encoding="utf-8"))
        return LockOwner(str(host), int(process))
    except FileNotFoundError:
        return None
    except (OSError, ValueError, TypeError):
        return LockOwner()


def _may_run(process: int) -> bool:
    """Return whether a process of this machine may be running, by its id."""
    if sys.platform == "win32":
        # There the call below ends a process instead of looking for it.
        return True
    try:
        os.kill(process, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except PermissionError:
        return True
    return True
