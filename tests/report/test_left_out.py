"""Counts for other thresholds, of builds whose tables are not as they were written."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from vttdata.report.left_out import count_alternatives


def test_table_without_its_columns_is_passed_over(tmp_path: Path) -> None:
    for stage in ("shots", "filter", "measure", "duplicates"):
        (tmp_path / stage).mkdir()
        pq.write_table(pa.table({"source_id": ["a"]}), tmp_path / stage / "kept.parquet")
    assert list(count_alternatives(tmp_path, {"filter": {}, "clips": {}})) == []
