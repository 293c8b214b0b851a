"""List the files of a dataset with their checksums, and find missing and damaged ones."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

from vttdata.errors import VttdataError
from vttdata.files.output_file import write_whole
from vttdata.files.reading import LINKS_OUT, file_sha256, is_inside, links_out, read_description
from vttdata.json_types import JsonObject

MANIFEST = "manifest.json"


def write_manifest(
    dataset: Path,
    *,
    name: str,
    version: str,
    files: Mapping[str, Mapping[str, object]],
    facts: Mapping[str, object] | None = None,
) -> None:
    """Write ``manifest.json``: name, version, and for each file ``sha256``, ``bytes`` and, of tables, ``rows``.

    `facts` are what the card is rendered from; see `vttdata.dataset.facts`.
    """
    content: JsonObject = {"name": name, "version": version, "files": {path: files[path] for path in sorted(files)}}
    content |= {"facts": facts} if facts is not None else {}
    write_whole(dataset / MANIFEST, json.dumps(content, indent=1, ensure_ascii=False) + "\n")


def read_dataset_manifest(dataset: Path) -> JsonObject:
    """Return the content of ``manifest.json``.

    Raises:
        VttdataError: If it is missing or is not a manifest.
    """
    path = dataset / MANIFEST
    try:
        content: Any = json.loads(read_description(dataset, MANIFEST))
    except (ValueError, RecursionError) as error:
        raise VttdataError(f"{path}: is not JSON ({error}).") from error
    files = content.get("files") if isinstance(content, dict) else None
    if not isinstance(files, dict) or not all(_is_name(name) and _is_entry(entry) for name, entry in files.items()):
        raise VttdataError(f"{path}: is not the manifest of a dataset.")
    return dict(content)


def _is_name(name: str) -> bool:
    """Return whether a file may have this name; a file system takes neither null characters nor half characters."""
    parts_are_short = all(len(part.encode(errors="replace")) < 256 for part in name.split("/"))
    return name.isprintable() and parts_are_short and len(name) < 1024


def _is_entry(entry: object) -> bool:
    wanted = (("sha256", None, str), ("bytes", None, int), ("rows", 0, int))
    return isinstance(entry, dict) and all(isinstance(entry.get(key, default), kind) for key, default, kind in wanted)


def find_damage(dataset: Path, ignored: Collection[str] = ()) -> list[str]:
    """Return how a dataset's files differ from its manifest, a sentence each; those that are `ignored` may be missing.

    Unlisted files count as damage, since a reader may load them as more rows; but not beside tables without a card,
    which may be in any folder.
    """
    files = read_dataset_manifest(dataset)["files"]
    damage = [
        f"{name}: {problem}"
        for name, entry in files.items()
        if name not in ignored and (problem := find_difference(dataset, name, entry))
    ]
    if "README.md" in files:
        for path in sorted(dataset.rglob("*")):
            relative = path.relative_to(dataset)
            is_hidden = any(part.startswith(".") for part in relative.parts)
            if path.is_file() and not is_hidden and relative.as_posix() not in {*files, MANIFEST}:
                damage.append(f"{relative.as_posix()}: is not in the manifest.")
    return damage


def find_difference(dataset: Path, name: str, entry: Mapping[str, object]) -> str:
    """Return how a file differs from its entry in the manifest; empty if it does not."""
    path = dataset / name
    if not is_inside(name):
        return "leads out of the dataset."
    if links_out(dataset, path):
        return f"{LINKS_OUT}."
    if not path.is_file():
        return "is missing."
    if path.stat().st_size != entry["bytes"]:
        return f"has {path.stat().st_size} bytes instead of {entry['bytes']}."
    return "" if file_sha256(path) == entry["sha256"] else "its content has changed."
