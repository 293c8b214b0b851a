"""TempCompass: the real questions where they are at hand, and small files of their form."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from builders.tempcompass import group_takes, read
from vttdata.errors import VttdataError


def test_real_files_have_published_counts(shared: Path) -> None:
    tempcompass = read(shared / "data" / "questions" / "tempcompass")
    kinds = Counter(question.kind for question in tempcompass.questions)
    assert kinds == {"multiple_choice": 1_580, "yes_no": 2_453, "caption_matching": 1_503}
    assert len(tempcompass.clips) == 410
    by_id = {question.question_id: question for question in tempcompass.questions}
    first = by_id["multiple_choice/1034419625/action/0"]
    assert first.question == "What is the man doing in the video?"
    assert first.options == ("dunking a basketball", "dribbling a basketball", "passing a basketball")
    assert (first.answer, first.labels) == (0, ("A", "B", "C"))
    captions = by_id["caption_matching/1034419625/action/0"]
    assert (captions.labels, captions.answer) == (("Option 1", "Option 2"), 1)
    assert {finding.kind for finding in tempcompass.findings} == {"unknown_length"}


def test_videos_that_are_made_from_one_take_are_one_source() -> None:
    videos = ["11", "11_reverse", "22_concat_0", "22", "33_22_1", "44", "v1"]
    assert group_takes(videos) == {
        "11": "11",
        "11_reverse": "11",
        "22_concat_0": "22",
        "22": "22",
        "33_22_1": "22",
        "44": "44",
        "v1": "v1",
    }


@pytest.mark.parametrize(
    ("name", "item", "words"),
    [
        ("multi-choice", {"question": "what?", "answer": "A. x"}, "does not end with lines of options"),
        ("multi-choice", {"question": "what?\nA. x\nB. y", "answer": "C. z"}, "the answer 'C. z' is no option"),
        ("yes_no", {"question": "is it?", "answer": "maybe"}, "the answer 'maybe' is neither yes nor no"),
        ("yes_no", {"question": "is it?"}, '["answer"] is missing'),
    ],
)
def test_damaged_file_is_one_sentence(tmp_path: Path, name: str, item: dict[str, Any], words: str) -> None:
    (tmp_path / f"{name}.json").write_text(json.dumps({"11": {"action": [item]}}))
    with pytest.raises(VttdataError) as refused:
        read(tmp_path)
    assert words in str(refused.value)
    assert f"{name}.json: 11" in str(refused.value)
