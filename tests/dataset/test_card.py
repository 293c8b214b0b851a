"""The card says everything that is to be said of a dataset, and the Hub's own classes read its head."""

from __future__ import annotations

import dataclasses
import itertools
import re
from pathlib import Path

import datasets
import pytest
import yaml
from datasets.info import DatasetInfosDict
from datasets.utils.metadata import MetadataConfigs
from huggingface_hub import DatasetCard, DatasetCardData

from tests.dataset.conftest import Material, load, written_foils
from vttdata.dataset import Metadata, WriteHooks
from vttdata.dataset.front_matter import read_layout

PAPER = "@article{a2020,\n  title = {A {Dataset} of <Things>}\n}"
RECIPE = "name: vttdata/small\n"


def full_metadata(about: Metadata) -> Metadata:
    return dataclasses.replace(
        about,
        licence={"annotations": "cc-by-4.0", "captions": "mit", "videos": "of their owners"},
        date="2026-11-21",
        citation=PAPER,
        description="Clips of things.",
        inputs={"train.json": "ab" * 32},
        required_paths={"annotations": "folder", "protocols.1k.test": "file"},
        tools={"vttdata": "0.1.0", "ffmpeg": "7.1"},
        attrition=[("probe", "sources", 5, 4, "1 empty")],
    )


def write_recipe(dataset: Path) -> None:
    (dataset / "recipe.yaml").write_text(RECIPE)


def card(folder: Path) -> str:
    return (folder / "README.md").read_text()


def headings(text: str) -> list[str]:
    return [line.removeprefix("## ") for line in text.splitlines() if line.startswith("## ")]


class TestHead:
    def test_category_with_any_line_break_survives_the_classes_of_the_hub(
        self, material: Material, tmp_path: Path
    ) -> None:
        category = "a\x85b\u2028c\u2029d: 'e' # f"
        material.clips[0] = dataclasses.replace(material.clips[0], category=category)
        material.write(tmp_path / "d")
        loaded = load(tmp_path / "d", tmp_path / "cache", "clips")
        assert loaded["train"].features["category"].names == ["a\x85b\u2028c\u2029d: 'e' # f", "music", "sport"]
        assert category in read_layout(tmp_path / "d").categories

    @pytest.mark.parametrize("mode", ["none", "files", "embedded"])
    def test_front_matter_survives_the_classes_of_the_hub(
        self, with_media: Material, tmp_path: Path, mode: str
    ) -> None:
        with_media.write(tmp_path / "d", mode=mode)
        loaded = DatasetCard.load(tmp_path / "d/README.md")
        head = yaml.safe_load(card(tmp_path / "d").split("\n---\n")[0].removeprefix("---\n"))
        assert DatasetCardData(**head).to_dict() == loaded.data.to_dict() == head
        configs = MetadataConfigs.from_dataset_card_data(loaded.data)
        infos = DatasetInfosDict.from_dataset_card_data(loaded.data)
        assert list(configs) == list(infos) == datasets.get_dataset_config_names(str(tmp_path / "d"))
        for name, info in infos.items():
            rows = load(tmp_path / "d", tmp_path / "cache", name)
            assert {split: own.num_rows for split, own in rows.items()} == {
                split: own.num_examples for split, own in info.splits.items()
            }
            assert all(own.features == info.features for own in rows.values())

    def test_front_matter_has_the_keys_that_the_hub_searches_by(self, material: Material, tmp_path: Path) -> None:
        material.write(tmp_path / "d")
        data = DatasetCard.load(tmp_path / "d/README.md").data.to_dict()
        assert data["task_categories"] == ["video-text-to-text"]
        assert data["size_categories"] == ["n<1K"]
        assert (data["language"], data["pretty_name"]) == (["en"], "small")
        assert {"video-captioning", "vttdata"} <= set(data["tags"])
        foils = DatasetCard.load(written_foils(tmp_path / "foils") / "README.md").data.to_dict()
        assert "foils" in foils["tags"]
        assert foils["license"] == "mit"

    def test_licences_that_differ_are_both_named(self, material: Material, tmp_path: Path) -> None:
        material.write(tmp_path / "d", metadata=full_metadata(material.metadata))
        data = DatasetCard.load(tmp_path / "d/README.md").data.to_dict()
        assert (data["license"], data["license_name"]) == ("other", "annotations: cc-by-4.0, captions: mit")


