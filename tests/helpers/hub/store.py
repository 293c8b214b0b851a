"""What a Hub keeps: repositories with commits, branches and tags, and the blobs they point to.

It knows nothing of HTTP. A commit is all or nothing, and a branch only moves to a commit whose parent it was.
"""

from __future__ import annotations

import hashlib
import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

GITATTRIBUTES = b"*.parquet filter=lfs diff=lfs merge=lfs -text\n*.mp4 filter=lfs diff=lfs merge=lfs -text\n"
_LFS_SUFFIXES = (".parquet", ".mp4", ".tar", ".zip")
_LARGEST_REGULAR = 10 * 2**20


class Refused(Exception):
    """What a Hub answers instead of doing as it is asked: HTTP status, its own error code, a message."""

    def __init__(self, status: int, code: str, message: str) -> None:
        super().__init__(message)
        self.status, self.code = status, code


@dataclass(frozen=True)
class File:
    """One file of a commit; `sha256` is that of its content where it is kept as a large file."""

    oid: str
    size: int
    sha256: str | None = None

    def as_json(self, path: str) -> dict[str, Any]:
        large = {"lfs": {"oid": self.sha256, "size": self.size, "pointerSize": 134}} if self.sha256 else {}
        return {"type": "file", "oid": self.oid, "size": self.size, "path": path, **large}


@dataclass(frozen=True)
class Commit:
    oid: str
    parent: str | None
    title: str
    files: Mapping[str, File]


@dataclass
class Repository:
    name: str
    private: bool
    commits: dict[str, Commit] = field(default_factory=dict)
    tags: dict[str, str] = field(default_factory=dict)
    # Other branches by name, and pull requests as ``refs/pr/1``.
    branches: dict[str, str] = field(default_factory=dict)
    head: str = ""
    # Every large file that was ever pushed; it stays when no commit names it any more.
    pushed: dict[str, tuple[str, File]] = field(default_factory=dict)

    def find(self, revision: str) -> Commit:
        named = {"main": self.head, "refs/heads/main": self.head} | self.branches | self.tags
        oid = named.get(revision, revision)
        if oid not in self.commits:
            raise Refused(404, "RevisionNotFound", f"Invalid rev id: {revision}")
        return self.commits[oid]

    def history(self) -> list[Commit]:
        """The commits of the branch, newest first."""
        found, oid = [], self.head
        while oid:
            found.append(self.commits[oid])
            oid = found[-1].parent or ""
        return found


