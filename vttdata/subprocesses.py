"""External programs and functions of this package in processes of their own, with limits on time and on disk use.

Each program gets its own process group, which is ended as a whole. A process ends when the one that started it dies: on
Linux the kernel does that, and elsewhere what `die_with_parent` and `_ended_with_parent` describe. Limits on memory are
kept by Linux alone. On Windows nothing here works, which `check_system` says; no shell ever parses a part of a command.
"""

from __future__ import annotations

import contextlib
import ctypes
import errno
import functools
import multiprocessing
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path
from typing import IO, Any, NoReturn

from vttdata.errors import ProgramKilledError, VttdataError
from vttdata.settings import environment_number

if sys.platform == "linux":
    import resource

    # From <linux/prctl.h>.
    _PR_SET_PDEATHSIG = 1
    # Loaded before any fork: the function that uses it runs between fork and exec, where no lock may be taken.
    _LIBC = ctypes.CDLL(None, use_errno=True)
    _USER_MEMORY_LIMITS = resource.getrlimit(resource.RLIMIT_DATA)

KILLED = -9
"""Exit code of a process that SIGKILL ended, which Windows does not have."""

OUT_OF_MEMORY = "the memory of this machine, or the limit for a worker (VTTDATA_WORKER_MEMORY), did not suffice"
"""Detail of a failure for want of memory."""

_POLL_SECONDS = 0.05
_SHORTAGES = (errno.ENOMEM, errno.EMFILE, errno.ENFILE, errno.ESTALE, errno.EDQUOT, errno.EFBIG)
_MAX_OUTPUT_BYTES = 32 * 2**20


@dataclass(frozen=True, slots=True)
class Completed:
    """Exit code and output of a program. `stopped` says why it was killed, ``timeout`` or ``too_large``, if it was."""

    code: int
    stdout: str
    stderr: str
    stopped: str | None


if sys.platform == "win32":

    def check_system(what: str) -> NoReturn:
        """Refuse what needs processes as Linux and macOS have them."""
        raise VttdataError(f"{what} needs Linux or macOS; on Windows, run vttdata in WSL.")

else:

    def check_system(what: str) -> None:
        """Do nothing: what needs processes as Linux and macOS have them works here."""

    def _end_after(parent: int) -> None:
        """Kill this process once another one is its parent, which is so when the first one has died."""
        while os.getppid() == parent:
            time.sleep(4 * _POLL_SECONDS)
        os.kill(os.getpid(), signal.SIGKILL)


def usable_cores() -> int:
    """Return the number of processor cores that this process may use, as far as the system tells."""
    if sys.version_info >= (3, 13):
        return os.process_cpu_count() or 1
    if sys.platform == "linux":
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def die_with_parent() -> None:
    """Let this process be killed when the one that started it dies.

    Where the kernel cannot do that, a thread looks at the parent several times a second. Programs that this process
    runs have a watcher of their own.
    """
    if sys.platform == "linux":
        _LIBC.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    elif sys.platform != "win32":
        threading.Thread(target=_end_after, args=(os.getppid(),), daemon=True).start()


def limit_memory(limit: int) -> None:
    """Limit the data of this process in bytes, where the user's limit is not lower; more ends in a MemoryError.

    Programs that `run` starts get the user's limit again. Systems other than Linux know no such limit.
    """
    if sys.platform == "linux":
        user_limit, hard_limit = _USER_MEMORY_LIMITS
        lower = limit if user_limit == resource.RLIM_INFINITY else min(limit, user_limit)
        resource.setrlimit(resource.RLIMIT_DATA, (lower, hard_limit))


def worker_memory() -> int:
    """Return the limit for the data of a worker process in bytes: ``VTTDATA_WORKER_MEMORY`` megabytes, or 2048.

    Raises:
        VttdataError: when the variable is set to something else than a positive integer.
    """
    return environment_number("VTTDATA_WORKER_MEMORY", 2048, "megabytes") * 2**20


def _prepare_program(max_memory: int | None) -> None:
    if sys.platform == "linux":
        if max_memory is None:
            resource.setrlimit(resource.RLIMIT_DATA, _USER_MEMORY_LIMITS)
        else:
            limit_memory(max_memory)
        die_with_parent()


