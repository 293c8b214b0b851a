"""Sort captions by their clip: in memory, or on disk where there are more than fit."""

from __future__ import annotations

import bisect
import dataclasses
import errno
import itertools
import operator
import sqlite3
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from vttdata.errors import VttdataError
from vttdata.files.database_path import check_database_path
from vttdata.records import Caption

IN_MEMORY = 2**18
"""Captions that are sorted in memory, about 100 MiB."""

_ROWS_PER_INSERT = 1_000


class SortedCaptions:
    """Captions, sorted by the position of their clip and then by `sen_id`; more than `IN_MEMORY` are in a database.

    Args:
        path: Scratch file, if one is needed; remove it after `close`.
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
        self._database: sqlite3.Connection | None = None
        check_database_path(path.parent)
        stream = iter(captions)
        start = list(itertools.islice(stream, IN_MEMORY + 1))
        if len(start) > IN_MEMORY:
            self._database = sqlite3.connect(path, isolation_level=None)
            self._fill(self._database, path, positions, itertools.chain(start, stream))
            return
        _check_clips(start, positions)
        self._sorted = sorted(start, key=lambda caption: (positions[caption.video_id], caption.sen_id))
        self._positions = [positions[caption.video_id] for caption in self._sorted]
        for earlier, later in itertools.pairwise(self._sorted) if not duplicates else ():
            if earlier.sen_id == later.sen_id and earlier.video_id == later.video_id:
                raise _duplicate_error(earlier, later)
        for caption in start:
            for text in filter(None, _values(caption)[2:]):
                if not text.isascii():
                    try:
                        text.encode()
                    except UnicodeEncodeError as error:
                        raise _surrogate_error(error) from error

    def _fill(
        self, database: sqlite3.Connection, path: Path, positions: Mapping[str, int], stream: Iterator[Caption]
    ) -> None:
        try:
            # A scratch file needs no safety against crashes.
            database.execute("PRAGMA journal_mode = OFF")
            database.execute("PRAGMA synchronous = OFF")
            database.execute(
                "CREATE TABLE caption (position INTEGER, video_id TEXT, sen_id INTEGER, caption TEXT, annotator TEXT,"
                " language TEXT, author TEXT, revision TEXT, prompt TEXT, verified_by TEXT, ordinal INTEGER,"
                " PRIMARY KEY (position, sen_id, ordinal)) WITHOUT ROWID"
            )
            database.execute("BEGIN")
            while batch := list(itertools.islice(stream, _ROWS_PER_INSERT)):
                self._insert(database, batch, positions)
            database.execute("COMMIT")
        except sqlite3.OperationalError as error:
            self.close()
            code = errno.ENOSPC if error.sqlite_errorcode == sqlite3.SQLITE_FULL else errno.EIO
            raise OSError(code, f"captions cannot be sorted on disk: {error}", str(path)) from error

    def _insert(self, database: sqlite3.Connection, captions: list[Caption], positions: Mapping[str, int]) -> None:
        _check_clips(captions, positions)
        rows = [
            (positions[c.video_id], *_values(c), ordinal) for c, ordinal in zip(captions, self._ordinals, strict=False)
        ]
        try:
            database.executemany("INSERT INTO caption VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", rows)
        except sqlite3.IntegrityError as error:
            raise _duplicate_error(captions[0], captions[-1]) from error
        except UnicodeEncodeError as error:
            raise _surrogate_error(error) from error

    def between(self, first: int, last: int) -> Iterator[Caption]:
        """Yield the captions of the clips at positions `first` to `last`, exclusive, in order."""
        if self._database is None:
            start, end = (bisect.bisect_left(self._positions, position) for position in (first, last))
            return iter(self._sorted[start:end])
        rows = self._database.execute(
            "SELECT video_id, sen_id, caption, annotator, language, author, revision, prompt, verified_by FROM caption"
            " WHERE position >= ? AND position < ? ORDER BY position, sen_id, ordinal",
            (first, last),
        )
        return itertools.starmap(Caption, rows)

    def close(self) -> None:
        """Close the scratch file."""
        if self._database is not None:
            self._database.close()


# In the order of the columns of the scratch file; `dataclasses.astuple` copies deeply, which takes long.
_values = operator.attrgetter(*(field.name for field in dataclasses.fields(Caption)))


def _check_clips(captions: Iterable[Caption], positions: Mapping[str, int]) -> None:
    unknown = next((caption for caption in captions if caption.video_id not in positions), None)
    if unknown is not None:
        raise VttdataError(
            f"Caption {unknown.sen_id} belongs to clip '{unknown.video_id}', which is not in the dataset."
        )


def _duplicate_error(first: Caption, last: Caption) -> VttdataError:
    ids = f"{first.video_id} to {last.video_id}"
    return VttdataError(f"Two captions of one clip have the same sen_id (among the clips {ids}).")


def _surrogate_error(error: UnicodeEncodeError) -> VttdataError:
    return VttdataError(f"A caption contains an unpaired surrogate ({error.object!r}); remove it.")
