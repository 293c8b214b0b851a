"""Read the captions of a dataset folder back as records, split by split, with the sources of its clips."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from vttdata.dataset.front_matter import read_layout
from vttdata.dataset.parquet import read_parquet_rows
from vttdata.errors import VttdataError
from vttdata.records import Caption

_COLUMNS = ("video_id", "sen_id", "caption", "annotator", "language", "author")
_BATCH_ROWS = 10_000


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
        rows = read_parquet_rows(paths, _COLUMNS, batch_rows=_BATCH_ROWS)
        yield SplitCaptions(split, [Caption(**row) for row in rows], source_of)
