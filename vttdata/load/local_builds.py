"""Local builds: those in ``VTTDATA_HOME`` by their folder, and those in other folders by a registry.

The registry is a folder of small JSON files, one for each folder that was built elsewhere. Each is written in one step
and none is shared, so that any number of builds may register at once; what is in them is checked before it is used.
Empty files beside them are named by the digests of all settings that builds had: what a ``build.json`` names is opened
without a word if its settings are among them.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import shlex
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from vttdata.errors import VttdataError
from vttdata.files.file_lock import is_held
from vttdata.files.output_file import write_whole
from vttdata.files.reading import read_description
from vttdata.ids import digest, is_dataset_name

ACCOUNT = "build.json"
# Beside it once a build is finished; see `vttdata.compose.stamp`.
STAMP = "stamp.json"

_REGISTRY = ".builds"
_MAX_ENTRY_BYTES = 2**16


@dataclass(frozen=True, slots=True)
class LocalBuild:
    """Build, or dataset that was written without one, on this machine.

    Fields:
        name: ``owner/name``.
        folder: Build folder, or dataset folder.
        dataset: Dataset folder; None if there is none yet.
        is_finished: False if the last build in the folder was interrupted, was refused, or is still running.
        is_incomplete: True if its dataset lacks items whose processing was cut short.
    """

    name: str
    folder: Path
    dataset: Path | None
    is_finished: bool
    is_incomplete: bool = False

    @property
    def problem(self) -> str:
        """Why the last build is not finished, or has no dataset, and what to do, as the end of a sentence."""
        # A folder such as `demo` without its parents would be the recipe of that name.
        folder = self.folder.absolute()
        quoted = shlex.quote(str(folder))
        if self.is_finished:
            return f"is gone from {folder}; 'vttdata build {quoted}' builds it again."
        if is_locked(folder):
            return f"is being built in {folder} at this moment; wait for that."
        return f"was interrupted or refused while it was built in {folder}; 'vttdata build {quoted}' goes on."


@dataclass(frozen=True, slots=True)
class MissingBuild:
    """Registered build whose folder is gone or holds something else, and the file of its entry."""

    name: str
    folder: Path
    entry: Path

    def __str__(self) -> str:
        return (
            f"'{self.name}' is no longer in {str(self.folder)!a}; open its folder where it is now, or delete "
            f"{self.entry} to forget it"
        )


def builds_folder() -> Path:
    """Return the folder of local builds, each at ``<owner>/<name>``: ``VTTDATA_HOME``, or ``~/.cache/vttdata``.

    Raises:
        VttdataError: when it starts in a home folder that does not exist.
    """
    folder = os.environ.get("VTTDATA_HOME") or "~/.cache/vttdata"
    try:
        return Path(folder).expanduser()
    except RuntimeError as error:
        raise VttdataError(f"VTTDATA_HOME: found {folder!a}, whose home folder does not exist.") from error


@dataclass(frozen=True, slots=True)
class BuildRegistry:
    """Builds on this machine: those at ``<owner>/<name>`` in `home`, and those elsewhere that were added."""

    home: Path = field(default_factory=builds_folder)

    def builds(self, name: str | None = None) -> list[LocalBuild]:
        """Return all builds, or those of a name: those in `home` by name, then those elsewhere, the newest first.

        The first one is that for which its name stands. A name without its owner is that of builds of any owner.

        Raises:
            VttdataError: If builds of several owners have the name.
        """
        folders = [self.home / name] if name and "/" in name else sorted(self.home.glob("*/*"))
        known = ["/".join(folder.parts[-2:]) for folder in folders]
        at_home = (build_in(self.home / name, name) for name in known if is_dataset_name(name))
        builds = [*filter(None, at_home), *(build for build in self._entries() if isinstance(build, LocalBuild))]
        builds = [build for build in builds if name in (None, build.name, build.name.partition("/")[2])]
        if name is not None and len(names := {build.name for build in builds}) > 1:
            raise VttdataError(f"'{name}' may be {' or '.join(sorted(names))}; write which.")
        return builds

    def missing(self) -> list[MissingBuild]:
        """Return the builds that were added and are gone."""
        return [build for build in self._entries() if isinstance(build, MissingBuild)]

    def find(self, reference: str) -> LocalBuild | None:
        """Return a build by its folder or by its name; None if there is none, or only a dataset without its build.

        Raises:
            VttdataError: As `builds`.
        """
        if read_account(folder := Path(reference)) is not None:
            self.add_if_unknown(folder)
            return build_in(folder)
        return next((build for build in self.builds(reference) if read_account(build.folder) is not None), None)

    def add(self, name: str, folder: Path) -> None:
        """Make a build or dataset folder known by its name ``owner/name``, and forget those of this name that are gone.

        Nothing is written for a build that lies in `home` under its name.

        Raises:
            OSError: If the registry cannot be written.
        """
        folder = folder.resolve()
        if folder == (self.home / name).resolve():
            return
        registry = self.home / _REGISTRY
        registry.mkdir(parents=True, exist_ok=True)
        key = hashlib.sha256(os.fsencode(folder)).hexdigest()[:16]
        write_whole(registry / f"{key}.json", json.dumps({"name": name, "folder": os.fsdecode(folder)}) + "\n")
        for gone in self.missing():
            if gone.name == name:
                gone.entry.unlink(missing_ok=True)

    def add_if_unknown(self, folder: Path) -> None:
        """Add a build folder, or that of a dataset in one, if no build has its name, as after a move.

        Nothing happens where the registry cannot be written.
        """
        build = build_in(folder if read_account(folder) is not None or folder.name != "dataset" else folder.parent)
        if build is not None and read_account(build.folder) is not None and not self.builds(build.name):
            with contextlib.suppress(OSError):
                self.add(build.name, build.folder)

    def _entries(self) -> Iterator[LocalBuild | MissingBuild]:
        """Yield what was added, the newest first; entries that are no entries are left out."""
        entries = []
        for path in (self.home / _REGISTRY).glob("*.json"):
            try:
                # Anything but a small regular file could block or fill the memory.
                if path.is_file() and (status := path.stat()).st_size <= _MAX_ENTRY_BYTES:
                    entries.append((status.st_mtime_ns, path, json.loads(path.read_bytes())))
            except (OSError, ValueError, RecursionError):
                continue
        for _, path, content in sorted(entries, key=lambda entry: entry[:2], reverse=True):
            if not isinstance(content, dict):
                continue
            name, text = content.get("name"), content.get("folder")
            if not isinstance(name, str) or not is_dataset_name(name) or not isinstance(text, str) or "\0" in text:
                continue
            folder = Path(text)
            if folder.is_absolute() and folder != self.home / name:
                build = build_in(folder)
                yield build if build is not None and build.name == name else MissingBuild(name, folder, path)


def read_account(folder: Path) -> dict[str, Any] | None:
    """Return the content of a build folder's ``build.json``; None if there is none or it is not one."""
    return _read_object(folder, ACCOUNT, "recipe")


