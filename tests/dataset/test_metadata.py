"""Datasets from official files: their order, doubled rows, label numbers, protocols and concepts."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import datasets
import pytest

from tests.dataset.conftest import Material
from vttdata.dataset import Metadata, OfficialLayout, PaperFigure, compute_statistics
from vttdata.errors import VttdataError
from vttdata.records import Caption, Concepts


def load(folder: Path, name: str | None = None) -> datasets.DatasetDict:
    return datasets.load_dataset(str(folder / "d"), name, cache_dir=str(folder / "cache"))


def test_clips_and_sources_keep_their_order_within_a_split(material: Material, tmp_path: Path) -> None:
    material.clips.reverse()
    material.sources.reverse()
    material.write(tmp_path / "d", official=OfficialLayout())
    assert {split: rows["video_id"][:] for split, rows in load(tmp_path).items()} == {
        "train": ["video9", "video8", "video7"],
        "validation": ["video10"],
        "test": ["video12", "video11"],
    }
    assert load(tmp_path, "sources")["train"]["source_id"][:] == ["source8", "source6"]


def test_categories_have_their_official_numbers(material: Material, tmp_path: Path) -> None:
    material.write(tmp_path / "d", official=OfficialLayout(categories=("sport", "unused", "music")))
    rows = load(tmp_path)["train"]
    assert rows.features["category"].names == ["sport", "unused", "music"]
    assert rows["category"][:] == [2, 0, 2]
    assert compute_statistics(tmp_path / "d").total.categories == {"music": 3, "sport": 3}


def test_duplicated_official_rows_are_kept(material: Material, tmp_path: Path) -> None:
    twin = dataclasses.replace(material.clips[0], end=99.0, split="test")
    material.clips += [material.clips[0], twin]
    material.captions += [material.captions[0], Caption("video7", 700, "another under the same number", "w9")]
    with pytest.raises(VttdataError):
        material.write(tmp_path / "d")
    facts = material.write(tmp_path / "d", official=OfficialLayout())
    assert (facts.splits["train"].clips, facts.total.clips) == (4, 8)
    assert (facts.splits["train"].sentences, facts.total.sentences) == (11, 20)
    clips = load(tmp_path)
    assert clips["train"]["video_id"][:] == ["video7", "video8", "video9", "video7"]
    assert clips["test"][2]["end"] == 99.0
    assert clips["train"][0]["captions"] == clips["train"][3]["captions"] == clips["test"][2]["captions"]
    assert clips["train"][0]["captions"][1:3] == [material.captions[0].caption, "another under the same number"]


def test_protocol_becomes_a_configuration(material: Material, tmp_path: Path) -> None:
    protocols = {"small-1": {"test": ["video12", "video7"], "train": ["video9"]}}
    facts = material.write(tmp_path / "d", official=OfficialLayout(protocols=protocols))
    assert facts == compute_statistics(tmp_path / "d")
    rows = load(tmp_path, "small-1")
    assert {split: own["video_id"][:] for split, own in rows.items()} == {
        "train": ["video9"],
        "test": ["video12", "video7"],
    }
    assert rows["test"][1] == load(tmp_path)["train"][0]
    assert facts.configs == {
        "small-1": {
            "train": {"clips": 1, "sources": 1, "sentences": 3},
            "test": {"clips": 2, "sources": 2, "sentences": 6},
        }
    }
    assert load(tmp_path).num_rows == {"train": 3, "validation": 1, "test": 2}
    assert 'small_1 = load_dataset("vttdata/small", "small-1")' in (tmp_path / "d/README.md").read_text()


def test_concepts_are_labels_with_all_their_classes(material: Material, tmp_path: Path) -> None:
    concepts = [Concepts("video11", ("a", "man", "runs"), (0, 0), ("man", "runner"), (1, 2))]
    facts = material.write(
        tmp_path / "d", official=OfficialLayout(concepts=concepts, classes=("runner", "pool", "man"))
    )
    rows = load(tmp_path, "concepts")
    assert rows["test"].features["classes"] == datasets.List(datasets.ClassLabel(names=["runner", "pool", "man"]))
    assert rows["test"][0] == {
        "video_id": "video11",
        "source_id": "source10",
        "tokens": ["a", "man", "runs"],
        "objects": [0, 0],
        "classes": [2, 0],
        "token_indices": [1, 2],
    }
    assert facts.configs["concepts"] == {"test": {"clips": 1, "sources": 1, "mentions": 2, "classes": 3}}
    assert compute_statistics(tmp_path / "d") == facts


def test_card_compares_with_the_paper_and_lists_findings(material: Material, tmp_path: Path) -> None:
    about = Metadata(
        "vttdata/small",
        paper={"clips": PaperFigure(6), "hours": PaperFigure(0.1, "nobody | knows")},
        findings=[("no_caption", "clips without", 1200, "video_1")],
    )
    material.write(tmp_path / "d", metadata=about)
    card = (tmp_path / "d/README.md").read_text()
    assert "| clips | 6 | 6 | the same |" in card
    assert "| hours | 0.1 | 0.02 | nobody \\| knows |" in card
    assert "| `no_caption` | 1,200 | clips without | video\\_1 |" in card
