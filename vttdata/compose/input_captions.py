"""Captions that a command or a recipe takes as its input: a table, or a dataset by folder or name.

Tables are cleaned as a build cleans them, but no caption is too short or too long. Nothing is written here.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from vttdata.dataset.front_matter import read_layout
from vttdata.dataset.parquet import read_parquet_rows
from vttdata.errors import VttdataError
from vttdata.files.tables import TABLE_SUFFIXES
from vttdata.load.lookup import find_dataset
from vttdata.records import Caption
from vttdata.text.captions import (
    INPUT_COLUMNS,
    CaptionSettings,
    RawCaption,
    Removal,
    check_column_names,
    clean_captions,
    read_caption_table,
)

_CAPTION_COLUMNS = ("video_id", "sen_id", "caption", "annotator", "language", "author")
_BATCH_ROWS = 10_000


class InputCaptions(NamedTuple):
    """Captions of each split, in their order, and captions of a table that cleaning removed."""

    splits: list[SplitCaptions]
    removed: list[Removal]


def is_table(reference: str) -> bool:
    """Return True if an input is a table of captions or of pairs by its name, and not a dataset."""
    return Path(reference).suffix.lower() in TABLE_SUFFIXES and not Path(reference).is_dir()


def read_input(
    reference: str, columns: Mapping[str, str | Sequence[str]] | None = None, *, any_table: bool = False
) -> InputCaptions:
    """Read the captions of an input.

    Args:
        reference: a CSV, TSV or JSON table with the columns `video_id` and `caption`, or a dataset. A table is one
            split; its clips are sources of their own unless it has a column `source_id`.
        columns: name of a column -> its name in the table; see `INPUT_COLUMNS`.
        any_table: the names are for several tables, so that this one may lack some.

    Raises:
        VttdataError: when there is no such input, it has no captions, a clip of a table has two sources, or columns are
            named of a dataset.
    """
    if not any_table:
        check_input_columns(reference, columns or {})
    if not is_table(reference):
        return InputCaptions(list(read_captions_by_split(find_dataset(reference))), [])
    path = Path(reference)
    settings = CaptionSettings(min_words=0, max_words=None, max_characters=None)
    by_clip: dict[str, list[RawCaption]] = {}
    for raw in read_caption_table(path, columns, INPUT_COLUMNS, any_table=any_table):
        by_clip.setdefault(raw.video_id or "", []).append(raw)
    captions: list[Caption] = []
    removed: list[Removal] = []
    source_of: dict[str, str] = {}
    # Sorted, so that the order of rows decides nothing.
    for video_id in sorted(by_clip):
        raws = by_clip.pop(video_id)
        sources = sorted({raw.source for raw in raws if raw.source is not None})
        if len(sources) > 1:
            raise VttdataError(f"{path}: clip {video_id!a} has two sources, {sources[0]!a} and {sources[1]!a}.")
        source_of[video_id] = sources[0] if sources else video_id
        for result in clean_captions(video_id, raws, settings):
            if isinstance(result, Caption):
                captions.append(result)
            else:
                removed.append(result)
    return InputCaptions([SplitCaptions("", captions, source_of)], removed)


def check_input_columns(reference: str, columns: Mapping[str, str | Sequence[str]]) -> None:
    """Raise VttdataError when columns are named that a table of captions does not have, or of a dataset."""
    if columns and not is_table(reference):
        raise VttdataError(f"columns: {reference} is a dataset; only those of a table can be named.")
    try:
        check_column_names(columns, INPUT_COLUMNS)
    except ValueError as error:
        raise VttdataError(f"columns: {error}") from error


@dataclass(frozen=True, slots=True)
class SplitCaptions:
    """Captions of one split, in the order of the dataset, and `video_id` -> `source_id` of all of its clips."""

    split: str
    captions: list[Caption]
    source_of: dict[str, str]


def read_captions_by_split(dataset: Path) -> Iterator[SplitCaptions]:
    """Yield the captions of a dataset folder, a split at a time.

    Raises:
        VttdataError: If the folder is not a dataset, has no captions, or a file of it is damaged.
    """
    files = read_layout(dataset).files
    if "captions" not in files:
        raise VttdataError(f"{dataset}: this dataset has no captions.")
    for split, paths in files["captions"].items():
        clips = read_parquet_rows(files["clips"].get(split, ()), ("video_id", "source_id"), batch_rows=_BATCH_ROWS)
        source_of = {row["video_id"]: row["source_id"] for row in clips}
        rows = read_parquet_rows(paths, _CAPTION_COLUMNS, batch_rows=_BATCH_ROWS)
        yield SplitCaptions(split, [Caption(**row) for row in rows], source_of)
