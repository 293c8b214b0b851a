"""What publishing would change: which files, which rows, and whether the version is high enough for that.

A pure look at two sides, the dataset folder and what the Hub has; it uploads and fetches nothing.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from vttdata.dataset.manifest import MANIFEST, read_manifest
from vttdata.errors import VttdataError
from vttdata.publish.changes import DatasetDifference
from vttdata.publish.diff import compare_datasets
from vttdata.publish.hub_api import Remote, RemoteFile
from vttdata.publish.version_rule import check_version

Kind = Literal["added", "changed", "removed", "unchanged"]

CHANGES = "## Changes"
"""The heading under which a published card lists what differs from the version before."""

_CARD = "README.md"
_TOLD_APART = 20
_OF_THE_HUB = {".gitattributes"}


@dataclass(frozen=True, slots=True)
class Change:
    """What becomes of a file, and its size in bytes (that of the older one where it is removed)."""

    path: str
    kind: Kind
    bytes: int


@dataclass(frozen=True, slots=True)
class Previous:
    """The version that is published: its number, its folder here, and whether its tables are those of the new one."""

    version: str
    folder: Path
    same_tables: bool

    @property
    def card(self) -> str:
        """Its README."""
        return (self.folder / _CARD).read_text(encoding="utf-8")


@dataclass(frozen=True, slots=True)
class PublishPlan:
    """What is to be done.

    Fields:
        dataset, name, version: what is to be published.
        repo_id, private: where, and whether a new repository is private.
        head: the newest commit of the repository; None where there is no repository.
        tag, tagged: the name of the version's tag, and the commit it names already.
        changes: of all files.
        rewritten: files whose content is not that of the folder: the card with its list of changes, and the manifest.
        difference: of the rows, where an older version is published.
        after: the number of that version.
    """

    dataset: Path
    name: str
    version: str
    repo_id: str
    private: bool
    head: str | None
    tag: str
    tagged: str | None
    changes: tuple[Change, ...]
    rewritten: Mapping[str, bytes] = field(default_factory=dict)
    difference: DatasetDifference | None = None
    after: str | None = None

    @property
    def uploads(self) -> list[str]:
        """The files to send."""
        return [own.path for own in self.changes if own.kind in ("added", "changed")]

    @property
    def removals(self) -> list[str]:
        """The files to remove."""
        return [own.path for own in self.changes if own.kind == "removed"]

    @property
    def is_changed(self) -> bool:
        """Whether there is anything to commit."""
        return any(own.kind != "unchanged" for own in self.changes)

    def content(self, path: str) -> bytes | Path:
        """What is to be published under `path`."""
        return self.rewritten.get(path, self.dataset / path)

    def is_there(self, remote: Remote) -> bool:
        """Whether the repository holds just what is to be published."""
        wanted = {own.path for own in self.changes if own.kind != "removed"}
        return wanted == set(removable(remote)) and all(
            _is_same(self.content(path), remote.files[path]) for path in wanted
        )

    def as_text(self) -> str:
        """What would change, for people: a line a file (many of one folder share theirs), the rows, and a summary."""
        rows = list(_grouped(self.changes))
        width = max((len(name) for _, name, _ in rows), default=0)
        lines = [f"{kind:<8} {name:<{width}} {size:>13,} bytes" for kind, name, size in rows]
        if self.difference is not None:
            lines += [f"rows     {line}" for line in self.difference.as_lines()] or ["rows     none differs"]
        if self.name != self.repo_id:
            lines.append(
                f"note     the card tells how to load '{self.name}'; 'name: {self.repo_id}' in the recipe fits"
            )
        return "\n".join([*lines, self._summary()])

    def _summary(self) -> str:
        place = f"{self.repo_id}, version {self.version}"
        if not self.is_changed:
            return f"{place}: " + ("is published already" if self.tagged else f"only its tag {self.tag} is missing")
        numbers = [
            f"{number} {kind}"
            for kind in ("added", "changed", "removed", "unchanged")
            if (number := sum(own.kind == kind for own in self.changes))
        ]
        sent = sum(own.bytes for own in self.changes if own.kind in ("added", "changed"))
        new = f"a new {'private ' if self.private else ''}repository, " if self.head is None else ""
        after = f" after {self.after}" if self.after else ""
        return f"{place}{after}: {new}{', '.join(numbers)} files, {sent:,} bytes to send"


def make_plan(
    dataset: Path, repo_id: str, remote: Remote | None, previous: Previous | None, *, private: bool = False
) -> PublishPlan:
    """Compare a dataset folder with what a repository holds.

    Args:
        dataset: checked by `vttdata.publish.release_checks.check_dataset`.
        repo_id: the repository.
        remote: what it holds; None where there is none.
        previous: the version in it; None where there is none.
        private: for a new repository.

    Raises:
        VttdataError: when the version is not high enough for what differs, or names another commit already.
    """
    manifest = read_manifest(dataset)
    version: str = manifest["version"]
    found = None
    if previous is not None and not (previous.same_tables and _carries(previous.card, _card(dataset))):
        found = compare_datasets(previous.folder, dataset)
    is_rewritten = previous is not None and (found is not None or previous.card != _card(dataset))
    rewritten = dict(_rewritten(dataset, previous, found)) if previous is not None and is_rewritten else {}
    there = removable(remote) if remote is not None else {}
    tag = f"v{version}"
    plan = PublishPlan(
        dataset=dataset,
        name=manifest["name"],
        version=version,
        repo_id=repo_id,
        private=private,
        head=remote.head if remote is not None else None,
        tag=tag,
        tagged=remote.tags.get(tag) if remote is not None else None,
        changes=tuple(_changes(dataset, list(manifest["files"]), rewritten, there)),
        rewritten=rewritten,
        difference=found,
        after=previous.version if found is not None and previous is not None else None,
    )
    if remote is not None and (plan.is_changed or plan.tagged not in (None, remote.head)):
        needed = found.needed if found is not None else "none"
        check_version(repo_id, version, previous.version if previous else None, needed, set(remote.tags))
    return plan


def _grouped(changes: Iterable[Change]) -> Iterator[tuple[Kind, str, int]]:
    """Kind, name and bytes of what changes; many files of one folder and kind are told together."""
    groups: dict[tuple[Kind, str], list[Change]] = {}
    for own in changes:
        if own.kind != "unchanged":
            groups.setdefault((own.kind, own.path.rpartition("/")[0]), []).append(own)
    for (kind, folder), members in groups.items():
        if len(members) > _TOLD_APART:
            yield kind, f"{folder}/ ({len(members):,} files)", sum(own.bytes for own in members)
        else:
            yield from ((kind, own.path, own.bytes) for own in members)


def removable(remote: Remote) -> dict[str, RemoteFile]:
    """The files of a repository that are not the Hub's own."""
    return {path: file for path, file in remote.files.items() if path not in _OF_THE_HUB}


