"""Brings captions that come in any order and any number into the order of their clips, on disk instead of in memory."""

from __future__ import annotations

import errno
import itertools
import sqlite3
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from vttdata.errors import VttdataError
from vttdata.records import Caption

_ROWS_AT_A_TIME = 1_000


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
        while batch := list(itertools.islice(captions, _ROWS_AT_A_TIME)):
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
