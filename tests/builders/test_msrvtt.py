from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from builders.msrvtt import read as read_msrvtt
from tests.helpers.official_files import held_out, sentence, train_val, video, write_unpacked, write_zipped
from vttdata.annotations import Annotations
from vttdata.errors import VttdataError
from vttdata.ids import source_of


def found(annotations: Annotations) -> dict[str, tuple[str, ...]]:
    return {finding.kind: finding.ids for finding in annotations.findings}


def test_ids_splits_order_times_and_sentences_are_those_of_the_files(tmp_path: Path) -> None:
    read = read_msrvtt(write_unpacked(tmp_path))
    assert [clip.video_id for clip in read.clips] == [f"video{number}" for number in range(17)]
    assert [clip.split for clip in read.clips] == ["train"] * 10 + ["validation"] * 2 + ["test"] * 5
    clip = read.clips[3]
    assert (clip.source_id, clip.start, clip.end, clip.category) == ("abc-_000001", 31.5, 41.75, "music")
    assert (clip.url, clip.shots) == ("https://www.youtube.com/watch?v=abc-_000001", None)
    assert (read.captions[0].video_id, read.captions[0].sen_id) == ("video11", 22)
    assert read.captions[0].caption == " A person does  thing 11, take 0"
    assert read.categories == ("music", "people", "gaming")
    assert [source.source_id for source in read.sources][:2] == ["abc-_000000", "abc-_000001"]
    assert len(read.sources) == 9
    assert read.findings == ()


def test_zipped_and_unpacked_files_are_the_same(tmp_path: Path) -> None:
    in_subfolder = tmp_path / "c"
    write_unpacked(in_subfolder / "unzipped")
    unpacked = read_msrvtt(write_unpacked(tmp_path / "a"))
    assert unpacked == read_msrvtt(write_zipped(tmp_path / "b")) == read_msrvtt(in_subfolder)


def test_file_of_2017_is_read_without_category_names(tmp_path: Path) -> None:
    first = {"videos": [video(0), video(1, "val")], "sentences": [sentence(0, 0, "a"), sentence(1, 1, "b")]}
    (tmp_path / "train_val_2017.json").write_text(json.dumps(first))
    (tmp_path / "test_2017.json").write_text(json.dumps({"videos": [video(10000, "test")]}))
    read = read_msrvtt(tmp_path, language="it")
    assert {clip.video_id: clip.split for clip in read.clips} == {
        "video0": "train",
        "video1": "validation",
        "video10000": "test",
    }
    assert {caption.language for caption in read.captions} == {"it"}
    assert read.clips[0].category == "1"
    assert found(read) == {"no_caption": ("video10000",)}


def test_irregularities_are_findings_and_every_row_is_kept(tmp_path: Path) -> None:
    first, second = train_val(), held_out()
    first["videos"] += [video(3), video(20, "dev"), video(21, category=7), video(22, **{"end time": 1.0})]
    second["videos"] += [video(4, "test"), video(23, "test", **{"start time": -1.0})]
    for number, sen_id, text in [(20, 900, "a"), (21, 901, " "), (22, 902, "b"), (22, 903, "b"), (22, 900, "c")]:
        first["sentences"].append(sentence(number, sen_id, text))
    first["sentences"].append(sentence(99, 904, "about nothing"))
    read = read_msrvtt(write_unpacked(tmp_path, first, second))
    assert len(read.clips) == 17 + 6
    assert len(read.captions) == 34 + 6
    assert {(f.kind, f.file.partition("_")[0]): f.ids for f in read.findings} == {
        ("doubled_video", "test"): ("video4",),
        ("doubled_video", "train"): ("video3", "video4", "video3"),
        ("several_splits", "test"): ("video4",),
        ("several_splits", "train"): ("video4",),
        ("unknown_split", "train"): ("video20",),
        ("unknown_category", "train"): ("video21",),
        ("end_before_start", "train"): ("video22",),
        ("start_before_zero", "test"): ("video23",),
        ("no_caption", "test"): ("video23",),
        ("unknown_video", "train"): ("video99/904",),
        ("doubled_sentence", "train"): ("video20/900", "video22/900"),
        ("duplicate_caption", "train"): ("video22/903",),
        ("empty_caption", "train"): ("video21/901",),
    }
    assert {finding.count for finding in read.findings} == {1, 2, 3}
    assert [clip.split for clip in read.clips if clip.video_id == "video20"] == ["dev"]
    assert [clip.category for clip in read.clips if clip.video_id == "video21"] == ["7"]


def test_files_beside_the_official_ones_are_not_read_but_reported(tmp_path: Path) -> None:
    write_unpacked(tmp_path, **{"MSRVTT_data.json": "[]"})
    assert found(read_msrvtt(tmp_path)) == {"file_not_read": ("MSRVTT_data.json",)}


