"""The list of a dataset's files with their checksums, so that a missing or damaged file can be named."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path, PurePosixPath
from typing import Any

from vttdata.dataset.shards import file_sha256
from vttdata.errors import VttdataError

MANIFEST = "manifest.json"


def write_manifest(dataset: Path, *, name: str, version: str, files: Mapping[str, Mapping[str, Any]]) -> None:
    """Write ``manifest.json``: name, version, and for each file ``sha256``, ``bytes`` and, of tables, ``rows``."""
    content = {"name": name, "version": version, "files": {path: files[path] for path in sorted(files)}}
    text = json.dumps(content, indent=1, ensure_ascii=False) + "\n"
    (dataset / MANIFEST).write_text(text, encoding="utf-8")


def read_manifest(dataset: Path) -> dict[str, Any]:
    """The content of ``manifest.json``.

    Raises:
        VttdataError: when it is not there or not as `write_manifest` writes it.
    """
    path = dataset / MANIFEST
    try:
        content: Any = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise VttdataError(f"{path}: cannot be read ({error.strerror or error}).") from error
    except ValueError as error:
        raise VttdataError(f"{path}: not JSON ({error}).") from error
    if not isinstance(content, dict) or not _is_listing(content.get("files")):
        raise VttdataError(f"{path}: not the manifest of a dataset.")
    return content


def _is_listing(files: Any) -> bool:
    return isinstance(files, dict) and all(
        isinstance(f, dict) and {"sha256", "bytes"} <= f.keys() for f in files.values()
    )


def is_inside(name: str) -> bool:
    """Whether a path that somebody else wrote stays in the folder that it starts from.

    Links are followed: in the Hub's cache every file is one that leads to another folder.
    """
    path = PurePosixPath(name)
    return not path.is_absolute() and ".." not in path.parts


def find_damage(dataset: Path, without: Collection[str] = ()) -> list[str]:
    """What is wrong with a dataset's files, a sentence each; empty when all are as they were written.

    Files that the manifest does not list are told too, since a reader may take them for more rows; not so beside
    tables without a card, which may lie anywhere. `without` names files that need not be there.
    """
    found = []
    files = read_manifest(dataset)["files"]
    for name, facts in files.items():
        if name in without:
            continue
        path = dataset / name
        if not is_inside(name):
            found.append(f"{name}: leads out of the dataset.")
        elif not path.is_file():
            found.append(f"{name}: is missing.")
        elif path.stat().st_size != facts["bytes"]:
            found.append(f"{name}: has {path.stat().st_size} bytes instead of {facts['bytes']}.")
        elif file_sha256(path) != facts["sha256"]:
            found.append(f"{name}: its content has changed.")
    if "README.md" in files:
        found += [f"{name}: is not in the manifest." for name in _others(dataset) if name not in {*files, MANIFEST}]
    return found


def _others(dataset: Path) -> Iterator[str]:
    """The names of all files in a folder but hidden ones."""
    for path in sorted(dataset.rglob("*")):
        name = path.relative_to(dataset)
        if path.is_file() and not any(part.startswith(".") for part in name.parts):
            yield name.as_posix()
