"""What recipes say of files and folders: where relative paths lead, and that what they name is there."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

from vttdata.ids import is_dataset_name

PathKind = Literal["file", "folder", "input"]
"""What a key names. An ``input`` is a table of captions, or a dataset by folder or name."""

Paths = Mapping[str, PathKind]
"""Dotted keys that name a file or folder; ``*`` stands for any key at its place."""


def names_path(key: str, paths: Iterable[str]) -> bool:
    """Whether a dotted key is one of these."""
    steps = key.split(".")
    return any(
        len(steps) == len(other) and all(step in (own, "*") for own, step in zip(steps, other, strict=True))
        for other in (path.split(".") for path in paths)
    )


def given_paths(raw: dict[str, Any], paths: Paths) -> Iterator[tuple[str, PathKind, dict[str, Any], str]]:
    """Each path that is given: its dotted key, its kind, the mapping that holds it, its name there."""
    for pattern, kind in paths.items():
        for key, holder, name in list(_texts(raw, pattern.split("."))):
            yield key, kind, holder, name


def resolve_paths(raw: dict[str, Any], paths: Paths, base: Path) -> None:
    """Make relative paths start at `base`, in place; an input that is not there may be the name of a dataset."""
    for _, kind, holder, name in given_paths(raw, paths):
        path = base / holder[name]
        if kind != "input" or path.exists():
            holder[name] = str(path)


def missing_path(raw: dict[str, Any], paths: Paths) -> tuple[str, str] | None:
    """The first key that names nothing that is there, and what is wrong with it in words; None where all is well."""
    for key, kind, holder, name in given_paths(raw, paths):
        value = holder[name]
        if kind == "input":
            exists = Path(value).exists() or is_dataset_name(value)
        else:
            exists = Path(value).is_dir() if kind == "folder" else Path(value).is_file()
        if not exists or not value:
            wanted = "file or dataset" if kind == "input" else kind
            return key, f"found '{value}', which is not an existing {wanted}"
    return None


def _texts(value: Any, steps: Sequence[str], key: str = "") -> Iterator[tuple[str, dict[str, Any], str]]:
    """Every text at the places that the steps lead to: its dotted key, the mapping that holds it, its name there."""
    if not isinstance(value, dict):
        return
    first, *rest = steps
    for name in list(value) if first == "*" else [first]:
        if rest:
            yield from _texts(value.get(name), rest, f"{key}{name}.")
        elif isinstance(value.get(name), str):
            yield f"{key}{name}", value, name
