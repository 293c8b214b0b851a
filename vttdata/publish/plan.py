"""Plan a publication: which files and rows change, and whether the version is high enough for that.

The dataset folder is compared with what is known of the repository; nothing is uploaded or downloaded.
"""

from __future__ import annotations

import hashlib
import io
import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from vttdata.dataset.manifest import MANIFEST, read_dataset_manifest
from vttdata.dataset.tombstones import WITHDRAWN
from vttdata.errors import VttdataError
from vttdata.json_types import JsonObject
from vttdata.publish.diff import DatasetDifference, compare_datasets
from vttdata.publish.hub_requests import Remote, RemoteFile
from vttdata.publish.version_rule import check_version

FileChange = Literal["added", "changed", "removed", "unchanged"]

# Heading under which a published card lists the differences from the version before.
CHANGES = "## Changes"

_CARD = "README.md"
# Of a list of changes: the ids of some rows.
_EXAMPLES = re.compile(r", (?:such as|namely) [^;\n]*")
_MAX_LISTED_FILES = 20
_HUB_FILES = {".gitattributes"}


@dataclass(frozen=True, slots=True)
class ChangedFile:
    """Change of a file, and its size in bytes; of a removed file its former size."""

    path: str
    change: FileChange
    bytes: int


@dataclass(frozen=True, slots=True)
class Previous:
    """Published version: its number, its downloaded folder, and whether its tables are those of the new version."""

    version: str
    folder: Path
    same_tables: bool

    @property
    def card(self) -> str:
        """Text of its README."""
        return (self.folder / _CARD).read_text(encoding="utf-8")


@dataclass(frozen=True, slots=True)
class PublishPlan:
    """Changes that a publication makes.

    Fields:
        dataset, name, version: Dataset to publish.
        private: True to make a new repository private.
        head: Newest commit of the repository; None if there is no repository.
        tagged_commit: Commit that the version's tag names already.
        rewritten: Files with other content than in the folder: the card with its list of changes, and the manifest.
        difference, previous_version: Difference of the rows from the published version, and its number, if there is
        one.
    """

    dataset: Path
    name: str
    version: str
    repo_id: str
    private: bool
    head: str | None
    tag: str
    tagged_commit: str | None
    changes: tuple[ChangedFile, ...]
    rewritten: Mapping[str, bytes] = field(default_factory=dict)
    difference: DatasetDifference | None = None
    previous_version: str | None = None

    @property
    def uploads(self) -> list[str]:
        """Files to upload."""
        return [file.path for file in self.changes if file.change in ("added", "changed")]

    @property
    def removals(self) -> list[str]:
        """Files to remove."""
        return [file.path for file in self.changes if file.change == "removed"]

    @property
    def is_changed(self) -> bool:
        """True if there is anything to commit."""
        return any(file.change != "unchanged" for file in self.changes)

    def content(self, path: str) -> bytes | Path:
        """Return the content to publish under `path`."""
        return self.rewritten.get(path, self.dataset / path)

    def is_published(self, remote: Remote) -> bool:
        """Return whether the repository holds exactly the files to publish."""
        paths = {file.path for file in self.changes if file.change != "removed"}
        return paths == set(replaceable_files(remote)) and all(
            _is_same(self.content(path), remote.files[path]) for path in paths
        )

    def as_text(self) -> str:
        """Return the changes for people: a line per file or per folder of many files, the rows, and a summary."""
        rows = list(_group_files(self.changes))
        width = max((len(name) for _, name, _ in rows), default=0)
        lines = [f"{change:<8} {name:<{width}} {size:>13,} bytes" for change, name, size in rows]
        if self.difference is not None:
            lines += [f"rows     {line}" for line in self.difference.as_lines()] or ["rows     none differs"]
        if self.name != self.repo_id:
            lines.append(f"note     the card shows how to load '{self.name}'; set 'name: {self.repo_id}' in the recipe")
        return "\n".join([*lines, self._summary()])

    def _summary(self) -> str:
        subject = f"{self.repo_id}, version {self.version}"
        if not self.is_changed:
            state = "is published already" if self.tagged_commit else f"only its tag {self.tag} is missing"
            return f"{subject}: {state}"
        counts = Counter(file.change for file in self.changes)
        changes: tuple[FileChange, ...] = ("added", "changed", "removed", "unchanged")
        files = ", ".join(f"{counts[change]} {change}" for change in changes if counts[change])
        sent = sum(file.bytes for file in self.changes if file.change in ("added", "changed"))
        new = f"a new {'private ' if self.private else ''}repository, " if self.head is None else ""
        after = f" after {self.previous_version}" if self.previous_version else ""
        return f"{subject}{after}: {new}{files} files, {sent:,} bytes to send"


