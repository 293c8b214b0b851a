from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import datasets
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import yaml

from tests.export.conftest import Write
from vttdata.dataset import OfficialLayout
from vttdata.errors import VttdataError
from vttdata.export import export
from vttdata.records import Concepts


def lines(path: Path) -> list[Any]:
    with path.open() as stream:
        return [json.loads(line) for line in stream]


def rows(folder: Path, config: str, split: str) -> list[dict[str, Any]]:
    """Read rows with plain `datasets`, labels as their names."""
    loaded = datasets.load_dataset(str(folder), config, split=split, cache_dir=str(folder.parent / "cache"))
    label = loaded.features.get("category")
    if not isinstance(label, datasets.ClassLabel):
        return list(loaded)
    return [row | {"category": None if row["category"] is None else label.int2str(row["category"])} for row in loaded]


@pytest.mark.parametrize("config", ["clips", "captions", "sources", "one-k"])
def test_every_table_reads_back_unchanged(dataset: Path, tmp_path: Path, config: str) -> None:
    export(dataset, "jsonl", tmp_path / "x")
    splits = ["train", "test"] if config == "one-k" else ["train", "validation", "test"]
    if config == "captions":
        assert any("\u2028" in row["caption"] for split in splits for row in rows(dataset, config, split))
    for split in splits:
        exported = lines(tmp_path / f"x/{config}/{split}.jsonl")
        assert exported == rows(dataset, config, split)
        assert list(exported[0]) == list(rows(dataset, config, split)[0])
    assert len(list((tmp_path / "x" / config).iterdir())) == len(splits)


def test_classes_are_written_as_names(write: Write, tmp_path: Path) -> None:
    concepts = (Concepts("video7", ("a", "man"), (0,), ("man",), (1,)),)
    given = OfficialLayout(concepts=concepts, classes=("dog", "man"), categories=("sports/actions", "music"))
    export(write(official=given), "jsonl", tmp_path / "x", config="concepts")
    assert lines(tmp_path / "x/concepts/train.jsonl")[0]["classes"] == ["man"]


def test_split_option_writes_only_that_split(dataset: Path, tmp_path: Path) -> None:
    assert "captions/validation.jsonl" in export(dataset, "jsonl", tmp_path / "x", split="validation").files
    assert sorted(path.name for path in (tmp_path / "x").rglob("*.jsonl")) == ["validation.jsonl"] * 3
    with pytest.raises(VttdataError, match="no configuration has a split 'dev'"):
        export(dataset, "jsonl", tmp_path / "x", split="dev")


def test_error_names_label_out_of_range(dataset: Path, tmp_path: Path) -> None:
    path = next(dataset.glob("clips/test-*.parquet"))
    table = pq.read_table(path)
    index = table.schema.get_field_index("category")
    pq.write_table(table.set_column(index, table.schema.field(index), pa.array([0, 7, 0], pa.int64())), path)
    with pytest.raises(VttdataError, match="row 1 of clips/test cannot be written as JSON \\(label 7 of 3\\)"):
        export(dataset, "jsonl", tmp_path / "x")


def test_binary_columns_are_left_out_with_a_note(dataset: Path, tmp_path: Path) -> None:
    (dataset / "embedded").mkdir()
    table = pa.table({"video_id": ["video7"], "video": [{"bytes": b"\0", "path": "video7.mp4"}]})
    pq.write_table(table, dataset / "embedded/train.parquet")
    text = (dataset / "README.md").read_text()
    head = yaml.safe_load(text.split("---\n")[1])
    head["configs"].append(
        {"config_name": "embedded", "data_files": [{"split": "train", "path": "embedded/train.parquet"}]}
    )
    (dataset / "README.md").write_text(f"---\n{yaml.safe_dump(head)}---\n")
    written = export(dataset, "jsonl", tmp_path / "x")
    assert written.notes == ("'embedded' has a binary column ('video'), which JSON cannot hold, and is left out.",)
    assert not (tmp_path / "x/embedded").exists()
    with pytest.raises(VttdataError, match="has a binary column"):
        export(dataset, "jsonl", tmp_path / "y", config="embedded")


@pytest.fixture
def foils(tmp_path: Path) -> Path:
    folder = tmp_path / "foils"
    (folder / "foils").mkdir(parents=True)
    table = pa.table(
        {"foil_id": ["a_2"], "video_id": ["video1"], "caption": ["a man"], "foil": ["a dog"], "start": [2]}
    )
    pq.write_table(table, folder / "foils/test.parquet")
    features = [{"name": name, "dtype": "int64" if name == "start" else "string"} for name in table.column_names]
    files = [{"split": "test", "path": "foils/test.parquet"}]
    head = {
        "license": "mit",
        "dataset_info": [{"config_name": "foils", "features": features}],
        "configs": [{"config_name": "foils", "data_files": files}],
    }
    (folder / "README.md").write_text(f"---\n{yaml.safe_dump(head)}---\n")
    (folder / "manifest.json").write_text(json.dumps({"name": "me/foils", "version": "1.0.0", "files": {}}))
    return folder


def test_foils_are_exported_as_lines(foils: Path, tmp_path: Path) -> None:
    export(foils, "jsonl", tmp_path / "x")
    assert lines(tmp_path / "x/foils/test.jsonl") == rows(foils, "foils", "test")


@pytest.mark.parametrize("name", ["coco", "msrvtt", "retrieval", "mteb"])
def test_foils_have_no_references_to_export(foils: Path, tmp_path: Path, name: str) -> None:
    with pytest.raises(VttdataError, match=r"a set of foils .* jsonl"):
        export(foils, name, tmp_path / "x")
