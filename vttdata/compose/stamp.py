"""Stamp of a finished build, by which the same command sees that nothing has changed, and has nothing to do.

It holds what decides the result: the command, the state of every file that the recipe names, of the program and of the
libraries, and that of every file in the build folder. A file's state is its size, its inode and its times; the time of
its last change of state is set by the system alone, so that a file that was replaced by one of the same size and time
is seen. Whatever differs, and whatever cannot be known (an address, another build that is read), leads to a look at
everything; so does a stamp that is missing. Nothing here imports what builds, so that the answer comes at once.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from vttdata.files.output_file import write_whole
from vttdata.files.strict_yaml import read_yaml
from vttdata.ids import digest, is_dataset_name
from vttdata.json_types import JsonObject
from vttdata.load.local_builds import STAMP, LocalBuild, builds_folder, read_account
from vttdata.plugins import PLUGINS_VARIABLE
from vttdata.recipe import packaged
from vttdata.recipe.packaged import RecipeFile
from vttdata.version import __version__

# Files of a build folder that every run touches.
_UNSTAMPED = (STAMP, "journal.jsonl", ".lock", ".lock.owner")
# Longer than a tick of the clock by which systems date changes of files (10 ms on some).
_TICK_SECONDS = 0.02


@dataclass(frozen=True, slots=True)
class Request:
    """Arguments of a build, as of `vttdata.compose.build.build`."""

    recipe: RecipeFile | LocalBuild
    out: str | os.PathLike[str] | None
    settings: Sequence[str]
    columns: Mapping[str, str]

    def key(self) -> str:
        """Return a digest that also stands for the folder in which paths are meant, and for the environment."""
        variables = {name: value for name, value in os.environ.items() if name.startswith(("VTTDATA_", "HF_"))}
        place = [os.getcwd(), sorted(variables.items())]
        recipe = self.recipe.folder if isinstance(self.recipe, LocalBuild) else self.recipe.name or self.recipe.file
        paths = [str(recipe), str(self.out)]
        return digest([paths, list(self.settings), sorted(self.columns.items()), place])

    def folder(self) -> Path | None:
        """Return the build folder that is meant, as far as this can be known without reading the recipe's builder."""
        if self.out is not None:
            return Path(self.out)
        if isinstance(self.recipe, LocalBuild):
            return self.recipe.folder
        named = [text.partition("=")[2] for text in self.settings if text.startswith("name=")]
        name = named[-1] if named else read_yaml(self.recipe.file).get("name")
        return builds_folder() / name if isinstance(name, str) and is_dataset_name(name) else None


@dataclass(frozen=True, slots=True)
class InputStates:
    """State of what a build reads: by path, and of the environment; taken before it reads anything."""

    files: Mapping[str, str]
    environment: str


def find_unchanged(request: Request) -> tuple[Path, JsonObject] | None:
    """Return folder and ``build.json`` of a finished build that the same command would not change; None without one."""
    folder = request.folder()
    if folder is None:
        return None
    stamp, account = read_stamp(folder), read_account(folder)
    if stamp is None or account is None or account.get("status") != "complete":
        return None
    if stamp.get("request") != request.key() or stamp.get("environment") != _environment():
        return None
    files = stamp.get("files")
    is_same = (
        isinstance(files, dict)
        and all(_state(Path(path)) == state for path, state in files.items())
        and stamp.get("outputs") == _state_of_build(folder)
    )
    return (folder, account) if is_same else None


def read_stamp(folder: Path) -> JsonObject | None:
    """Return the stamp of a build folder; None without one that can be read."""
    with contextlib.suppress(OSError, ValueError):
        stamp = json.loads((folder / STAMP).read_bytes())
        return stamp if isinstance(stamp, dict) else None
    return None


def undisturbed_stamp(folder: Path) -> JsonObject | None:
    """Return the stamp of a build folder if nothing in it has changed since."""
    stamp = read_stamp(folder)
    return stamp if stamp is not None and stamp.get("outputs") == _state_of_build(folder) else None


def take_input_states(paths: Sequence[str]) -> InputStates:
    """Return the state of files and folders, and of the environment."""
    time.sleep(_TICK_SECONDS)
    return InputStates({path: _state(Path(path)) for path in sorted({*map(os.path.abspath, paths)})}, _environment())


def write_stamp(folder: Path, request: Request, inputs: InputStates) -> None:
    """Stamp a finished build, unless what it read has changed since."""
    time.sleep(_TICK_SECONDS)
    if inputs == InputStates({path: _state(Path(path)) for path in inputs.files}, _environment()):
        stamp = asdict(inputs) | {"request": request.key(), "outputs": _state_of_build(folder)}
        write_whole(folder / STAMP, json.dumps(stamp, indent=1) + "\n")


def _environment() -> str:
    """Return a digest of the program, its plugins, the libraries (names and versions) and the ffmpeg in use."""
    package = Path(__file__).resolve().parents[1]
    programs = [package, *(packaged.folder(kind) for kind in ("recipes", "builders"))]
    ffmpeg = shutil.which(os.environ.get("VTTDATA_FFMPEG") or "ffmpeg")
    programs += [Path(path) for path in (os.environ.get(PLUGINS_VARIABLE), ffmpeg) if path]
    libraries = [
        name
        for folder in dict.fromkeys(sys.path)
        if os.path.isdir(folder)
        for name in sorted(os.listdir(folder))
        if name.endswith((".dist-info", ".egg-info"))
    ]
    return digest([__version__, sys.version, libraries, [_state(path) for path in programs]])


def _state_of_build(folder: Path) -> str:
    return digest([entry for entry in _entries(folder) if entry[0] not in _UNSTAMPED])


def _state(path: Path) -> str:
    """Return a digest of the state of a file, or of all files in a folder."""
    return digest([*_entries(path)])


def _entries(path: Path) -> Iterator[tuple[str, ...]]:
    """Yield name and state of a file, or of every file under a folder, links followed, in the order of their names."""
    stack, seen = [(path, "")], set()
    while stack:
        place, name = stack.pop()
        try:
            facts = place.stat()
        except OSError as error:
            yield name, type(error).__name__
            continue
        if not place.is_dir():
            numbers = (facts.st_size, facts.st_mtime_ns, facts.st_ctime_ns, facts.st_ino)
            yield name, *map(str, numbers)
        elif (facts.st_dev, facts.st_ino) not in seen and place.name != "__pycache__":
            seen.add((facts.st_dev, facts.st_ino))
            children = sorted(os.listdir(place), reverse=True)
            stack += [(place / child, f"{name}/{child}" if name else child) for child in children]
