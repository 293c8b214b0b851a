"""Runs external programs, and functions of our own, with a limit on time; of programs also on what they write.

Each program gets a process group of its own, which is ended as a whole, and on Linux the kernel ends it too when
the process that started it dies. No shell is ever involved.
"""

from __future__ import annotations

import contextlib
import ctypes
import errno
import multiprocessing
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from vttdata.errors import VttdataError

_PR_SET_PDEATHSIG = 1
_LIBC = ctypes.CDLL(None, use_errno=True) if sys.platform.startswith("linux") else None
_POLL_SECONDS = 0.05
_OUTPUT_BYTES = 32 * 2**20


@dataclass(frozen=True, slots=True)
class Completed:
    """How a program ended. `stopped` says why it was killed: ``timeout``, ``too_large`` or None."""

    code: int
    stdout: str
    stderr: str
    stopped: str | None


def die_with_parent() -> None:
    """Ask the kernel to kill this process when the one that started it dies (Linux; elsewhere nothing happens)."""
    if _LIBC is not None:
        _LIBC.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)


def run(
    command: Sequence[str | os.PathLike[str]],
    *,
    seconds: float,
    folder: Path | None = None,
    max_bytes: int | None = None,
    feed: Callable[[int], None] | None = None,
) -> Completed:
    """Run `command` and wait for it, at most `seconds` of wall-clock time.

    Args:
        command: program and arguments; never a shell string.
        seconds: limit after which the whole process group is killed.
        folder: working folder of the program; with `max_bytes` it is watched, and outgrowing it ends the program.
        max_bytes: size limit for everything under `folder`.
        feed: writes the program's standard input, given a file descriptor; without it the input is empty.

    Raises:
        OSError: ENOSPC when the program says that the disk is full, whatever its exit code.
    """
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        process = subprocess.Popen(
            [os.fspath(part) for part in command],
            stdin=subprocess.PIPE if feed else subprocess.DEVNULL,
            stdout=out,
            stderr=err,
            cwd=folder,
            start_new_session=True,
            preexec_fn=die_with_parent,  # noqa: PLW1509 - one C call, no locks taken
        )
        try:
            if feed and process.stdin:
                with contextlib.suppress(BrokenPipeError):
                    feed(process.stdin.fileno())
                    process.stdin.close()
            stopped = _wait(process, seconds, folder if max_bytes else None, max_bytes or 0)
        finally:
            _kill_group(process)
        completed = Completed(process.returncode, _text(out), _text(err), stopped)
    if "No space left on device" in completed.stderr:
        raise OSError(errno.ENOSPC, f"{os.fspath(command[0])}: no space left on the disk")
    return completed


def _wait(process: subprocess.Popen[bytes], seconds: float, folder: Path | None, max_bytes: int) -> str | None:
    deadline = time.monotonic() + seconds
    while True:
        try:
            process.wait(_POLL_SECONDS if folder else max(deadline - time.monotonic(), 0))
            return None
        except subprocess.TimeoutExpired:
            if time.monotonic() >= deadline:
                return "timeout"
            if folder and folder_bytes(folder) > max_bytes:
                return "too_large"


def _kill_group(process: subprocess.Popen[bytes]) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def _text(stream: object) -> str:
    stream.seek(0)  # type: ignore[attr-defined]
    data: bytes = stream.read(_OUTPUT_BYTES)  # type: ignore[attr-defined]
    return data.decode("utf-8", "replace")


def folder_bytes(folder: Path) -> int:
    """The size of all files below `folder`, in bytes; files that vanish meanwhile count nothing."""
    total = 0
    for path in folder.rglob("*"):
        with contextlib.suppress(OSError):
            total += path.lstat().st_size
    return total


def call(function: Callable[..., Any], *arguments: Any, seconds: float) -> Any:
    """Call a function of a module in a process of its own, which the kernel ends when its time is over.

    Args:
        function: found again by its name; its arguments and its result are pickled.
        arguments: of the function.
        seconds: wall-clock limit; the function may replace it by a better one with `limit_this_process`.

    Returns:
        What the function returns; a `VttdataError` or `OSError` that it raises is raised again.

    Raises:
        TimeoutError: when the limit was exceeded.
        ChildProcessError: when the process ended without an answer.
    """
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe(duplex=False)
    process = context.Process(target=_answer, args=(theirs, function, arguments, seconds), daemon=True)
    process.start()
    theirs.close()
    try:
        result, error = ours.recv()
    except EOFError:
        process.join()
        if process.exitcode == -signal.SIGALRM:
            raise TimeoutError("the wall-clock limit was exceeded.") from None
        raise ChildProcessError(f"the process died (exit code {process.exitcode}).") from None
    finally:
        process.kill()
        process.join()
        ours.close()
    if error:
        raise error
    return result


def limit_this_process(seconds: float) -> None:
    """Have the kernel end this process after so many seconds from now, instead of any limit set before."""
    signal.setitimer(signal.ITIMER_REAL, seconds)


def _answer(connection: Connection, function: Callable[..., Any], arguments: Sequence[Any], seconds: float) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    die_with_parent()
    limit_this_process(seconds)
    try:
        connection.send((function(*arguments), None))
    except (VttdataError, OSError) as error:
        connection.send((None, error))
