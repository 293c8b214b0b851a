"""Tables of a stage for people and for pandas: kept records, rejects and failures, a Parquet file each."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa

from vttdata.dataset.parquet import write_rows
from vttdata.ids import digest
from vttdata.media.filters import SCORES
from vttdata.pipeline.engine import Table
from vttdata.pipeline.journal import write_json
from vttdata.pipeline.stage import Failed, Rejected
from vttdata.record_schemas import arrow_schema, to_row

_ROWS_PER_GROUP = 4096
# Columns of rejects and failures after that of the id.
_COLUMNS = ["file", "reason", "detail"]


def write_tables(table: Table, folder: Path, files: Mapping[str, str]) -> None:
    """Write ``kept.parquet``, ``rejected.parquet`` and ``failed.parquet`` of one stage into `folder`.

    ``stage.json``, written last, identifies the results that they hold; tables that are up to date are left alone.

    Args:
        table: results of the stage.
        folder: of the stage.
        files: id of a source or clip -> file name or address of the source.
    """
    tally = table.tally
    state = {"results": digest([table.keys, tally.kept, tally.rejected, tally.failed]), "columns": _COLUMNS}
    state_file = folder / "stage.json"
    with contextlib.suppress(OSError, ValueError):
        if tally.reused == tally.parts and json.loads(state_file.read_bytes()) == state:
            return
    state_file.unlink(missing_ok=True)
    texts = [pa.field(name, pa.string()) for name in (table.stage.id_column, *_COLUMNS)]
    kept_schema = arrow_schema(table.stage.output, {"scores": SCORES})
    with_retry = pa.schema([*texts, pa.field("retry", pa.bool_())])
    for name, schema, rows in (
        ("kept", kept_schema, map(to_row, table)),
        ("rejected", pa.schema(texts), _rows(table, Rejected, files) if tally.rejected else ()),
        ("failed", with_retry, _rows(table, Failed, files) if tally.failed else ()),
    ):
        temporary = folder / f"{name}.parquet.tmp"
        write_rows(temporary, schema, rows, _ROWS_PER_GROUP)
        temporary.replace(folder / f"{name}.parquet")
    write_json(state_file, state)


def _rows(
    table: Table, outcome_type: type[Rejected] | type[Failed], files: Mapping[str, str]
) -> Iterator[dict[str, Any]]:
    """Yield a row for each outcome of a type."""
    for result in table.results():
        for outcome in result.outcomes:
            if isinstance(outcome, outcome_type):
                file = (outcome.file if isinstance(outcome, Rejected) else None) or files.get(outcome.id) or None
                texts = (outcome.id, file, outcome.reason, outcome.detail)
                # Hostile names may hold surrogates, which Parquet cannot store.
                cells: dict[str, Any] = {
                    name: text and text.encode("utf-8", "replace").decode()
                    for name, text in zip((table.stage.id_column, *_COLUMNS), texts, strict=True)
                }
                yield cells | ({"retry": outcome.retry} if isinstance(outcome, Failed) else {})