@contextlib.contextmanager
def _ended_with_parent(command: list[str]) -> Iterator[tuple[list[str], tuple[int, ...]]]:
    """Yield a command whose process group is killed when this process dies, and file descriptors to pass to it.

    Where the kernel cannot do that, a process that is started before the program, in its group, reads a pipe which
    ends with this process.
    """
    if sys.platform == "linux":
        yield command, ()
        return
    if shutil.which(command[0]) is None:
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), command[0])
    reading, writing = os.pipe()
    try:
        watch = '(read -r end </dev/fd/"$0"; kill -KILL "-$$") & exec "$@"'
        yield ["/bin/sh", "-c", watch, str(reading), *command], (reading,)
    finally:
        os.close(reading)
        os.close(writing)


def run(
    command: Sequence[str | os.PathLike[str]],
    *,
    seconds: float,
    folder: Path | None = None,
    max_bytes: int | None = None,
    max_memory: int | None = None,
    feed: Callable[[int], None] | None = None,
    environment: Mapping[str, str] | None = None,
) -> Completed:
    """Run a program and wait for it.

    Args:
        command: program and arguments; never a shell string.
        seconds: wall-clock limit, after which the whole process group is killed.
        folder: working folder of the program.
        max_bytes: size limit for everything in `folder`; a program that exceeds it is killed.
        max_memory: limit in bytes for the data of each of its processes, on Linux; by default that of the user.
        feed: writes the program's standard input to the file descriptor that it gets; without it the input is empty.
        environment: variables that differ from those of this process.

    Raises:
        OSError: ENOSPC when the program says that the disk is full, whatever its exit code; one of `_SHORTAGES`
            when it failed and says so.
        ProgramKilledError: when something else than this function killed the program.
        VttdataError: on Windows.
    """
    check_system(f"Running {Path(command[0]).name}")
    with (
        tempfile.TemporaryFile() as stdout,
        tempfile.TemporaryFile() as stderr,
        _ended_with_parent([os.fspath(part) for part in command]) as (arguments, descriptors),
    ):
        process = subprocess.Popen(
            arguments,
            pass_fds=descriptors,
            stdin=subprocess.PIPE if feed else subprocess.DEVNULL,
            stdout=stdout,
            stderr=stderr,
            cwd=folder,
            env=os.environ | (environment or {}),
            start_new_session=True,
            # C calls, no locks taken.
            preexec_fn=functools.partial(_prepare_program, max_memory) if sys.platform == "linux" else None,  # noqa: PLW1509
        )
        try:
            if feed and process.stdin:
                # The program may end, or close its input, before it has read everything.
                with contextlib.suppress(BrokenPipeError):
                    feed(process.stdin.fileno())
                    process.stdin.close()
            stopped = _wait(process, seconds, folder, max_bytes)
        finally:
            # The program's own children may outlive it.
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        completed = Completed(process.returncode, _read_text(stdout), _read_text(stderr), stopped)
    if completed.code == KILLED and stopped is None:
        raise ProgramKilledError(f"the program {Path(command[0]).name} was killed from outside.")
    if os.strerror(errno.ENOSPC) in completed.stderr:
        raise OSError(errno.ENOSPC, f"{os.fspath(command[0])}: no space left on the disk")
    number = next((number for number in _SHORTAGES if os.strerror(number) in completed.stderr), None)
    if completed.code == -signal.SIGXFSZ:
        number = errno.EFBIG
    if completed.code and number is not None and not (max_memory and number == errno.ENOMEM):
        raise OSError(number, f"{Path(command[0]).name}: {os.strerror(number)}")
    return completed


def _wait(process: subprocess.Popen[bytes], seconds: float, folder: Path | None, max_bytes: int | None) -> str | None:
    """Wait until a process ends or has to be killed, and return the reason for the latter."""
    deadline = time.monotonic() + seconds
    while True:
        try:
            process.wait(_POLL_SECONDS if folder and max_bytes else max(deadline - time.monotonic(), 0))
            return None
        except subprocess.TimeoutExpired:
            if time.monotonic() >= deadline:
                return "timeout"
            if folder and max_bytes and folder_bytes(folder) > max_bytes:
                return "too_large"


def _read_text(stream: IO[bytes]) -> str:
    stream.seek(0)
    return stream.read(_MAX_OUTPUT_BYTES).decode("utf-8", "replace")


def last_line_with(stream: IO[bytes], *texts: str) -> str:
    """Return the last line with one of these texts near the end of what a program wrote; empty without one.

    After a crash, faulthandler lists the stack and hundreds of extension modules below the line that says what
    happened.
    """
    stream.seek(0)
    lines = stream.read()[-(2**15) :].decode("utf-8", "replace").split("\n")
    found = (line.strip() for line in reversed(lines) if any(text in line for text in texts))
    return next((line for line in found if not line.startswith("Extension modules:")), "")


