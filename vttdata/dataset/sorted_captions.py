"""Sort captions on disk by their clip, since those of a large benchmark do not fit into memory."""

from __future__ import annotations

import errno
import itertools
import sqlite3
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from vttdata.errors import VttdataError
from vttdata.files.database_path import check_database_path
from vttdata.records import Caption

_ROWS_PER_INSERT = 1_000


class SortedCaptions:
    """Captions in a scratch database, sorted by the position of their clip and then by `sen_id`.

    Args:
        path: Scratch file; remove it after `close`.
        positions: `video_id` -> position of the clip in the dataset.
        captions: Captions in any order.
        duplicates: Accept several captions of one clip and `sen_id`, in the order in which they come.

    Raises:
        VttdataError: If a caption belongs to an unknown clip, two of a clip share a `sen_id` without `duplicates`, or
            a text contains an unpaired surrogate, or the path of the file is too long.
        OSError: If the scratch file cannot be written; ENOSPC if the disk is full.
    """

    def __init__(
        self, path: Path, positions: Mapping[str, int], captions: Iterable[Caption], *, duplicates: bool = False
    ) -> None:
        self._ordinals: Iterator[int] = itertools.count() if duplicates else itertools.repeat(0)
        check_database_path(path.parent)
        self._database = sqlite3.connect(path, isolation_level=None)
        stream = iter(captions)
        try:
            # A scratch file needs no safety against crashes.
            self._database.execute("PRAGMA journal_mode = OFF")
            self._database.execute("PRAGMA synchronous = OFF")
            self._database.execute(
                "CREATE TABLE caption (position INTEGER, video_id TEXT, sen_id INTEGER, caption TEXT, annotator TEXT,"
                " language TEXT, author TEXT, ordinal INTEGER, PRIMARY KEY (position, sen_id, ordinal)) WITHOUT ROWID"
            )
            self._database.execute("BEGIN")
            while batch := list(itertools.islice(stream, _ROWS_PER_INSERT)):
                self._insert(batch, positions)
            self._database.execute("COMMIT")
        except sqlite3.OperationalError as error:
            self.close()
            code = errno.ENOSPC if error.sqlite_errorcode == sqlite3.SQLITE_FULL else errno.EIO
            raise OSError(code, f"captions cannot be sorted on disk: {error}", str(path)) from error

    def _insert(self, captions: list[Caption], positions: Mapping[str, int]) -> None:
        unknown = next((caption for caption in captions if caption.video_id not in positions), None)
        if unknown is not None:
            raise VttdataError(
                f"Caption {unknown.sen_id} belongs to clip '{unknown.video_id}', which is not in the dataset."
            )
        rows = [
            (positions[c.video_id], c.video_id, c.sen_id, c.caption, c.annotator, c.language, c.author, ordinal)
            for c, ordinal in zip(captions, self._ordinals, strict=False)
        ]
        try:
            self._database.executemany("INSERT INTO caption VALUES (?, ?, ?, ?, ?, ?, ?, ?)", rows)
        except sqlite3.IntegrityError as error:
            ids = f"{captions[0].video_id} to {captions[-1].video_id}"
            raise VttdataError(f"Two captions of one clip have the same sen_id (among the clips {ids}).") from error
        except UnicodeEncodeError as error:
            raise VttdataError(f"A caption contains an unpaired surrogate ({error.object!r}); remove it.") from error

    def between(self, first: int, last: int) -> Iterator[Caption]:
        """Yield the captions of the clips at positions `first` to `last`, exclusive, in order."""
        rows = self._database.execute(
            "SELECT video_id, sen_id, caption, annotator, language, author FROM caption"
            " WHERE position >= ? AND position < ? ORDER BY position, sen_id, ordinal",
            (first, last),
        )
        return itertools.starmap(Caption, rows)

    def close(self) -> None:
        """Close the scratch file."""
        self._database.close()
