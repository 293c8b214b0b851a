"""Results of single items of a stage: logs of running processes, and an index of these logs and of finished parts.

Every process appends to a log of its own, so writers need no lock, and a process that is killed loses the items in
flight and no other. A line that was cut off does not parse and counts for nothing.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import shutil
import socket
from collections.abc import Iterator
from io import FileIO
from pathlib import Path
from typing import IO

from vttdata.pipeline.parts import KEY_END, KEY_START, PartStore
from vttdata.pipeline.stage import ItemResult

_FAILURE = b'{"failed": ['

# A location is the number of a file times this, plus the offset of a line in it.
_FILE_SIZE_LIMIT = 2**44


class ItemResults:
    """Results of the items of one stage, each found by the key of its item.

    Args:
        store: finished parts of the stage; the logs are in the folder ``items`` beside theirs.
    """

    def __init__(self, store: PartStore) -> None:
        self._store = store
        self._folder = store.folder.with_name("items")
        self._files: list[Path] = []
        self._open: tuple[int, IO[bytes]] | None = None
        self._index: dict[bytes, int] | None = None
        self._log: FileIO | None = None
        self._log_number = -1
        self._log_size = 0

    def __enter__(self) -> ItemResults:
        return self

    def __exit__(self, *error: object) -> None:
        for stream in (self._log, self._open[1] if self._open else None):
            if stream is not None:
                stream.close()
        # Results can be read later, and the index is needed no more.
        self._log = self._open = self._index = None

    def add(self, line: str) -> int:
        """Append the encoded result of an item to the log of this process, and return its location."""
        if self._log is None:
            self._folder.mkdir(parents=True, exist_ok=True)
            # Processes on several machines may have the same id.
            name = f"{socket.gethostname()}-{os.getpid()}-{secrets.token_hex(4)}.jsonl".replace(os.sep, "_")
            self._files.append(self._folder / name)
            self._log_number = len(self._files) - 1
            self._log = self._files[-1].open("xb", buffering=0)
        location = self._log_number * _FILE_SIZE_LIMIT + self._log_size
        # Without a buffer: the kernel keeps what it was given when the process is killed.
        self._log_size += self._log.write(line.encode())
        return location

    def find(self, key: str) -> int | None:
        """Return the location of the result of an item; None if there is none. One without a failure comes first."""
        if self._index is None:
            self._index = self._build_index()
        return self._index.get(bytes.fromhex(key))

    def read(self, location: int) -> ItemResult | None:
        """Return the result at a location; None if it is damaged."""
        number, offset = divmod(location, _FILE_SIZE_LIMIT)
        if self._open is None or self._open[0] != number:
            if self._open is not None:
                self._open[1].close()
            self._open = number, self._files[number].open("rb")
        self._open[1].seek(offset)
        try:
            return self._store.decode(self._open[1].readline())
        except ValueError:
            return None

    def locations(self, path: Path) -> list[int]:
        """Return the locations of the results in a file, in its order."""
        self._files.append(path)
        return [location for location, _ in self._lines(len(self._files) - 1)]

    def remove(self) -> None:
        """Remove all logs of the stage, once its parts hold everything."""
        shutil.rmtree(self._folder, ignore_errors=True)

    def _build_index(self) -> dict[bytes, int]:
        """Return the location of each item's result in intact parts and in logs by the item's key."""
        files = []
        for path in self._store.finished():
            with contextlib.suppress(OSError, ValueError):
                self._store.check(path.stem)
                files.append(path)
        index: dict[bytes, int] = {}
        for path in [*files, *sorted(self._folder.glob("*.jsonl"))]:
            self._files.append(path)
            for location, line in self._lines(len(self._files) - 1):
                # Parts of earlier versions have no keys.
                if not line.startswith(KEY_START):
                    continue
                try:
                    key = bytes.fromhex(line[len(KEY_START) : KEY_END - 1].decode("ascii"))
                except ValueError:
                    continue
                if key not in index or _FAILURE not in line:
                    index[key] = location
        return index

    def _lines(self, number: int) -> Iterator[tuple[int, bytes]]:
        offset = 0
        with self._files[number].open("rb") as stream:
            for line in stream:
                # The last line of a part is its checksum; that of a log may be cut off.
                if line.endswith(b"]}\n"):
                    yield number * _FILE_SIZE_LIMIT + offset, line
                offset += len(line)
