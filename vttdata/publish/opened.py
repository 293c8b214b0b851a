"""Opens Parquet files that somebody else may have written, so that a damaged one is told in one sentence.

What the rows mean is known to those who read them.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from vttdata.errors import VttdataError


@contextlib.contextmanager
def opened(path: Path, *needed: str) -> Iterator[pq.ParquetFile]:
    """A Parquet file with the columns that are needed, to be read inside the block.

    Raises:
        VttdataError: when the file is damaged, there and in the block, or has no such column.
    """
    try:
        with pq.ParquetFile(path) as file:
            missing = sorted(set(needed) - set(file.schema_arrow.names))
            if missing:
                raise VttdataError(f"{path}: has no column '{missing[0]}'.")
            yield file
    except (OSError, pa.ArrowException) as error:
        raise VttdataError(f"{path}: damaged or unreadable ({str(error).splitlines()[0]}).") from error
