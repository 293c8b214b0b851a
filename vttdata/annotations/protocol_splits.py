"""Named protocols: lists of ids that divide the clips of a benchmark differently from its official splits."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Container, Mapping
from pathlib import Path

from vttdata.annotations.files import OfficialFile, read_text
from vttdata.errors import VttdataError
from vttdata.files.id_lists import ids_in
from vttdata.ids import is_split_name

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,60}")
# Names of other configurations of a dataset.
_RESERVED = ("clips", "captions", "sources", "concepts", "degraded", "judgments", "data", "default", "all")


def check_name(name: str, splits: Mapping[str, str]) -> None:
    """Check the name of a protocol and those of its splits.

    Raises:
        ValueError: when a name is not usable, or there is no split.
    """
    if not _NAME.fullmatch(name) or ".." in name or name in _RESERVED:
        raise ValueError(f"'{name}' cannot name a protocol; use letters, digits, . _ - but not {', '.join(_RESERVED)}.")
    for split in splits:
        if not is_split_name(split):
            raise ValueError(f"'{split}' cannot name a split of '{name}'; use letters, digits and _ but not 'all'.")
    if not splits:
        raise ValueError(f"the protocol '{name}' has no split; give it one, such as {{test: FILE}}.")


def read_protocol(
    name: str, files: Mapping[str, Path], known: Container[str], checksums: dict[str, str]
) -> dict[str, list[str]]:
    """Return the ids of each split, in the order of its file, which is as `vttdata.files.id_lists.read_ids` takes it.

    `known` are the ids of all clips. `checksums` gets the SHA-256 of each file, under a name with protocol and split,
    since files of several protocols may have the same name.

    Raises:
        VttdataError: when a file cannot be read, lists an id twice, or lists ids that no clip has.
    """
    splits: dict[str, list[str]] = {}
    for split, path in files.items():
        checksum: dict[str, str] = {}
        ids = ids_in(read_text(OfficialFile(path), checksum), str(path), path.suffix)
        unknown = [video_id for video_id in ids if video_id not in known]
        if unknown:
            raise VttdataError(f"{path}: no clip has the id {unknown[0]!a} ({len(unknown)} of {len(ids)} are unknown).")
        duplicates = [video_id for video_id, count in Counter(ids).items() if count > 1]
        if duplicates:
            raise VttdataError(f"{path}: the id {duplicates[0]!a} is duplicated.")
        splits[split] = ids
        checksums[f"{path.name} ({name}, {split})"] = checksum[path.name]
    return splits
