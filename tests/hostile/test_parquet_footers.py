"""Footers of Parquet files that contradict the file or themselves end no process, and take little memory."""

from __future__ import annotations

import glob
from pathlib import Path

import pyarrow.parquet as pq

from tests.helpers.damage import write_rich_dataset
from tests.helpers.peak_memory import run_python
from vttdata.dataset.parquet import read_column_chunks

# pyarrow aborts the process at some of these seeds if it is asked for the column chunks.
READ_DAMAGED = """
import collections, random, sys
from pathlib import Path
from vttdata.dataset.parquet import open_parquet
from vttdata.errors import VttdataError

source, damaged = map(Path, sys.argv[1:])
whole, ends = source.read_bytes(), collections.Counter()
start = len(whole) - 8 - int.from_bytes(whole[-8:-4], "little")
for seed in range(600):
    draw, data = random.Random(seed), bytearray(whole)
    for _ in range(draw.choice((1, 1, 2, 4))):
        place, change = draw.randrange(start, len(data) - 8), draw.choice(("byte", "large", "lost", "bit"))
        if change == "byte":
            data[place] = draw.randrange(256)
        elif change == "large":
            data[place : place + 1] = bytes([255] * draw.choice((1, 4, 8)) + [127])
        elif change == "lost":
            del data[place]
        else:
            data[place] ^= 1 << draw.randrange(8)
    data[-8:-4] = (len(data) - 8 - start).to_bytes(4, "little")
    damaged.write_bytes(data)
    try:
        with open_parquet(damaged) as file:
            file.read().to_pylist()
        ends["read"] += 1
    except VttdataError as error:
        assert "\\n" not in str(error) and damaged.name in str(error), error
        ends["refused"] += 1
print(ends["read"] > 0, ends["refused"] > 300, ends.total())
"""


def test_damaged_footers_are_refused_in_a_sentence(tmp_path: Path) -> None:
    dataset = write_rich_dataset(tmp_path / "dataset")
    for config in ("captions", "clips"):
        source = next((dataset / config).glob("test*"))
        ended = run_python(["-c", READ_DAMAGED, str(source), str(tmp_path / "a.parquet")])
        assert (ended.code, ended.stdout, ended.stderr) == (0, "True True 600\n", "")
        assert ended.megabytes < 400


def test_column_chunks_are_those_that_pyarrow_finds(tmp_path: Path) -> None:
    dataset = write_rich_dataset(tmp_path / "dataset")
    paths = [*map(Path, glob.glob(f"{dataset}/*/*.parquet")), tmp_path / "groups.parquet"]
    table = pq.read_table(next((dataset / "captions").glob("train*")))
    pq.write_table(table, paths[-1], row_group_size=2)
    for path in paths:
        metadata = pq.read_metadata(path)
        chunks = [chunk for group in read_column_chunks(path) for chunk in group]
        groups = [metadata.row_group(number) for number in range(metadata.num_row_groups)]
        columns = [group.column(index) for group in groups for index in range(metadata.num_columns)]
        assert [(chunk.path, chunk.values, chunk.packed, chunk.unpacked) for chunk in chunks] == [
            (column.path_in_schema, column.num_values, column.total_compressed_size, column.total_uncompressed_size)
            for column in columns
        ]
