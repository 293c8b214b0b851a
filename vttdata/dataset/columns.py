"""Columns of all configurations: the one definition of Parquet schemas, README features and card texts.

Types are those that every version of `datasets` knows: int64, float64, string, bool, labels and lists.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import pyarrow as pa

from vttdata.generate.degrade.degrade import FLAGS

ColumnType = Literal[
    "string", "int64", "float64", "bool", "strings", "int64s", "float64s", "category", "classes", "video"
]

# Types of lists -> the type of their items.
ITEMS = {"strings": "string", "int64s": "int64", "float64s": "float64", "classes": "class label"}

_ARROW_TYPES = {
    "string": pa.string(),
    "int64": pa.int64(),
    "float64": pa.float64(),
    "bool": pa.bool_(),
    "class label": pa.int64(),
    "video": pa.struct([("bytes", pa.binary()), ("path", pa.string())]),
}
_ARROW_TYPES |= {name: pa.list_(_ARROW_TYPES[item]) for name, item in ITEMS.items()}


@dataclass(frozen=True, slots=True)
class Column:
    """Column with its name, its type, and its meaning in words."""

    name: str
    type: ColumnType
    meaning: str


_VIDEO_ID = Column("video_id", "string", "the clip")
_CATEGORY = Column("category", "category", "the category under which the source was collected")
_QUERY = Column("query", "string", "the search query that found the source, if one did")

CONFIGS: dict[str, tuple[Column, ...]] = {
    "clips": (
        _VIDEO_ID,
        Column("source_id", "string", "the original video that the clip is cut from"),
        Column("url", "string", "where the original video was found"),
        Column("start", "float64", "where the clip starts in the original, seconds; null where unknown"),
        Column("end", "float64", "where the clip ends in the original, seconds, exclusive; null where unknown"),
        Column("duration", "float64", "end - start, seconds; null where they are unknown"),
        _CATEGORY,
        _QUERY,
        Column("shots", "int64", "number of shots in the clip; null where it is unknown"),
        Column("first_frame", "int64", "first frame, counted from 0 in the original"),
        Column("last_frame", "int64", "last frame, inclusive"),
        Column("video", "string", "the clip's file in this dataset; null where none is shipped"),
        Column("sha256", "string", "checksum of the clip's file, shipped or not; null where there was none"),
        Column("frames", "int64", "frames in that file"),
        Column("width", "int64", "its width, pixels"),
        Column("height", "int64", "its height, pixels"),
        Column("audio_seconds", "float64", "length of its sound, seconds; null without sound"),
        Column("captions", "strings", "all captions of the clip, in the order of `sen_id`"),
    ),
    "captions": (
        _VIDEO_ID,
        Column("sen_id", "int64", "the caption, unique within its clip"),
        Column("caption", "string", "one sentence about the clip"),
        Column("annotator", "string", "who wrote it, as an anonymous id"),
        Column("language", "string", "its language"),
        Column("author", "string", "`human`, or the name of a system"),
    ),
    "sources": (
        Column("source_id", "string", "the original video"),
        Column("url", "string", "where it was found"),
        Column("file", "string", "its name in the folder that was collected; null if it was fetched"),
        Column("title", "string", "its title"),
        Column("uploader", "string", "who published it"),
        _CATEGORY,
        _QUERY,
        Column("licence", "string", "its licence as far as known"),
        Column("sha256", "string", "checksum of the file that was used"),
        Column("bytes", "int64", "size of that file"),
        Column("format", "string", "the format that was fetched"),
        Column("stated_seconds", "float64", "its length as official annotations state it"),
        Column("seconds", "float64", "its length, all frames decoded"),
        Column("frames", "int64", "number of its frames, all decoded"),
        Column("frame_rate", "float64", "frames a second as the container says"),
        Column("variable_frame_rate", "bool", "whether frames are unevenly spaced"),
        Column("width", "int64", "width as displayed, pixels"),
        Column("height", "int64", "height as displayed, pixels"),
        Column("video_codec", "string", "codec of the pictures"),
        Column("audio_codec", "string", "codec of the sound; null without sound"),
        # The quality scores stand here; see `columns_of`.
        Column("hash_scheme", "string", "how its fingerprint was computed; null without one"),
        Column("hashes", "string", "its fingerprint for finding copies: base64 of 32 bytes for every half second"),
        Column("clips", "int64", "number of its clips in this split"),
    ),
    "concepts": (
        _VIDEO_ID,
        Column("source_id", "string", "the original video"),
        Column("tokens", "strings", "the words of the clip's sentence"),
        Column("objects", "int64s", "for each mention the number of its object, from 0 within the clip"),
        Column("classes", "classes", "for each mention its class"),
        Column("token_indices", "int64s", "for each mention the place of its word in `tokens`, from 0"),
    ),
    "degraded": (
        _VIDEO_ID,
        Column("sen_id", "int64", "the caption that was degraded"),
        Column("source_id", "string", "the original video"),
        Column("caption", "string", "the degraded caption; null where there is none, and `flag` says why"),
        Column("original", "string", "the caption as it was"),
        Column("start", "int64", "the first word that was replaced, counted from 0, between white space"),
        Column("words", "int64", "how many words were replaced"),
        Column("donor_video_id", "string", "the clip, of another source, whose caption gave words"),
        Column("donor_sen_id", "int64", "that caption"),
        Column("donor_start", "int64", "the first word that was taken from it, counted from 0"),
        Column("variant", "string", "the rules by which it was degraded"),
        Column("generator", "string", "the version of the program that drew"),
        Column("seed", "int64", "the seed of the draw"),
        Column("flag", "string", "null, or: " + "; ".join(f"`{flag}`: {meaning}" for flag, meaning in FLAGS.items())),
    ),
    "foils": (
        Column("foil_id", "string", "the pair: its caption and what was swapped in"),
        Column("video_id", "string", "the video that both texts are about, as far as they are"),
        Column("caption_id", "string", "the caption: official where there is one"),
        Column("caption", "string", "the true text"),
        Column("foil", "string", "the false text: the true one with one span replaced"),
        Column("start", "int64", "where the span starts in `caption`, in characters"),
        Column("end", "int64", "where it ends, exclusive"),
        Column("replacement", "string", "what `foil` has there"),
        Column("concept", "string", "what the video shows"),
        Column("foil_concept", "string", "what it does not show"),
        Column("supercategory", "string", "of both"),
        Column("perplexity", "float64", "of `caption` under the model that mined the foils; NaN without one"),
        Column("foil_perplexity", "float64", "of `foil` under it"),
        Column("references", "strings", "sentences by somebody else about the same time; empty where there are none"),
        Column(
            "selection",
            "string",
            "how foils were chosen: `balanced`, `paper` or `random`; `official` where they were not",
        ),
        Column("seed", "int64", "of all choices"),
        Column("lexicon", "string", "version of the lexicon of visible things"),
    ),
    "paragraphs": (
        Column("video_id", "string", "the video"),
        Column("annotator", "string", "who wrote the true paragraph"),
        Column("captions", "strings", "the true paragraph"),
        Column("foils", "strings", "the false paragraph: at least one caption is changed, the others are the same"),
        Column("changed", "int64s", "places of the changed captions, from 0"),
        Column("starts", "float64s", "where each caption's time starts in the video, seconds"),
        Column("ends", "float64s", "where it ends"),
        Column("references", "strings", "the paragraph by the other annotator"),
        Column("reference_starts", "float64s", "where each of its sentences' time starts, seconds"),
        Column("reference_ends", "float64s", "where it ends"),
    ),
    "swaps": (
        Column("concept", "string", "what the videos show"),
        Column("foil_concept", "string", "what takes its place"),
        Column("supercategory", "string", "of both"),
        Column("pairs", "int64", "how many pairs of `foils` make this swap, this way round"),
    ),
    "judgments": (
        _VIDEO_ID,
        Column("source_id", "string", "the original video"),
        Column("year", "int64", "of the campaign"),
        Column("annotators", "string", "`single`: most captions were assessed by one person; `multiple`: each by many"),
        Column("system", "string", "who is judged, as the official files name it"),
        Column("human", "bool", "whether that is a person"),
        Column("sen_id", "int64", "the judged caption, unique within its clip"),
        Column("caption", "string", "its text"),
        Column("references", "strings", "what people wrote about the clip, the judged caption left out"),
        Column("raw", "float64", "mean score, 0..100"),
        Column("z", "float64", "mean score, standardised by assessor"),
        Column("assessments", "int64", "how many assessments the means are of"),
        Column("hit", "string", "the task in which it was assessed, where that is known"),
    ),
    "videos": (
        _VIDEO_ID,
        Column("video", "video", "its file: `bytes`, and `path`, the file's name; cast to `Video()` to decode"),
    ),
}


def columns_of(config: str) -> tuple[Column, ...]:
    """Return the columns of a configuration.

    A name that is not in `CONFIGS` is another division of one that is, such as ``judgments-without-2016``, or a
    protocol, which has the columns of `clips`.
    """
    columns = _fixed_columns(config)
    if columns is not CONFIGS["sources"]:
        return columns
    # The filters need PyAV, which the base install does not have; only builds ask for these columns.
    from vttdata.media.filters import PICTURE_FILTERS

    scores = (Column(picture_filter.name, "float64", picture_filter.column) for picture_filter in PICTURE_FILTERS)
    position = [column.name for column in columns].index("hash_scheme")
    return (*columns[:position], *scores, *columns[position:])


def _fixed_columns(config: str) -> tuple[Column, ...]:
    """Return the columns of a configuration without the quality scores of sources."""
    return CONFIGS.get(config.partition("-without-")[0], CONFIGS["clips"])


def find_wrong_type(config: str, schema: pa.Schema) -> str | None:
    """Return in words which column of a table has a type that readers of rows cannot take; None if all are usable.

    Widths, ways to lay out texts, columns of nothing but nulls and columns that are not ours make no difference. The
    column ``video`` holds a name in some configurations and a file in others.
    """
    for column in _fixed_columns(config):
        if column.name in schema.names and column.name != "video":
            found = schema.field(column.name).type
            is_list = pa.types.is_list(found) or pa.types.is_large_list(found) or pa.types.is_fixed_size_list(found)
            wants_list = column.type.endswith("s")
            item = found.value_type if is_list else found
            if not pa.types.is_null(found) and (is_list != wants_list or not _is_usable(item, column.type)):
                return f"the column '{column.name}' is {found}, where {column.type} is expected"
    return None


def _is_usable(found: pa.DataType, wanted: ColumnType) -> bool:
    types = pa.types
    if types.is_dictionary(found):
        found = found.value_type
    if wanted == "bool":
        return bool(types.is_boolean(found))
    if types.is_string(found) or types.is_large_string(found) or types.is_string_view(found):
        return wanted in ("string", "strings", "category")
    is_float = wanted in ("float64", "float64s") and types.is_floating(found)
    return is_float or (types.is_integer(found) and wanted not in ("string", "strings"))


def is_protocol(config: str) -> bool:
    """Return whether a configuration is a protocol: the clips in other splits."""
    return config not in CONFIGS and columns_of(config) is CONFIGS["clips"]


def table_schema(columns: Sequence[Column], categories: Sequence[str]) -> pa.Schema:
    """Return the Arrow schema; a category is the number of its label, or a (null) string if there are no categories."""
    category = pa.int64() if categories else pa.string()
    return pa.schema([(column.name, _ARROW_TYPES.get(column.type, category)) for column in columns])


def label_counts(columns: Sequence[Column], categories: Sequence[str], classes: Sequence[str] = ()) -> dict[str, int]:
    """Return the number of labels of each column of class labels."""
    counts = {"category": len(categories), "classes": len(classes)}
    return {column.name: counts[column.type] for column in columns if counts.get(column.type)}


def readme_features(
    columns: Sequence[Column], categories: Sequence[str], classes: Sequence[str] = ()
) -> list[dict[str, Any]]:
    """Return the ``features`` of the README's ``dataset_info``, with which readers need not open a file."""
    return [{"name": column.name} | _feature(column.type, categories, classes) for column in columns]


def _feature(column_type: ColumnType, categories: Sequence[str], classes: Sequence[str]) -> dict[str, Any]:
    labels = {"category": categories, "classes": classes}.get(column_type)
    dtype: Any = ITEMS.get(column_type, column_type)
    if labels is not None:
        names = {str(index): name for index, name in enumerate(labels)}
        dtype = {"class_label": {"names": names}} if column_type == "classes" or categories else "string"
    if column_type == "video":
        # Not the type ``video``: readers before datasets 3.1 do not know it and then refuse all configurations.
        return {"struct": [{"name": "bytes", "dtype": "binary"}, {"name": "path", "dtype": "string"}]}
    return {"list" if column_type in ITEMS else "dtype": dtype}
