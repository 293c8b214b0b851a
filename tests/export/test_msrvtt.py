from __future__ import annotations

import dataclasses
import json
import zipfile
from pathlib import Path
from typing import Any

import pytest

from builders.msrvtt import read as read_msrvtt
from tests.export.conftest import Write, captions, clips
from vttdata.dataset import Metadata, OfficialLayout, write_dataset
from vttdata.export import export
from vttdata.records import Caption


def test_reader_of_official_files_reads_the_same_records(dataset: Path, tmp_path: Path) -> None:
    export(dataset, "msrvtt", tmp_path / "x")
    read = read_msrvtt(tmp_path / "x")
    strip = {"source_id": "", "url": ""}
    assert [dataclasses.replace(clip, **strip) for clip in read.clips] == [
        dataclasses.replace(clip, **strip) for clip in clips()
    ]
    assert [clip.url for clip in read.clips if clip.video_id != "video8"] == [
        clip.url for clip in clips() if clip.video_id != "video8"
    ]
    assert len({clip.source_id for clip in read.clips}) == len({clip.source_id for clip in clips()})
    assert read.categories == ("sports/actions", "unused", "music")
    by_people = [caption for caption in captions() if caption.author == "human"]
    order = {clip.video_id: index for index, clip in enumerate(clips())}
    assert list(read.captions) == sorted(by_people, key=lambda caption: (order[caption.video_id], caption.sen_id))


def test_single_split_keeps_the_ids_of_the_whole_dataset(dataset: Path, tmp_path: Path) -> None:
    export(dataset, "msrvtt", tmp_path / "x", split="test")
    content = json.loads((tmp_path / "x/videodatainfo.json").read_text())
    assert [video["id"] for video in content["videos"]] == [3, 4, 5]
    assert {video["split"] for video in content["videos"]} == {"test"}
    assert [clip.video_id for clip in read_msrvtt(tmp_path / "x").clips] == ["video11", "video12", "video13"]


def test_validation_split_is_called_validate(dataset: Path, tmp_path: Path) -> None:
    export(dataset, "msrvtt", tmp_path / "x")
    content = json.loads((tmp_path / "x/videodatainfo.json").read_text())
    assert [video["split"] for video in content["videos"]] == ["train", "train", "validate", "test", "test", "test"]
    assert list(content["videos"][0]) == ["category", "url", "video_id", "start time", "end time", "split", "id"]


def test_category_key_is_missing_without_categories(write: Write, tmp_path: Path) -> None:
    uncategorised = [dataclasses.replace(clip, category=None) for clip in clips()]
    export(write(clips=uncategorised, official=None), "msrvtt", tmp_path / "x")
    content = json.loads((tmp_path / "x/videodatainfo.json").read_text())
    assert all("category" not in video for video in content["videos"])
    assert not (tmp_path / "x/category.txt").exists()


def test_repeated_clips_stay_repeated(write: Write, tmp_path: Path) -> None:
    twice = [*clips(), clips()[0]]
    export(write(clips=twice, official=OfficialLayout()), "msrvtt", tmp_path / "x")
    read = read_msrvtt(tmp_path / "x")
    assert sum(clip.video_id == "video7" for clip in read.clips) == 2
    assert len(read.captions) == len(captions()) - 1
    export(tmp_path / "dataset", "coco", tmp_path / "y")
    truth = json.loads((tmp_path / "y/captions_train.json").read_text())
    assert truth["images"] == [{"id": "video7"}, {"id": "video8"}]


@pytest.mark.long
def test_official_files_survive_a_round_trip(shared: Path, tmp_path: Path) -> None:
    """Compare all values of `videos`, in order, and of `sentences` of every fifth video, whose order differs."""
    read = read_msrvtt(shared / "data/msrvtt")
    given = OfficialLayout(categories=read.categories)
    about = Metadata("vttdata/msrvtt")
    captioned = {clip.video_id for clip in read.clips[::5]}
    some = [caption for caption in read.captions if caption.video_id in captioned]
    records = {"clips": read.clips, "captions": some, "sources": read.sources}
    write_dataset(tmp_path / "dataset", **records, metadata=about, media=None, official=given)
    export(tmp_path / "dataset", "msrvtt", tmp_path / "x")
    for archive, name in [
        ("train_val_annotation.zip", "train_val_videodatainfo.json"),
        ("test_videodatainfo.json.zip", "test_videodatainfo.json"),
    ]:
        official = _official(shared / "data/msrvtt" / archive, name)
        exported = json.loads((tmp_path / "x" / name).read_text())
        assert exported["videos"] == official["videos"]
        sentences = [sentence for sentence in official["sentences"] if sentence["video_id"] in captioned]
        assert sentences
        assert sorted(exported["sentences"], key=lambda sentence: sentence["sen_id"]) == sentences


def _official(archive: Path, name: str) -> Any:
    with zipfile.ZipFile(archive) as files:
        return json.loads(files.read(next(path for path in files.namelist() if path.endswith(name))))


@pytest.mark.parametrize("text", ["\ud7ff\ue000", "\uffff\x00\x1f", '\\"\\u0041'])
def test_text_survives(write: Write, tmp_path: Path, text: str) -> None:
    export(write(captions=[Caption("video7", 5, text)]), "msrvtt", tmp_path / "x")
    assert [caption.caption for caption in read_msrvtt(tmp_path / "x").captions] == [text]