class TestSections:
    def test_benchmark_card_has_all_sections(self, material: Material, tmp_path: Path) -> None:
        material.write(
            tmp_path / "d", metadata=full_metadata(material.metadata), hooks=WriteHooks(add_files=write_recipe)
        )
        text = card(tmp_path / "d")
        assert headings(text) == ["Splits", "How to load it", "Licences", "Citation", "Details"]
        assert re.findall("<summary>(.*)</summary>", text) == [
            "All figures",
            "Split ratios",
            "How it was made, and what was left out",
            "Rebuilding it to the byte",
            "Files and columns",
        ]
        assert text.count("<details>\n<summary>") == text.count("\n\n</details>\n") == 5
        assert (
            text.index("Clips of things.") < text.index("| test | 2 | 2 | 0.01 | 6 | 8.0 |") < text.index("## Details")
        )
        assert "- **Version:** 1.0.0, published 2026-11-21" in text
        assert "| `captions` | test | 6 | 1 |" in text

    def test_foil_card_has_all_sections_and_blind_attackers(self, material: Material, tmp_path: Path) -> None:
        text = card(written_foils(tmp_path / "d", full_metadata(material.metadata)))
        assert {"Licences", "Citation", "Details", "Blind attackers on `foils`"} <= set(headings(text))
        assert "<summary>How it was made, and what was left out</summary>" in text
        assert 'foils = load_dataset("vttdata/small", split="test")' in text
        assert "| `paragraphs` | test | 1 | 1 |" in text

    def test_card_gives_the_command_that_rebuilds_the_same_bytes(self, material: Material, tmp_path: Path) -> None:
        material.write(
            tmp_path / "d", metadata=full_metadata(material.metadata), hooks=WriteHooks(add_files=write_recipe)
        )
        text = card(tmp_path / "d")
        keys = "--set annotations=FOLDER --set protocols.1k.test=FILE"
        commands = f"vttdata verify DATASET {keys}\nvttdata build recipe.yaml {keys} --out rebuilt"
        install = "pip install '.[build]'  # in a checkout of vttdata 0.1.0: https://github.com/vttdata/vttdata"
        assert f"{install}\n{commands}\n" in text
        assert f"| train.json | `{'ab' * 32}` |" in text
        assert "- ffmpeg: 7\\.1" in text

    @pytest.mark.parametrize(
        ("annotators", "said"),
        [
            (
                ("w0123456789ab", "17"),
                "The people who wrote captions (`annotator`) appear under pseudonyms or numbers.",
            ),
            (
                ("w0123456789ab", "Ann Lee"),
                "Of the 2 people who wrote or checked captions (`annotator`, `verified_by`), 1 appear",
            ),
            ((None, None), None),
        ],
    )
    def test_card_says_whether_people_appear_under_their_names(
        self, material: Material, tmp_path: Path, annotators: tuple[str | None, ...], said: str | None
    ) -> None:
        names = itertools.cycle(annotators)
        material.captions[:] = [dataclasses.replace(caption, annotator=next(names)) for caption in material.captions]
        material.write(tmp_path / "d")
        text = card(tmp_path / "d")
        assert said in text if said else "The people who" not in text and "people who wrote" not in text
        assert "anonymous" not in text

    def test_card_of_a_command_gives_that_command_with_its_input(self, material: Material, tmp_path: Path) -> None:
        material.write(
            tmp_path / "d", hooks=WriteHooks(add_files=lambda folder: (folder / "provenance.json").write_text("{}"))
        )
        assert "\nvttdata verify DATASET --input INPUT\n" in card(tmp_path / "d")

    def test_card_without_provenance_has_no_rebuild_command(self, material: Material, tmp_path: Path) -> None:
        material.write(tmp_path / "d", metadata=full_metadata(material.metadata))
        assert "Rebuilding" not in card(tmp_path / "d")

    def test_card_cites_papers_and_vttdata(self, material: Material, tmp_path: Path) -> None:
        material.write(
            tmp_path / "d", metadata=full_metadata(material.metadata), hooks=WriteHooks(add_files=write_recipe)
        )
        text = card(tmp_path / "d")
        sha256 = "44efdeb940cf502aa719c3fe356159a13a581af38870ee6e7d0c4dfc64a878df"
        assert f"```bibtex\n{PAPER}\n\n@misc{{vttdata-small-1.0.0,\n" in text
        assert "howpublished = {built with vttdata 0.1.0}" in text
        assert "year = {2026}" in text
        assert f"note = {{SHA-256 of recipe.yaml: {sha256}}}" in text

    def test_picture_follows_the_description(self, material: Material, tmp_path: Path) -> None:
        def add_picture(folder: Path) -> None:
            (folder / "preview.jpg").write_bytes(b"picture")

        material.write(
            tmp_path / "d", metadata=full_metadata(material.metadata), hooks=WriteHooks(add_files=add_picture)
        )
        assert "\n\nClips of things.\n\n![One frame each of clips of this dataset](preview.jpg)\n\n" in card(
            tmp_path / "d"
        )
        assert load(tmp_path / "d", tmp_path / "cache", "clips")["test"].num_rows == 2


