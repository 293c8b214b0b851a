from __future__ import annotations

from pathlib import Path

import pytest

from vttdata.annotations import read_protocol
from vttdata.annotations.protocol_splits import check_name
from vttdata.errors import VttdataError

KNOWN = {f"video{number}" for number in range(10)}


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("ids.txt", "video7\n\n video3 \n"),
        ("ids.txt", "video_id\nvideo7\nvideo3\n"),
        ("ids.csv", "key,video_id,sentence\nret0,video7,a man\nret1,video3,a dog\n"),
        ("ids.jsonl", '{"video_id": "video7"}\n{"video_id": "video3"}\n'),
        ("ids.json", '["video7", "video3"]'),
    ],
)
def test_ids_are_read_in_file_order(tmp_path: Path, name: str, text: str) -> None:
    (tmp_path / name).write_text(text)
    checksums: dict[str, str] = {}
    assert read_protocol("mine", {"test": tmp_path / name}, KNOWN, checksums) == {"test": ["video7", "video3"]}
    assert list(checksums) == [f"{name} (mine, test)"]


def test_files_with_the_same_name_have_separate_checksums(tmp_path: Path) -> None:
    checksums: dict[str, str] = {}
    for name, text in (("one", "video1\n"), ("two", "video2\n")):
        (tmp_path / name).mkdir()
        (tmp_path / name / "train.txt").write_text(text)
        read_protocol(name, {"train": tmp_path / name / "train.txt"}, KNOWN, checksums)
    assert sorted(checksums) == ["train.txt (one, train)", "train.txt (two, train)"]
    assert len(set(checksums.values())) == 2


@pytest.mark.parametrize(
    ("name", "text", "words"),
    [
        ("ids.txt", "video1\nvideo77\nvideo78\n", "no clip has the id 'video77' (2 of 3 are unknown)"),
        ("ids.txt", "video1\nvideo1\n", "the id 'video1' is duplicated"),
        ("ids.txt", "\n", "contains no clip id"),
        ("ids.csv", "id\nvideo1\nvideo77\n", "no clip has the id 'video77' (1 of 2 are unknown)"),
        ("ids.json", '{"test": []}', "contains no clip id"),
    ],
)
def test_list_with_unknown_or_duplicate_ids_is_an_error(tmp_path: Path, name: str, text: str, words: str) -> None:
    (tmp_path / name).write_text(text)
    with pytest.raises(VttdataError) as refused:
        read_protocol("mine", {"test": tmp_path / name}, KNOWN, {})
    assert words in str(refused.value)


@pytest.mark.parametrize(
    ("name", "splits", "message"),
    [
        ("clips", {"test": ""}, "'clips' cannot name a protocol"),
        ("a/b", {"test": ""}, "'a/b' cannot name a protocol"),
        ("..", {"test": ""}, "cannot name a protocol"),
        ("ok", {"a-b": ""}, "'a-b' cannot name a split of 'ok'"),
        ("ok", {}, "the protocol 'ok' has no split"),
    ],
)
def test_unusable_name_of_a_protocol_or_split_is_an_error(name: str, splits: dict[str, str], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        check_name(name, splits)
