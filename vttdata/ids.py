"""Ids of records: which texts may be ids, and ids made from content. No id depends on order, path, time or machine."""

from __future__ import annotations

import dataclasses
import functools
import hashlib
import hmac
import json
import re
import unicodedata
from collections.abc import Container
from pathlib import PurePosixPath
from typing import Any

_ID = re.compile(r"[A-Za-z0-9_-][A-Za-z0-9._-]*")
_SPLIT_NAME = re.compile(r"\w{1,60}", re.ASCII)
_DATASET_NAME_PART = re.compile(r"[A-Za-z0-9_](?:[A-Za-z0-9._-]{0,94}[A-Za-z0-9_])?")

_YOUTUBE = re.compile(
    r"\s*(?:(?i:https?):)?(?://)?(?i:(?:www\.|m\.|music\.)?youtube(?:-nocookie)?\.com)"
    r"/(?:watch/?\?(?:[^#]*&)?v=|embed/|v/|e/|shorts/|live/)([\w-]{11})(?![\w-])"
    r"|\s*(?:(?i:https?):)?(?://)?(?i:youtu\.be)/([\w-]{11})(?![\w-])",
    re.ASCII,
)

_CHOSEN_CLIP = re.compile(r"'?(.+)_([0-9]{7,10})_([0-9]{7,10})", re.ASCII)

# Words, without punctuation, that tables have where no id is known, and errors of spreadsheets.
_NO_ID = re.compile(
    "(null|none|nil|nan|nat|na|unk|unknown|undefined|unspecified|notspecified|missing|notfound|notapplicable"
    "|notavailable|tbd|empty|blank|(deleted|removed|private|unavailable)(video)?|noid|nourl|novideo|x{3,})?"
)
_PSEUDONYM = re.compile(r"\d+|w[0-9a-f]{12}", re.ASCII)
_SPREADSHEET_ERROR = re.compile(r"#(?:n/a|ref!|value!|name\?|null!|num!|div/0!|spill!|error!)")

# Ids become file names, which have 255 bytes at most.
MAX_ID_LENGTH = 160

# Ids that come from outside leave room for what is appended: a clip's span, an extension.
MAX_EXTERNAL_ID_LENGTH = 120

_VIDEO_NAMES = (
    "mp4 m4v mov qt 3gp 3g2 f4v flv mkv webm avi divx asf wmv ogv ogm rm rmvb mxf nut gif "
    "ts mts m2ts mpg mpeg mpe m1v m2v vob ivf y4m h264 h265 hevc apng"
)
VIDEO_EXTENSIONS = frozenset(f".{name}" for name in _VIDEO_NAMES.split())
"""File name extensions of videos, in lower case; compared without regard to case."""


def is_safe_id(text: str, max_length: int = MAX_ID_LENGTH) -> bool:
    """Check that a text may be an id, and so a file name: ``A-Z a-z 0-9 . _ -``, no ``..``, not too long."""
    return _ID.fullmatch(text) is not None and ".." not in text and len(text) <= max_length


def is_split_name(text: str) -> bool:
    """Check that a text may name a split, and so a file: 1-60 of ``A-Z a-z 0-9 _``, but not ``all``."""
    return _SPLIT_NAME.fullmatch(text) is not None and text != "all"


def is_dataset_name(text: str) -> bool:
    """Check for ``owner/name`` as the Hub takes it: each 1-96 of ``A-Z a-z 0-9 . _ -``, no ``..`` or ``--``."""
    parts = text.split("/")
    return len(parts) == 2 and all(
        _DATASET_NAME_PART.fullmatch(part) and ".." not in part and "--" not in part for part in parts
    )


def find_video_id(name: str, known: Container[str]) -> str | None:
    """Return the known id that a name means: the id itself, or the file ``<id>.mp4``, with or without its folders.

    Folders may be those of Windows. A ``'`` before an id is left out where it has none: CSV files that vttdata writes
    have one before ids such as ``-uwY3sjqYX0``, which spreadsheets take for formulas.
    """
    if name in known:
        return name
    if name.startswith("'") and name[1:] in known:
        return name[1:]
    path = PurePosixPath(name.replace("\\", "/"))
    return path.stem if path.suffix.lower() in VIDEO_EXTENSIONS and path.stem in known else None


