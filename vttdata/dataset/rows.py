"""Convert records to rows of the published configurations; `vttdata.dataset.columns` says what a column means."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import PurePosixPath
from typing import Any

from vttdata.dataset.columns import columns_of
from vttdata.errors import VttdataError
from vttdata.records import Caption, CaptionScore, Clip, Concepts, Degraded, Source

_CLIP_FIELDS = ("video_id", "source_id", "url", "start", "end", "query", "shots", "first_frame", "last_frame")
_MEDIA_FIELDS = ("sha256", "frames", "width", "height", "audio_seconds")
_SOURCE_FIELDS = ("source_id", "url", "title", "uploader", "query", "licence", "format", "stated_seconds")
_FILE_FIELDS = ("sha256", "bytes")
_PROBE_FIELDS = ("frame_rate", "width", "height", "video_codec", "audio_codec")
_MEASURE_FIELDS = ("seconds", "frames", "variable_frame_rate")
_SCORE_FIELDS = ("video_id", "system", "sen_id", "raw", "z", "assessments", "hit")


def _fields(record: object, names: Sequence[str]) -> dict[str, Any]:
    """Return fields of a record; all are None without a record."""
    return {name: None if record is None else getattr(record, name) for name in names}


def clip_row(clip: Clip, captions: list[str], categories: Mapping[str, int], *, shipped: bool) -> dict[str, Any]:
    """Return a row of `clips`.

    Args:
        clip: Clip.
        captions: Texts of all of its captions.
        categories: Category -> number of its label.
        shipped: True if the clip's file is in the dataset.
    """
    return {
        **_fields(clip, _CLIP_FIELDS),
        **_fields(clip.media, _MEDIA_FIELDS),
        "video": clip.media.video if shipped and clip.media is not None else None,
        "duration": clip.end - clip.start,
        "category": None if clip.category is None else categories[clip.category],
        "captions": captions,
    }


def caption_row(caption: Caption) -> dict[str, Any]:
    """Return a row of `captions`."""
    return {column.name: getattr(caption, column.name) for column in columns_of("captions")}


def source_row(source: Source, clips: int, categories: Mapping[str, int]) -> dict[str, Any]:
    """Return a row of `sources`.

    Args:
        source: Source.
        clips: Number of its clips in the split.
        categories: Category -> number of its label.
    """
    file = source.file if source.stored == "listed" else None
    if file is not None and (PurePosixPath(file).is_absolute() or ".." in PurePosixPath(file).parts):
        # A dataset holds no paths of the machine that built it.
        file = PurePosixPath(file).name
    return {
        # The quality scores are null unless they were measured.
        **dict.fromkeys(column.name for column in columns_of("sources")),
        **_fields(source, _SOURCE_FIELDS),
        **_fields(source if source.stored != "nowhere" else None, _FILE_FIELDS),
        **_fields(source.probe, _PROBE_FIELDS),
        **_fields(source.measure, _MEASURE_FIELDS),
        **(source.measure.scores if source.measure is not None else {}),
        **_fields(source.fingerprint, ("hash_scheme", "hashes")),
        "file": file,
        "category": categories.get(source.category) if source.category is not None else None,
        "clips": clips,
    }


def concept_row(concepts: Concepts, source_id: str, classes: Mapping[str, int]) -> dict[str, Any]:
    """Return a row of `concepts`.

    Args:
        concepts: Concepts of a clip.
        source_id: Source of the clip.
        classes: Class -> number of its label.

    Raises:
        VttdataError: If a concept is not among the classes.
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
    """Return a row of `degraded`."""
    names = [column.name for column in columns_of("degraded") if column.name != "source_id"]
    return _fields(degraded, names) | {"source_id": source_id}


def judgment_row(score: CaptionScore, source_id: str, captions: Sequence[Caption]) -> dict[str, Any]:
    """Return a row of `judgments`.

    Args:
        score: Score of a caption; its campaign is ``YEAR-ANNOTATORS``.
        source_id: Source of the clip.
        captions: All captions of the clip.
    """
    judged = next((caption for caption in captions if caption.sen_id == score.sen_id), None)
    year, _, annotators = score.campaign.partition("-")
    return {
        **_fields(score, _SCORE_FIELDS),
        "source_id": source_id,
        "year": int(year),
        "annotators": annotators,
        "human": judged is not None and judged.author == "human",
        "caption": judged and judged.caption,
        "references": [caption.caption for caption in captions if caption.author == "human" and caption is not judged],
    }
