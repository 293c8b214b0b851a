"""Result of a reader of official files, its paragraphs, and checks of ids, addresses and sentences."""

from __future__ import annotations

import dataclasses
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from vttdata.annotations.findings import Finding, Findings
from vttdata.annotations.trecvid.id_offsets import OffsetScan
from vttdata.errors import VttdataError
from vttdata.ids import MAX_EXTERNAL_ID_LENGTH, is_safe_id
from vttdata.records import Caption, CaptionScore, Clip, Concepts, QueryWindows, Source, VideoQuestion
from vttdata.text.damage import find_text_damage

# Names of the three splits in official files -> names in the dataset.
SPLITS = {
    "train": "train",
    "training": "train",
    "val": "validation",
    "validate": "validation",
    "validation": "validation",
    "test": "test",
    "testing": "test",
}


@dataclass(frozen=True, slots=True)
class Annotations:
    """Content of a benchmark's official files, in their order.

    Fields:
        sources, clips, captions: records without media, since annotation files hold none.
        findings: irregularities.
        files: name of each file that was read -> its SHA-256.
        categories: names in the order of their official numbers.
        protocols: name -> split -> ids of clips: further divisions of the clips that the files themselves name.
        concepts: of those clips that have them.
        classes: all classes of concepts, those without a mention included.
        scores: human judgments of captions.
        alignment: scans that matched the scores with captions.
        questions: about the clips.
        moments: windows of the clips that captions are about.
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
    questions: tuple[VideoQuestion, ...] = ()
    moments: tuple[QueryWindows, ...] = ()


def checked_id(video_id: str, location: str) -> str:
    """Return an id of an official file after checking that it can be a file name.

    Raises:
        VttdataError: when it cannot; the message begins with `location`, file and key.
    """
    if not is_safe_id(video_id, MAX_EXTERNAL_ID_LENGTH):
        shown = ascii(video_id[:MAX_EXTERNAL_ID_LENGTH])
        raise VttdataError(
            f"{location}: {shown} is not a usable id; use 1-{MAX_EXTERNAL_ID_LENGTH} of A-Z a-z 0-9 . _ - without '..'."
        )
    return video_id


def sources_of(clips: Iterable[Clip], seconds: Mapping[str, float] | None = None) -> tuple[Source, ...]:
    """Return the videos that clips come from, in the order of the clips, with their stated durations in seconds by id.

    A video has a category where all its clips share one.
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
    """Add findings about a clip's start and end, given the stated duration of its video in seconds."""
    if clip.end <= clip.start:
        findings.add("end_before_start", file, clip.video_id)
    if clip.start < 0:
        findings.add("start_before_zero", file, clip.video_id)
    if duration is not None and clip.end > duration:
        findings.add("end_after_duration", file, clip.video_id)


def check_captions(findings: Findings, file: str, captions: Iterable[Caption]) -> None:
    """Add findings about captions that are empty, damaged, or duplicated within a clip."""
    seen: set[tuple[str, str]] = set()
    for caption in captions:
        text = (caption.video_id, caption.caption)
        if not caption.caption.strip():
            findings.add("empty_caption", file, f"{caption.video_id}/{caption.sen_id}")
        elif text in seen:
            findings.add("duplicate_caption", file, f"{caption.video_id}/{caption.sen_id}")
        seen.add(text)
        damage = find_text_damage(caption.caption)
        if damage is not None:
            findings.add(damage, file, f"{caption.video_id}/{caption.sen_id}")


def join_paragraphs(official: Annotations) -> Annotations:
    """Join the sentences about segments into one clip for each video of each split, with a caption for each annotator.

    Since Zhang et al., ECCV 2018 (Cross-Modal and Hierarchical Modeling of Video and Text), ActivityNet Captions and
    DiDeMo are used for retrieval of whole videos by paragraphs too.

    Clips have the ids of their videos, and last from 0 to the stated duration, or to the last end of a segment. A
    caption is the sentences of one annotator in the order of the files, with a space between them. Protocols list the
    videos of their clips; concepts and moments belong to single sentences and are left out.
    """
    segments = {clip.video_id: clip.source_id for clip in official.clips}
    seconds = {source.source_id: source.stated_seconds for source in official.sources}
    videos: dict[tuple[str, str | None], list[Clip]] = defaultdict(list)
    for clip in official.clips:
        videos[clip.source_id, clip.split].append(clip)
    texts: dict[str, dict[tuple[str, str | None, str], list[str]]] = defaultdict(lambda: defaultdict(list))
    for caption in official.captions:
        if caption.video_id in segments:
            author = (caption.language, caption.annotator, caption.author)
            texts[segments[caption.video_id]][author].append(caption.caption.strip())
    clips = [
        dataclasses.replace(
            parts[0],
            video_id=source_id,
            start=0.0,
            end=seconds[source_id] or max(clip.end for clip in parts),
            category=parts[0].category if len({clip.category for clip in parts}) == 1 else None,
        )
        for (source_id, _), parts in videos.items()
    ]
    captions = [
        Caption(source_id, number, " ".join(filter(None, sentences)), annotator, language, author)
        for source_id, paragraphs in texts.items()
        for number, ((language, annotator, author), sentences) in enumerate(paragraphs.items())
    ]
    protocols = {
        name: {
            split: list(dict.fromkeys(segments[video_id] for video_id in ids if video_id in segments))
            for split, ids in splits.items()
        }
        for name, splits in official.protocols.items()
    }
    return dataclasses.replace(
        official, clips=tuple(clips), captions=tuple(captions), protocols=protocols, concepts=(), classes=(), moments=()
    )