def fold_id(text: str) -> str:
    """Return the form in which ids are compared where people write them: without case, spaces, a video's extension.

    Folders stay, and so does everything that `find_video_id` does not leave out.
    """
    plain = text if text.isascii() else unicodedata.normalize("NFKC", text).strip("\ufeff\u200b")
    folded = plain.strip().removeprefix("'").casefold().strip()
    stem, dot, extension = folded.rpartition(".")
    return stem if stem and dot + extension in VIDEO_EXTENSIONS else folded


def is_placeholder(folded: str) -> bool:
    """Return whether a text, as `fold_id` folds it, stands for an id that is not known, such as ``n/a`` or ``-``."""
    is_word = len(folded) < 20 and _NO_ID.fullmatch(re.sub(r"[\W_]+", "", folded)) is not None
    return folded in ("-1", r"\n") or is_word or _SPREADSHEET_ERROR.fullmatch(folded) is not None


def clip_id(source_id: str, start: float, end: float) -> str:
    """Return the id of a chosen clip, as VATEX's: its source, and its start and end (seconds) in milliseconds."""
    return f"{source_id}_{round(start * 1000):07d}_{round(end * 1000):07d}"


def clip_span(video_id: str) -> tuple[str, float, float] | None:
    """Return the source, start and end (seconds) in the id of a chosen clip, or in the name of its file; else None."""
    name = PurePosixPath(video_id.replace("\\", "/"))
    match = _CHOSEN_CLIP.fullmatch(name.stem if name.suffix.lower() in VIDEO_EXTENSIONS else video_id)
    return (match[1], int(match[2]) / 1000, int(match[3]) / 1000) if match else None


def sentence_id(video_id: str, annotator: str | None, caption: str) -> int:
    """Return the id of a caption without an official one: 52 bits of a hash of its text, its annotator and its clip."""
    return int(digest([video_id, annotator or "", caption])[:13], 16)


def pseudonym(salt: bytes, name: str) -> str:
    """Return the name under which a person is published: ``w`` and 48 bits of an HMAC with a secret salt."""
    return "w" + hmac.new(salt, name.encode(), hashlib.sha256).hexdigest()[:12]


def is_pseudonym(name: str) -> bool:
    """Return whether a name has the form of a `pseudonym`, or is a number, and so says nothing of a person."""
    return _PSEUDONYM.fullmatch(name) is not None


def source_of(url: str) -> str:
    """Return the id of the video at an address: its YouTube id, or else a hash of the address."""
    return youtube_id(url) or "r" + hashlib.sha256(url.encode()).hexdigest()[:16]


def youtube_id(url: str) -> str | None:
    """Return the id of the YouTube video at an address; None for other addresses."""
    match = _YOUTUBE.match(url)
    return match[1] or match[2] if match else None


def youtube_url(youtube_id: str) -> str:
    """Return the address of a YouTube video."""
    return f"https://www.youtube.com/watch?v={youtube_id}"


def digest(value: object) -> str:
    """Return the SHA-256, in hexadecimal, of the canonical JSON of plain values and dataclasses."""
    return hashlib.sha256(canonical_json(value).encode()).hexdigest()


def canonical_json(value: object) -> str:
    """Return the JSON of plain values and dataclasses in the one form that is hashed; it is ASCII, in one line."""
    return _CANONICAL.encode(value)


def _fields_of_dataclass(value: object) -> Any:
    names = _field_names(type(value))  # type: ignore[arg-type] # a class is hashable
    return {name: getattr(value, name) for name in names}


@functools.cache
def _field_names(record: type) -> tuple[str, ...]:
    if not dataclasses.is_dataclass(record):
        raise TypeError(f"{record.__name__} has no canonical form")
    return tuple(field.name for field in dataclasses.fields(record))


# Millions of records are hashed, and an encoder for each would cost as much as its text.
_CANONICAL = json.JSONEncoder(default=_fields_of_dataclass, sort_keys=True, ensure_ascii=True)
