"""Build in a work folder of this machine that is copied to remote storage, from which any machine goes on.

Stores cannot rename, so a file that says "finished" follows what it is about: the results of a part follow the media
that they point to, and a dataset's manifest follows its files. Whatever moment a machine is lost at, the store holds
nothing that looks finished and is not. Copies are made beside the build, which goes on while the store is away.

A claim in the store names the machine that builds and changes every few seconds. A machine that finds the claim of
another one watches it, and takes over if it does not change; no clock is compared. Should two machines take over at
once, the one whose claim is overwritten stops copying.
"""

from __future__ import annotations

import contextlib
import hashlib
import itertools
import json
import os
import shutil
import socket
import threading
import time
import uuid
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

from vttdata.dataset.manifest import MANIFEST
from vttdata.errors import HaltError, VttdataError
from vttdata.files.remote import RemoteFolder
from vttdata.load.local_builds import ACCOUNT, builds_folder
from vttdata.pipeline.journal import JOURNAL, locked, write_json

CLAIM = ".claim.json"
# A claim changes once in `BEAT_SECONDS`; one that stays as it is for `WATCH_SECONDS` is that of a machine that is gone.
BEAT_SECONDS = 10.0
WATCH_SECONDS = 45.0
COPY_SECONDS = 5.0

_BATCH = 64
_STATE, _COPIED = "store.json", "copied.jsonl"


