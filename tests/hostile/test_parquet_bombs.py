"""Small Parquet files that would fill the memory, or keep a reader busy for hours, are refused by their footers."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.helpers.builds import vttdata
from tests.helpers.damage import seal, write_rich_dataset
from tests.helpers.peak_memory import run_python
from vttdata.dataset.parquet import open_parquet
from vttdata.errors import VttdataError
from vttdata.load.load_dataset import load_dataset

ITEMS = 2**22


def claim_rows(table: pa.Table) -> pa.Table:
    return pa.table({field.name: pa.nulls(ITEMS, field.type) for field in table.schema}, schema=table.schema)


def inflate_text(table: pa.Table) -> pa.Table:
    texts = pa.array(["x" * (2**26 + 1), *[""] * (table.num_rows - 1)])
    return table.set_column(table.column_names.index("caption"), "caption", texts)


def inflate_list(table: pa.Table) -> pa.Table:
    items = pa.array([""]).take(pa.array(np.zeros(ITEMS, np.int32)))
    lists = pa.ListArray.from_arrays(pa.array([0, *[ITEMS] * table.num_rows], pa.int32()), items)
    return table.set_column(table.column_names.index("captions"), "captions", lists)


@pytest.mark.parametrize(
    ("config", "change", "words"),
    [
        ("captions", claim_rows, f"claims {ITEMS} rows in"),
        ("captions", inflate_text, "of 'caption' to 6710"),
        ("clips", inflate_list, f"claims {ITEMS} list items of 'captions.list.element' in"),
    ],
)
@pytest.mark.sampled(2)
def test_table_that_would_fill_the_memory_is_refused(
    config: str, change: Callable[[pa.Table], pa.Table], words: str, tmp_path: Path
) -> None:
    dataset = write_rich_dataset(tmp_path / "dataset")
    # The last split, since the first is opened for its columns.
    path = next((dataset / config).glob("test*"))
    pq.write_table(change(pq.read_table(path)), path, compression="zstd")
    assert path.stat().st_size < 500_000
    seal(dataset)
    ended = run_python(["-m", "vttdata", "show", str(dataset)])
    assert (ended.code, words in ended.stderr, ended.stderr.count("\n")) == (2, True, 1), ended
    assert ended.megabytes < 200
    verified = vttdata("verify", str(dataset), "--files-only")
    assert (verified.returncode, words in verified.stdout) == (4, True), verified
    with pytest.raises(VttdataError, match=words):
        load_dataset(str(dataset), config, cache_dir=str(tmp_path / "cache"))


def test_large_table_of_few_values_is_read(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    ids = pa.array(np.arange(2_200_000))
    pq.write_table(pa.table({"id": ids, "label": pa.nulls(len(ids), pa.string())}), path)
    with open_parquet(path, "id") as file:
        assert file.metadata.num_rows == len(ids)
