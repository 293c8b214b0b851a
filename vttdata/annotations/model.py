"""What a reader of official files gives, and the checks of ids, addresses and sentences that all readers share."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from vttdata.annotations.findings import Finding, Findings
from vttdata.annotations.trecvid.id_offsets import OffsetScan
from vttdata.errors import VttdataError
from vttdata.ids import MAX_EXTERNAL_ID_LENGTH, is_safe_id
from vttdata.records import Caption, CaptionScore, Clip, Concepts, Source

SPLITS = {
    "train": "train",
    "training": "train",
    "val": "validation",
    "validate": "validation",
    "validation": "validation",
    "test": "test",
    "testing": "test",
}
"""The names under which official files speak of the three splits, and ours."""

_YOUTUBE = re.compile(
    r"\s*(?:(?i:https?):)?(?://)?(?i:(?:www\.|m\.|music\.)?youtube(?:-nocookie)?\.com)"
    r"/(?:watch/?\?(?:[^#]*&)?v=|embed/|v/|e/|shorts/|live/)([\w-]{11})(?![\w-])"
    r"|\s*(?:(?i:https?):)?(?://)?(?i:youtu\.be)/([\w-]{11})(?![\w-])",
    re.ASCII,
)


@dataclass(frozen=True, slots=True)
class Annotations:
    """What the official files of a benchmark say, in their order.

    Fields:
        sources, clips, captions: as records; without media, since these files are about videos and hold none.
        findings: what is odd in them.
        files: name of each file that was read -> its SHA-256.
        categories: names in the order of their official numbers.
        protocols: name -> split -> ids of clips: further ways to use the dataset that the files themselves name.
        concepts: of those clips that have them.
        classes: all classes of concepts, those without a mention included.
        scores: what people gave captions.
        alignment: how the scores were matched with captions.
    """

    sources: tuple[Source, ...]
    clips: tuple[Clip, ...]
    captions: tuple[Caption, ...]
    findings: tuple[Finding, ...]
    files: Mapping[str, str]
    categories: tuple[str, ...] = ()
    protocols: Mapping[str, Mapping[str, Sequence[str]]] = field(default_factory=dict)
    concepts: tuple[Concepts, ...] = ()
    classes: tuple[str, ...] = ()
    scores: tuple[CaptionScore, ...] = ()
    alignment: tuple[OffsetScan, ...] = ()


def checked_id(video_id: str, place: str) -> str:
    """The id itself.

    Raises:
        VttdataError: when it could not be a file's name; `place` says where it stands.
    """
    if not is_safe_id(video_id, MAX_EXTERNAL_ID_LENGTH):
        shown = ascii(video_id[:MAX_EXTERNAL_ID_LENGTH])
        raise VttdataError(
            f"{place}: {shown} cannot be an id; 1-{MAX_EXTERNAL_ID_LENGTH} of A-Z a-z 0-9 . _ - can, no '..'."
        )
    return video_id


def source_of(url: str) -> str:
    """The id of a video: its YouTube id where the address has one, or else a hash of the address."""
    found = _YOUTUBE.match(url)
    return found[1] or found[2] if found else "r" + hashlib.sha256(url.encode()).hexdigest()[:16]


def sources_of(clips: Iterable[Clip], seconds: Mapping[str, float] | None = None) -> tuple[Source, ...]:
    """The videos that clips come from, in the order of the clips; with a category where all their clips share one.

    Args:
        clips: the clips.
        seconds: id of a video -> its stated duration, where files state it.
    """
    first: dict[str, Clip] = {}
    categories: dict[str, set[str | None]] = {}
    for clip in clips:
        first.setdefault(clip.source_id, clip)
        categories.setdefault(clip.source_id, set()).add(clip.category)
    return tuple(
        Source(
            source_id,
            file="",
            stored="nowhere",
            sha256="",
            bytes=0,
            url=clip.url,
            category=clip.category if len(categories[source_id]) == 1 else None,
            stated_seconds=(seconds or {}).get(source_id),
        )
        for source_id, clip in first.items()
    )


def check_spans(findings: Findings, file: str, clip: Clip, duration: float | None = None) -> None:
    """Note what is odd about a clip's times."""
    if clip.end <= clip.start:
        findings.add("end_before_start", file, clip.video_id)
    if clip.start < 0:
        findings.add("start_before_zero", file, clip.video_id)
    if duration is not None and clip.end > duration:
        findings.add("end_after_duration", file, clip.video_id)


def check_captions(findings: Findings, file: str, captions: Iterable[Caption]) -> None:
    """Note empty captions and those that stand twice under one clip."""
    seen: set[tuple[str, str]] = set()
    for caption in captions:
        text = (caption.video_id, caption.caption)
        if not caption.caption.strip():
            findings.add("empty_caption", file, f"{caption.video_id}/{caption.sen_id}")
        elif text in seen:
            findings.add("duplicate_caption", file, f"{caption.video_id}/{caption.sen_id}")
        seen.add(text)
