"""The rows of published tables, each a dataclass: the one definition of their columns, types, keys and meanings.

Whatever describes a table is derived from here with `vttdata.dataset.schema`, and the makers below turn records into
rows. A row of a protocol is one of `clips`.
"""

from __future__ import annotations

import dataclasses
import functools
import inspect
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath
from string import ascii_uppercase
from typing import Annotated, TypedDict, TypeVar

import pyarrow as pa

from vttdata.dataset.schema import Column, LabelNames, Role, describe_wrong_type, read_columns, without_categories
from vttdata.errors import VttdataError
from vttdata.generate.degrade.degrade import FLAGS
from vttdata.records import Caption, CaptionScore, Clip, Concepts, Source, VideoQuestion

_Category = Annotated[int | None, Role.CATEGORY, "the category under which the source was collected"]
_Query = Annotated[str | None, "the search query that found the source, if one did"]
_FLAG = "null, or: " + "; ".join(f"`{flag}`: {meaning}" for flag, meaning in FLAGS.items())


class VideoFile(TypedDict):
    """Content and name of a video file."""

    bytes: bytes
    path: str


@dataclass(frozen=True, slots=True)
class ClipRow:
    """One row per clip, with its captions."""

    video_id: Annotated[str, Role.KEY, "the clip"]
    source_id: Annotated[str, "the original video that the clip is cut from"]
    url: Annotated[str | None, "where the original video was found"]
    file: Annotated[str | None, "the original's name in the folder that was collected; null if it was fetched"]
    start: Annotated[float | None, "where the clip starts in the original, seconds; null where unknown"]
    end: Annotated[float | None, "where the clip ends in the original, seconds, exclusive; null where unknown"]
    duration: Annotated[float | None, "end - start, seconds; null where they are unknown"]
    category: _Category
    query: _Query
    shots: Annotated[int | None, "number of shots in the clip; null where it is unknown"]
    first_frame: Annotated[int | None, "first frame, counted from 0 in the original"]
    last_frame: Annotated[int | None, "last frame, inclusive"]
    video: Annotated[str | None, "the clip's file in this dataset; null where none is shipped"]
    sha256: Annotated[str | None, "checksum of the clip's file, shipped or not; null where there was none"]
    frames: Annotated[int | None, "frames in that file"]
    width: Annotated[int | None, "its width, pixels"]
    height: Annotated[int | None, "its height, pixels"]
    audio_seconds: Annotated[float | None, "length of its sound, seconds; null without sound"]
    captions: Annotated[list[str], "all captions of the clip, in the order of `sen_id`"]


@dataclass(frozen=True, slots=True)
class CaptionRow:
    """One row per caption."""

    video_id: Annotated[str, Role.KEY, "the clip"]
    sen_id: Annotated[int, Role.KEY, "the caption, unique within its clip"]
    caption: Annotated[str, "one sentence about the clip"]
    annotator: Annotated[str | None, "who wrote it, by a name or id as it was given, or by a pseudonym"]
    language: Annotated[str, "its language"]
    author: Annotated[str, "`human`, or the name of a system"]
    revision: Annotated[str | None, "revision of the system; null for people"]
    prompt: Annotated[str | None, "the prompt that the system was given, or a digest of it; null for people"]
    verified_by: Annotated[str | None, "who checked the caption, in the same way; null where nobody did"]


