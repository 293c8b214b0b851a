"""Start Python processes as forks of one that has imported what they need, which saves their imports.

The processes are real ones, with the environment, search path and working folder of a test; they have the exit codes
and signals of others. Only their start differs from that of users. Run as a module, this file is the program of the
process that is forked.
"""

from __future__ import annotations

import atexit
import contextlib
import gc
import importlib
import io
import os
import pickle
import select
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import traceback
from collections.abc import Mapping, Sequence
from multiprocessing import Pipe
from multiprocessing.connection import Connection
from pathlib import Path
from typing import IO, Any

from PIL import Image

from tests.helpers.other_systems import ROOT, SIMULATED
from vttdata.plugins import PLUGINS_VARIABLE
from vttdata.subprocesses import die_with_parent

MODULES = {
    # What workers, and processes that draw pictures, import, but for libraries that start threads.
    "workers": (
        *("vttdata.subprocesses", "vttdata.pipeline.executors.local", "vttdata.pipeline.stages.annotations"),
        *("vttdata.pipeline.stages.videos", "vttdata.pipeline.stages.collect"),
        *("vttdata.report.thumbnails", "vttdata.media.contact_sheet"),
    ),
    # What commands and readers import, but for libraries that read environment variables.
    "commands": (
        *("av", "click", "dill", "fsspec", "jinja2", "multiprocess.pool", "numpy", "pandas", "PIL.Image", "pydantic"),
        *("pyarrow.compute", "pyarrow.dataset", "pyarrow.parquet", "requests", "rich.console", "rich.progress"),
        *("tqdm.auto", "xxhash", "yaml", "vttdata.cli.build", "vttdata.cli.main", "vttdata.compose.build"),
        *("vttdata.dataset.write", "vttdata.pipeline.executors.local", "vttdata.pipeline.stages.captions"),
        *("vttdata.pipeline.stages.videos", "vttdata.pipeline.stages.collect"),
        *("vttdata.report.build_report",),
    ),
    "yt-dlp": ("tests.helpers.forked_ytdlp",),
}
# Modules of the package that start Python processes.
STARTERS = ("vttdata.subprocesses", "vttdata.pipeline.executors.local")
_LENGTH = struct.Struct("!I")
# The search path but for PYTHONPATH; an installation from the checkout puts its root behind all others.
LIBRARIES = [*(entry for entry in sys.path if entry != str(ROOT)), str(ROOT)]


