"""Run a function in a process that kills itself at one of the moments at which it changes files."""

from __future__ import annotations

import json
import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path

_CHANGES = {"open", "os.rename", "os.remove", "os.rmdir", "os.link", "os.mkdir", "sqlite3.connect"}


def count_moments(action: Callable[[], object]) -> int:
    """Return how many moments a function has, by running it in a process of its own."""
    return len(_list_moments(action))


def find_renames(action: Callable[[], object], path: Path) -> list[int]:
    """Return the moments of a function at which a file or folder is renamed from or to a path."""
    return [number for number, names in enumerate(_list_moments(action), 1) if str(path) in names]


def _list_moments(action: Callable[[], object]) -> list[list[str]]:
    """Return for each moment the paths of its rename, if it is one."""
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(read)
        moments: list[list[str]] = []

        def note(event: str, arguments: tuple[object, ...]) -> None:
            if event in _CHANGES:
                moments.append(list(map(str, arguments[:2])) if event == "os.rename" else [])

        sys.addaudithook(note)
        action()
        with os.fdopen(write, "w") as stream:
            json.dump(moments[:], stream)
        os._exit(0)
    os.close(write)
    with os.fdopen(read) as stream:
        found: list[list[str]] = json.load(stream)
    os.waitpid(child, 0)
    return found


def kill_at(moment: int, action: Callable[[], object]) -> bool:
    """Run a function in a process of its own, which is killed at a moment, and return whether it came to that."""
    child = os.fork()
    if child == 0:
        count = 0

        def note(event: str, _: object) -> None:
            nonlocal count
            count += event in _CHANGES
            # The kill is an event too.
            if count == moment and event in _CHANGES:
                os.kill(os.getpid(), signal.SIGKILL)

        sys.addaudithook(note)
        try:
            action()
        finally:
            os._exit(0)
    _, status = os.waitpid(child, 0)
    return os.WIFSIGNALED(status)
