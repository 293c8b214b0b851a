"""Join the sentences about segments of a video into paragraphs about the whole video.

Since Zhang et al., ECCV 2018 (Cross-Modal and Hierarchical Modeling of Video and Text), ActivityNet Captions and DiDeMo
are used for retrieval of whole videos by paragraphs too.
"""

from __future__ import annotations

import dataclasses
from collections import defaultdict

from vttdata.annotations.model import Annotations
from vttdata.records import Caption, Clip


def join_paragraphs(official: Annotations) -> Annotations:
    """Return one clip for each video of each split, with one caption for each annotator.

    Clips have the ids of their videos, and last from 0 to the stated duration, or to the last end of a segment. A
    caption is the sentences of one annotator in the order of the files, with a space between them. Protocols list the
    videos of their clips; concepts belong to single sentences and are left out.
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
        official, clips=tuple(clips), captions=tuple(captions), protocols=protocols, concepts=(), classes=()
    )