class Store:
    """All repositories of a Hub; blobs lie in a folder, under their names."""

    def __init__(self, folder: Path) -> None:
        self.repositories: dict[str, Repository] = {}
        self._folder = folder
        self._numbers = itertools.count()

    def create(self, name: str, *, private: bool) -> Repository:
        if name in self.repositories:
            raise Refused(409, "", "You already created this dataset repo")
        repository = self.repositories[name] = Repository(name, private)
        self._add_commit(repository, "initial commit", {".gitattributes": self.keep(GITATTRIBUTES)})
        return repository

    def delete(self, name: str) -> None:
        del self.repositories[name]

    def forget(self) -> None:
        """Be as empty as at the start."""
        self.repositories.clear()
        for path in self._folder.iterdir():
            path.unlink()

    def find(self, name: str) -> Repository:
        return self.repositories[name]

    def keep(self, content: bytes) -> File:
        """Keep a regular file's content."""
        oid = hashlib.sha1(b"blob %d\0" % len(content) + content).hexdigest()
        (self._folder / oid).write_bytes(content)
        return File(oid, len(content))

    def keep_large(self, sha256: str, content: bytes) -> None:
        if hashlib.sha256(content).hexdigest() != sha256:
            raise Refused(400, "", "The content is not what was announced")
        (self._folder / sha256).write_bytes(content)

    def has(self, name: str) -> bool:
        return (self._folder / name).is_file()

    def blob(self, file: File) -> Path:
        return self._folder / (file.sha256 or file.oid)

    def read(self, repository: str, path: str, revision: str = "main") -> bytes:
        return self.blob(self.find(repository).find(revision).files[path]).read_bytes()

    def commit(
        self, repository: Repository, title: str, operations: Sequence[tuple[str, Any]], parent: str | None
    ) -> Commit:
        """Add a commit on top of the branch.

        Raises:
            Refused: 412 when the branch is no longer at `parent`; 404 for what is to be deleted or is not uploaded.
        """
        if parent is not None and parent != repository.head:
            raise Refused(412, "", "A commit has happened since. Please refresh and try again.")
        files = dict(repository.commits[repository.head].files)
        for kind, value in operations:
            path = value["path"]
            if kind == "deletedFile":
                if path not in files:
                    raise Refused(404, "EntryNotFound", "A file with this name doesn't exist")
                del files[path]
            elif kind == "deletedFolder":
                files = {name: file for name, file in files.items() if not name.startswith(path.rstrip("/") + "/")}
            elif kind == "lfsFile":
                files[path] = self._large(value["oid"], value["size"])
            else:
                files[path] = self.keep(value["content"])
        return self._add_commit(repository, title, files)

    def squash(self, repository: Repository, title: str) -> None:
        """Make one commit of the branch; tags keep the commits that they name, and with them these commits' files."""
        files = repository.commits[repository.head].files
        repository.head = ""
        self._add_commit(repository, title, files)
        self._collect(repository)

    def _collect(self, repository: Repository) -> None:
        """Forget commits that neither a branch nor a tag reaches, and the regular files that only these have."""
        reached: dict[str, Commit] = {}
        for oid in [repository.head, *repository.tags.values(), *repository.branches.values()]:
            while oid and oid not in reached:
                reached[oid] = repository.commits[oid]
                oid = reached[oid].parent or ""  # noqa: PLW2901
        gone = {
            file for oid, commit in repository.commits.items() if oid not in reached for file in commit.files.values()
        }
        repository.commits = reached
        kept = {
            file
            for each in self.repositories.values()
            for commit in each.commits.values()
            for file in commit.files.values()
        }
        for file in gone - kept:
            if file.sha256 is None:
                self.blob(file).unlink(missing_ok=True)

    def delete_tag(self, repository: Repository, name: str) -> None:
        if repository.tags.pop(name, None) is None:
            raise Refused(404, "RevisionNotFound", f"No such tag: {name}")
        self._collect(repository)

    def delete_branch(self, repository: Repository, name: str) -> None:
        del repository.branches[name]
        self._collect(repository)

    def large_files(self, repository: Repository) -> list[tuple[str, File]]:
        return list(repository.pushed.values())

    def delete_large(self, repository: Repository, names: Sequence[str]) -> None:
        for sha256 in names:
            repository.pushed.pop(sha256, None)
            (self._folder / sha256).unlink(missing_ok=True)

    def _large(self, sha256: str, size: int) -> File:
        if not self.has(sha256):
            raise Refused(400, "", f"LFS pointer pointed to a file that does not exist: {sha256}")
        pointer = f"version https://git-lfs.github.com/spec/v1\noid sha256:{sha256}\nsize {size}\n".encode()
        return File(hashlib.sha1(b"blob %d\0" % len(pointer) + pointer).hexdigest(), size, sha256)

    def _add_commit(self, repository: Repository, title: str, files: Mapping[str, File]) -> Commit:
        text = f"{next(self._numbers)} {repository.head} {title} {sorted(files)}"
        commit = Commit(hashlib.sha1(text.encode()).hexdigest(), repository.head or None, title, files)
        repository.commits[commit.oid] = commit
        repository.head = commit.oid
        repository.pushed |= {file.sha256: (path, file) for path, file in files.items() if file.sha256}
        return commit

    def tag(self, repository: Repository, name: str, revision: str) -> None:
        if name in repository.tags:
            raise Refused(409, "", f"Tag reference exists already: {name}")
        repository.tags[name] = repository.find(revision).oid


def upload_mode(path: str, size: int) -> str:
    """How a file travels: large ones and those of binary formats through LFS."""
    return "lfs" if path.endswith(_LFS_SUFFIXES) or size > _LARGEST_REGULAR else "regular"


def tree(files: Mapping[str, File], folder: str, *, recursive: bool) -> list[dict[str, Any]]:
    """The entries of a folder, and with `recursive` those below it.

    Raises:
        Refused: when there is no such folder.
    """
    prefix = f"{folder}/" if folder else ""
    inside = {path.removeprefix(prefix): file for path, file in files.items() if path.startswith(prefix)}
    if not inside and folder:
        raise Refused(404, "EntryNotFound", f"{folder} does not exist")
    folders = {path[:index] for path in inside for index, sign in enumerate(path) if sign == "/"}
    entries = [
        {"type": "directory", "oid": hashlib.sha1(name.encode()).hexdigest(), "size": 0, "path": prefix + name}
        for name in sorted(folders)
    ] + [file.as_json(prefix + path) for path, file in sorted(inside.items())]
    return [entry for entry in entries if recursive or "/" not in str(entry["path"]).removeprefix(prefix)]
