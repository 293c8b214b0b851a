"""Rows that do not fit their columns are refused when they are written, in one sentence that names them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.dataset.conftest import Material
from vttdata.dataset import OfficialLayout
from vttdata.dataset.parquet import build_table
from vttdata.dataset.rows import JudgmentRow, fill
from vttdata.errors import VttdataError
from vttdata.records import Concepts, Degraded

SCHEMA = pa.schema(
    [
        ("video_id", pa.string()),
        ("count", pa.int64()),
        ("seconds", pa.float64()),
        ("human", pa.bool_()),
        ("texts", pa.list_(pa.string())),
        ("classes", pa.list_(pa.int64())),
        ("category", pa.int64()),
    ]
)
ROW = {"video_id": "v1", "count": 1, "seconds": 2, "human": True, "texts": ["a"], "classes": [0], "category": 1}
LABELS = {"category": 2, "classes": 3}


def test_row_that_fits_its_schema_is_unchanged() -> None:
    empty = dict.fromkeys(ROW) | {"video_id": "v2"}
    assert build_table([ROW, empty], SCHEMA, LABELS, "clips/test").to_pylist() == [ROW, empty]


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"count": 1.5}, "the row of 'v1' has 1.5 as 'count', which should be int64"),
        ({"count": True}, "has True as 'count'"),
        ({"count": 2**70}, "as 'count'"),
        ({"seconds": "2"}, "has '2' as 'seconds', which should be double"),
        ({"human": 1}, "has 1 as 'human'"),
        ({"texts": "a b"}, "has 'a b' as 'texts'"),
        ({"texts": ["a", 3]}, r"has \['a', 3\] as 'texts'"),
        ({"texts": ["half \ud83d"]}, "as 'texts'"),
        ({"video_id": None}, "a row has no 'video_id'"),
        ({"category": 2}, "'category' has the label 2, but its labels are 0 to 1"),
        ({"classes": [0, -1]}, "'classes' has the label -1"),
        ({"colour": "red"}, "the row of 'v1' has 'colour'"),
    ],
)
def test_value_of_the_wrong_type_is_refused_in_one_sentence(changes: dict[str, Any], words: str) -> None:
    with pytest.raises(VttdataError, match=words) as caught:
        build_table([ROW, ROW | changes], SCHEMA, LABELS, "clips/test")
    assert str(caught.value).startswith("clips/test: ")
    assert "\n" not in str(caught.value)


def test_missing_column_is_refused_and_not_filled_with_nulls() -> None:
    with pytest.raises(VttdataError, match="the row of 'v1' lacks 'seconds'"):
        build_table([{name: ROW[name] for name in ROW if name != "seconds"}], SCHEMA, LABELS, "clips/test")


VALUES = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text() | st.lists(st.text())


@given(st.fixed_dictionaries(dict.fromkeys(ROW, VALUES)))
def test_any_row_is_unchanged_or_refused(row: dict[str, Any]) -> None:
    try:
        table = build_table([row], SCHEMA, LABELS, "clips/test")
    except VttdataError:
        return
    assert table.to_pylist() == [row]


def test_records_with_wrong_values_write_no_dataset(material: Material, tmp_path: Path) -> None:
    unknown = OfficialLayout(concepts=[Concepts("video8", ("a",), (0,), ("unicorn",), (0,))], classes=("cat",))
    with pytest.raises(VttdataError, match="unicorn"):
        material.write(tmp_path / "d", official=unknown)
    for wrong in (
        OfficialLayout(protocols={"1k": {"test": ["video99"]}}),
        OfficialLayout(degraded=[Degraded("video99", 1, "a", "b", 0, 1, "video8", 1, 0, "video-2018", "1", 5)]),
    ):
        with pytest.raises(VttdataError, match="belongs to clip 'video99', which is not in the dataset"):
            material.write(tmp_path / "d", official=wrong)
    scores = OfficialLayout(judgments={"judgments": {"test": [fill(JudgmentRow, video_id="video7", raw="high")]}})
    with pytest.raises(VttdataError, match="judgments/test: the row of 'video7' has 'high' as 'raw'"):
        material.write(tmp_path / "d", official=scores)
    assert not (tmp_path / "d").exists()
