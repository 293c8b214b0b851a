"""Run a function in a process that kills itself at one of the moments at which it changes files."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable

_CHANGES = {"open", "os.rename", "os.remove", "os.rmdir", "os.link", "os.mkdir", "sqlite3.connect"}


def count_moments(action: Callable[[], object]) -> int:
    """Return how many moments a function has, by running it in a process of its own."""
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(read)
        count = 0

        def note(event: str, _: object) -> None:
            nonlocal count
            count += event in _CHANGES

        sys.addaudithook(note)
        action()
        os.write(write, str(count).encode())
        os._exit(0)
    os.close(write)
    with os.fdopen(read) as stream:
        text = stream.read()
    os.waitpid(child, 0)
    return int(text)


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
