"""TODO docstring."""

from __future__ import annotations

import dataclasses
import hashlib
import json
import re
from typing import Any

_ID = re.compile(r"[A-Za-z0-9_-][A-Za-z0-9._-]*")

_DATASET_NAME = re.compile(r"[A-Za-z0-9_](?:[A-Za-z0-9._-]{0,94}[A-Za-z0-9_])?")

LONGEST_GIVEN_ID = 120
"""Ids that come from outside leave room for what is added: a clip's span, an extension."""


def is_safe_id(text: str, longest: int = 160) -> bool:
    """Whether `text` may serve as an id, and so as a file name: ``A-Z a-z 0-9 . _ -``, no ``..``, not too long."""
    return _ID.fullmatch(text) is not None and ".." not in text and len(text) <= longest


def is_dataset_name(text: str) -> bool:
    """Whether `text` is ``owner/name`` as the Hub takes it: 1-96 of ``A-Z a-z 0-9 . _ -`` each, no ``..`` or ``--``."""
    parts = text.split("/")
    return len(parts) == 2 and all(
        _DATASET_NAME.fullmatch(part) and ".." not in part and "--" not in part for part in parts
    )


def clip_id(source_id: str, start: float, end: float) -> str:
    """The id of a chosen clip: its source and its span in milliseconds, in the manner of VATEX's ids."""
    return f"{source_id}_{round(start * 1000):07d}_{round(end * 1000):07d}"


def sentence_id(video_id: str, annotator: str | None, caption: str) -> int:
    """An id for a caption without an official one: 52 bits of a hash of what it says, who wrote it and of what."""
    return int(digest([video_id, annotator or "", caption])[:13], 16)


def digest(value: Any) -> str:
    """A SHA-256 over the canonical JSON of plain values and dataclasses."""
    text = json.dumps(value, default=_canonical, sort_keys=True, ensure_ascii=True)
    return hashlib.sha256(text.encode()).hexdigest()


def _canonical(value: Any) -> Any:
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
    raise TypeError(f"{type(value).__name__} has no canonical form")