def folder_bytes(folder: Path) -> int:
    """Return the size of all files in a folder and its subfolders; files that vanish meanwhile count nothing."""
    total = 0
    for path in folder.rglob("*"):
        with contextlib.suppress(OSError):
            total += path.lstat().st_size
    return total


def start_module(module: str, output: IO[bytes] | None = None) -> tuple[subprocess.Popen[bytes], Connection]:
    """Start a module, by its dotted name, as a program in a Python process; return that and a connection to it.

    The process imports from where this one does, but never from the working folder, whose files may have the names of
    libraries. Unlike `multiprocessing.Process`, it does not import the user's script again. The file descriptor of its
    end of the connection is its argument. Its output and errors go to `output`, or where those of this process go. Its
    matrix products take one thread, unless the environment says otherwise: there is a process for each core, and sums
    that do not depend on the number of cores.

    Raises:
        VttdataError: on Windows.
    """
    check_system("Processing videos")
    connection, child_connection = multiprocessing.Pipe()
    descriptor = child_connection.fileno()
    process = subprocess.Popen(
        [sys.executable, "-P", "-m", module, str(descriptor)],
        pass_fds=[descriptor],
        stdin=subprocess.DEVNULL,
        stdout=output,
        stderr=output,
        env={"OPENBLAS_NUM_THREADS": "1"}
        | os.environ
        | {"PYTHONPATH": os.pathsep.join(entry for entry in sys.path if entry)},
    )
    child_connection.close()
    return process, connection


class CallProcess:
    """Process for functions that are called one after another, to be used as a context.

    It starts with the first call, and again after a call that failed. The kernel ends it when a call takes too long.
    """

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None
        self._connection: Connection | None = None

    def __enter__(self) -> CallProcess:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def call(self, function: Callable[..., Any], *arguments: object, seconds: float) -> Any:
        """Call a function in the process; see `call`."""
        check_system("Processing videos")
        if self._process is None or self._connection is None:
            self._process, self._connection = start_module(__name__)
        try:
            self._connection.send((function, arguments, seconds))
            result, error = self._connection.recv()
        except (EOFError, ConnectionError):
            code = self._process.wait()
            self.close()
            if code == -signal.SIGALRM:
                raise TimeoutError("the wall-clock limit was exceeded.") from None
            raise ChildProcessError(f"the process died (exit code {code}).") from None
        except BaseException:
            self.close()
            raise
        if error:
            self.close()
            raise error
        return result

    def close(self) -> None:
        """End the process, if it was started."""
        if self._process is not None and self._connection is not None:
            self._process.kill()
            self._process.wait()
            self._connection.close()
        self._process = self._connection = None


def call(function: Callable[..., Any], *arguments: object, seconds: float) -> Any:
    """Call a function in a process of its own, and return its result; the kernel ends the process after `seconds`.

    The function is one of a module, so that the other process can import it; its arguments and result are pickled. It
    may replace the limit by a better one with `limit_this_process`.

    Raises:
        VttdataError: what the function raises, or when memory did not suffice; an `OSError` is raised again too.
        TimeoutError: when the limit was exceeded.
        ChildProcessError: when the process ended without an answer.
    """
    with CallProcess() as process:
        return process.call(function, *arguments, seconds=seconds)


def limit_this_process(seconds: float) -> None:
    """Have the kernel end this process so many seconds from now, instead of at any limit set before."""
    check_system("A limit on time")
    signal.setitimer(signal.ITIMER_REAL, seconds)


def main() -> None:
    """Run the program of a `CallProcess`."""
    check_system("Processing videos")
    # Ctrl-C reaches the whole process group; the parent ends this process.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    # Without a Python handler the signal ends the process even while a C library is at work.
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    die_with_parent()
    with Connection(int(sys.argv[1])) as connection, contextlib.suppress(EOFError):
        while True:
            function, arguments, seconds = connection.recv()
            limit_this_process(seconds)
            try:
                limit_memory(worker_memory())
                result = function(*arguments)
                # The parent waits as long as it likes before the next call.
                limit_this_process(0)
                connection.send((result, None))
            except MemoryError:
                connection.send((None, VttdataError(OUT_OF_MEMORY)))
            except (VttdataError, OSError) as error:
                connection.send((None, error))


if __name__ == "__main__":
    main()
