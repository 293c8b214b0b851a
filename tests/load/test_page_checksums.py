"""A flipped bit in a table is an error for every reader, and never another value."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import datasets
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from datasets.packaged_modules.parquet.parquet import ParquetConfig

from tests.helpers.damage import write_rich_dataset
from vttdata.dataset.parquet import read_parquet_rows, write_rows
from vttdata.errors import VttdataError
from vttdata.load.load_dataset import load_dataset


def flips(table: Path, count: int) -> list[bytes]:
    """Return copies of a table with one bit of its pages flipped each."""
    draw = random.Random(57)
    group = pq.read_metadata(table).row_group(0)
    last = group.column(group.num_columns - 1)
    content = table.read_bytes()
    copies = []
    for _ in range(count):
        flipped = bytearray(content)
        flipped[draw.randrange(4, last.data_page_offset + last.total_compressed_size)] ^= 1 << draw.randrange(8)
        copies.append(bytes(flipped))
    return copies


def test_rows_are_read_as_they_were_written_or_not_at_all(tmp_path: Path) -> None:
    table = tmp_path / "table.parquet"
    schema = pa.schema([("video_id", pa.string()), ("start", pa.float64()), ("captions", pa.list_(pa.string()))])
    rows: list[dict[str, object]] = [
        {"video_id": f"video{number}", "start": number / 3, "captions": [f"a dog runs {number}", "a cat sleeps"]}
        for number in range(300)
    ]
    write_rows(table, schema, rows, 100)
    refused = 0
    for flipped in flips(table, 200):
        table.write_bytes(flipped)
        try:
            found = list(read_parquet_rows([table], schema.names))
        except VttdataError:
            refused += 1
        else:
            assert found == rows
    assert refused > 150


@pytest.mark.skipif(
    "fragment_scan_options" not in ParquetConfig.__dataclass_fields__, reason="`datasets` passes no options on"
)
def test_loaded_rows_are_those_of_the_dataset_or_an_error(tmp_path: Path) -> None:
    dataset = write_rich_dataset(tmp_path / "dataset")
    table = next((dataset / "clips").glob("train-*.parquet"))

    def load(number: int) -> list[Any]:
        rows = load_dataset(str(dataset), split="train", cache_dir=str(tmp_path / f"cache{number}"))
        assert isinstance(rows, datasets.Dataset)
        return list(rows)

    before = load(-1)
    refused = 0
    for number, flipped in enumerate(flips(table, 8)):
        table.write_bytes(flipped)
        try:
            found = load(number)
        except VttdataError:
            refused += 1
        else:
            assert found == before
    assert refused > 5