class RemoteBuild:
    """Build folder in remote storage, `store`, and the work folder `folder` that stands for it on this machine.

    `is_open` means that the store is claimed by this build, and the work folder is up to date with it.
    """

    def __init__(self, store: RemoteFolder, room: Path, note: Callable[[str], None]) -> None:
        self.store, self.folder = store, room / "build"
        self._room, self._note = room, note
        self._state = _read_object(room / _STATE) or {"owner": uuid.uuid4().hex, "is_current": False}
        self._lost = ""
        self._is_claimed = self.is_open = False
        self._beats = 0
        self._problem = ""
        self._copied: dict[str, tuple[int, int]] = {}
        self._copied_bytes: dict[Path, int] = {}
        self._log_lock, self._ended = threading.Lock(), threading.Event()
        self._threads: list[threading.Thread] = []

    def open(self) -> None:
        """Claim the store and bring the work folder up to date with it; then copy to it until `close`.

        Raises:
            VttdataError: If another build is at work there, or the store holds something else or refuses access.
            HaltError: If it does not answer.
        """
        if self.store.protocol == "hf":
            raise VttdataError(f"{self.store.address}: is read only here; 'vttdata publish' writes to the Hub.")
        claim = self._read_claim()
        if not claim and not (files := self.store.files()):
            # A new build, or a store that was emptied: what is here is copied as a whole.
            (self._room / _COPIED).unlink(missing_ok=True)
            self.folder.mkdir(exist_ok=True)
            self._set_current(True)
        elif claim.get("owner") != self._state["owner"]:
            if not claim and JOURNAL not in files:
                raise VttdataError(
                    f"{self.store.address}: holds something else than a build ({next(iter(files))}); name a new or "
                    "empty folder with --out."
                )
            if claim.get("at_work"):
                self._watch(claim)
            # What is in the work folder is of an unknown age.
            self._set_current(False)
        self._write_claim(at_work=True)
        self._is_claimed = True
        if not self._state["is_current"]:
            # What the store holds, but for tables and dataset, replaces the content of the work folder.
            shutil.rmtree(self.folder, ignore_errors=True)
            (self._room / _COPIED).unlink(missing_ok=True)
            self.folder.mkdir(parents=True)
            names = [name for name in self.store.files() if _is_worked_with(name)]
            self.store.download((name, self.folder / name) for name in names)
            for name in names:
                self._note_copied(name)
            self._set_current(True)
        for line in _lines(self._room / _COPIED):
            self._copied[line["name"]] = (line["bytes"], line["time"])
        self._start(BEAT_SECONDS, self._beat)
        self._start(COPY_SECONDS, self._copy_in_background)
        self.is_open = True

    def publish(self) -> None:
        """Complete the copy after a build: its tables, its dataset, and at last its account.

        Raises:
            HaltError: If the store does not answer, or another machine has taken over. The work folder stays.
        """
        self._ended.set()
        self._join()
        self._ended.clear()
        self._start(BEAT_SECONDS, self._beat)
        self._beat()
        if self._lost:
            raise HaltError(self._lost)
        try:
            self._copy()
            self._copy_files(path for path in self._files("stages") if path.parent.name not in {"parts", "items"})
            self._copy_dataset()
            folders = [name for name in ("stages", "media", "dataset") if (self.folder / name).is_dir()]
            here = {path.relative_to(self.folder).as_posix() for name in folders for path in self._files(name)}
            gone = (name for name in self.store.files() if name.partition("/")[0] in folders and name not in here)
            self.store.delete(gone)
            self._copy_files(self.folder / name for name in (JOURNAL, ACCOUNT))
        except VttdataError as error:
            raise HaltError(f"The build is complete in {self.folder}, but not its copy: {error}") from error

    def close(self, *, is_stopped: bool = False) -> None:
        """End copying, after a last copy of a build that has stopped, and give the claim back."""
        self._ended.set()
        self._join()
        with contextlib.suppress(VttdataError):
            if is_stopped:
                self._ended.clear()
                self._copy()
            if self._is_claimed and not self._lost:
                self._write_claim(at_work=False)

    def _read_claim(self) -> dict[str, Any]:
        content = self.store.read(CLAIM)
        try:
            claim = json.loads(content or b"{}")
        except ValueError:
            claim = {}
        return claim if isinstance(claim, dict) else {}

    def _write_claim(self, *, at_work: bool) -> None:
        self._beats += 1
        claim = {
            "owner": self._state["owner"],
            "host": socket.gethostname(),
            "process": os.getpid(),
            "beat": f"{uuid.uuid4().hex[:8]}-{self._beats}",
            "at_work": at_work,
        }
        self.store.write(CLAIM, json.dumps(claim).encode())

    def _watch(self, claim: dict[str, Any]) -> None:
        who = f"another build (process {claim.get('process')} on {claim.get('host')!a})"
        self._note(
            f"{self.store.address}: {who} was at work here; waiting {WATCH_SECONDS:.0f} s to see if it still is."
        )
        end = time.monotonic() + WATCH_SECONDS
        while time.monotonic() < end:
            time.sleep(min(BEAT_SECONDS / 2, WATCH_SECONDS))
            now = self._read_claim()
            if now.get("beat") != claim.get("beat") and now.get("at_work"):
                raise VttdataError(f"{self.store.address}: {who} is at work here; wait for it.")

    def _beat(self) -> None:
        """Change the claim; if it is that of another machine, stop copying."""
        with contextlib.suppress(VttdataError):
            owner = self._read_claim().get("owner")
            if owner == self._state["owner"]:
                self._write_claim(at_work=True)
            elif not self._lost:
                self._lost = (
                    f"{self.store.address}: another machine has taken over this build, so nothing more is copied there;"
                    f" what was built here is in {self.folder}."
                )
                self._note(self._lost)

    def _set_current(self, is_current: bool) -> None:
        self._state["is_current"] = is_current
        write_json(self._room / _STATE, self._state)

    def _start(self, seconds: float, function: Callable[[], None]) -> None:
        def repeat() -> None:
            wait = 0.0
            while not self._ended.wait(wait):
                started = time.monotonic()
                function()
                # Looking through a large folder must not take more than a fraction of the time.
                wait = max(seconds, 5 * (time.monotonic() - started)) if seconds == COPY_SECONDS else seconds

        thread = threading.Thread(target=repeat, daemon=True)
        thread.start()
        self._threads.append(thread)

    def _join(self) -> None:
        while self._threads:
            self._threads.pop().join()

    def _copy_in_background(self) -> None:
        problem = ""
        try:
            self._copy()
        except VttdataError as error:
            problem = str(error)
        if problem and not self._problem and not self._lost:
            self._note(
                f"{problem.rstrip('.')}; the build goes on in {self.folder} and is copied when that works again."
            )
        self._problem = problem

    def _copy(self) -> None:
        """Copy media, then those results that were there before the media were looked at."""
        if self._lost:
            return
        results = [*self._files("stages")]
        parts = [path for path in results if path.parent.name == "parts"]
        logs = {}
        for path in results:
            # A log is removed when its results are in parts.
            with contextlib.suppress(FileNotFoundError):
                if path.parent.name == "items":
                    logs[path] = path.stat().st_size
        self._copy_files([*self._files("media"), self.folder / ACCOUNT])
        if JOURNAL not in self._copied:
            self._copy_files([self.folder / JOURNAL])
        self._copy_files(parts)
        for path, size in logs.items():
            with contextlib.suppress(FileNotFoundError):
                self._copy_lines(path, size)

    def _copy_lines(self, path: Path, size: int) -> None:
        """Copy the lines of a log that are new in its first `size` bytes, as a file of their own."""
        name, done = path.relative_to(self.folder).as_posix(), self._copied_bytes.get(path, 0)
        # One that was fetched is in the store already.
        if size == done or name in self._copied or self._ended.is_set():
            return
        with path.open("rb") as stream:
            stream.seek(done)
            lines = stream.read(size - done)
        lines = lines[: lines.rfind(b"\n") + 1]
        if lines:
            self.store.write(f"{name.removesuffix('.jsonl')}.{done}.jsonl", lines)
            self._copied_bytes[path] = done + len(lines)

    def _files(self, folder: str) -> Iterator[Path]:
        """Yield the finished files in a folder of the work folder, sorted."""
        for root, folders, names in os.walk(self.folder / folder):
            folders[:] = sorted(name for name in folders if not name.startswith("."))
            for name in sorted(names):
                if not name.startswith(".") and not name.endswith((".tmp", ".part")):
                    yield Path(root, name)

    def _copy_files(self, paths: Iterable[Path]) -> None:
        """Copy those files that are new or have changed; those that vanish meanwhile are left out.

        Raises:
            HaltError: If the store does not answer, or another machine has taken over.
        """
        rest = self._changed(paths)
        while not self._ended.is_set() and (batch := list(itertools.islice(rest, _BATCH))):
            if self._lost:
                raise HaltError(self._lost)
            stamps = {name: stamp for _, name, stamp in batch}
            files = ((path, name) for path, name, _ in batch)
            self.store.upload(files, lambda name, stamps=stamps: self._note_copied(name, stamps[name]))  # type: ignore[misc]

    def _changed(self, paths: Iterable[Path]) -> Iterator[tuple[Path, str, tuple[int, int]]]:
        for path in paths:
            name = path.relative_to(self.folder).as_posix()
            with contextlib.suppress(FileNotFoundError):
                if self._copied.get(name) != (stamp := _stamp(path)):
                    yield path, name, stamp

    def _note_copied(self, name: str, stamp: tuple[int, int] | None = None) -> None:
        size, changed = self._copied[name] = stamp or _stamp(self.folder / name)
        with self._log_lock, (self._room / _COPIED).open("a", encoding="utf-8", newline="\n") as stream:
            stream.write(json.dumps({"name": name, "bytes": size, "time": changed}) + "\n")

    def _copy_dataset(self) -> None:
        """Copy the dataset; while files of it change, the store has no manifest, without which it is no dataset."""
        dataset = self.folder / "dataset"
        if not (dataset / MANIFEST).is_file():
            return
        name = f"dataset/{MANIFEST}"
        manifest, copied = (dataset / MANIFEST).read_bytes(), self.store.read(name)
        if manifest == copied:
            return
        entries = json.loads(manifest)["files"]
        try:
            former = json.loads(copied or b"{}").get("files", {})
        except (ValueError, AttributeError):
            former = {}
        self.store.delete([name])
        files = {path.relative_to(dataset).as_posix(): path for path in self._files("dataset")}
        del files[MANIFEST]
        changed = (file for file in files if file not in entries or former.get(file) != entries[file])
        self.store.upload((files[file], f"dataset/{file}") for file in changed)
        self.store.write(name, manifest)


