"""Reads the captions of a dataset folder back as records, split by split, with the sources that they are about."""

from __future__ import annotations

import errno
import itertools
import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from vttdata.dataset.front_matter import read_layout
from vttdata.dataset.parquet import open_parquet
from vttdata.errors import VttdataError
from vttdata.records import Caption

_COLUMNS = ["video_id", "sen_id", "caption", "annotator", "language", "author"]
_ROWS_AT_A_TIME = 10_000


@dataclass(frozen=True, slots=True)
class SplitCaptions:
    """The captions of one split, in the order of the dataset, and `video_id` -> `source_id` of all of its clips."""

    split: str
    captions: list[Caption]
    source_of: dict[str, str]


def read_captions_by_split(dataset: Path) -> Iterator[SplitCaptions]:
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
        yield SplitCaptions(split, [Caption(**row) for row in _rows(paths, _COLUMNS)], source_of)


def _rows(paths: Sequence[Path], columns: list[str]) -> Iterator[dict[str, Any]]:
    for path in paths:
        with open_parquet(path, *columns) as table:
            for batch in table.iter_batches(_ROWS_AT_A_TIME, columns=columns):
                yield from batch.to_pylist()


_ROWS_AN_INSERT = 1_000


class OrderedCaptions:
    """Captions in a scratch database, sorted by the place of their clip and then by `sen_id`.

    Args:
        path: where the scratch file may lie; remove it after `close`.
        places: `video_id` -> place of the clip in the dataset.
        captions: in any order.
        doubles: whether two captions of a clip may share a `sen_id`; then the one that came first comes first.

    Raises:
        VttdataError: when a caption names an unknown clip, two of a clip share a `sen_id` and may not, or a text is no
            Unicode.
        OSError: when the scratch file cannot be written, ENOSPC when the disk is full.
    """

    def __init__(
        self, path: Path, places: Mapping[str, int], captions: Iterable[Caption], *, doubles: bool = False
    ) -> None:
        self._turns: Iterator[int] = itertools.count() if doubles else itertools.repeat(0)
        self._base = sqlite3.connect(path, isolation_level=None)
        try:
            self._fill(places, iter(captions))
        except sqlite3.OperationalError as error:
            self.close()
            code = errno.ENOSPC if "full" in str(error) else errno.EIO
            raise OSError(code, f"captions cannot be sorted on disk: {error}", str(path)) from error

    def _fill(self, places: Mapping[str, int], captions: Iterator[Caption]) -> None:
        self._base.execute("PRAGMA journal_mode = OFF")
        self._base.execute("PRAGMA synchronous = OFF")
        self._base.execute(
            "CREATE TABLE caption (place INTEGER, video_id TEXT, sen_id INTEGER, caption TEXT, annotator TEXT,"
            " language TEXT, author TEXT, turn INTEGER, PRIMARY KEY (place, sen_id, turn)) WITHOUT ROWID"
        )
        self._base.execute("BEGIN")
        while batch := list(itertools.islice(captions, _ROWS_AN_INSERT)):
            self._insert(batch, places)
        self._base.execute("COMMIT")

    def _insert(self, captions: list[Caption], places: Mapping[str, int]) -> None:
        lost = next((caption for caption in captions if caption.video_id not in places), None)
        if lost is not None:
            raise VttdataError(f"Caption {lost.sen_id} is about clip '{lost.video_id}', which is not in the dataset.")
        rows = [
            (places[c.video_id], c.video_id, c.sen_id, c.caption, c.annotator, c.language, c.author, next(self._turns))
            for c in captions
        ]
        try:
            self._base.executemany("INSERT INTO caption VALUES (?, ?, ?, ?, ?, ?, ?, ?)", rows)
        except sqlite3.IntegrityError as error:
            ids = f"{captions[0].video_id} to {captions[-1].video_id}"
            raise VttdataError(f"Two captions of one clip share a sen_id (among the clips {ids}).") from error
        except UnicodeEncodeError as error:
            raise VttdataError(f"A caption holds half a character ({error.object!r}); clean the captions.") from error

    def between(self, first: int, last: int) -> Iterator[Caption]:
        """The captions of the clips with places `first` to `last`, exclusive, in order."""
        rows = self._base.execute(
            "SELECT video_id, sen_id, caption, annotator, language, author FROM caption"
            " WHERE place >= ? AND place < ? ORDER BY place, sen_id, turn",
            (first, last),
        )
        return itertools.starmap(Caption, rows)

    def close(self) -> None:
        """Let go of the scratch file."""
        self._base.close()
