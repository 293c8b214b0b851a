"""Records as rows of the published configurations; what a column means is said in `vttdata.dataset.columns`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import PurePosixPath
from typing import Any

from vttdata.dataset.columns import CAPTIONS, DEGRADED, columns_of
from vttdata.errors import VttdataError
from vttdata.records import Caption, CaptionScore, Clip, Concepts, Degraded, Source


def clip_row(clip: Clip, captions: list[str], categories: Mapping[str, int], *, shipped: bool) -> dict[str, Any]:
    """One row of `clips`; `shipped` says whether the clip's file lies in the dataset."""
    own = ("video_id", "source_id", "url", "start", "end", "query", "shots", "first_frame", "last_frame")
    row = {name: getattr(clip, name) for name in own}
    file = ("sha256", "frames", "width", "height", "audio_seconds")
    row |= {name: getattr(clip.media, name, None) for name in file}
    row["video"] = clip.media.video if shipped and clip.media is not None else None
    category = None if clip.category is None else categories[clip.category]
    return row | {"duration": clip.end - clip.start, "category": category, "captions": captions}


def caption_row(caption: Caption) -> dict[str, Any]:
    """One row of `captions`."""
    return {column.name: getattr(caption, column.name) for column in CAPTIONS}


def source_row(source: Source, clips: int, categories: Mapping[str, int]) -> dict[str, Any]:
    """One row of `sources`; `clips` counts its clips in the split."""
    own = ("source_id", "url", "title", "uploader", "query", "licence", "sha256", "bytes", "format", "stated_seconds")
    probed = ("frame_rate", "width", "height", "video_codec", "audio_codec")
    measured = ("seconds", "frames", "variable_frame_rate")
    row: dict[str, Any] = dict.fromkeys(column.name for column in columns_of("sources"))
    row |= {name: getattr(source, name) for name in own}
    if source.stored == "nowhere":
        row |= {"sha256": None, "bytes": None}
    row |= {name: getattr(source.probe, name, None) for name in probed}
    row |= {name: getattr(source.measure, name, None) for name in measured}
    row |= source.measure.scores if source.measure is not None else {}
    row |= {name: getattr(source.fingerprint, name, None) for name in ("hash_scheme", "hashes")}
    file = source.file if source.stored == "listed" else None
    if file is not None and (PurePosixPath(file).is_absolute() or ".." in PurePosixPath(file).parts):
        file = PurePosixPath(file).name  # where it lies on the builder's machine is nobody's business
    category = categories.get(source.category) if source.category is not None else None
    return row | {"file": file, "category": category, "clips": clips}


def concept_row(concepts: Concepts, source_id: str, classes: Mapping[str, int]) -> dict[str, Any]:
    """One row of `concepts`.

    Raises:
        VttdataError: when a concept is none of the classes.
    """
    unknown = next((name for name in concepts.classes if name not in classes), None)
    if unknown is not None:
        raise VttdataError(f"Clip {concepts.video_id}: its concept {unknown!a} is none of the {len(classes)} classes.")
    return {
        "video_id": concepts.video_id,
        "source_id": source_id,
        "tokens": list(concepts.tokens),
        "objects": list(concepts.objects),
        "classes": [classes[name] for name in concepts.classes],
        "token_indices": list(concepts.token_indices),
    }


def degraded_row(degraded: Degraded, source_id: str) -> dict[str, Any]:
    """One row of `degraded`."""
    own = {column.name: getattr(degraded, column.name) for column in DEGRADED if column.name != "source_id"}
    return own | {"source_id": source_id}


def judgment_row(score: CaptionScore, source_id: str, captions: Sequence[Caption]) -> dict[str, Any]:
    """One row of `judgments`; `captions` are all of this clip, and `campaign` of the score is ``YEAR-ANNOTATORS``."""
    judged = next((caption for caption in captions if caption.sen_id == score.sen_id), None)
    year, _, annotators = score.campaign.partition("-")
    own = ("video_id", "system", "sen_id", "raw", "z", "assessments", "hit")
    return {name: getattr(score, name) for name in own} | {
        "source_id": source_id,
        "year": int(year),
        "annotators": annotators,
        "human": judged is not None and judged.author == "human",
        "caption": judged and judged.caption,
        "references": [caption.caption for caption in captions if caption.author == "human" and caption is not judged],
    }
