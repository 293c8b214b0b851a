"""Reads lists of clip ids: the splits of a benchmark, or a named protocol that divides its clips in another way."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Container, Mapping
from pathlib import Path
from typing import Any

import pydantic

from vttdata.annotations.files import SHAPE, OfficialFile, read_json, read_text
from vttdata.errors import VttdataError
from vttdata.tables import read_table

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,60}")
_SPLIT = re.compile(r"\w{1,60}", re.ASCII)
_OURS = ("clips", "captions", "sources", "concepts", "judgments", "data", "default", "all")
_SHAPE: pydantic.TypeAdapter[Any] = pydantic.TypeAdapter(list[str], config=SHAPE)


def check_name(name: str, splits: Mapping[str, str]) -> None:
    """See that a protocol and its splits can be named so.

    Raises:
        ValueError: when they cannot.
    """
    if not _NAME.fullmatch(name) or ".." in name or name in _OURS:
        raise ValueError(f"'{name}' cannot name a protocol; letters, digits, . _ - can, but not {', '.join(_OURS)}.")
    for split in splits:
        if not _SPLIT.fullmatch(split) or split == "all":
            raise ValueError(f"'{split}' cannot name a split of '{name}'; letters, digits and _ can, but not 'all'.")
    if not splits:
        raise ValueError(f"the protocol '{name}' names no split; give it one, such as {{test: FILE}}.")


def read_protocol(files: Mapping[str, Path], known: Container[str], checksums: dict[str, str]) -> dict[str, list[str]]:
    """The ids of each split, in the order of its file.

    Args:
        files: split -> its file, as `read_ids` takes it.
        known: the ids of all clips.
        checksums: name of a file -> its SHA-256; these files are added.

    Raises:
        VttdataError: when a file cannot be read, lists an id twice, or lists ids that no clip has.
    """
    splits: dict[str, list[str]] = {}
    for split, path in files.items():
        ids = read_ids(OfficialFile(path), checksums)
        unknown = [name for name in ids if name not in known]
        if unknown:
            raise VttdataError(f"{path}: no clip has the id {unknown[0]!a} ({len(unknown)} of {len(ids)} are unknown).")
        twice = [name for name, number in Counter(ids).items() if number > 1]
        if twice or not ids:
            raise VttdataError(f"{path}: lists {f'{twice[0]!a} twice' if twice else 'no id'}.")
        splits[split] = list(ids)
    return splits


def read_ids(file: OfficialFile, checksums: dict[str, str]) -> tuple[str, ...]:
    """The ids that a file lists: ``.json`` a list of texts, ``.csv`` and the like a column `video_id`, else one a line.

    Raises:
        VttdataError: when it cannot be read as that.
    """
    suffix = Path(file.name).suffix.lower()
    if suffix == ".json":
        return tuple(read_json(file, _SHAPE, checksums))
    text = read_text(file, checksums)
    if suffix in {".csv", ".tsv", ".jsonl", ".ndjson"} and file.member is None:
        return tuple(_cell(file.path, line, row) for line, row in read_table(file.path))
    lines = [line.strip() for line in text.splitlines()]
    lines = lines[1:] if lines[:1] == ["video_id"] else lines
    return tuple(line for line in lines if line)


def _cell(path: Path, line: int, row: Mapping[str, Any]) -> str:
    value = row.get("video_id")
    if not isinstance(value, str) or not value.strip():
        raise VttdataError(f"{path}:{line}: has no video_id.")
    return value.strip()
