"""Let this package see another system than the one it runs on, in every interpreter that has this folder in its path.

With ``VTTDATA_SIMULATE=darwin`` or ``win32``, modules of vttdata and of its builders see that name in `sys.platform`,
and no module or function that the system lacks; nor does anything of theirs find files in ``/proc``. All other code,
such as libraries and the tests themselves, sees the system that it runs on. What no name tells is not simulated:
separators of paths, newlines, files that are open and therefore cannot be removed.
"""

from __future__ import annotations

import builtins
import importlib.abc
import importlib.machinery
import os
import sys
import types
from collections.abc import Mapping, Sequence
from typing import Any

VARIABLE = "VTTDATA_SIMULATE"

# What CPython lacks on the systems, of what it has on Linux, by module; a module that is missing is in MISSING.
_LINUX_ONLY: dict[str, set[str]] = {
    "os": {
        *("sched_getaffinity", "sched_setaffinity", "posix_fallocate", "posix_fadvise", "memfd_create", "O_TMPFILE"),
        *("copy_file_range", "getrandom", "pidfd_open", "eventfd", "splice", "fdatasync", "fork"),
    },
    "ctypes": {"CDLL"},
    "select": {"epoll"},
    "resource": {"prlimit"},
    "mmap": {"MADV_HUGEPAGE", "MAP_POPULATE"},
    "signal": {"SIGRTMIN", "SIGRTMAX", "SIGPWR", "SIGSTKFLT", "sigtimedwait", "sigwaitinfo"},
}
_POSIX_ONLY: dict[str, set[str]] = {
    "os": {
        *("O_NONBLOCK", "O_CLOEXEC", "O_DIRECTORY", "O_NOFOLLOW", "O_SYNC", "WNOHANG", "killpg", "setsid", "getpgid"),
        *("geteuid", "getuid", "getgid", "chown", "lchown", "chroot", "mkfifo", "mknod", "nice", "statvfs", "fchmod"),
        *("fchown", "pread", "pwrite", "sysconf", "uname", "wait", "waitid", "wait3", "getloadavg", "posix_spawn"),
        *("openpty", "forkpty", "register_at_fork", "set_blocking", "lockf", "sync", "ttyname", "setpgid"),
    },
    "signal": {
        *("SIGKILL", "SIGALRM", "SIGHUP", "SIGCHLD", "SIGPIPE", "SIGXFSZ", "SIGXCPU", "SIGUSR1", "SIGUSR2", "SIGSTOP"),
        *("SIGCONT", "SIGQUIT", "SIGTSTP", "ITIMER_REAL", "setitimer", "getitimer", "alarm", "pause", "siginterrupt"),
        *("pthread_kill", "pthread_sigmask", "sigwait"),
    },
    "mmap": {"MADV_DONTNEED", "MADV_WILLNEED", "MADV_SEQUENTIAL", "MAP_SHARED", "MAP_PRIVATE", "PROT_READ"},
    "select": {"poll"},
    "socket": {"AF_UNIX", "socketpair", "send_fds", "recv_fds"},
    "time": {"tzset", "clock_settime", "pthread_getcpuclockid"},
}
LACKING: dict[str, dict[str, set[str]]] = {
    "darwin": _LINUX_ONLY,
    "win32": {
        module: _LINUX_ONLY.get(module, set()) | _POSIX_ONLY.get(module, set())
        for module in _LINUX_ONLY.keys() | _POSIX_ONLY
    },
}
MISSING = {
    "darwin": frozenset[str](),
    "win32": frozenset({"fcntl", "resource", "pwd", "grp", "termios", "tty", "pty", "syslog", "readline", "posix"}),
}
_SIMULATED = ("vttdata", "vttdata_builders", "builders")


class OtherModule:
    """Module without some of its names, and with other values of some; what tests replace is replaced in the module."""

    def __init__(self, module: types.ModuleType, lacking: set[str], values: Mapping[str, Any]) -> None:
        object.__setattr__(self, "_seen", (module, lacking, values))

    def __getattribute__(self, name: str) -> Any:
        module, lacking, values = object.__getattribute__(self, "_seen")
        if name in lacking:
            raise AttributeError(f"module '{module.__name__}' has no attribute '{name}'")
        return values[name] if name in values else getattr(module, name)

    def __setattr__(self, name: str, value: Any) -> None:
        setattr(object.__getattribute__(self, "_seen")[0], name, value)

    def __delattr__(self, name: str) -> None:
        delattr(object.__getattribute__(self, "_seen")[0], name)


def replacements(system: str) -> dict[str, OtherModule]:
    """Return the modules that are others on a system, by name."""
    others = {
        name: OtherModule(importlib.import_module(name), lacking, {}) for name, lacking in LACKING[system].items()
    }
    others["sys"] = OtherModule(sys, set(), {"platform": system})
    return others


class OtherSystem(importlib.abc.MetaPathFinder):
    """Finder of the package's modules, whose imports get other modules."""

    def __init__(self, system: str) -> None:
        others, missing = replacements(system), MISSING[system]
        real_import = builtins.__import__

        def import_simulated(
            name: str,
            namespace: Mapping[str, Any] | None = None,
            local: Mapping[str, Any] | None = None,
            names: Sequence[str] = (),
            level: int = 0,
        ) -> types.ModuleType | OtherModule:
            if level == 0 and name in missing:
                raise ModuleNotFoundError(f"No module named '{name}'", name=name)
            module = real_import(name, namespace, local, names, level)
            return others.get(module.__name__, module) if level == 0 else module

        self._builtins = {**vars(builtins), "__import__": import_simulated}

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: types.ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        """Find a module as usual, and give its code other built-in functions."""
        if name.partition(".")[0] not in _SIMULATED:
            return None
        spec = importlib.machinery.PathFinder.find_spec(name, path, target)
        if spec is not None and isinstance(spec.loader, importlib.machinery.SourceFileLoader):
            spec.loader = OtherLoader(spec.loader.name, spec.loader.path)
            spec.loader.builtins = self._builtins
        return spec


class OtherLoader(importlib.machinery.SourceFileLoader):
    """Loader whose modules have other built-in functions, also where one is run as a program."""

    builtins: dict[str, Any]
    code: types.CodeType

    def get_code(self, fullname: str) -> types.CodeType | None:
        """Return code that runs that of a module with other built-in functions."""
        code = super().get_code(fullname)
        if code is None:
            return None
        self.code = code
        return compile(
            "globals()['__builtins__'] = __loader__.builtins; exec(__loader__.code, globals())", self.path, "exec"
        )


def refuse_proc(event: str, details: tuple[Any, ...]) -> None:
    """Find no file below ``/proc`` for the package's code, called directly or by Python's own libraries."""
    if event not in ("open", "os.listdir", "os.scandir") or not isinstance(details[0], str | os.PathLike):
        return
    if os.fspath(details[0]).startswith("/proc"):
        frame = sys._getframe(1)
        while frame.f_back is not None and "/vttdata/" not in frame.f_code.co_filename:
            if "site-packages" in frame.f_code.co_filename:
                return
            frame = frame.f_back
        if "/vttdata/" in frame.f_code.co_filename:
            raise FileNotFoundError(2, "No such file or directory", details[0])


def simulate(system: str) -> None:
    """Let modules of the package that are imported from now on see another system."""
    sys.meta_path.insert(0, OtherSystem(system))
    sys.addaudithook(refuse_proc)


if os.environ.get(VARIABLE):
    simulate(os.environ[VARIABLE])
