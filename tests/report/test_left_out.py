"""Counts for other thresholds, of builds whose tables are not as they were written."""

from __future__ import annotations

import dataclasses
import itertools
import random
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from vttdata.media.clip_selection import ClipSettings, choose_clips
from vttdata.records import Shot, to_row
from vttdata.report import left_out
from vttdata.report.left_out import count_alternatives


def test_numbers_of_clips_are_those_of_the_choice_and_kept_for_the_next_report(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    draw, rows = random.Random(5), []
    for source in range(12):
        bounds = sorted(draw.sample(range(1, 1800), 14))
        for first, last in itertools.pairwise([0, *bounds, 1800]):
            colours = tuple(draw.random() for _ in range(6))
            times = (first / 25, last / 25, first, last - 1)
            rows.append(Shot(f"s{source}", len(rows), *times, "cut", dark=0.1, motion=0.1, colours=colours))
    for stage, table in (("shots", [to_row(row) for row in rows]), ("filter", [{"source_id": "s0", "spans": None}])):
        (tmp_path / stage).mkdir()
        pq.write_table(pa.Table.from_pylist(table), tmp_path / stage / "kept.parquet")
    (tmp_path / "clips").mkdir()
    shots = [[row for row in rows if row.source_id == f"s{source}"] for source in range(12)]
    settings = ClipSettings(min_seconds=8.0, max_seconds=20.0, per_source=2)

    def counted() -> dict[str, dict[float, int]]:
        found = count_alternatives(tmp_path, {"clips": dataclasses.asdict(settings)})
        return {what.key.removeprefix("clips."): what.counts for what in found}

    first = counted()
    assert set(first) == {"min_seconds", "max_seconds", "per_source"}
    for key, counts in first.items():
        for value, number in counts.items():
            near = dataclasses.replace(settings, **{key: type(getattr(settings, key))(value)})
            assert number == sum(len(choose_clips(own, near)) for own in shots), (key, value)
    assert len({number for counts in first.values() for number in counts.values()}) > 3
    monkeypatch.setattr(left_out, "count_clips", None)
    assert counted() == first
    kept = tmp_path / "clips" / "alternatives.json"
    kept.write_text(kept.read_text().replace(": 2", ": 3", 1))
    with pytest.raises(TypeError):
        counted()


def test_table_without_its_columns_is_passed_over(tmp_path: Path) -> None:
    for stage in ("shots", "filter", "measure", "duplicates"):
        (tmp_path / stage).mkdir()
        pq.write_table(pa.table({"source_id": ["a"]}), tmp_path / stage / "kept.parquet")
    assert list(count_alternatives(tmp_path, {"filter": {}, "clips": {}})) == []
