"""Questions of VideoHallucer, EventHallusion, TOMATO and IntentQA: small files of their documented form."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from builders import eventhallusion, nextqa, tomato, videohallucer
from vttdata.errors import VttdataError


def pair(basic: str, other: str, answer: str = "no") -> dict[str, object]:
    return {
        "basic": {"video": basic, "question": "Is it a dog?", "answer": "yes"},
        "hallucination": {"video": other, "question": "Is it a cat?", "answer": answer},
    }


def event(answer: str) -> dict[str, object]:
    return {"id": "entire_001", "questions": [{"question": "Is he playing?", "answer": answer}]}


def motion(answer: int, *kinds: str) -> dict[str, object]:
    item = {"question": "How many?", "options": ["2", "1", "3"], "answer": answer, "key": "0209-03"}
    return {str(number): item | {"demonstration_type": kind} for number, kind in enumerate(kinds or ("human",))}


def write(folder: Path, name: str, content: object) -> Path:
    (folder / name).write_text(json.dumps(content))
    return folder


def test_pairs_of_videohallucer_are_groups(tmp_path: Path) -> None:
    write(tmp_path, "semantic_detail.json", [pair("x_a.mp4", "x_b.mp4")])
    found = videohallucer.read(write(tmp_path, "temporal.json", [pair("v.mp4", "v.mp4")]))
    assert [(clip.video_id, clip.source_id) for clip in found.clips] == [("v", "v"), ("x_a", "x"), ("x_b", "x")]
    assert [(each.question_id, each.group, each.type, each.answer) for each in found.questions] == [
        ("temporal/0/basic", "temporal/0", "temporal", 0),
        ("temporal/0/hallucination", "temporal/0", "temporal", 1),
        ("semantic_detail/0/basic", "semantic_detail/0", "semantic_detail", 0),
        ("semantic_detail/0/hallucination", "semantic_detail/0", "semantic_detail", 1),
    ]


def test_answers_of_eventhallusion_end_in_a_full_stop(tmp_path: Path) -> None:
    (question,) = eventhallusion.read(write(tmp_path, "entire_questions.json", [event("No.")])).questions
    assert (question.question_id, question.options[question.answer], question.type) == ("entire_001/0", "no", "entire")


def test_answers_of_tomato_count_from_0(tmp_path: Path) -> None:
    (question,) = tomato.read(write(tmp_path, "shape&trend.json", motion(2))).questions
    assert (question.question_id, question.video_id, question.type) == ("shape&trend/0", "human-0209-03", "shape&trend")
    assert question.options[question.answer] == "3"


def test_videos_of_tomato_of_one_name_in_two_folders_are_two(tmp_path: Path) -> None:
    found = tomato.read(write(tmp_path, "count.json", motion(0, "human", "object")))
    assert [clip.video_id for clip in found.clips] == ["human-0209-03", "object-0209-03"]


def test_table_of_intentqa_calls_the_video_otherwise(tmp_path: Path) -> None:
    header = "video_id,frame_count,width,height,question,answer,qid,type,a0,a1,a2,a3,a4,action,lemma,lemma_id"
    (tmp_path / "val.csv").write_text(f"{header}\nv,9,6,4,why,4,1,CH,a,b,c,d,e,left,leave,130\n")
    (question,) = nextqa.read(tmp_path).questions
    assert (question.question_id, question.video_id, question.options[question.answer]) == ("v_1", "v", "e")


def test_damaged_files_are_one_sentence(tmp_path: Path) -> None:
    for name, content, read, words in (
        ("temporal.json", [pair("v.mp4", "v.mp4", "maybe")], videohallucer.read, "'maybe' is neither yes nor no"),
        ("entire_questions.json", [event("")], eventhallusion.read, "entire_questions.json: [0]"),
        ("count.json", motion(3), tomato.read, "the answer is option 4, of 3"),
    ):
        with pytest.raises(VttdataError) as refused:
            read(write(tmp_path, name, content))
        assert words in str(refused.value)
        assert "\n" not in str(refused.value)
