"""Convert records to rows of the published configurations; `vttdata.dataset.columns` says what a column means."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import PurePosixPath
from typing import Any

from vttdata.dataset.columns import columns_of
from vttdata.dataset.videos import video_path
from vttdata.errors import VttdataError
from vttdata.records import Caption, CaptionScore, Clip, Concepts, Degraded, Source


def make_row(config: str, *records: object, **values: Any) -> dict[str, Any]:
    """Return a row of a configuration: for each column the value, or the field of the first record that has one.

    A column that is neither a value nor a field is null.
    """
    row: dict[str, Any] = {column.name: None for column in columns_of(config)}
    for record in reversed(records):
        row |= {name: getattr(record, name, present) for name, present in row.items()}
    return row | values


def clip_row(clip: Clip, captions: list[str], categories: Mapping[str, int], *, shipped: bool) -> dict[str, Any]:
    """Return a row of `clips`, with the texts of all captions; `categories` are labels by name.

    `shipped` is True if the clip's file is in the dataset.
    """
    times: dict[str, Any] = {"duration": clip.end - clip.start}
    if clip.start == clip.end == 0:
        # Official files that do not say which part of a source a clip is.
        times = dict.fromkeys(("start", "end", "duration"))
    return make_row(
        "clips",
        clip,
        clip.media,
        video=video_path(clip) if shipped and clip.media is not None else None,
        category=None if clip.category is None else categories[clip.category],
        captions=captions,
        **times,
    )


def caption_row(caption: Caption) -> dict[str, Any]:
    """Return a row of `captions`."""
    return {column.name: getattr(caption, column.name) for column in columns_of("captions")}


def source_row(source: Source, clips: int, categories: Mapping[str, int]) -> dict[str, Any]:
    """Return a row of `sources`, with the number of its clips in the split; `categories` are labels by name."""
    file = source.file if source.stored == "listed" else None
    if file is not None and (PurePosixPath(file).is_absolute() or ".." in PurePosixPath(file).parts):
        # A dataset holds no paths of the machine that built it.
        file = PurePosixPath(file).name
    values = {
        "file": file,
        "category": categories.get(source.category) if source.category is not None else None,
        "clips": clips,
        **(source.measure.scores if source.measure is not None else {}),
        **({"sha256": None, "bytes": None} if source.stored == "nowhere" else {}),
    }
    return make_row("sources", source, source.probe, source.measure, source.fingerprint, **values)


def concept_row(concepts: Concepts, source_id: str, classes: Mapping[str, int]) -> dict[str, Any]:
    """Return a row of `concepts`; `classes` are labels by name.

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
    return make_row("degraded", degraded, source_id=source_id)


def judgment_row(score: CaptionScore, source_id: str, captions: Sequence[Caption]) -> dict[str, Any]:
    """Return a row of `judgments`, from a score whose campaign is ``YEAR-ANNOTATORS`` and all captions of its clip."""
    judged = next((caption for caption in captions if caption.sen_id == score.sen_id), None)
    year, _, annotators = score.campaign.partition("-")
    return make_row(
        "judgments",
        score,
        source_id=source_id,
        year=int(year),
        annotators=annotators,
        human=judged is not None and judged.author == "human",
        caption=judged and judged.caption,
        references=[caption.caption for caption in captions if caption.author == "human" and caption is not judged],
    )
