"""Check the rows of a published table before anything is done with them: ids, captions and times that everybody needs.

Types of columns are checked by `vttdata.dataset.rows`. Rows that pass may still be odd, such as a clip that ends before
it starts; official files have them, and audits say so.
"""

from __future__ import annotations

import functools
from pathlib import Path
from types import NoneType
from typing import get_args, get_type_hints

import pyarrow as pa
import pyarrow.compute as pc

from vttdata.dataset.parquet import TIMES, file_state, open_parquet
from vttdata.dataset.rows import CaptionRow, fixed_columns, row_class

# Seconds, of which a video of thirty years has fewer.
_MAX_SECONDS = 1e9
_BATCH_ROWS = 100_000


def find_unusable_row(config: str, path: Path) -> str | None:
    """Return in words the first row of a table that cannot be used; None if all can be.

    A row needs the columns that identify it and, where it is of a caption, a text. Times may be unknown (null or NaN),
    but neither infinite nor beyond any video.

    Raises:
        VttdataError: If the file is damaged.
    """
    return _find_cached(config, path, file_state(path))


@functools.lru_cache(maxsize=256)
def _find_cached(config: str, path: Path, _state: tuple[int, ...]) -> str | None:
    row = row_class(config)
    hints = get_type_hints(row)
    needed = {column.name for column in fixed_columns(config) if column.is_key}
    needed |= {"caption"} if row is CaptionRow else set()
    needed = {name for name in needed if NoneType not in get_args(hints[name])}
    with open_parquet(path) as file:
        names = [name for name in file.schema_arrow.names if name in needed or (name in hints and name in TIMES)]
        first = 1
        for batch in file.iter_batches(_BATCH_ROWS, columns=names) if names else ():
            for name, column in zip(names, batch.columns, strict=True):
                wrong = column.is_null() if name in needed else _is_beyond(column)
                if pc.any(wrong).as_py():
                    index = pc.index(wrong, True).as_py()
                    what = "is null" if name in needed else f"is {column[index].as_py()}, which is no time in seconds"
                    return f"'{name}' of row {first + index:,} {what}"
            first += len(batch)
    return None


def _is_beyond(times: pa.Array) -> pa.Array:
    """Return which times are infinite or too large; unknown ones are not."""
    return pc.fill_null(pc.greater(pc.abs(pc.cast(times, pa.float64())), _MAX_SECONDS), fill_value=False)
