"""Tell folders and files that vttdata wrote from those of other people, before they are cleared, moved or replaced."""

from __future__ import annotations

import contextlib
import json
import os
import shlex
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from vttdata.errors import VttdataError
from vttdata.files.reading import file_sha256, is_inside, links_out
from vttdata.partial_file import partial_file

# What file managers leave in every folder that somebody looks at.
_NOBODYS = frozenset({".DS_Store", "Thumbs.db", "desktop.ini"})
_MOST_NAMED = 20
# What reading a file raises that is of another kind than ours.
_NOT_OURS = (OSError, ValueError, TypeError, LookupError, AttributeError, VttdataError)


@dataclass(frozen=True, slots=True)
class FolderKind:
    """Kind of folder that vttdata writes as a whole.

    Fields:
        what: what it is, with an article.
        marker: file by which it is recognised.
        names: function that returns the names of everything that a folder with this marker holds, the marker's own
            included; that of a folder stands for all that is in it. It raises an error where the marker is not ours.
    """

    what: str
    marker: str
    names: Callable[[Path], Collection[str]]


@dataclass(slots=True)
class FileChanges:
    """Files of vttdata that a request removes or changes, noted one by one; a dry run does nothing else.

    Fields:
        is_dry_run: only note them.
        files: path and what becomes of it, in order.
        left: path and why it stays, of files that a list names and that are not as it says.
    """

    is_dry_run: bool = False
    files: list[tuple[Path, Literal["changed", "removed"]]] = field(default_factory=list)
    left: list[tuple[Path, str]] = field(default_factory=list)

    def note(self, path: Path, action: Literal["changed", "removed"]) -> bool:
        """Note what becomes of a file that the caller wrote, and return whether it is to be done."""
        self.files.append((path, action))
        return not self.is_dry_run

    def remove(self, folder: Path, name: str, sha256: str) -> None:
        """Remove a file that a list in a folder of vttdata names with its checksum.

        One that leads out of the folder, is a link, or was changed since, stays.
        """
        path = folder / name
        if not os.path.lexists(path):
            return
        if not is_inside(name) or links_out(folder, path) or path.is_symlink() or not path.is_file():
            self.left.append((path, "is not a file inside its folder"))
        elif file_sha256(path) != sha256:
            self.left.append((path, "was changed since it was written"))
        elif self.note(path, "removed"):
            path.unlink()


def check_own(folder: Path, kind: FolderKind) -> None:
    """Check that a folder may be cleared, moved or replaced: it is missing, empty, or vttdata wrote all that is in it.

    Raises:
        VttdataError: when it holds anything else, which is named; nothing is changed.
    """
    if not os.path.lexists(folder):
        return
    if not folder.is_dir():
        raise VttdataError(f"{folder}: is a file and is not replaced by {kind.what}; choose another folder.")
    foreign = foreign_files(folder, kind)
    if foreign:
        listed = ", ".join(map(repr, foreign[:_MOST_NAMED]))
        listed += f" and {len(foreign) - _MOST_NAMED:,} others" if len(foreign) > _MOST_NAMED else ""
        reason = "choose another folder, or move these files away"
        if not _own_names(folder, kind) and (folder / kind.marker).is_file():
            away = " ".join(map(shlex.quote, (str(folder), f"{folder}.damaged")))
            reason = f"its {kind.marker} is damaged or of another program; choose another folder, or, if it is yours, "
            reason += f"'mv {away}' and run the same command again"
        raise VttdataError(f"{folder}: holds {listed} and is not replaced by {kind.what}; {reason}.")


def foreign_files(folder: Path, kind: FolderKind) -> list[str]:
    """Return the names of the files in a folder of some kind that vttdata did not write there, sorted."""
    names = _own_names(folder, kind)
    relative = [path.relative_to(folder) for path in _files(folder)]
    return [path.as_posix() for path in relative if path.name not in _NOBODYS and not _is_among(path, names)]


def find_own_folder(path: Path, kinds: Iterable[FolderKind]) -> Path | None:
    """Return the folder of one of some kinds in which vttdata wrote a file; None for a file of somebody else."""
    kinds = list(kinds)
    for folder in path.parents:
        if any(_is_among(path.relative_to(folder), _own_names(folder, kind)) for kind in kinds):
            return folder
    return None


def _is_among(path: Path, names: Collection[str]) -> bool:
    """Return whether a relative path, or a folder above it, is among names."""
    return any(each.as_posix() in names for each in (path, *path.parents[:-1]))


def check_own_files(folder: Path, kind: FolderKind, files: Collection[str]) -> None:
    """Check that those of some files that are in a folder may be replaced, since vttdata wrote them there.

    Raises:
        VttdataError: when one is of somebody else.
    """
    names = _own_names(folder, kind)
    for name in files:
        if name not in names and os.path.lexists(folder / name):
            raise VttdataError(
                f"{folder}: holds a {name} that is not of this version of vttdata, or was changed since, and would be "
                "replaced; choose another folder."
            )


@contextlib.contextmanager
def replace_own_files(folder: Path, files: Collection[str]) -> Iterator[None]:
    """Let the block write some files into a folder, which is made if need be and may hold others.

    They are listed in ``.vttdata-files``, by which they are known when they are to be replaced.

    Raises:
        VttdataError: when one of them is there and nobody has listed it, or it was changed since.
        OSError: when the folder or the list cannot be written.
    """
    check_own_files(folder, _LISTED, files)
    folder.mkdir(parents=True, exist_ok=True)
    listed = {name: file_sha256(folder / name) for name in _own_names(folder, _LISTED)}
    # Whoever is killed now left files that are not as listed.
    _write_list(folder, {**listed, **dict.fromkeys(files)})
    try:
        yield
    finally:
        names = {*listed, *files}
        _write_list(folder, {name: file_sha256(folder / name) for name in names if (folder / name).is_file()})


def _write_list(folder: Path, listed: Mapping[str, str | None]) -> None:
    with partial_file(folder / _LISTED.marker) as partial:
        text = json.dumps(dict(sorted(listed.items())), indent=1) + "\n"
        partial.write_text(text, encoding="utf-8", newline="\n")


def _listed_names(folder: Path) -> Collection[str]:
    listed = json.loads((folder / _LISTED.marker).read_text(encoding="utf-8"))
    return {
        name
        for name, digest in listed.items()
        if (folder / name).is_file() and digest in (None, file_sha256(folder / name))
    }


_LISTED = FolderKind("tables", ".vttdata-files", _listed_names)


def check_own_file(path: Path, find_mark: Callable[[], object]) -> None:
    """Check that a file may be replaced: it is missing, or `find_mark` finds in it that vttdata wrote it.

    Raises:
        VttdataError: when it finds nothing or raises an error, as for a folder.
    """
    if not os.path.lexists(path):
        return
    with contextlib.suppress(*_NOT_OURS):
        if find_mark():
            return
    raise VttdataError(f"{path}: is not of this version of vttdata and would be replaced; name another file.")


def _own_names(folder: Path, kind: FolderKind) -> Collection[str]:
    if not (folder / kind.marker).is_file():
        return ()
    with contextlib.suppress(*_NOT_OURS):
        return kind.names(folder)
    return ()


def _files(folder: Path) -> list[Path]:
    """Return the files in a folder and in those below it, and links to folders, sorted."""
    found = []
    for parent, folders, files in os.walk(folder):
        found += [Path(parent, name) for name in files]
        found += [Path(parent, name) for name in folders if Path(parent, name).is_symlink()]
    return sorted(found)
