"""Store of item results in parts: JSON Lines files that are written under a temporary name and renamed when complete.

A part's key is a hash of its stage and of its items, so a file under the right key holds finished results. Where a
part ends depends only on the ids in it, so adding or removing an item changes its own part and no other. Each result
lies under the key of its item, a hash of the stage and of the item alone, by which `ItemResults` finds it again when
the part has changed or was never finished: in another part, or in the log of a process.

Every process appends to a log of its own, so writers need no lock, and a process that is killed loses the items in
flight and no other. A line that was cut off does not parse and counts for nothing.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import json
import os
import secrets
import shutil
import socket
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from io import FileIO
from pathlib import Path
from typing import IO, Any, Generic, TypeVar
from zlib import crc32

import pydantic

from vttdata.files.output_file import write_whole
from vttdata.files.own_folder import FileChanges
from vttdata.ids import canonical_json, digest
from vttdata.json_types import JsonObject
from vttdata.pipeline.stage import (
    AnyStage,
    Failed,
    GatheringStage,
    In,
    ItemResult,
    Kept,
    Out,
    Out_co,
    Outcome,
    Rejected,
)

# The last line of a part begins with it.
_CHECKSUM = '{"sha256": '
# Line of a result up to its key, and the number of characters up to the quote after it.
KEY_START = b'{"key": "'
KEY_END = len(KEY_START) + 32 + 1
# Follows the key of a result, and is about the line without it.
_LINE_CHECKSUM = ', "crc32": "%08x"'
_LINE_CHECKSUM_LENGTH = len(_LINE_CHECKSUM % 0)
_FAILURE = b'{"failed": ['

# A location is the number of a file times this, plus the offset of a line in it.
_FILE_SIZE_LIMIT = 2**44


T = TypeVar("T")

# Of the parts of a stage that are held in memory.
_BYTES_HELD = 2**22


@dataclass(frozen=True, slots=True)
class Part(Generic[In]):
    """Run of consecutive items of one stage, with the key under which their results are stored.

    `item_keys` are those of the items, in their order; none for a stage that takes all items at once.
    """

    key: str
    items: tuple[In, ...]
    item_keys: tuple[str, ...]


def item_key(fingerprint: str, item_json: str) -> str:
    """Return the key of an item's result: a hash of the stage's fingerprint and of the item's canonical JSON."""
    return hashlib.sha256(f'["{fingerprint}", {item_json}]'.encode()).hexdigest()[:32]


class PartKey:
    """Key of a part: a hash of the stage's fingerprint and of the canonical JSON of its items, one after the other."""

    def __init__(self, fingerprint: str) -> None:
        self._hasher = hashlib.sha256(f'["{fingerprint}", ['.encode())
        self._separator = ""

    def add(self, item: T) -> T:
        """Add an item, and return it."""
        self.add_text(canonical_json(item))
        return item

    def add_text(self, text: str) -> None:
        """Add the canonical JSON of an item."""
        self._hasher.update(f"{self._separator}{text}".encode())
        self._separator = ", "

    def end(self) -> str:
        """Return the key, after the last item."""
        self._hasher.update(b"]]")
        return self._hasher.hexdigest()


def cut_into_parts(stage: AnyStage, items: Iterable[object]) -> Iterator[Part[Any]]:
    """Group items, in order, into parts of `stage.part_size` items on average and twice as many at most."""
    fingerprint = stage.fingerprint()
    if isinstance(stage, GatheringStage):
        key = PartKey(fingerprint)
        everything = stage.gather(map(key.add, items))
        yield Part(key.end(), (everything,), ())
        return
    pending: list[object] = []
    texts: list[str] = []

    def finish() -> Part[Any]:
        key = PartKey(fingerprint)
        for text in texts:
            key.add_text(text)
        return Part(key.end(), tuple(pending), tuple(item_key(fingerprint, text) for text in texts))

    for item in items:
        pending.append(item)
        texts.append(canonical_json(item))
        ends_here = int(digest(stage.item_id(item))[:8], 16) % stage.part_size == 0
        if ends_here or len(pending) == 2 * stage.part_size:
            yield finish()
            pending.clear()
            texts.clear()
    if pending:
        yield finish()