def other_dataset(repo_id: str, what: str) -> VttdataError:
    """What to say of a repository that is not this dataset's."""
    return VttdataError(f"'{repo_id}' holds {what}, and nothing of it will be replaced; take another name.")


def _card(dataset: Path) -> str:
    return (dataset / _CARD).read_text(encoding="utf-8")


def _carries(published: str, card: str) -> bool:
    """Whether a published card is this one, with or without a list of changes."""
    return published == card or published.startswith(f"{card.rstrip()}\n\n{CHANGES}\n")


def _rewritten(dataset: Path, previous: Previous, found: DatasetDifference | None) -> Iterator[tuple[str, bytes]]:
    """The card with its list of changes, those of earlier versions below, and the manifest that goes with it."""
    _, _, older = previous.card.partition(f"\n{CHANGES}\n")
    if found is None:
        card = previous.card
    else:
        version = read_manifest(dataset)["version"]
        own = f"### {version}, after {previous.version}\n\n{found.as_markdown()}"
        card = f"{_card(dataset).rstrip()}\n\n{CHANGES}\n\n{own}\n" + (f"\n{older.strip()}\n" if older.strip() else "")
    content = card.encode()
    manifest = read_manifest(dataset)
    manifest["files"][_CARD] = {"sha256": hashlib.sha256(content).hexdigest(), "bytes": len(content)}
    yield _CARD, content
    yield MANIFEST, (json.dumps(manifest, indent=1, ensure_ascii=False) + "\n").encode()


def _changes(
    dataset: Path, listed: list[str], rewritten: Mapping[str, bytes], there: Mapping[str, RemoteFile]
) -> Iterator[Change]:
    for path in sorted({*listed, MANIFEST, *there}):
        if path not in listed and path != MANIFEST:
            yield Change(path, "removed", there[path].bytes)
            continue
        content = rewritten.get(path, dataset / path)
        size = len(content) if isinstance(content, bytes) else content.stat().st_size
        same = path in there and _is_same(content, there[path])
        yield Change(path, "unchanged" if same else "changed" if path in there else "added", size)


def _is_same(content: bytes | Path, file: RemoteFile) -> bool:
    """Whether a file is the published one; its checksum is taken only where the sizes agree."""
    size = len(content) if isinstance(content, bytes) else content.stat().st_size
    if size != file.bytes:
        return False
    digest = hashlib.sha256() if file.sha256 else hashlib.sha1(b"blob %d\0" % size, usedforsecurity=False)
    for piece in [content] if isinstance(content, bytes) else _pieces(content):
        digest.update(piece)
    return digest.hexdigest() == (file.sha256 or file.git_sha1)


def _pieces(path: Path) -> Iterator[bytes]:
    with path.open("rb") as stream:
        while piece := stream.read(2**20):
            yield piece
