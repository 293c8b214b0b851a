"""Keys of a recipe that name files and folders: resolve relative paths, and find missing files."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

from vttdata.files.remote import is_remote
from vttdata.ids import is_dataset_name

# An input is a table of captions, or a dataset by folder or name.
PathKind = Literal["file", "folder", "input"]

# Dotted keys that name a file or folder; * is any key of its section.
Paths = Mapping[str, PathKind]


def names_path(key: str, paths: Iterable[str]) -> bool:
    """Return True if a dotted key matches one of these patterns."""
    names = key.split(".")
    return any(
        len(names) == len(pattern) and all(step in (name, "*") for name, step in zip(names, pattern, strict=True))
        for pattern in (path.split(".") for path in paths)
    )


def given_paths(raw: dict[str, Any], paths: Paths) -> Iterator[tuple[str, PathKind, dict[str, Any], str]]:
    """Yield each path that is given: its dotted key, its kind, the mapping that holds it, and its key there."""
    for pattern, kind in paths.items():
        for key, holder, name in list(_texts(raw, pattern.split("."))):
            yield key, kind, holder, name


def resolve_paths(raw: dict[str, Any], paths: Paths, base: Path) -> None:
    """Make relative paths start at `base`, and those in ``~`` in the home folder, in place."""
    for _, kind, holder, name in given_paths(raw, paths):
        if is_remote(holder[name]):
            continue
        path = base / os.path.expanduser(holder[name])
        # An input that does not exist as a file may be the name of a dataset.
        if kind != "input" or path.exists():
            holder[name] = str(path)


def fetch_paths(raw: dict[str, Any], paths: Paths, fetch: Callable[[str], Path]) -> dict[str, str]:
    """Put the paths of copies in the place of addresses of files and folders; return the addresses by dotted key."""
    addresses = {}
    for key, kind, holder, name in given_paths(raw, paths):
        if kind != "input" and is_remote(holder[name]):
            addresses[key] = holder[name]
            holder[name] = str(fetch(holder[name]))
    return addresses


def missing_path(raw: dict[str, Any], paths: Paths) -> tuple[str, str] | None:
    """Return the first key that names no existing file or folder, with the problem in words; None without any."""
    for key, kind, holder, name in given_paths(raw, paths):
        value = holder[name]
        if kind == "input":
            exists = Path(value).exists() or is_dataset_name(value) or is_remote(value)
        else:
            exists = Path(value).is_dir() if kind == "folder" else Path(value).is_file()
        if not exists or not value:
            wanted = "file or dataset" if kind == "input" else kind
            return key, f"found '{value}', which is not an existing {wanted}"
    return None


def _texts(value: Any, steps: Sequence[str], key: str = "") -> Iterator[tuple[str, dict[str, Any], str]]:
    """Yield the texts that a pattern leads to: dotted key, the mapping that holds it, and its key there."""
    if not isinstance(value, dict):
        return
    first, *rest = steps
    for name in list(value) if first == "*" else [first]:
        if rest:
            yield from _texts(value.get(name), rest, f"{key}{name}.")
        elif isinstance(value.get(name), str):
            yield f"{key}{name}", value, name
