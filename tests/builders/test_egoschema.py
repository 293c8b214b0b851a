"""EgoSchema: small files of its documented form."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from builders.egoschema import read
from vttdata.errors import VttdataError


def write(folder: Path, answers: dict[str, int]) -> Path:
    options = {f"option {index}": f"they do {index}" for index in range(5)}
    asked = [{"q_uid": name, "question": "what is C doing?", **options} for name in ("0074f737-11cb", "00b9a0de-c59e")]
    (folder / "questions.json").write_text(json.dumps(asked))
    (folder / "subset_answers.json").write_text(json.dumps(answers))
    return folder


def test_questions_without_a_published_answer_are_a_finding(tmp_path: Path) -> None:
    found = read(write(tmp_path, {"00b9a0de-c59e": 4}))
    (question,) = found.questions
    assert (question.question_id, question.video_id, question.kind) == ("00b9a0de-c59e",) * 2 + ("multiple_choice",)
    assert question.options[question.answer] == "they do 4"
    assert [(each.kind, each.ids) for each in found.findings if each.kind == "no_answer"] == [
        ("no_answer", ("0074f737-11cb",))
    ]


@pytest.mark.parametrize(
    ("answers", "words"),
    [
        ({"00b9a0de-c59e": 5}, "questions.json: [1]: the answer is option 6, of 5"),
        ({"other": 0}, "subset_answers.json: other is an answer to none of the questions"),
        ({"00b9a0de-c59e": "A"}, "subset_answers.json"),
    ],
)
def test_damaged_files_are_one_sentence(tmp_path: Path, answers: dict[str, int], words: str) -> None:
    with pytest.raises(VttdataError) as refused:
        read(write(tmp_path, answers))
    assert words in str(refused.value)
    assert "\n" not in str(refused.value)
