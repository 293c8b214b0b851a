"""Rows of published tables: what their dataclasses say and what is derived from it."""

from __future__ import annotations

import datasets
import pyarrow as pa
import pytest

from vttdata.dataset.rows import ROWS, columns_of, find_wrong_type, is_protocol, key_of, row_class, row_meaning
from vttdata.dataset.schema import Role, readme_features, table_schema
from vttdata.records import to_row

NAMES = {Role.CATEGORY: ("music", "sport"), Role.CLASS: ("cat", "dog")}


@pytest.mark.parametrize("config", [*ROWS, "1k-a"])
@pytest.mark.parametrize("labels", [{}, NAMES])
def test_features_of_the_card_are_those_of_the_table(config: str, labels: dict[Role, tuple[str, ...]]) -> None:
    columns = columns_of(config, labels)
    features = datasets.Features._from_yaml_list(readme_features(columns, labels))
    assert features.arrow_schema.types == table_schema(columns).types
    assert list(features) == [column.name for column in columns]
    assert all(column.meaning for column in columns)


def test_categories_without_names_are_texts() -> None:
    named, unnamed = ({column.name: column.dtype for column in columns_of("clips", labels)} for labels in (NAMES, {}))
    assert (named["category"], unnamed["category"]) == ("class label", "string")


def test_keys_and_meanings() -> None:
    assert {config: key_of(config) for config in ROWS} == {
        "clips": ("video_id",),
        "captions": ("video_id", "sen_id"),
        "sources": ("source_id",),
        "concepts": ("video_id",),
        "degraded": ("video_id", "sen_id"),
        "foils": ("foil_id",),
        "paragraphs": ("video_id",),
        "swaps": ("concept", "foil_concept"),
        "questions": ("question_id",),
        "moments": ("video_id", "sen_id"),
        "judgments": ("video_id", "year", "annotators", "system", "sen_id"),
        "videos": ("video_id",),
        "errata": ("id", "field", "version"),
        "withdrawn": ("digest",),
    }
    assert row_class("judgments-without-2016") is row_class("judgments")
    assert not is_protocol("judgments-without-2016")
    assert is_protocol("1k-a")
    assert key_of("1k-a") == ("video_id",)
    assert row_meaning("captions") == "one row per caption"


def test_scores_of_picture_filters_stand_before_the_fingerprint() -> None:
    names = [column.name for column in columns_of("sources")]
    assert names.index("audio_codec") < names.index("dark") < names.index("hash_scheme")


@pytest.mark.parametrize(
    ("config", "column", "found", "is_usable"),
    [
        ("clips", "start", pa.int32(), True),
        ("clips", "start", pa.string(), False),
        ("clips", "category", pa.string(), True),
        ("clips", "captions", pa.large_list(pa.large_string()), True),
        ("clips", "captions", pa.string(), False),
        ("captions", "sen_id", pa.float64(), False),
        ("concepts", "classes", pa.list_(pa.string()), False),
        ("judgments", "human", pa.int64(), False),
        ("judgments", "hit", pa.null(), True),
        ("videos", "video", pa.string(), True),
    ],
)
def test_types_that_readers_take(config: str, column: str, found: pa.DataType, is_usable: bool) -> None:
    assert (find_wrong_type(config, pa.schema([(column, found)])) is None) == is_usable


def test_row_of_a_nested_record_is_flat() -> None:
    from vttdata.records import Measure, Source

    source = Source("s", "f.mp4", "listed", "0", 1, measure=Measure(2, 1.0, 0.0, False, {"dark": 0.5}))
    row = to_row(source)
    assert (row["frames"], row["dark"], row["width"], row["spans"]) == (2, 0.5, None, [])
    assert not {"measure", "probe", "scores"} & row.keys()
