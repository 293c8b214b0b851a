"""Items, queries and relevance are configurations of every dataset with captions."""

from __future__ import annotations

import json
from pathlib import Path

import datasets
import pytest

from tests.export.conftest import BARE, dataset, texts_of, write  # noqa: F401 - fixtures
from tests.helpers.hub.built import build_foils
from vttdata import load_dataset
from vttdata.errors import VttdataError
from vttdata.evaluate.items import read_clips
from vttdata.export import export


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(datasets.config, "HF_DATASETS_CACHE", tmp_path / "cache")


def test_tables_are_those_that_an_export_writes(dataset: Path, tmp_path: Path) -> None:  # noqa: F811
    export(dataset, "evaluation", tmp_path / "x")
    for name in ("items", "queries"):
        lines = (tmp_path / f"x/{name}.jsonl").read_text().splitlines()
        assert load_dataset(str(dataset), name, split="test").to_list() == [json.loads(line) for line in lines]
    relevance = load_dataset(str(dataset), "relevance", split="test")
    assert (
        "".join("{query_id} 0 {video_id} {relevance}\n".format_map(row) for row in relevance)
        == (tmp_path / "x/relevance.trec").read_text()
    )


def test_items_are_those_of_an_evaluation_with_their_references(dataset: Path) -> None:  # noqa: F811
    items = load_dataset(str(dataset), "items")
    assert list(items) == ["train", "validation", "test"]
    assert items["test"]["video_id"] == read_clips(dataset).ids
    assert BARE not in items["test"]["video_id"]
    assert {row["video_id"]: row["references"] for row in items["test"]} == {
        name: texts_of(name) for name in ("video11", "video12")
    }
    assert str(items["test"].info.version) == "2.0.1"


def test_splits_are_chosen_as_in_datasets(dataset: Path) -> None:  # noqa: F811
    both = load_dataset(str(dataset), "items", split="train+test[:1]")
    assert both["video_id"] == ["video7", "video8", "video11"]
    train, test = load_dataset(str(dataset), "items", split=["train", "test"])
    assert (train.num_rows, test.num_rows, str(test.split)) == (2, 2, "test")
    stream = load_dataset(str(dataset), "items", split="test", streaming=True)
    assert [row["video_id"] for row in stream] == ["video11", "video12"]
    assert load_dataset(str(dataset), "items", verify=True)["test"].num_rows == 2
    with pytest.raises(VttdataError, match="has no split 'dev'; there is train, validation, test"):
        load_dataset(str(dataset), "items", split="dev")


def test_tables_of_a_protocol_have_its_name_before_them(dataset: Path) -> None:  # noqa: F811
    queries = load_dataset(str(dataset), "one-k-queries", split="test")
    assert list(dict.fromkeys(queries["video_id"])) == ["video12", "video7"]
    with pytest.raises(VttdataError, match="has no configuration 'two-k-queries'; there is clips"):
        load_dataset(str(dataset), "two-k-queries")


def test_dataset_without_captions_has_no_such_tables(tmp_path: Path) -> None:
    with pytest.raises(VttdataError, match="has no configuration 'items'; there is foils"):
        load_dataset(str(build_foils(tmp_path / "foils")), "items")
