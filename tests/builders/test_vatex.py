"""VATEX: small files in the format of the official description; the release itself is not at hand."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from builders.vatex import read
from vttdata.errors import VttdataError

EN = [f"a person does thing {number}" for number in range(10)]
ZH = [f"一个人在做事情{number}" for number in range(10)]
TRAIN = {"videoID": "2wM2MZaG_9s_000000_000010", "enCap": EN, "chCap": ZH}
VALIDATION = {"videoID": "-a_b-c_d-e__000027_000037", "enCap": EN, "chCap": ZH}
TEST = {"videoID": "zzzzzzzzzzz_000179_000189", "enCap": EN}


def write(folder: Path, **contents: Any) -> Path:
    files = {"training_v1.0": [TRAIN], "validation_v1.0": [VALIDATION]} | contents
    for name, content in files.items():
        text = content if isinstance(content, str) else json.dumps(content, ensure_ascii=False)
        (folder / f"vatex_{name}.json").write_text(text, encoding="utf-8")
    return folder


def write_all(folder: Path) -> Path:
    private = {"videoID": "yyyyyyyyyyy_000000_000010"}
    tests: Any = {"public_test_english_v1.1": [TEST], "private_test_without_annotations": [private]}
    return write(folder, **tests)


def test_ids_hold_the_span_and_files_are_the_splits(tmp_path: Path) -> None:
    vatex = read(write_all(tmp_path))
    assert [(clip.source_id, clip.start, clip.end, clip.split) for clip in vatex.clips] == [
        ("2wM2MZaG_9s", 0.0, 10.0, "train"),
        ("-a_b-c_d-e_", 27.0, 37.0, "validation"),
        ("zzzzzzzzzzz", 179.0, 189.0, "test"),
        ("yyyyyyyyyyy", 0.0, 10.0, "private_test"),
    ]
    assert {caption.language for caption in vatex.captions} == {"en"}
    assert [(finding.kind, finding.ids) for finding in vatex.findings] == [
        ("no_caption", ("yyyyyyyyyyy_000000_000010",))
    ]


def test_parallel_captions_are_ten_numbers_apart(tmp_path: Path) -> None:
    captions = read(write_all(tmp_path), language="mul").captions
    of_clip = {caption.sen_id: caption for caption in captions if caption.video_id == TRAIN["videoID"]}
    assert [of_clip[number].caption for number in (7, 17)] == [EN[7], ZH[7]]
    assert [of_clip[number].language for number in (7, 17)] == ["en", "zh"]


def test_chinese_alone_has_no_test_captions(tmp_path: Path) -> None:
    vatex = read(write_all(tmp_path), language="zh")
    assert {caption.video_id for caption in vatex.captions} == {TRAIN["videoID"], VALIDATION["videoID"]}
    assert {caption.sen_id for caption in vatex.captions} == set(range(10, 20))


def test_captions_without_their_translation_are_a_finding(tmp_path: Path) -> None:
    vatex = read(write(tmp_path, **{"training_v1.0": [TRAIN | {"chCap": ZH[:9]}]}))
    assert [finding.kind for finding in vatex.findings] == ["unequal_parallel_captions"]


def test_languages_that_it_does_not_have_are_refused(tmp_path: Path) -> None:
    with pytest.raises(VttdataError, match="en, zh or mul"):
        read(write(tmp_path), language="de")
    english = {"training_v1.0": [TRAIN | {"chCap": []}], "validation_v1.0": [TEST]}
    with pytest.raises(VttdataError, match="no captions in zh"):
        read(write(tmp_path, **english), language="zh")


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ([TRAIN | {"videoID": "2wM2MZaG_9s"}], r"\[0\]: '2wM2MZaG_9s' is not <youtube id>_<start>_<end>"),
        ([TRAIN | {"enCap": "one"}], r'\["enCap"\]: found "one"'),
        (json.dumps([TRAIN])[:-4], "cut off, damaged or not JSON"),
        ([{"enCap": EN}], r"0\[\"videoID\"\] is missing"),
    ],
)
def test_damaged_release_is_one_sentence(tmp_path: Path, content: Any, words: str) -> None:
    with pytest.raises(VttdataError, match=words):
        read(write(tmp_path, **{"training_v1.0": content}))


def test_two_releases_are_not_mixed(tmp_path: Path) -> None:
    with pytest.raises(VttdataError, match=r"both vatex_training_v1\.0\.json and vatex_training_v1\.1\.json"):
        read(write(tmp_path, **{"training_v1.1": [TRAIN]}))