def make_plan(
    dataset: Path, repo_id: str, remote: Remote | None, previous: Previous | None, *, private: bool = False
) -> PublishPlan:
    """Compare a dataset folder, which `vttdata.publish.release_checks.check_dataset` accepts, with a repository.

    `remote` is None if there is no repository, which is then made, and `previous` if it holds no version yet.

    Raises:
        VttdataError: If the version is not high enough for the differences, or names another commit already.
    """
    manifest = read_dataset_manifest(dataset)
    version: str = manifest["version"]
    card = (dataset / _CARD).read_text(encoding="utf-8")
    difference = None
    rewritten: dict[str, bytes] = {}
    if previous is not None:
        # The published card is this one, followed by its list of changes.
        has_same_card = previous.card == card or previous.card.startswith(f"{card.rstrip()}\n\n{CHANGES}\n")
        if not (previous.same_tables and has_same_card):
            difference = compare_datasets(previous.folder, dataset)
            has_withdrawn = any(path.startswith(f"{WITHDRAWN}/") for path in manifest["files"])
            listed = _add_changes(card, version, previous, difference, examples=not has_withdrawn)
            rewritten = _rewrite(manifest, listed)
        elif previous.card != card:
            rewritten = _rewrite(manifest, previous.card)
    published = replaceable_files(remote) if remote is not None else {}
    tag = f"v{version}"
    plan = PublishPlan(
        dataset=dataset,
        name=manifest["name"],
        version=version,
        repo_id=repo_id,
        private=private,
        head=remote.head if remote is not None else None,
        tag=tag,
        tagged_commit=remote.tags.get(tag) if remote is not None else None,
        changes=tuple(_compare_files(dataset, list(manifest["files"]), rewritten, published)),
        rewritten=rewritten,
        difference=difference,
        previous_version=previous.version if difference is not None and previous is not None else None,
    )
    if remote is not None and (plan.is_changed or plan.tagged_commit not in (None, remote.head)):
        needed = difference.needed if difference is not None else "none"
        check_version(repo_id, version, previous.version if previous else None, needed, set(remote.tags))
    return plan


def _group_files(changes: Iterable[ChangedFile]) -> Iterator[tuple[FileChange, str, int]]:
    """Yield change, name and bytes of each changed file; many files of one folder and change share a line."""
    groups: dict[tuple[FileChange, str], list[ChangedFile]] = {}
    for file in changes:
        if file.change != "unchanged":
            groups.setdefault((file.change, file.path.rpartition("/")[0]), []).append(file)
    for (change, folder), files in groups.items():
        if len(files) > _MAX_LISTED_FILES:
            yield change, f"{folder}/ ({len(files):,} files)", sum(file.bytes for file in files)
        else:
            yield from ((change, file.path, file.bytes) for file in files)


def replaceable_files(remote: Remote) -> dict[str, RemoteFile]:
    """Return the files of a repository without those of the Hub itself."""
    return {path: file for path, file in remote.files.items() if path not in _HUB_FILES}


def foreign_repository(repo_id: str, content: str) -> VttdataError:
    """Return the error for a repository that holds something else than this dataset."""
    return VttdataError(f"'{repo_id}' holds {content}, which is not replaced; choose another name.")


def _add_changes(card: str, version: str, previous: Previous, difference: DatasetDifference, *, examples: bool) -> str:
    """Return a card with its list of changes, those of earlier versions below.

    Without `examples` no list names a row, since some of them were withdrawn.
    """
    _, _, older = previous.card.partition(f"\n{CHANGES}\n")
    changes = f"### {version}, after {previous.version}\n\n{difference.as_markdown(examples=examples)}"
    older = older if examples else _EXAMPLES.sub("", older)
    return f"{card.rstrip()}\n\n{CHANGES}\n\n{changes}\n" + (f"\n{older.strip()}\n" if older.strip() else "")


def _rewrite(manifest: JsonObject, card: str) -> dict[str, bytes]:
    """Return the content of another card and of the manifest that goes with it."""
    content = card.encode()
    entry = {"sha256": hashlib.sha256(content).hexdigest(), "bytes": len(content)}
    files = {path: entry if path == _CARD else known for path, known in manifest["files"].items()}
    text = json.dumps({**manifest, "files": files}, indent=1, ensure_ascii=False) + "\n"
    return {_CARD: content, MANIFEST: text.encode()}


def _compare_files(
    dataset: Path, listed: list[str], rewritten: Mapping[str, bytes], published: Mapping[str, RemoteFile]
) -> Iterator[ChangedFile]:
    for path in sorted({*listed, MANIFEST, *published}):
        if path not in listed and path != MANIFEST:
            yield ChangedFile(path, "removed", published[path].bytes)
            continue
        content = rewritten.get(path, dataset / path)
        if path not in published:
            yield ChangedFile(path, "added", _size(content))
        else:
            yield ChangedFile(path, "unchanged" if _is_same(content, published[path]) else "changed", _size(content))


def _size(content: bytes | Path) -> int:
    return len(content) if isinstance(content, bytes) else content.stat().st_size


def _is_same(content: bytes | Path, file: RemoteFile) -> bool:
    """Return whether content is that of a published file; it is hashed only if the sizes agree."""
    size = _size(content)
    if size != file.bytes:
        return False
    # Git's own checksum is that of a header and the content; large files have a SHA-256 instead.
    digest = hashlib.sha256() if file.sha256 else hashlib.sha1(b"blob %d\0" % size, usedforsecurity=False)
    with io.BytesIO(content) if isinstance(content, bytes) else content.open("rb") as stream:
        return hashlib.file_digest(stream, lambda: digest).hexdigest() == (file.sha256 or file.git_sha1)
