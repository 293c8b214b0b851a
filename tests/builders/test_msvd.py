from __future__ import annotations

import json
import zipfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from builders.msvd import read as read_msvd
from tests.helpers.official_files import write_msvd
from vttdata.errors import VttdataError

SENTENCES = {
    "-4wsuPCjDBc_5_15": ["a squirrel eats", "a squirrel eats", "an animal eats a nut"],
    "_a_b-c_d-e__33_50": ["a man cooks"],
    "4wsuPCjDBcc_61_58": [" a man runs ", ""],
    "zzzzzzzzzzz_1_2": ["nobody listed this"],
}
LISTS = {
    "train": ["_a_b-c_d-e__33_50"],
    "val_list": ["4wsuPCjDBcc_61_58", "4wsuPCjDBcc_0_9"],
    "test": ["-4wsuPCjDBc_5_15", "strange"],
}


def test_ids_are_parsed_from_the_right_and_lists_give_splits_and_order(tmp_path: Path) -> None:
    read = read_msvd(write_msvd(tmp_path, SENTENCES, **LISTS))
    assert [(clip.video_id, clip.source_id, clip.start, clip.end, clip.split) for clip in read.clips] == [
        ("_a_b-c_d-e__33_50", "_a_b-c_d-e_", 33.0, 50.0, "train"),
        ("4wsuPCjDBcc_61_58", "4wsuPCjDBcc", 61.0, 58.0, "validation"),
        ("4wsuPCjDBcc_0_9", "4wsuPCjDBcc", 0.0, 9.0, "validation"),
        ("-4wsuPCjDBc_5_15", "-4wsuPCjDBc", 5.0, 15.0, "test"),
        ("zzzzzzzzzzz_1_2", "zzzzzzzzzzz", 1.0, 2.0, "unlisted"),
    ]
    assert read.clips[0].url == "https://www.youtube.com/watch?v=_a_b-c_d-e_"
    written = {(caption.video_id, caption.sen_id): caption.caption for caption in read.captions}
    assert written["-4wsuPCjDBc_5_15", 2] == "an animal eats a nut"
    assert written["4wsuPCjDBcc_61_58", 0] == " a man runs "
    assert {finding.kind: finding.ids for finding in read.findings} == {
        "no_split": ("zzzzzzzzzzz_1_2",),
        "unknown_id": ("strange",),
        "end_before_start": ("4wsuPCjDBcc_61_58",),
        "no_caption": ("4wsuPCjDBcc_0_9",),
        "duplicate_caption": ("-4wsuPCjDBc_5_15/1",),
        "empty_caption": ("4wsuPCjDBcc_61_58/1",),
    }


def test_id_in_two_lists_is_in_both_splits_and_reported(tmp_path: Path) -> None:
    lists = {"train": ["a_1_2", "b_1_2", "b_1_2"], "val": ["c_1_2"], "test": ["a_1_2"]}
    read = read_msvd(write_msvd(tmp_path, {name: ["x"] for name in ("a_1_2", "b_1_2", "c_1_2")}, **lists))
    assert [(clip.video_id, clip.split) for clip in read.clips if clip.video_id == "a_1_2"] == [
        ("a_1_2", "train"),
        ("a_1_2", "test"),
    ]
    found = {finding.kind: finding.ids for finding in read.findings}
    assert found == {"several_splits": ("a_1_2",), "doubled_video": ("b_1_2",)}


@given(st.from_regex(r"\A[A-Za-z0-9_-]{11}\Z"), st.integers(0, 9999), st.integers(0, 9999))
def test_any_youtube_id_is_parsed(tmp_path_factory: pytest.TempPathFactory, name: str, start: int, end: int) -> None:
    folder, video_id = tmp_path_factory.mktemp("msvd"), f"{name}_{start}_{end}"
    read = read_msvd(write_msvd(folder, {video_id: ["x"]}, train=[video_id], val=["-"], test=["-"]))
    assert [(clip.source_id, clip.start, clip.end) for clip in read.clips] == [(name, start, end)]


def test_id_lists_may_be_tables_or_json(tmp_path: Path) -> None:
    write_msvd(tmp_path, {"a_1_2": ["x"], "b_1_2": ["y"], "c_1_2": ["z"]}, train=["a_1_2"])
    (tmp_path / "val.csv").write_text("key,video_id\n1,b_1_2\n")
    (tmp_path / "test.json").write_text(json.dumps(["c_1_2"]))
    assert {clip.video_id: clip.split for clip in read_msvd(tmp_path).clips} == {
        "a_1_2": "train",
        "b_1_2": "validation",
        "c_1_2": "test",
    }


def test_id_lists_in_an_archive_are_read_alike(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "msvd.zip", "w") as archive:
        archive.writestr("msvd/captions.json", json.dumps({"a_1_2": ["x"], "b_1_2": ["y"], "c_1_2": ["z"]}))
        archive.writestr("msvd/train.txt", "\ufeffvideo_id\r\na_1_2\r\n")
        archive.writestr("msvd/val.csv", "key,video_id\r\n1, b_1_2\r\n")
        archive.writestr("msvd/test.json", json.dumps(["c_1_2"]))
    read = read_msvd(tmp_path)
    assert [(clip.video_id, clip.split) for clip in read.clips] == [
        ("a_1_2", "train"),
        ("b_1_2", "validation"),
        ("c_1_2", "test"),
    ]
    assert not read.findings


@pytest.mark.parametrize(
    ("sentences", "lists", "words"),
    [
        ({"vid1": ["x"]}, LISTS, "captions.json: vid1: 'vid1' is not <youtube id>_<start>_<end>"),
        ({"a_1_2": "x"}, LISTS, 'captions.json: a_1_2: found "x"'),
        ({"../a_1_2": ["x"]}, LISTS, "is not a usable id"),
        ({"a_1_2": ["x"]}, {"train": ["a_1_2"], "val": []}, "the list of ids of test is missing"),
        ({"a_1_2": ["x"]}, LISTS | {"train_list": []}, "both"),
        ({"a_1_2": ["x"]}, LISTS | {"train": []}, "train.txt: contains no clip id"),
    ],
)
def test_malformed_file_or_missing_list_is_an_error(
    tmp_path: Path, sentences: dict[str, list[str]], lists: dict[str, list[str]], words: str
) -> None:
    with pytest.raises(VttdataError) as refused:
        read_msvd(write_msvd(tmp_path, sentences, **lists))
    assert words in str(refused.value)


def test_sentences_must_be_in_one_file(tmp_path: Path) -> None:
    write_msvd(tmp_path, SENTENCES, **LISTS)
    (tmp_path / "more.json").write_text("{}")
    with pytest.raises(VttdataError, match=r"found captions\.json, more\.json"):
        read_msvd(tmp_path)