@pytest.mark.parametrize("kept", ["train_val_annotation.zip", "test_videodatainfo.json.zip"])
def test_missing_archive_is_an_error(tmp_path: Path, kept: str) -> None:
    write_zipped(tmp_path)
    for path in tmp_path.iterdir():
        if path.name != kept:
            path.unlink()
    with pytest.raises(VttdataError, match=r"holds \w+\.json but not \w+\.json \(in .*\.zip\); get both"):
        read_msrvtt(tmp_path)


def broken(change: Any) -> dict[str, Any]:
    content = train_val()
    change(content)
    return content


@pytest.mark.parametrize(
    ("change", "location"),
    [
        (lambda c: c.pop("videos"), "videos is missing"),
        (lambda c: c.pop("sentences"), "sentences is missing"),
        (lambda c: c.update(videos={}), "videos: found {}"),
        (lambda c: c["videos"][5].pop("start time"), 'videos[5]["start time"] is missing'),
        (lambda c: c["videos"][5].update({"end time": "12"}), 'videos[5]["end time"]: found "12"; it should be'),
        (lambda c: c["videos"][5].update({"end time": float("nan")}), 'videos[5]["end time"]: found NaN'),
        (lambda c: c["videos"][5].update(category="music"), 'videos[5]["category"]: found "music"'),
        (lambda c: c["videos"][5].update(video_id="../up"), "videos[5][\"video_id\"]: '../up' is not a usable id"),
        (lambda c: c["videos"][5].update(split="a b"), "videos[5][\"split\"]: 'a b' cannot name a split"),
        (lambda c: c["sentences"][3].update(caption=None), 'sentences[3]["caption"]: found null'),
        (lambda c: c["sentences"][3].update(sen_id=2**63), 'sentences[3]["sen_id"]: found'),
        (
            lambda c: c["sentences"][3].update(caption="half \ud83d"),
            'sentences[3]["caption"]: contains an unpaired surrogate',
        ),
        (lambda c: c["sentences"].append(7), "sentences[24]: found 7"),
    ],
)
def test_malformed_value_is_an_error_with_file_and_key(tmp_path: Path, change: Any, location: str) -> None:
    write_unpacked(tmp_path, broken(change))
    with pytest.raises(VttdataError) as refused:
        read_msrvtt(tmp_path)
    assert "train_val_videodatainfo.json" in str(refused.value)
    assert location in str(refused.value)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize("text", ["music 0\n", "music\tnull\n", "music\t0\nmusic\t1\n", "music\t0\nart\t0\n", "\t1\n"])
def test_malformed_category_line_is_an_error_with_line_number(tmp_path: Path, text: str) -> None:
    write_unpacked(tmp_path, **{"category.txt": text})
    with pytest.raises(VttdataError, match=r"category\.txt: line [12]: "):
        read_msrvtt(tmp_path)


def test_folder_without_annotations_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(VttdataError, match="holds no annotations of MSR-VTT"):
        read_msrvtt(tmp_path)
    (tmp_path / "empty.json").write_text('{"videos": [], "sentences": []}')
    with pytest.raises(VttdataError, match="list no video"):
        read_msrvtt(tmp_path)


@pytest.mark.parametrize(
    "address",
    [
        "http://www.youtube.com/watch?v=abc-_def0Gh",
        "https://WWW.YouTube.com/watch?feature=share&v=abc-_def0Gh&t=3",
        "www.youtube.com/watch?v=abc-_def0Gh",
        "//m.youtube.com/watch/?v=abc-_def0Gh",
        " https://music.youtube.com/watch?v=abc-_def0Gh",
        "https://www.youtube-nocookie.com/embed/abc-_def0Gh",
        "https://youtube.com/live/abc-_def0Gh?si=1",
        "YOUTU.BE/abc-_def0Gh",
    ],
)
def test_all_addresses_of_a_youtube_video_give_its_id(address: str) -> None:
    assert source_of(address) == "abc-_def0Gh"


@pytest.mark.parametrize(
    "address",
    [
        "https://www.youtube.com/watch?v=abc-_def0Ghi",
        "https://www.youtube.com/watch#v=abc-_def0Gh",
        "https://notyoutube.com/watch?v=abc-_def0Gh",
        "https://www.youtube.com/channel/abc-_def0Gh",
        "https://e.org/?u=https://youtu.be/abc-_def0Gh",
    ],
)
def test_other_addresses_give_a_hash(address: str) -> None:
    assert source_of(address) != "abc-_def0Gh"
    assert source_of(address) != source_of(address.replace("d", "D"))


@pytest.mark.parametrize("time", [1e9, -1e300])
def test_impossible_time_is_an_error_with_its_key(tmp_path: Path, time: float) -> None:
    info = {"videos": [video(1, **{"end time": time})], "sentences": [sentence(1, 1, "x")]}
    (tmp_path / "mine.json").write_text(json.dumps(info))
    with pytest.raises(
        VttdataError, match=r'mine.json: videos\[0\]\["end time"\]: found .*; it should be (less|greater) than'
    ):
        read_msrvtt(tmp_path)
