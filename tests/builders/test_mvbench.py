"""MVBench and sets in its format: small files of its documented form."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from builders.mvbench import read
from vttdata.errors import VttdataError


def write(folder: Path, task: str, **changes: object) -> Path:
    item: dict[str, Any] = {"video": "video_11.mp4", "question": "Which is first?", "candidates": ["a", "c", "i"]}
    (folder / f"{task}.json").write_text(json.dumps([item | {"answer": "c"} | changes]))
    return folder


def test_answers_are_texts_even_where_they_look_like_letters(tmp_path: Path) -> None:
    (question,) = read(write(tmp_path, "character_order")).questions
    assert (question.question_id, question.options[question.answer]) == ("character_order/0", "c")
    assert (question.type, question.start, question.end) == ("character_order", None, None)


def test_parts_of_videos_are_spans(tmp_path: Path) -> None:
    (question,) = read(write(tmp_path, "action_sequence", start=5.4, end=16, fps=3)).questions
    assert (question.start, question.end) == (5.4, 16.0)


def test_videos_of_one_name_in_two_collections_are_two(tmp_path: Path) -> None:
    folders = {"state_change": "perception", "moving_count": "clevrer"}
    for task in folders:
        write(tmp_path, task)
    assert [clip.video_id for clip in read(tmp_path, folders=folders).clips] == [
        "clevrer-video_11",
        "perception-video_11",
    ]


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"answer": "d"}, "the answer 'd' is no option, of 3"),
        ({"candidates": ["c"]}, "2 to 26 options are expected"),
        ({"start": 3}, "'start' and 'end' are no part of a video"),
        ({"start": 3, "end": 1}, "'start' and 'end' are no part of a video"),
        ({"video": "../x.mp4"}, "is not a usable id"),
    ],
)
def test_damaged_files_are_one_sentence(tmp_path: Path, changes: dict[str, object], words: str) -> None:
    with pytest.raises(VttdataError) as refused:
        read(write(tmp_path, "task", **changes))
    assert "task.json: [0]" in str(refused.value)
    assert words in str(refused.value)
    assert "\n" not in str(refused.value)
