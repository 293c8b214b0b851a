"""What publishing would change: which files, which rows, and whether the version is high enough for that.

A pure look at two sides, the dataset folder and what the Hub has; it uploads and fetches nothing.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from vttdata.errors import VttdataError
from vttdata.publish.changes import Difference, Needed
from vttdata.publish.difference import difference
from vttdata.publish.hub_api import Remote, RemoteFile
from vttdata.publish.manifest import MANIFEST, read_manifest

Kind = Literal["added", "changed", "removed", "unchanged"]

CHANGES = "## Changes"
"""The heading under which a published card lists what differs from the version before."""

_CARD = "README.md"
_OF_THE_HUB = {".gitattributes"}
_REASONS = {
    "none": "no row differs, but files do",
    "minor": "rows, columns or labels were added",
    "major": "rows changed, moved or went",
}


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
class Plan:
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
    difference: Difference | None = None
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
        """What would change, for people: a line a file that changes, the rows, and a summary."""
        width = max((len(own.path) for own in self.changes), default=0)
        lines = [
            f"{own.kind:<8} {own.path:<{width}} {own.bytes:>13,} bytes"
            for own in self.changes
            if own.kind != "unchanged"
        ]
        if self.difference is not None:
            lines += [f"rows     {line}" for line in self.difference.as_lines()] or ["rows     none differs"]
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
) -> Plan:
    """Compare a dataset folder with what a repository holds.

    Args:
        dataset: checked by `vttdata.publish.checks.check_dataset`.
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
        found = difference(previous.folder, dataset)
    is_rewritten = previous is not None and (found is not None or previous.card != _card(dataset))
    rewritten = dict(_rewritten(dataset, previous, found)) if previous is not None and is_rewritten else {}
    there = removable(remote) if remote is not None else {}
    tag = f"v{version}"
    plan = Plan(
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
    _check_version(plan, remote, previous)
    return plan


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


def _rewritten(dataset: Path, previous: Previous, found: Difference | None) -> Iterator[tuple[str, bytes]]:
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


def _check_version(plan: Plan, remote: Remote | None, previous: Previous | None) -> None:
    """Refuse a version that is not higher by as much as the rows differ, or whose tag names something else."""
    if remote is None or (not plan.is_changed and plan.tagged in (None, remote.head)):
        return
    needed: Needed = plan.difference.needed if plan.difference is not None else "none"
    before = previous.version if previous is not None else "0.0.0"
    least = _next(before, needed)
    while f"v{_text(least)}" in remote.tags:
        least = _next(_text(least), "none")
    if previous is not None and _numbers(plan.version) < _next(before, needed):
        raise VttdataError(
            f"'{plan.repo_id}' has version {before}, and {plan.version} is not high enough after it, since "
            f"{_REASONS[needed]}; set 'version: {_text(least)}' in the recipe and build again."
        )
    if plan.tagged is not None:
        raise VttdataError(
            f"'{plan.repo_id}' has another version {plan.version} already, under the tag {plan.tag}; set "
            f"'version: {_text(max(least, _next(plan.version, 'none')))}' in the recipe and build again."
        )


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(map(int, version.split(".")))


def _text(numbers: tuple[int, ...]) -> str:
    return ".".join(map(str, numbers))


def _next(version: str, needed: Needed) -> tuple[int, ...]:
    """The lowest version after `version`, where so much differs."""
    major, minor, patch = _numbers(version)
    return {"none": (major, minor, patch + 1), "minor": (major, minor + 1, 0), "major": (major + 1, 0, 0)}[needed]
