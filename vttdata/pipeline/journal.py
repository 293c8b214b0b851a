"""What happened in a build folder, and the promise that only one build works in it at a time."""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from vttdata.errors import VttdataError


class Journal:
    """An append-only log, a JSON object per line; for people and provenance, never read back to decide anything."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def note(self, event: str, **facts: Any) -> None:
        """Add one event with the time it happened."""
        line = {"time": datetime.now(UTC).isoformat(timespec="milliseconds"), "event": event, **facts}
        with self._path.open("a", encoding="utf-8") as stream:
            stream.write(json.dumps(line) + "\n")


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Hold the build folder for this process; the kernel lets go when the process ends, however it ends.

    Raises:
        VttdataError: when another build holds it.
    """
    with (folder / ".lock").open("a+") as stream:
        try:
            fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            stream.seek(0)
            holder = stream.read().strip() or "unknown"
            raise VttdataError(f"{folder}: another build (process {holder}) is at work here; wait for it.") from error
        stream.truncate(0)
        stream.write(str(os.getpid()))
        stream.flush()
        yield


def write_json(path: Path, value: Any) -> None:
    """Write a JSON file in one step: a reader sees the old one or the new one."""
    temporary = path.with_name(path.name + ".tmp")
    temporary.write_text(json.dumps(value, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
    temporary.replace(path)
