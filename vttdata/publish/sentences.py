"""Reads the captions of a dataset folder back as records, split by split, with the sources that they are about."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from vttdata.errors import VttdataError
from vttdata.publish.front_matter import read_layout
from vttdata.publish.opened import opened
from vttdata.records import Caption

_COLUMNS = ["video_id", "sen_id", "caption", "annotator", "language", "author"]
_ROWS_AT_A_TIME = 10_000


@dataclass(frozen=True, slots=True)
class Sentences:
    """The captions of one split, in the order of the dataset, and `video_id` -> `source_id` of all of its clips."""

    split: str
    captions: list[Caption]
    source_of: dict[str, str]


def read_sentences(dataset: Path) -> Iterator[Sentences]:
    """The captions of a dataset folder of our layout, a split at a time.

    Raises:
        VttdataError: when the folder is no dataset, has no captions, or a file of it is damaged.
    """
    files = read_layout(dataset).files
    if "captions" not in files:
        raise VttdataError(f"{dataset}: this dataset has no captions.")
    for split, paths in files["captions"].items():
        clips = _rows(files["clips"].get(split, ()), ["video_id", "source_id"])
        source_of = {row["video_id"]: row["source_id"] for row in clips}
        yield Sentences(split, [Caption(**row) for row in _rows(paths, _COLUMNS)], source_of)


def _rows(paths: Sequence[Path], columns: list[str]) -> Iterator[dict[str, Any]]:
    for path in paths:
        with opened(path, *columns) as table:
            for batch in table.iter_batches(_ROWS_AT_A_TIME, columns=columns):
                yield from batch.to_pylist()