# Most stages of a build keep records of one or two classes; making an adapter takes milliseconds.
_type_adapter = functools.cache(pydantic.TypeAdapter)


class PartStore(Generic[Out_co]):
    """Finished parts of one stage in one folder, `folder`."""

    def __init__(self, folder: Path, stage: AnyStage) -> None:
        self.folder = folder
        # Results of small parts that were read, as far as all of them are this large: most are read several times.
        self._read: dict[str, list[ItemResult[Out_co]]] = {}
        self._room = _BYTES_HELD
        self._records: pydantic.TypeAdapter[Out_co] = _type_adapter(stage.output)
        folder.mkdir(parents=True, exist_ok=True)

    def path(self, key: str) -> Path:
        """Return the file of a part, finished or not."""
        return self.folder / f"{key}.jsonl"

    def finished(self) -> Iterator[Path]:
        """Yield the files of all finished parts in the folder, those of earlier items and parameters among them."""
        return self.folder.glob("*.jsonl")

    def write(self, key: str, lines: Iterable[str]) -> None:
        """Store the results of a part, encoded; a crash at any moment leaves all of them or none."""
        self._read.pop(key, None)
        temporary = self.folder / f"{key}.tmp"
        with temporary.open("w", encoding="utf-8", newline="\n") as stream:
            checksum = hashlib.sha256()
            for line in lines:
                checksum.update(line.encode())
                stream.write(line)
            stream.write(f'{_CHECKSUM}"{checksum.hexdigest()}"}}\n')
            stream.flush()
            # Without it a power cut could leave a renamed but empty file.
            os.fsync(stream.fileno())
        temporary.replace(self.path(key))

    def read(self, key: str) -> Iterator[ItemResult[Out_co]]:
        """Yield the results of a finished part.

        Raises:
            ValueError: when the file is damaged.
        """
        if key in self._read:
            yield from self._read[key]
            return
        with self.path(key).open(encoding="utf-8") as stream:
            size = os.fstat(stream.fileno()).st_size
            results = (self.decode(line) for line in stream if not line.startswith(_CHECKSUM))
            if size > self._room:
                yield from results
                return
            self._room -= size
            self._read[key] = [*results]
        yield from self._read[key]

    def check(self, key: str) -> list[str]:
        """Compare a finished part with its checksum, and return the keys of its results.

        Raises:
            ValueError: when it was edited or damaged.
        """
        checksum, last, keys = hashlib.sha256(), b"", []
        with self.path(key).open("rb") as stream:
            for line in stream:
                checksum.update(last)
                last = line
                if line.startswith(KEY_START):
                    keys.append(line[len(KEY_START) : KEY_END - 1].decode("latin-1"))
        if last != f'{_CHECKSUM}"{checksum.hexdigest()}"}}\n'.encode():
            raise ValueError(f"{self.path(key)} is not as it was written")
        return keys

    def remove_all_but(self, keys: Iterable[str]) -> None:
        """Remove the files of all parts but these, finished or not."""
        names = {f"{key}.jsonl" for key in keys}
        for path in self.folder.iterdir():
            if path.name not in names and path.suffix in {".jsonl", ".tmp"}:
                path.unlink()

    def encode(self, result: ItemResult[Out_co], key: str | None) -> str:
        """Return the line that stores the result of an item under its key, which comes first, with its checksum."""
        outcomes: list[dict[str, object]] = []
        for outcome in result.outcomes:
            match outcome:
                case Kept(record):
                    outcomes.append({"kept": self._records.dump_python(record, mode="json")})
                case Rejected(id_, reason, detail, file):
                    outcomes.append({"rejected": [id_, reason, detail, *([file] if file else [])]})
                case Failed(id_, reason, detail, retry, inconclusive):
                    outcomes.append({"failed": [id_, reason, detail, retry, inconclusive]})
        value: JsonObject = {} if key is None else {"key": key}
        value |= {"id": result.item_id, "count": result.count, "seconds": round(result.seconds, 4)}
        line = json.dumps(value | {"outcomes": outcomes}, ensure_ascii=True) + "\n"
        return line if key is None else f"{line[:KEY_END]}{_LINE_CHECKSUM % crc32(line.encode())}{line[KEY_END:]}"

    def decode(self, line: str | bytes) -> ItemResult[Out_co]:
        """Return the result that a line stores.

        Raises:
            ValueError: when the line was edited or damaged.
        """
        content = line.encode() if isinstance(line, str) else line
        if content.startswith(KEY_START):
            end = KEY_END + _LINE_CHECKSUM_LENGTH
            checksum = _LINE_CHECKSUM % crc32(content[:KEY_END] + content[end:])
            if content[KEY_END:end] != checksum.encode():
                raise ValueError(f"{self.folder}: a result is not as it was written")
        try:
            value = json.loads(line)
            outcomes: list[Outcome[Out_co]] = []
            for outcome in value["outcomes"]:
                if "kept" in outcome:
                    outcomes.append(Kept(self._records.validate_python(outcome["kept"])))
                elif "rejected" in outcome:
                    outcomes.append(Rejected(*outcome["rejected"]))
                else:
                    outcomes.append(Failed(*outcome["failed"]))
            return ItemResult(value["id"], value["count"], tuple(outcomes), value["seconds"])
        except (KeyError, TypeError) as error:
            raise ValueError(f"{self.folder}: a part is damaged") from error


