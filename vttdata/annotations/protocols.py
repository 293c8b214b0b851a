"""Reads named protocols: lists of ids that divide the clips of a benchmark in another way than its official splits."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Container, Mapping
from pathlib import Path

from vttdata.annotations.files import OfficialFile, read_text
from vttdata.errors import VttdataError
from vttdata.files.id_lists import ids_in

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,60}")
_SPLIT = re.compile(r"\w{1,60}", re.ASCII)
_OURS = ("clips", "captions", "sources", "concepts", "degraded", "judgments", "data", "default", "all")


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


def read_protocol(
    name: str, files: Mapping[str, Path], known: Container[str], checksums: dict[str, str]
) -> dict[str, list[str]]:
    """The ids of each split, in the order of its file.

    Args:
        name: of the protocol.
        files: split -> its file, as `vttdata.files.id_lists.read_ids` takes it.
        known: the ids of all clips.
        checksums: what a file is -> its SHA-256; these files are added, each with its protocol and split, since files
            of several protocols may have one name.

    Raises:
        VttdataError: when a file cannot be read, lists an id twice, or lists ids that no clip has.
    """
    splits: dict[str, list[str]] = {}
    for split, path in files.items():
        own: dict[str, str] = {}
        ids = ids_in(read_text(OfficialFile(path), own), str(path), path.suffix)
        unknown = [video_id for video_id in ids if video_id not in known]
        if unknown:
            raise VttdataError(f"{path}: no clip has the id {unknown[0]!a} ({len(unknown)} of {len(ids)} are unknown).")
        twice = [video_id for video_id, number in Counter(ids).items() if number > 1]
        if twice:
            raise VttdataError(f"{path}: lists {twice[0]!a} twice.")
        splits[split] = ids
        checksums[f"{path.name} ({name}, {split})"] = own[path.name]
    return splits