@dataclass(frozen=True, slots=True)
class SourceRow:
    """One row per original video, in each split that has clips of it."""

    source_id: Annotated[str, Role.KEY, "the original video"]
    url: Annotated[str | None, "where it was found"]
    file: Annotated[str | None, "its name in the folder that was collected; null if it was fetched"]
    title: Annotated[str | None, "its title"]
    uploader: Annotated[str | None, "who published it"]
    uploaded: Annotated[str | None, "the day on which it was published, YYYY-MM-DD, where a list or the site says so"]
    synthetic: Annotated[bool | None, "whether a program made it, where a list says so"]
    category: _Category
    query: _Query
    licence: Annotated[str | None, "its licence as far as known"]
    sha256: Annotated[str | None, "checksum of the file that was used"]
    bytes: Annotated[int | None, "size of that file"]
    format: Annotated[str | None, "the format that was fetched"]
    stated_seconds: Annotated[float | None, "its length as official annotations state it"]
    seconds: Annotated[float | None, "its length, all frames decoded"]
    frames: Annotated[int | None, "number of its frames, all decoded"]
    frame_rate: Annotated[float | None, "frames a second as the container says, or as measured where it is wrong"]
    variable_frame_rate: Annotated[bool | None, "whether frames are unevenly spaced"]
    width: Annotated[int | None, "width as displayed, pixels"]
    height: Annotated[int | None, "height as displayed, pixels"]
    video_codec: Annotated[str | None, "codec of the pictures"]
    audio_codec: Annotated[str | None, "codec of the sound; null without sound"]
    color_transfer: Annotated[
        str | None,
        "transfer function of its pictures, where they state one; `smpte2084` (PQ) and `arib-std-b67` are HDR",
    ]
    color_primaries: Annotated[str | None, "primaries of its pictures, where they state them"]
    field_order: Annotated[str | None, "`progressive`, `top_first` or `bottom_first`: how its first picture is marked"]
    note: Annotated[str | None, "what is wrong with its file, in tracks and bytes that are not used; null for nothing"]
    # A column for each picture filter.
    scores: Mapping[str, float | None]
    hash_scheme: Annotated[str | None, "how its fingerprint was computed; null without one"]
    hashes: Annotated[str | None, "its fingerprint for finding copies: base64 of 32 bytes for every half second"]
    clips: Annotated[int, "number of its clips in this split"]


@dataclass(frozen=True, slots=True)
class ConceptRow:
    """One row per clip, with the annotated concepts of its sentence."""

    video_id: Annotated[str, Role.KEY, "the clip"]
    source_id: Annotated[str, "the original video"]
    tokens: Annotated[list[str], "the words of the clip's sentence"]
    objects: Annotated[list[int], "for each mention the number of its object, from 0 within the clip"]
    classes: Annotated[list[int], Role.CLASS, "for each mention its class"]
    token_indices: Annotated[list[int], "for each mention the place of its word in `tokens`, from 0"]


@dataclass(frozen=True, slots=True)
class DegradedRow:
    """One row per caption, with a degraded one for Direct Assessment and how it was made."""

    video_id: Annotated[str, Role.KEY, "the clip"]
    sen_id: Annotated[int, Role.KEY, "the caption that was degraded"]
    source_id: Annotated[str, "the original video"]
    caption: Annotated[str | None, "the degraded caption; null where there is none, and `flag` says why"]
    original: Annotated[str, "the caption as it was"]
    start: Annotated[int | None, "the first replaced word, counted from 0, as `vttdata.text.word_spans` counts"]
    words: Annotated[int | None, "how many words were replaced"]
    donor_video_id: Annotated[str | None, "the clip, of another source, whose caption gave words"]
    donor_sen_id: Annotated[int | None, "that caption"]
    donor_start: Annotated[int | None, "the first word that was taken from it, counted from 0"]
    variant: Annotated[str, "the rules by which it was degraded"]
    generator: Annotated[str, "the version of the program that drew"]
    seed: Annotated[int, "the seed of the draw"]
    flag: Annotated[str | None, _FLAG]


@dataclass(frozen=True, slots=True)
class FoilRow:
    """One row per pair of a true caption and its foil."""

    foil_id: Annotated[str, Role.KEY, "the pair: its caption and what was swapped in"]
    video_id: Annotated[str, "the video that both texts are about, as far as they are"]
    caption_id: Annotated[str, "the caption: official where there is one"]
    caption: Annotated[str, "the true text"]
    foil: Annotated[str, "the false text: the true one with one span replaced"]
    start: Annotated[int, "where the span starts in `caption`, in characters"]
    end: Annotated[int, "where it ends, exclusive"]
    replacement: Annotated[str, "what `foil` has there"]
    concept: Annotated[str, "what the video shows"]
    foil_concept: Annotated[str, "what it does not show"]
    supercategory: Annotated[str, "of both"]
    perplexity: Annotated[float, "of `caption` under the model that mined the foils; NaN without one"]
    foil_perplexity: Annotated[float, "of `foil` under it"]
    references: Annotated[list[str], "sentences by somebody else about the same time; empty where there are none"]
    selection: Annotated[str, "how foils were chosen: `balanced`, `paper` or `random`; `official` where they were not"]
    seed: Annotated[int, "of all choices"]
    lexicon: Annotated[str, "version of the lexicon of visible things"]


