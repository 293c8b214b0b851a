"""Log of a build folder, and the lock that lets only one build work in it."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

from vttdata.errors import VttdataError
from vttdata.files.file_lock import LockHeldError, hold_lock

# File that a build holds locked; it stays when the build ends.
LOCK = ".lock"
JOURNAL = "journal.jsonl"


class Journal:
    """Append-only log with a JSON object on each line; for people, and never read back to decide anything."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def note(self, event: str, **facts: object) -> None:
        """Add an event with the current time."""
        line = {"time": datetime.now(UTC).isoformat(timespec="milliseconds"), "event": event, **facts}
        with self._path.open("a", encoding="utf-8", newline="\n") as stream:
            stream.write(json.dumps(line) + "\n")


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Hold the lock of a build folder; it is released when the process ends, however it ends.

    Raises:
        VttdataError: when another build, or a publication, holds it.
    """
    with contextlib.ExitStack() as stack:
        try:
            stack.enter_context(hold_lock(folder / LOCK, named=True))
        except LockHeldError as error:
            raise VttdataError(
                f"{folder}: another command ({error.owner}) is at work here; wait for it{error.advice}."
            ) from error
        yield


def write_json(path: Path, value: object) -> None:
    """Write a JSON file in one step, so that a reader sees the old content or the new one."""
    temporary = path.with_name(path.name + ".tmp")
    temporary.write_text(json.dumps(value, indent=2, ensure_ascii=False) + "\n", encoding="utf-8", newline="\n")
    temporary.replace(path)
