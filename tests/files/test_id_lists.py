from __future__ import annotations

from pathlib import Path

import pytest

from vttdata.errors import VttdataError
from vttdata.files.id_lists import ids_in, is_id_list, read_ids, read_pins, read_split, read_splits


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("ids.csv", "video_id,key\nv1,a\nv2,b\n"),
        ("ids.csv", "key,video_id\r\na, v1 \r\nb,v2\r\n"),
        ("ids.csv", "sep=;\r\nkey;Video ID;\r\na;v1;\r\nb;v2;\r\n;;\r\n"),
        ("ids.json", '[{"video_id": "v1"},\n {"video_id": "v2"}]'),
        ("ids.tsv", "key\tvideo_id\na\tv1\nb\tv2\n"),
        ("ids.csv", "﻿video_id\r\nv1\r\nv2\r\n"),
        ("ids.txt", "v1\n\n v2 \n"),
        ("ids.txt", "video_id\nv1\nv2\n"),
        ("ids.txt", "video_id,key\nv1,a\nv2,b\n"),
        ("ids.txt", "Clip Name\nv1\nv2\n"),
        ("ids.csv", "id,vid_key,video_id\nr1,m1,v1\nr2,m2,v2\n"),
        ("ids.json", '["v1", "v2"]'),
        ("ids.csv", "v1\nv2\n"),
        ("ids.jsonl", '{"video_id": "v1"}\n{"video_id": "v2"}\n'),
    ],
)
def test_ids_come_from_tables_and_from_plain_lists(tmp_path: Path, name: str, text: str) -> None:
    (tmp_path / name).write_text(text)
    assert read_ids(tmp_path / name) == ["v1", "v2"]
    assert read_pins(tmp_path / name) == {"v1": "test", "v2": "test"}
    assert ids_in(text.removeprefix("\ufeff"), "here", Path(name).suffix) == ["v1", "v2"]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("splits.csv", "video_id,split\nv1,train\nv2,test\nv3,train\n"),
        ("splits.tsv", "Subset\tclip\ntrain\tv1\ntest\tv2\ntrain\tv3\n"),
        ("splits.csv", "v1,train\nv2,test\n\nv3,train\n"),
        ("splits.txt", 'train;"v1"\r\ntest;"v2"\r\ntrain;"v3"\r\n'),
        ("splits.txt", "v1 train\nv2 test\nv3 train\n"),
        ("splits.json", '{"train": ["v1", "v3"], "test": ["v2"]}'),
        ("splits.json", '{"v1": "train", "v2": "test", "v3": "train"}'),
        ("protocol.json", '{"protocol": "p", "digest": "0", "splits": {"train": ["v1", "v3"], "test": ["v2"]}}'),
    ],
)
def test_one_file_states_all_splits(tmp_path: Path, name: str, text: str) -> None:
    path = tmp_path / name
    path.write_text(text)
    assert read_splits(path) == {"train": ["v1", "v3"], "test": ["v2"]}
    assert read_split(path, "train") == ["v1", "v3"]
    assert read_pins(path) == {"v1": "train", "v2": "test", "v3": "train"}
    with pytest.raises(VttdataError, match="has no split 'val'; its splits are train, test"):
        read_split(path, "val")


def test_a_folder_states_a_split_by_the_name_of_each_file(tmp_path: Path) -> None:
    (tmp_path / "my_train-list.txt").write_text("clips\nv1\n")
    (tmp_path / "small.csv").write_text("id\nv2\n")
    assert read_splits(tmp_path) == {"train": ["clips", "v1"], "small": ["v2"]}


def test_duplicate_id_is_returned_twice(tmp_path: Path) -> None:
    (tmp_path / "ids.txt").write_text("v1\nv2\nv1\n")
    assert read_ids(tmp_path / "ids.txt") == ["v1", "v2", "v1"]


def test_split_column_assigns_splits(tmp_path: Path) -> None:
    path = tmp_path / "pins.csv"
    path.write_text("split,video_id\ntrain,v1\ntest,v2\ntrain,v1\n")
    assert read_pins(path) == {"v1": "train", "v2": "test"}
    path.write_text("split,video_id\ntrain,v1\ntest,v1\n")
    with pytest.raises(VttdataError, match=r"pins.csv: 'v1' is in two splits, train and test"):
        read_pins(path)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("v1,train\nv2,test\n", True),
        ("v1 test\nv2 test\n", True),
        ("a cat,train\n", False),
        ("key,valid\n1,0\n", False),
    ],
)
def test_a_list_is_told_from_other_tables(tmp_path: Path, text: str, *, expected: bool) -> None:
    (tmp_path / "list.csv").write_text(text)
    assert is_id_list(tmp_path / "list.csv") == expected


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "contains no clip id"),
        (b"\n\n", "contains no clip id"),
        (
            b"key,name\n1,2\n",
            "ids.csv:1: there is no column 'video_id' or 'clip_id' or .*; the columns are 'key', 'name'",
        ),
        (b"\xff\xfe", "contains no clip id"),
        (b"v1,train\nv2,1\n", "ids.csv:2: is not an id and its split, as the first line is"),
        (b"v1\nv2\n\xff", "ids.csv:3: not UTF-8"),
        (b"video_id,split\n,test\n", "ids.csv:2: the column 'video_id' is empty or not a text"),
        (b"video_id,split\nv1,\n", "ids.csv:2: the column 'split' is empty or not a text"),
    ],
)
def test_malformed_list_is_an_error(tmp_path: Path, content: bytes, message: str) -> None:
    path = tmp_path / "ids.csv"
    path.write_bytes(content)
    with pytest.raises(VttdataError, match=message):
        read_pins(path)


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("ids.json", '{"test": []}', "ids.json: contains no clip id"),
        ("ids.json", '{"test": [7]}', "ids.json:1: there is no column 'video_id' or .*; the columns are 'test'"),
        ("ids.json", '["v1", 7]', "ids.json:2: the column 'video_id' is empty or not a text"),
        ("ids.json", '["v1"', "ids.json: cut off, damaged or not JSON"),
        ("ids.jsonl", '{"video_id": "\\ud800"}', "ids.jsonl:1: contains an unpaired surrogate"),
    ],
)
def test_damaged_json_is_an_error(tmp_path: Path, name: str, text: str, message: str) -> None:
    (tmp_path / name).write_text(text)
    with pytest.raises(VttdataError, match=message):
        read_ids(tmp_path / name)


def test_missing_file_is_an_error_that_names_it(tmp_path: Path) -> None:
    with pytest.raises(VttdataError, match=r"gone\.csv: cannot be read"):
        read_ids(tmp_path / "gone.csv")
