"""Writes the tables of a stage for people and for pandas: kept records, rejects and failures, a Parquet file each."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from vttdata.ids import digest
from vttdata.pipeline.engine import Table
from vttdata.pipeline.journal import write_json
from vttdata.pipeline.stage import Failed, Kept, Rejected
from vttdata.record_schemas import arrow_schema, row

_ROWS_AT_A_TIME = 4096


def write_tables(table: Table, folder: Path) -> None:
    """Write ``kept.parquet``, ``rejected.parquet`` and ``failed.parquet`` of one stage into `folder`.

    ``stage.json``, written last, says which results they hold; where it says so already, nothing is written.
    """
    tally = table.tally
    state = {"results": digest([table.keys, tally.kept, tally.rejected, tally.failed])}
    if tally.reused == tally.parts and _read(folder / "stage.json") == state:
        return
    (folder / "stage.json").unlink(missing_ok=True)
    _write_all(table, folder)
    write_json(folder / "stage.json", state)


def _read(path: Path) -> Any:
    try:
        return json.loads(path.read_bytes())
    except (OSError, ValueError):
        return None


def _write_all(table: Table, folder: Path) -> None:
    id_field = pa.field(table.stage.id_column, pa.string())
    texts = [pa.field(name, pa.string()) for name in ("reason", "detail")]
    _write(folder / "kept.parquet", arrow_schema(table.stage.output), (row(record) for record in table))
    _write(folder / "rejected.parquet", pa.schema([id_field, *texts]), _rejected(table))
    _write(folder / "failed.parquet", pa.schema([id_field, *texts, pa.field("retry", pa.bool_())]), _failed(table))


def _rejected(table: Table) -> Iterator[dict[str, Any]]:
    for outcome in _outcomes(table) if table.tally.rejected else ():
        if isinstance(outcome, Rejected):
            yield _named(table, outcome)


def _failed(table: Table) -> Iterator[dict[str, Any]]:
    for outcome in _outcomes(table) if table.tally.failed else ():
        if isinstance(outcome, Failed):
            yield _named(table, outcome) | {"retry": outcome.retry}


def _named(table: Table, outcome: Rejected | Failed) -> dict[str, Any]:
    """Name the lost thing; hostile text may hold what UTF-8 cannot, so that is replaced."""
    texts = {table.stage.id_column: outcome.id, "reason": outcome.reason, "detail": outcome.detail}
    return {name: text.encode("utf-8", "replace").decode() for name, text in texts.items()}


def _outcomes(table: Table) -> Iterator[Kept | Rejected | Failed]:
    for result in table.results():
        yield from result.outcomes


def _write(path: Path, schema: pa.Schema, rows: Iterator[dict[str, Any]]) -> None:
    temporary = path.with_name(path.name + ".tmp")
    with pq.ParquetWriter(temporary, schema) as writer:
        batch: list[dict[str, Any]] = []
        for line in rows:
            batch.append(line)
            if len(batch) == _ROWS_AT_A_TIME:
                writer.write_table(pa.Table.from_pylist(batch, schema))
                batch = []
        writer.write_table(pa.Table.from_pylist(batch, schema))
    temporary.replace(path)
