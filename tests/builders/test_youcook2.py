"""YouCook2: the real release where it is at hand, and small files of its format."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from builders.youcook2 import read
from vttdata.errors import VttdataError


def content(**changes: Any) -> dict[str, Any]:
    step = {"segment": [90, 102], "id": 0, "sentence": "spread margarine on two slices of bread"}
    video = {
        "duration": 241.62,
        "subset": "validation",
        "recipe_type": "113",
        "annotations": [step, {**step, "segment": [114, 250], "id": 1}],
        "video_url": "https://www.youtube.com/watch?v=GLd3aX16zBg",
    }
    return {"database": {"GLd3aX16zBg": video | changes}}


def write(folder: Path, text: str, name: str = "yc2_annotations_trainval.json") -> Path:
    (folder / name).write_bytes(text.encode())
    return folder


def test_real_release_has_published_counts(shared: Path) -> None:
    youcook2 = read(shared / "data" / "youcook2")
    videos = {clip.source_id: clip.split for clip in youcook2.clips}
    splits = [clip.split for clip in youcook2.clips]
    assert (len(videos), len(youcook2.sources), len(youcook2.clips)) == (1_790, 1_790, 13_829)
    assert [list(videos.values()).count(split) for split in ("train", "validation")] == [1_333, 457]
    assert [splits.count(split) for split in ("train", "validation")] == [10_337, 3_492]
    assert sum(len(caption.caption.split()) for caption in youcook2.captions) == 121_266
    assert round(sum(source.stated_seconds or 0 for source in youcook2.sources) / 3600, 2) == 156.84
    assert len(youcook2.categories) == len({source.category for source in youcook2.sources}) == 89
    assert [(finding.kind, finding.ids) for finding in youcook2.findings] == [
        ("differing_url", ("FHvZgt3ExDI", "yDZvPCG51zw"))
    ]
    first = youcook2.clips[0]
    assert (first.video_id, first.start, first.end, first.category) == ("GLd3aX16zBg_0", 90.0, 102.0, "113")


def test_step_is_a_clip_with_one_caption(tmp_path: Path) -> None:
    youcook2 = read(write(tmp_path, "\ufeff" + json.dumps(content(), indent=1).replace("\n", "\r\n")))
    assert [(clip.video_id, clip.start, clip.end, clip.split) for clip in youcook2.clips] == [
        ("GLd3aX16zBg_0", 90.0, 102.0, "validation"),
        ("GLd3aX16zBg_1", 114.0, 250.0, "validation"),
    ]
    assert youcook2.clips[0].url == "https://www.youtube.com/watch?v=GLd3aX16zBg"
    assert [(finding.kind, finding.ids) for finding in youcook2.findings] == [
        ("end_after_duration", ("GLd3aX16zBg_1",))
    ]


def test_segments_of_test_videos_have_no_captions(tmp_path: Path) -> None:
    write(tmp_path, json.dumps(content()))
    test = json.dumps({"database": {"x" * 11: content()["database"]["GLd3aX16zBg"] | {"subset": "testing"}}})
    test = test.replace(', "sentence": "spread margarine on two slices of bread"', "")
    youcook2 = read(write(tmp_path, test, "yc2_annotations_test_segments_only.json"))
    assert [clip.split for clip in youcook2.clips] == ["validation"] * 2 + ["test"] * 2
    assert len(youcook2.captions) == 2


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (json.dumps(content())[:-30], "yc2_annotations_trainval.json: cut off, damaged or not JSON"),
        (json.dumps(content(subset="trial")), "subset 'trial' is not training, validation or testing"),
        (json.dumps(content(recipe_type=113)), 'database["GLd3aX16zBg"]["recipe_type"]: found 113'),
        (json.dumps(content(annotations=[{"id": 0}])), '["annotations"][0]["segment"] is missing'),
        (json.dumps({"database": {"../x": content()["database"]["GLd3aX16zBg"]}}), "is not a usable id"),
        ('{"database": {}}', "lists no video"),
    ],
)
def test_damaged_release_is_one_sentence(tmp_path: Path, text: str, words: str) -> None:
    with pytest.raises(VttdataError) as refused:
        read(write(tmp_path, text))
    assert words in str(refused.value)
    assert "\n" not in str(refused.value)


def test_two_releases_are_not_mixed(tmp_path: Path) -> None:
    write(tmp_path, json.dumps(content()))
    with pytest.raises(VttdataError, match=r"both yc2_\S+ and youcookii_\S+ are the file of training and validation"):
        read(write(tmp_path, json.dumps(content()), "youcookii_annotations_trainval.json"))


def test_wrong_encoding_is_named_by_its_line(tmp_path: Path) -> None:
    (tmp_path / "yc2_annotations_trainval.json").write_bytes(b'{"database":\n {"saut\xe9": 1}}')
    with pytest.raises(VttdataError, match=r"trainval\.json:2: not UTF-8 text"):
        read(tmp_path)