@dataclass(frozen=True, slots=True)
class ParagraphRow:
    """One row per pair of a true paragraph and its foil."""

    video_id: Annotated[str, Role.KEY, "the video"]
    annotator: Annotated[str, "who wrote the true paragraph"]
    captions: Annotated[list[str], "the true paragraph"]
    foils: Annotated[list[str], "the false paragraph: at least one caption is changed, the others are the same"]
    changed: Annotated[list[int], "places of the changed captions, from 0"]
    starts: Annotated[list[float], "where each caption's time starts in the video, seconds"]
    ends: Annotated[list[float], "where it ends"]
    references: Annotated[list[str], "the paragraph by the other annotator"]
    reference_starts: Annotated[list[float], "where each of its sentences' time starts, seconds"]
    reference_ends: Annotated[list[float], "where it ends"]


@dataclass(frozen=True, slots=True)
class SwapRow:
    """One row per concept and its replacement, with the number of pairs that have this swap."""

    concept: Annotated[str, Role.KEY, "what the videos show"]
    foil_concept: Annotated[str, Role.KEY, "what takes its place"]
    supercategory: Annotated[str, "of both"]
    pairs: Annotated[int, "how many pairs of `foils` make this swap, this way round"]


@dataclass(frozen=True, slots=True)
class MomentRow:
    """One row per query, with the windows of its clip that it is about, or what each annotator marked in its video."""

    video_id: Annotated[str, Role.KEY, "the clip"]
    sen_id: Annotated[int, Role.KEY, "the caption that is the query"]
    source_id: Annotated[str, "the original video"]
    starts: Annotated[list[float], "where each window starts in the clip, seconds; in the video for annotators"]
    ends: Annotated[list[float], "where it ends, exclusive"]
    salient: Annotated[list[int], "the parts of 2 s that people judged, from 0 at the start of the clip"]
    saliency: Annotated[list[int], "the judgments of the first part by each worker, 0..4, then of the second and so on"]
    annotators: Annotated[list[int], "who marked each window, from 0, where each marked one; empty if all are true"]


@dataclass(frozen=True, slots=True)
class QuestionRow:
    """One row per question, with its options and the answer."""

    question_id: Annotated[str, Role.KEY, "the question"]
    video_id: Annotated[str, "the clip that it is about"]
    source_id: Annotated[str, "the original video; questions about one source are not independent"]
    kind: Annotated[str, "how it is asked: `multiple_choice`, `yes_no` or another kind of its benchmark"]
    question: Annotated[str, "its text, without the options"]
    options: Annotated[list[str], "the options, 2 to 26"]
    labels: Annotated[list[str], "what each option is called in the question as published, such as `A`"]
    answer: Annotated[int, "index of the right option in `options`, from 0"]
    answer_letter: Annotated[str, "its letter by its place: `A` for the first option"]
    group: Annotated[str | None, "the pair or group of questions that it belongs to; null alone"]
    type: Annotated[str | None, "what it asks about, as its benchmark names it"]
    start: Annotated[float | None, "where the span that it is about starts in the clip, seconds; null for all of it"]
    end: Annotated[float | None, "where that span ends, exclusive"]
    blind: Annotated[
        float | None,
        "how far all blind attackers together answer it, seeing one question at a time: 1, 0, or a share of tied "
        "options; null where none tried",
    ]


@dataclass(frozen=True, slots=True)
class JudgmentRow:
    """One row per judged caption, with its human scores and references."""

    video_id: Annotated[str, Role.KEY, "the clip"]
    source_id: Annotated[str, "the original video"]
    year: Annotated[int, Role.KEY, "of the campaign"]
    annotators: Annotated[
        str, Role.KEY, "`single`: most captions were assessed by one person; `multiple`: each by many"
    ]
    system: Annotated[str, Role.KEY, "who is judged, as the official files name it"]
    human: Annotated[bool, "whether that is a person"]
    sen_id: Annotated[int | None, Role.KEY, "the judged caption, unique within its clip"]
    caption: Annotated[str | None, "its text"]
    references: Annotated[list[str], "what people wrote about the clip, the judged caption left out"]
    raw: Annotated[float, "mean score, 0..100"]
    z: Annotated[float, "mean score, standardised by assessor"]
    assessments: Annotated[int, "how many assessments the means are of"]
    hit: Annotated[str | None, "the task in which it was assessed, where that is known"]