def remove_results(path: Path, is_gone: Callable[[object], bool], changes: FileChanges) -> None:
    """Take results that are gone out of a finished part, or out of the log of a process.

    A part with fewer results would not be that of its key, so that it becomes a log, whose results are found by the
    keys of their items. Lines that were cut off count for nothing and go, too.
    """
    kept, total = [], 0
    for line in path.read_text(encoding="utf-8", errors="replace").splitlines(keepends=True):
        if line.startswith(_CHECKSUM):
            continue
        total += 1
        with contextlib.suppress(ValueError):
            if not is_gone(json.loads(line)):
                kept.append(line)
    if len(kept) == total:
        return
    log = path.parent.with_name("items") / path.name
    if changes.note(log, "changed"):
        log.parent.mkdir(exist_ok=True)
        write_whole(log, "".join(kept))
    if log != path and changes.note(path, "removed"):
        path.unlink()


class ItemResults(Generic[Out]):
    """Results of the items of one stage, each found by the key of its item.

    Finished parts are in `store`; the logs are in the folder ``items`` beside theirs.
    """

    def __init__(self, store: PartStore[Out]) -> None:
        self._store = store
        self._folder = store.folder.with_name("items")
        self._files: list[Path] = []
        self._open: tuple[int, IO[bytes]] | None = None
        self._index: dict[bytes, int] | None = None
        self._log: FileIO | None = None

    def __enter__(self) -> ItemResults[Out]:
        return self

    def __exit__(self, *error: object) -> None:
        for stream in (self._log, self._open[1] if self._open else None):
            if stream is not None:
                stream.close()

    def add(self, line: str) -> None:
        """Append the encoded result of an item to the log of this process."""
        if self._log is None:
            self._folder.mkdir(parents=True, exist_ok=True)
            # Processes on several machines may have the same id.
            name = f"{socket.gethostname()}-{os.getpid()}-{secrets.token_hex(4)}.jsonl".replace(os.sep, "_")
            self._log = (self._folder / name).open("xb", buffering=0)
        # Without a buffer: the kernel keeps what it was given when the process is killed.
        self._log.write(line.encode())

    def find(self, key: str) -> ItemResult[Out] | None:
        """Return the result of an item from an earlier run; None if there is none or it is damaged.

        One without a failure comes first.
        """
        if self._index is None:
            self._index = self._build_index()
        location = self._index.get(bytes.fromhex(key))
        if location is None:
            return None
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
                # The result of all items of a stage has no key.
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