class ForkedProcess:
    """What the package uses of `subprocess.Popen`, for a process that another one has forked."""

    def __init__(self, pid: int, status: int) -> None:
        self.pid = pid
        self.returncode: int | None = None
        self._status = status

    def poll(self) -> int | None:
        """Return the exit code, negative for a signal, or None while the process runs."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.wait(0)
        return self.returncode

    def wait(self, timeout: float | None = None) -> int:
        """Wait for the end of the process and return its exit code."""
        if self.returncode is None:
            if not select.select([self._status], [], [], timeout)[0]:
                raise subprocess.TimeoutExpired(["fork"], timeout or 0.0)
            # Nothing can be read when the forking process died.
            self.returncode = int(os.read(self._status, 16) or -signal.SIGKILL)
            os.close(self._status)
        return self.returncode

    def kill(self) -> None:
        """Kill the process unless it has ended."""
        if self.poll() is None:
            with contextlib.suppress(ProcessLookupError):
                os.kill(self.pid, signal.SIGKILL)


class ForkServer:
    """Process that forks others; it starts with the first of them.

    Args:
        purpose: what it imports is in `MODULES`.
    """

    def __init__(self, purpose: str) -> None:
        self._purpose = purpose
        self._lock = threading.Lock()
        self._socket: socket.socket | None = None
        self._process: subprocess.Popen[bytes] | None = None

    def start_module(self, module: str, output: IO[bytes] | None = None) -> tuple[ForkedProcess, Connection]:
        """Do what `vttdata.subprocesses.start_module` does."""
        connection, theirs = Pipe()
        environment = os.environ | {"PYTHONPATH": os.pathsep.join(entry for entry in sys.path if entry)}
        process = self.start([module], environment, Path.cwd(), output or 1, output or 2, [theirs.fileno()])
        theirs.close()
        return process, connection

    def run(
        self, arguments: Sequence[str], environment: Mapping[str, str], folder: Path | None = None
    ) -> subprocess.CompletedProcess[str]:
        """Run a module with a function `main`, or ``-c`` and code, and capture what it prints.

        Args:
            arguments: the module's name, and what follows it on a command line.
            environment: all variables of the process.
            folder: its working folder; by default that of this process.
        """
        with tempfile.TemporaryFile() as stdout, tempfile.TemporaryFile() as stderr:
            code = self.start(arguments, environment, folder or Path.cwd(), stdout, stderr).wait()
            texts = []
            for stream in (stdout, stderr):
                stream.seek(0)
                texts.append(stream.read().decode())
        return subprocess.CompletedProcess(arguments, code, *texts)

    def start(
        self,
        arguments: Sequence[str],
        environment: Mapping[str, str],
        folder: Path,
        stdout: IO[bytes] | int,
        stderr: IO[bytes] | int,
        descriptors: Sequence[int] = (),
    ) -> ForkedProcess:
        """Start a module with a function `main`, or ``-c`` and code; the numbers of its descriptors are arguments."""
        request = pickle.dumps((list(arguments), dict(environment), str(folder)))
        reading, writing = os.pipe()
        streams = [stream if isinstance(stream, int) else stream.fileno() for stream in (stdout, stderr)]
        with self._lock:
            connection = self._connect()
            socket.send_fds(connection, [_LENGTH.pack(len(request))], [writing, *streams, *descriptors])
            connection.sendall(request)
            pid = int(connection.recv(16))
        os.close(writing)
        return ForkedProcess(pid, reading)

    @classmethod
    def fork(cls) -> ForkServer:
        """Return one whose process is a fork of this one, with what this one has imported, and ends with it."""
        server = cls("workers")
        server._socket, theirs = socket.socketpair()
        if os.fork() == 0:
            die_with_parent()
            server._socket.close()
            serve(theirs, "workers")
            os._exit(0)
        theirs.close()
        return server

    def close(self) -> None:
        """End the process, if it was started."""
        if self._process is not None and self._socket is not None:
            self._socket.close()
            self._process.wait()

    def _connect(self) -> socket.socket:
        if self._socket is not None:
            return self._socket
        self._socket, theirs = socket.socketpair()
        # The test that is first may be one of plugins, which are not for the others.
        environment = {name: value for name, value in os.environ.items() if name != PLUGINS_VARIABLE}
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-m", __name__, str(theirs.fileno()), self._purpose],
            pass_fds=[theirs.fileno()],
            stdin=subprocess.DEVNULL,
            env=environment | {"PYTHONPATH": os.pathsep.join(map(str, [SIMULATED, ROOT]))},
        )
        theirs.close()
        return self._socket


class Programs:
    """Module `subprocess` as `vttdata.subprocesses` uses it, which forks yt-dlp."""

    def __getattr__(self, name: str) -> Any:
        return getattr(subprocess, name)

    def Popen(self, command: list[str], **options: Any) -> Any:
        """Start a program."""
        names = [Path(part).name for part in command]
        if "ytdlp_program.py" not in names:
            return subprocess.Popen(command, **options)
        (max_memory,) = options["preexec_fn"].args
        arguments = ["tests.helpers.forked_ytdlp", str(max_memory), *command[names.index("ytdlp_program.py") + 1 :]]
        return YTDLP.start(arguments, options["env"], options["cwd"], options["stdout"], options["stderr"])


WORKERS, COMMANDS, YTDLP = (ForkServer(purpose) for purpose in MODULES)


def serve(requests: socket.socket, purpose: str) -> None:
    """Fork a process for every request, and report the ends of processes, until the connection closes."""
    statuses: dict[int, int] = {}
    waking, woken = os.pipe()
    os.set_blocking(waking, False)
    os.set_blocking(woken, False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    signal.set_wakeup_fd(woken, warn_on_full_buffer=False)
    while True:
        ready = select.select([requests, waking], [], [])[0]
        if waking in ready:
            os.read(waking, 4096)
            report_ends(statuses)
        if requests in ready:
            length, descriptors, _, _ = socket.recv_fds(requests, _LENGTH.size, 8)
            if not length:
                return
            request = requests.recv(*_LENGTH.unpack(length), socket.MSG_WAITALL)
            status, *given = descriptors
            pid = os.fork()
            if pid == 0:
                signal.set_wakeup_fd(-1)
                signal.signal(signal.SIGCHLD, signal.SIG_DFL)
                for descriptor in (requests.fileno(), waking, woken, status, *statuses.values()):
                    os.close(descriptor)
                run(request, purpose, *given)
            statuses[pid] = status
            for descriptor in given:
                os.close(descriptor)
            requests.send(str(pid).encode())


def report_ends(statuses: dict[int, int]) -> None:
    """Write the exit code of every process that has ended into its pipe."""
    with contextlib.suppress(ChildProcessError):
        while (ended := os.waitpid(-1, os.WNOHANG))[0]:
            status = statuses.pop(ended[0])
            with contextlib.suppress(BrokenPipeError):
                os.write(status, str(os.waitstatus_to_exitcode(ended[1])).encode())
            os.close(status)


def run(request: bytes, purpose: str, stdout: int, stderr: int, *descriptors: int) -> None:
    """Be the process that was asked for; commands fork their workers, too, from what they were before they began."""
    arguments, environment, folder = pickle.loads(request)
    for descriptor, standard in ((stdout, 1), (stderr, 2)):
        os.dup2(descriptor, standard)
        os.close(descriptor)
    os.environ.clear()
    os.environ.update(environment)
    os.chdir(folder)
    sys.path[:] = [*filter(None, environment.get("PYTHONPATH", "").split(os.pathsep)), *LIBRARIES]
    sys.argv = [arguments[0], *arguments[2 if arguments[0] == "-c" else 1 :], *map(str, descriptors)]
    if PLUGINS_VARIABLE in environment:
        # Modules that look for plugins do so when they are imported.
        for module in [name for name in sys.modules if name.partition(".")[0] == "vttdata"]:
            del sys.modules[module]
    sys.stdout, sys.stderr = (
        io.TextIOWrapper(os.fdopen(each, "wb", 0, closefd=False), write_through=True) for each in (1, 2)
    )
    with contextlib.suppress(OSError):
        Path("/proc/self/comm").write_text(arguments[0][-15:])
    code: Any = 1
    try:
        if purpose == "commands":
            start_module = ForkServer.fork().start_module
            for module in STARTERS:
                importlib.import_module(module).start_module = start_module
        if arguments[0] == "-c":
            code = exec(arguments[1], {"__name__": "__main__"})
        else:
            code = importlib.import_module(arguments[0]).main()
    except SystemExit as end:
        code = end.code
    except BaseException:
        traceback.print_exc()
    finally:
        if isinstance(code, str):
            print(code, file=sys.stderr)
        atexit._run_exitfuncs()
        os._exit(code if isinstance(code, int) else int(code is not None))


def main() -> None:
    """Import what processes need, and fork them."""
    for module in MODULES[sys.argv[2]]:
        importlib.import_module(module)
    Image.init()
    # Objects that all processes share are not looked through, which would copy their memory.
    gc.collect()
    gc.freeze()
    with socket.socket(fileno=int(sys.argv[1])) as requests:
        serve(requests, sys.argv[2])


if __name__ == "__main__":
    main()