class TestLicences:
    def test_each_part_has_its_own_licence(self, material: Material, tmp_path: Path) -> None:
        material.write(tmp_path / "d", metadata=full_metadata(material.metadata))
        rows = "| annotations | cc-by-4.0 |\n| captions | mit |\n| videos | of their owners |"
        assert rows in card(tmp_path / "d")

    def test_missing_licence_is_stated_as_unknown(self, material: Material, tmp_path: Path) -> None:
        material.write(tmp_path / "d")
        sentence = "`unknown`: nobody has stated yet under which terms this may be used"
        text = card(tmp_path / "d")
        assert f"| annotations | {sentence} |\n| captions | {sentence} |" in text
        assert "| videos | remains with its owners; this dataset has links and times only |" in text
        assert DatasetCard.load(tmp_path / "d/README.md").data.to_dict()["license"] == "unknown"

    def test_shipped_videos_have_the_licence_of_their_sources(self, with_media: Material, tmp_path: Path) -> None:
        with_media.write(tmp_path / "d")
        assert "| videos | as the column `licence` of `sources` says" in card(tmp_path / "d")

    @pytest.mark.parametrize(
        ("licence", "words"),
        [("", "empty licence"), ({"sound": "mit"}, "'sound'"), ({}, "empty licence"), ({"videos": " "}, "empty")],
    )
    def test_invalid_licence_is_refused(self, licence: str | dict[str, str], words: str) -> None:
        with pytest.raises(ValueError, match=words):
            Metadata("a/b", licence=licence)

    @pytest.mark.parametrize("date", ["2026-13-01", "20261121", "today", "2026-11-21T10:00"])
    def test_invalid_date_is_refused(self, date: str) -> None:
        with pytest.raises(ValueError, match="a day such as"):
            Metadata("a/b", date=date)


def test_card_counts_sources_of_high_dynamic_range(material: Material, with_media: Material, tmp_path: Path) -> None:
    material.write(tmp_path / "sdr")
    assert "dynamic range" not in card(tmp_path / "sdr")
    ids = sorted({clip.source_id for clip in with_media.clips})
    states = dict(zip(ids, ("smpte2084", "arib-std-b67", "smpte2084", "bt709"), strict=False))
    for index, source in enumerate(with_media.sources):
        probe = dataclasses.replace(source.probe, color_transfer=states.get(source.source_id))
        with_media.sources[index] = dataclasses.replace(source, probe=probe)
    with_media.write(tmp_path / "hdr")
    pq = [*states.values()].count("smpte2084")
    line = f"Of {len(ids)} sources {pq + 1} are of high dynamic range (1 of HLG and {pq} of PQ); their clips"
    assert line in card(tmp_path / "hdr")


def test_card_counts_interlaced_sources(material: Material, with_media: Material, tmp_path: Path) -> None:
    material.write(tmp_path / "progressive")
    assert "interlaced" not in card(tmp_path / "progressive").partition("## Details")[0]
    ids = sorted({clip.source_id for clip in with_media.clips})
    states = dict(zip(ids, ("top_first", "bottom_first", "progressive"), strict=False))
    for index, source in enumerate(with_media.sources):
        probe = dataclasses.replace(source.probe, field_order=states.get(source.source_id))
        with_media.sources[index] = dataclasses.replace(source, probe=probe)
    with_media.write(tmp_path / "interlaced")
    assert f"Of {len(ids)} sources 2 are interlaced; in their clips" in card(tmp_path / "interlaced")