@dataclass(frozen=True, slots=True)
class VideoRow:
    """One row per clip whose video file is included, with the bytes of the file."""

    video_id: Annotated[str, Role.KEY, "the clip"]
    video: Annotated[VideoFile, "its file: `bytes`, and `path`, the file's name; cast to `Video()` to decode"]


ERRATA = "errata"


@dataclass(frozen=True, slots=True)
class ErratumRow:
    """One row per correction of a value since the dataset was first built."""

    id: Annotated[str, Role.KEY, "the corrected row: `video_id`, `video_id#sen_id` or `question_id`"]
    field: Annotated[str, Role.KEY, "the corrected column, as TABLE.COLUMN"]
    old: Annotated[str, "the value before; lists and numbers as JSON, labels and answers by their texts"]
    new: Annotated[str, "the value since"]
    reason: Annotated[str, "why it was wrong"]
    who: Annotated[str, "who reported it"]
    date: Annotated[str, "the day of the report, YYYY-MM-DD"]
    version: Annotated[str, Role.KEY, "the first version that has the new value"]


@dataclass(frozen=True, slots=True)
class WithdrawnRow:
    """One row per value by which a withdrawn video, clip or annotator would be recognised, none of them readable."""

    digest: Annotated[str, Role.KEY, "SHA-256 of the salt and of the value"]
    salt: Annotated[str, "random text, the same for all rows of a dataset"]
    what: Annotated[
        str,
        "what was withdrawn: `source`, `clip` or `annotator`; `url` and `file` are of its sources, `item` of its "
        "questions and pairs",
    ]
    reason: Annotated[str, "why"]
    version: Annotated[str, "the first version without it"]
    hash_scheme: Annotated[str | None, "how its fingerprint was computed; null where none is kept"]
    hashes: Annotated[str | None, "fingerprint of a source, by which edited copies are refused, if one is kept"]


@dataclass(frozen=True, slots=True)
class ProtocolRow(ClipRow):
    """One row per clip, with its captions, in the splits and the order of this protocol."""


ROWS: Mapping[str, type] = {
    "clips": ClipRow,
    "captions": CaptionRow,
    "sources": SourceRow,
    "concepts": ConceptRow,
    "degraded": DegradedRow,
    "foils": FoilRow,
    "paragraphs": ParagraphRow,
    "swaps": SwapRow,
    "questions": QuestionRow,
    "moments": MomentRow,
    "judgments": JudgmentRow,
    "videos": VideoRow,
    "errata": ErratumRow,
    "withdrawn": WithdrawnRow,
}
"""Configuration -> its rows, in the order of a dataset."""


def row_class(config: str) -> type:
    """Return the class of the rows of a configuration.

    A name that is not in `ROWS` is another division of one that is, such as ``judgments-without-2016``, or a protocol.
    """
    return ROWS.get(config.partition("-without-")[0], ProtocolRow)


def row_meaning(config: str) -> str:
    """Return what a row of a configuration is, in words."""
    summary = inspect.getdoc(row_class(config)) or ""
    return summary[:1].lower() + summary[1:].rstrip(".")


def is_protocol(config: str) -> bool:
    """Return whether a configuration is a protocol: the clips in other splits."""
    return row_class(config) is ProtocolRow


@functools.cache
def fixed_columns(config: str) -> tuple[Column, ...]:
    """Return the columns of a configuration without the quality scores of sources."""
    return read_columns(row_class(config))


def columns_of(config: str, labels: LabelNames | None = None) -> tuple[Column, ...]:
    """Return the columns of a configuration, as they are in a dataset with these labels if they are given."""
    columns = fixed_columns(config)
    if row_class(config) is SourceRow:
        # The filters need PyAV, which the base install does not have; only builds ask for these columns.
        from vttdata.media.filters import PICTURE_FILTERS

        scores = [Column(each.name, pa.float64(), each.column) for each in PICTURE_FILTERS]
        columns = read_columns(SourceRow, scores)
    return without_categories(columns) if labels is not None and not labels.get(Role.CATEGORY) else columns


def key_of(config: str) -> tuple[str, ...]:
    """Return the columns that identify a row of a configuration.

    Rows with the same key may be in several splits, and duplicated in official files.
    """
    return tuple(column.name for column in fixed_columns(config) if column.is_key)


def find_wrong_type(config: str, schema: pa.Schema) -> str | None:
    """Return in words which column of a table has a type that readers of rows cannot take; None if all are usable.

    The column ``video`` holds a name in some configurations and a file in others.
    """
    return describe_wrong_type((column for column in fixed_columns(config) if column.name != "video"), schema)