@contextlib.contextmanager
def open_remote_build(address: str, note: Callable[[str], None] = lambda _: None) -> Iterator[RemoteBuild]:
    """Hold a build folder in remote storage, by its address, and the work folder for it, in `builds_folder`.

    `note` is called with sentences that a user should read, also from other threads.

    Raises:
        VttdataError, HaltError: as `RemoteBuild.open`.
    """
    store = RemoteFolder(address)
    room = builds_folder() / ".remote" / hashlib.sha256(store.address.encode()).hexdigest()[:16]
    room.mkdir(parents=True, exist_ok=True)
    with contextlib.ExitStack() as stack:
        try:
            stack.enter_context(locked(room))
        except VttdataError as error:
            raise VttdataError(str(error).replace(str(room), store.address)) from error
        build = RemoteBuild(store, room, note)
        try:
            build.open()
            yield build
        except VttdataError:
            build.close(is_stopped=build.is_open)
            raise
        except BaseException:
            build.close()
            raise
        build.close()


def _is_worked_with(name: str) -> bool:
    """Return True for files that a build reads when it goes on: its account, its media, and results."""
    match name.split("/"):
        case ["stages", _, "parts" | "items", results]:
            return results.endswith(".jsonl")
        case ["media", _, *_]:
            return True
        case _:
            return name in (ACCOUNT, JOURNAL)


def _stamp(path: Path) -> tuple[int, int]:
    status = path.stat()
    return status.st_size, status.st_mtime_ns


def _read_object(path: Path) -> dict[str, Any] | None:
    try:
        value = json.loads(path.read_bytes())
    except (OSError, ValueError):
        return None
    return value if isinstance(value, dict) and isinstance(value.get("owner"), str) and "is_current" in value else None


def _lines(path: Path) -> Iterator[dict[str, Any]]:
    """Yield the objects of a file of JSON lines, without a last line that was cut off."""
    if not path.is_file():
        return
    for line in path.read_text(encoding="utf-8").splitlines():
        with contextlib.suppress(ValueError):
            yield json.loads(line)
