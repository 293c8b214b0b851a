"""Files that a camera cut one recording into, by their names: its chapters, which show one event."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import PurePosixPath

# GoPro's naming: GH020001 is the second chapter of recording 0001; up to HERO5, GP010001 follows GOPR0001.
_CHAPTER = re.compile(r"(?:G([HXSL])(\d\d)|GOPR|GP\d\d)(\d{4})", re.IGNORECASE)


def chapter_pairs(files: Iterable[tuple[str, str]]) -> list[tuple[str, str]]:
    """Return pairs of source ids that connect the chapters of each recording, for (source id, file) in any order."""
    first: dict[tuple[str, str, str], str] = {}
    pairs = []
    for source_id, file in sorted(files):
        path = PurePosixPath(file)
        if match := _CHAPTER.fullmatch(path.stem):
            recording = (str(path.parent), (match[1] or "").upper(), match[3])
            if first.setdefault(recording, source_id) != source_id:
                pairs.append((first[recording], source_id))
    return pairs