def remember_settings(settings: dict[str, Any]) -> None:
    """Note that this user builds with settings, as ``build.json`` stores them; not where the registry is read-only."""
    path = _settings_entry(settings)
    with contextlib.suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()


def is_own(settings: dict[str, Any]) -> bool:
    """Return whether the settings in a ``build.json`` are of a build of this user, and not of somebody else's."""
    return _settings_entry(settings).is_file()


def folder_of_videos(dataset: Path) -> Path | None:
    """Return the folder of video files that the user's build around a dataset was given; None without one."""
    settings = (read_account(dataset.parent) or {}).get("settings")
    named = settings.get("videos") if isinstance(settings, dict) and is_own(settings) else None
    return Path(named) if isinstance(named, str) else None


def dataset_in(folder: Path) -> Path | None:
    """Return a folder if it is a dataset, or the dataset in it if it is a build; None if it is neither."""
    for path in (folder / "dataset", folder):
        if (path / "README.md").is_file() and any((path / name).is_dir() for name in ("clips", "foils")):
            return path.resolve()
    return None


def build_in(folder: Path, name: str | None = None) -> LocalBuild | None:
    """Return the build or dataset in a folder; None if there is neither, or neither `name` nor its files name it."""
    try:
        account, dataset = read_account(folder), dataset_in(folder)
    except OSError:
        return None
    if account is None and dataset is None:
        return None
    if name is None and account is not None:
        name = account["recipe"]
    elif name is None:
        name = (_read_object(folder, "manifest.json", "name") or {}).get("name")
    status = account.get("status") if account is not None else "complete"
    is_finished, is_incomplete = status in {"complete", "incomplete"}, status == "incomplete"
    return LocalBuild(name, folder, dataset, is_finished, is_incomplete) if name is not None else None


def is_locked(folder: Path) -> bool:
    """Return True if a build is at work in a folder."""
    return is_held(folder / ".lock")


def _settings_entry(settings: dict[str, Any]) -> Path:
    return builds_folder() / _REGISTRY / "settings" / digest(settings)


def _read_object(folder: Path, file: str, key: str) -> dict[str, Any] | None:
    """Return the content of a JSON file; None if there is none or it has no name of a dataset under the key."""
    try:
        content = json.loads(read_description(folder, file))
    except (ValueError, RecursionError, VttdataError):
        return None
    name = content.get(key) if isinstance(content, dict) else None
    return content if isinstance(name, str) and is_dataset_name(name) else None
