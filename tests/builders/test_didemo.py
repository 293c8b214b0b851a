"""DiDeMo: small files in the format of the official release, which is not at hand."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from builders.didemo import read
from vttdata.annotations.model import join_paragraphs
from vttdata.errors import VttdataError


def moment(number: int, *times: tuple[int, int], **changes: Any) -> dict[str, Any]:
    return {
        "annotation_id": number,
        "description": f" thing {number} happens",
        "video": "12090392@N02_13482799053_87ef417396.mov",
        "times": [list(time) for time in times],
        "dl_link": "https://www.example.com/video_download.gne?id=13482799053",
        "num_segments": 6,
    } | changes


def write(folder: Path, train: Any = None) -> Path:
    contents = {
        "train": [moment(7, (1, 1), (0, 0), (0, 0), (2, 3)), moment(8, (3, 4), (5, 5))] if train is None else train,
        "val": [moment(9, (0, 5), video="a_b.mp4")],
        "test": [moment(10, (4, 5), (4, 5), video="c.avi", num_segments=5)],
    }
    for name, content in contents.items():
        text = content if isinstance(content, str) else json.dumps(content)
        (folder / f"{name}_data.json").write_text(text)
    return folder


def test_span_is_the_one_that_most_annotators_marked(tmp_path: Path) -> None:
    didemo = read(write(tmp_path))
    assert [(clip.video_id, clip.start, clip.end, clip.split) for clip in didemo.clips] == [
        ("12090392-N02_13482799053_87ef417396_7", 0.0, 5.0, "train"),
        ("12090392-N02_13482799053_87ef417396_8", 15.0, 25.0, "train"),
        ("a_b_9", 0.0, 30.0, "validation"),
        ("c_10", 20.0, 30.0, "test"),
    ]
    assert didemo.clips[0].source_id == "12090392-N02_13482799053_87ef417396"
    assert [(finding.kind, finding.ids) for finding in didemo.findings] == [
        ("end_after_duration", ("c_10",)),
        ("annotators_disagree", ("12090392-N02_13482799053_87ef417396_8",)),
    ]


def test_span_of_each_annotator_is_kept_for_the_official_measure(tmp_path: Path) -> None:
    first, *_ = read(write(tmp_path)).moments
    assert (first.video_id, first.annotators) == ("12090392-N02_13482799053_87ef417396_7", (0, 1, 2, 3))
    assert list(zip(first.starts, first.ends, strict=True)) == [(5, 10), (0, 5), (0, 5), (10, 20)]


def test_tie_of_two_and_two_annotators_is_a_finding(tmp_path: Path) -> None:
    tied = [moment(1, (0, 0), (0, 0), (1, 1), (1, 1)), moment(2, (0, 0), (0, 0), (1, 1), (2, 2))]
    found = read(write(tmp_path, tied))
    assert [finding.count for finding in found.findings if finding.kind == "annotators_disagree"] == [1]


def test_paragraphs_are_the_descriptions_of_a_video(tmp_path: Path) -> None:
    joined = join_paragraphs(read(write(tmp_path)))
    assert [clip.video_id for clip in joined.clips] == ["12090392-N02_13482799053_87ef417396", "a_b", "c"]
    assert joined.moments == ()
    assert joined.captions[0].caption == "thing 7 happens thing 8 happens"


@pytest.mark.parametrize(
    ("train", "words"),
    [
        ([moment(1)], r'0\["times"\]: found \[\]'),
        ([moment(1, (6, 6))], r'0\["times"\]\[0\]\[0\]: found 6'),
        ([moment(1, (0, 0), video="../x.mp4")], r'\[0\]\["video"\]: \S+ is not a usable id'),
        ([moment(1, (0, 0), description=None)], r'0\["description"\]: found null'),
        (json.dumps([moment(1, (0, 0))])[:-9], "cut off, damaged or not JSON"),
    ],
)
def test_damaged_release_is_one_sentence(tmp_path: Path, train: Any, words: str) -> None:
    with pytest.raises(VttdataError, match=words):
        read(write(tmp_path, train))
