"""A dataset is written, loaded by plain `datasets`, and written anew."""

from __future__ import annotations

import dataclasses
import random
from pathlib import Path

import datasets
import pyarrow.parquet as pq
import pytest

from tests.dataset.conftest import Material, contents, load
from vttdata.dataset import compute_statistics, shards
from vttdata.errors import VttdataError


class TestLoading:
    def test_clips_are_the_default_and_hold_their_captions(self, material: Material, tmp_path: Path) -> None:
        material.write(tmp_path / "d")
        clips = load(tmp_path / "d", tmp_path / "cache")
        assert {split: rows["video_id"][:] for split, rows in clips.items()} == {
            "train": ["video7", "video8", "video9"],
            "validation": ["video10"],
            "test": ["video11", "video12"],
        }
        assert list(clips) == ["train", "validation", "test"]
        row = clips["train"][0]
        assert (row["start"], row["end"], row["source_id"], row["shots"]) == (70.1, 82.6, "source6", 2)
        assert row["duration"] == 82.6 - 70.1
        assert row["captions"] == [f"a person does thing 7 for time {index}" for index in range(3)]
        assert clips["train"].features["category"] == datasets.ClassLabel(names=["music", "sport"])
        assert clips["train"].features["category"].int2str(row["category"]) == "music"
        assert clips["train"].features["captions"] == datasets.List(datasets.Value("string"))
        assert clips["train"].features["start"] == datasets.Value("float64")

    def test_captions_have_a_row_each_in_the_split_of_their_clip(self, material: Material, tmp_path: Path) -> None:
        material.write(tmp_path / "d")
        captions = load(tmp_path / "d", tmp_path / "cache", "captions")
        assert {split: rows.num_rows for split, rows in captions.items()} == {"train": 9, "validation": 3, "test": 6}
        assert captions["test"][3] == dataclasses.asdict(material.captions[15])

    def test_sources_are_in_every_split_that_has_clips_of_them(self, material: Material, tmp_path: Path) -> None:
        material.write(tmp_path / "d")
        sources = load(tmp_path / "d", tmp_path / "cache", "sources")
        assert {split: list(zip(rows["source_id"], rows["clips"], strict=True)) for split, rows in sources.items()} == {
            "train": [("source6", 1), ("source8", 2)],
            "validation": [("source10", 1)],
            "test": [("source10", 1), ("source12", 1)],
        }
        fetched = sources["validation"][0]
        assert (fetched["file"], fetched["width"], fetched["dark"]) == (None, 320, 0.1)
        assert sources["test"][1]["file"] == "source12.mp4"

    def test_streaming_gives_the_same_rows_and_types(self, material: Material, tmp_path: Path) -> None:
        material.write(tmp_path / "d")
        stream = load(tmp_path / "d", tmp_path / "cache", split="test", streaming=True)
        whole = load(tmp_path / "d", tmp_path / "cache", split="test")
        assert list(stream) == list(whole)
        assert stream.features == whole.features

    def test_front_matter_states_the_types_of_columns(self, material: Material, tmp_path: Path) -> None:
        material.write(tmp_path / "d")
        for path in (tmp_path / "d").rglob("*.parquet"):
            path.write_bytes(b"")
        builder = datasets.load_dataset_builder(str(tmp_path / "d"), "clips", cache_dir=str(tmp_path / "cache"))
        assert builder.info.features["category"] == datasets.ClassLabel(names=["music", "sport"])
        assert str(builder.info.version) == "1.0.0"

    def test_tables_declare_no_type_unknown_to_older_readers(self, material: Material, tmp_path: Path) -> None:
        material.write(tmp_path / "d")
        for path in (tmp_path / "d").rglob("*.parquet"):
            assert not pq.read_schema(path).metadata

    def test_many_shards_load_as_one_table_in_order(
        self, material: Material, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(shards, "ROWS_PER_SHARD", 4)
        monkeypatch.setattr(shards, "_ROWS_PER_BATCH", 2)
        material.write(tmp_path / "d")
        assert len(list((tmp_path / "d/captions").glob("train-*-of-00003-*.parquet"))) == 3
        captions = load(tmp_path / "d", tmp_path / "cache", "captions", split="train")
        assert captions["sen_id"][:] == [700, 701, 702, 800, 801, 802, 900, 901, 902]


class TestFreshness:
    """Everything here shares one cache folder, as all datasets of a user do."""

    def test_rebuilt_dataset_does_not_load_cached_rows(self, material: Material, tmp_path: Path) -> None:
        folder, cache = tmp_path / "dataset", tmp_path / "cache"
        material.write(folder)
        assert load(folder, cache, split="test")[0]["captions"][0] == "a person does thing 11 for time 0"
        assert load(folder, cache, "captions", split="test")[0]["caption"] == "a person does thing 11 for time 0"

        material.captions[12] = dataclasses.replace(material.captions[12], caption="a person does THING 11 for time 0")
        material.write(folder)
        assert load(folder, cache, split="test")[0]["captions"][0] == "a person does THING 11 for time 0"
        assert load(folder, cache, "captions", split="test")[0]["caption"] == "a person does THING 11 for time 0"

        del material.captions[12]
        material.write(folder)
        assert load(folder, cache, "captions", split="test").num_rows == 5

    def test_two_folders_of_one_name_load_their_own_rows(self, material: Material, tmp_path: Path) -> None:
        material.write(tmp_path / "a/dataset")
        changed = [dataclasses.replace(clip, start=clip.start + 1, end=clip.end + 1) for clip in material.clips]
        material.write(tmp_path / "b/dataset", clips=changed)
        starts = [load(tmp_path / name / "dataset", tmp_path / "cache", split="train")[0]["start"] for name in "aba"]
        assert starts == [70.1, 71.1, 70.1]

    def test_renamed_categories_are_not_loaded_from_the_cache(self, material: Material, tmp_path: Path) -> None:
        names = []
        for category in ("music", "melody"):
            clips = [
                dataclasses.replace(c, category=category if c.category != "sport" else "sport") for c in material.clips
            ]
            material.write(tmp_path / "dataset", clips=clips, sources=[])
            names.append(load(tmp_path / "dataset", tmp_path / "cache")["test"].features["category"].names)
        assert names == [["music", "sport"], ["melody", "sport"]]


class TestBytes:
    def test_order_of_records_does_not_change_bytes(self, with_media: Material, tmp_path: Path) -> None:
        facts = with_media.write(tmp_path / "a")
        for records in (with_media.clips, with_media.captions, with_media.sources):
            random.Random(5).shuffle(records)
        assert with_media.write(tmp_path / "b") == facts
        assert contents(tmp_path / "a") == contents(tmp_path / "b")

    def test_dataset_folder_contains_nothing_else(self, with_media: Material, tmp_path: Path) -> None:
        with_media.write(tmp_path / "out/d")
        assert sorted(path.name for path in (tmp_path / "out").iterdir()) == ["d"]
        assert sorted(path.name for path in (tmp_path / "out/d").iterdir()) == [
            "README.md",
            "captions",
            "clips",
            "croissant.json",
            "manifest.json",
            "sources",
            "videos",
        ]
        assert str(tmp_path) not in (tmp_path / "out/d/README.md").read_text()


class TestSparse:
    def test_empty_split_is_left_out_and_noted_on_the_card(self, material: Material, tmp_path: Path) -> None:
        clips = [
            dataclasses.replace(clip, split="train" if clip.split == "train" else "test") for clip in material.clips
        ]
        material.write(tmp_path / "d", clips=clips)
        assert list(load(tmp_path / "d", tmp_path / "cache")) == ["train", "test"]
        readme = (tmp_path / "d/README.md").read_text()
        assert "No clips fell into: validation." in readme
        assert "| validation | 20.00% | 0.00% | 0 |" in readme

    def test_card_states_what_splits_do_not_share(self, material: Material, tmp_path: Path) -> None:
        about = dataclasses.replace(material.metadata, together=("source", "near_duplicate"))
        material.write(tmp_path / "d", metadata=about)
        promise = "Clips of one source or sources found to be near-duplicates are never in different splits."
        assert promise in (tmp_path / "d/README.md").read_text()

    def test_dataset_without_captions_has_no_captions_configuration(self, material: Material, tmp_path: Path) -> None:
        facts = material.write(tmp_path / "d", captions=[])
        assert datasets.get_dataset_config_names(str(tmp_path / "d")) == ["clips", "sources"]
        assert load(tmp_path / "d", tmp_path / "cache", split="test")[0]["captions"] == []
        assert facts == compute_statistics(tmp_path / "d")
        assert (facts.total.sentences, facts.total.sentences_per_clip) == (0, 0)

    def test_a_split_without_captions_is_left_out_of_captions_only(self, material: Material, tmp_path: Path) -> None:
        own = [caption for caption in material.captions if caption.video_id != "video10"]
        material.write(tmp_path / "d", captions=own)
        assert list(load(tmp_path / "d", tmp_path / "cache", "captions")) == ["train", "test"]
        assert load(tmp_path / "d", tmp_path / "cache", split="validation")[0]["captions"] == []

    def test_dataset_without_categories_and_splits_loads(self, material: Material, tmp_path: Path) -> None:
        clips = [dataclasses.replace(clip, category=None, split=None) for clip in material.clips]
        material.write(tmp_path / "d", clips=clips, sources=[])
        loaded = load(tmp_path / "d", tmp_path / "cache")
        assert list(loaded) == ["train"]
        assert loaded["train"]["category"][:] == [None] * 6

    def test_dataset_without_clips_is_refused(self, material: Material, tmp_path: Path) -> None:
        with pytest.raises(VttdataError, match="There are no clips"):
            material.write(tmp_path / "d", clips=[], captions=[])