_Row = TypeVar("_Row")


def fill(row: type[_Row], *records: object, **values: object) -> _Row:
    """Return a row of these values, and of the fields of the first record that has one of that name; else of nulls."""
    for name, index in _origins(row, *map(type, records)):  # type: ignore[arg-type] # a class is hashable
        if name not in values:
            values[name] = None if index is None else getattr(records[index], name)
    return row(**values)


@functools.cache
def _origins(row: type, *records: type) -> tuple[tuple[str, int | None], ...]:
    """Return each field of a row with the index of the first record that has it."""
    return tuple(
        (field.name, next((index for index, record in enumerate(records) if hasattr(record, field.name)), None))
        for field in dataclasses.fields(row)
    )


def clip_row(
    clip: Clip, source: Source | None, captions: list[str], categories: Mapping[str, int], video: str | None
) -> ClipRow:
    """Return a row of `clips`, with the texts of all captions; `categories` are labels by name.

    `source` is the clip's source, where it is known, and `video` the path of the clip's file in the dataset, where it
    is shipped.
    """
    # Some official files do not say which part of a source a clip is.
    is_known = not clip.start == clip.end == 0
    return fill(
        ClipRow,
        clip,
        clip.media,
        file=None if source is None else _listed_file(source),
        start=clip.start if is_known else None,
        end=clip.end if is_known else None,
        duration=clip.end - clip.start if is_known else None,
        video=video,
        category=None if clip.category is None else categories[clip.category],
        captions=captions,
    )


def source_row(source: Source, clips: int, categories: Mapping[str, int]) -> SourceRow:
    """Return a row of `sources`, with the number of its clips in the split; `categories` are labels by name."""
    from vttdata.media.filters import PICTURE_FILTERS

    scores = source.measure.scores if source.measure is not None else {}
    return fill(
        SourceRow,
        source,
        source.probe,
        source.measure,
        source.fingerprint,
        file=_listed_file(source),
        category=categories.get(source.category) if source.category is not None else None,
        scores={each.name: None for each in PICTURE_FILTERS} | dict(scores),
        clips=clips,
        **({"sha256": None, "bytes": None} if source.stored == "nowhere" else {}),
    )


def _listed_file(source: Source) -> str | None:
    """Return the name of a source's file in the folder that was collected; None where it was fetched."""
    if source.stored != "listed":
        return None
    path = PurePosixPath(source.file)
    # A dataset holds no paths of the machine that built it.
    return path.name if path.is_absolute() or ".." in path.parts else source.file


def concept_row(concepts: Concepts, source_id: str, classes: Mapping[str, int]) -> ConceptRow:
    """Return a row of `concepts`; `classes` are labels by name.

    Raises:
        VttdataError: If a concept is not among the classes.
    """
    unknown = next((name for name in concepts.classes if name not in classes), None)
    if unknown is not None:
        raise VttdataError(f"Clip {concepts.video_id}: its concept {unknown!a} is none of the {len(classes)} classes.")
    return ConceptRow(
        concepts.video_id,
        source_id,
        list(concepts.tokens),
        list(concepts.objects),
        [classes[name] for name in concepts.classes],
        list(concepts.token_indices),
    )


def question_row(question: VideoQuestion, source_id: str, blind: float | None) -> QuestionRow:
    """Return a row of `questions`; `blind` is how far the blind attackers together answer it, None if none tried."""
    return fill(
        QuestionRow,
        question,
        source_id=source_id,
        options=list(question.options),
        labels=list(question.labels),
        answer_letter=ascii_uppercase[question.answer],
        blind=blind,
    )


def judgment_row(score: CaptionScore, source_id: str, captions: Sequence[Caption]) -> JudgmentRow:
    """Return a row of `judgments`, from a score whose campaign is ``YEAR-ANNOTATORS`` and all captions of its clip."""
    judged = next((caption for caption in captions if caption.sen_id == score.sen_id), None)
    year, _, annotators = score.campaign.partition("-")
    return fill(
        JudgmentRow,
        score,
        source_id=source_id,
        year=int(year),
        annotators=annotators,
        human=judged is not None and judged.author == "human",
        caption=judged and judged.caption,
        references=[caption.caption for caption in captions if caption.author == "human" and caption is not judged],
    )
