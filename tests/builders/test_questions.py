"""Published questions by their recipes: small files of their form, published files where they are at hand, mistakes."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pydantic
import pytest
import yaml

from builders.questions import Fields, group_takes, read
from tests.helpers.question_sets import read_set
from vttdata.errors import VttdataError, VttdataWarning

SETS = yaml.safe_load(Path(__file__).with_name("question_sets.yaml").read_text(encoding="utf-8"))
# A folder with a folder of the published files for each recipe.
PUBLISHED = os.environ.get("VTTDATA_QUESTION_FILES")


def describe(found: Any, video: str, number: int) -> dict[str, Any]:
    """Return what the table may say of a question."""
    question = found.questions[number]
    clip = next(clip for clip in found.clips if clip.video_id == video)
    stated = {name: getattr(question, name) for name in ("question", "kind", "type", "group", "start", "end")}
    findings = [finding.kind for finding in found.findings]
    return stated | {
        "id": question.question_id,
        "video": question.video_id,
        "right": question.options[question.answer],
        "labels": [*question.labels],
        "source": clip.source_id,
        "split": clip.split,
        "seconds": clip.end,
        "finding": findings,
    }


@pytest.mark.parametrize("name", [name for name, each in SETS.items() if "files" in each])
def test_small_files_are_read_as_their_makers_document_them(name: str, tmp_path: Path) -> None:
    for file, content in SETS[name]["files"].items():
        (tmp_path / file).write_text(content, encoding="utf-8")
    found = read_set(name, tmp_path)
    assert len(found.questions) == len(SETS[name]["asked"])
    for number, expected in enumerate(SETS[name]["asked"]):
        described = describe(found, found.questions[number].video_id, number)
        for key, value in expected.items():
            assert value in described[key] if key == "finding" else value == described[key]


def test_questions_that_are_left_out_are_counted_aloud(tmp_path: Path) -> None:
    for file, content in SETS["mlvu-dev"]["files"].items():
        (tmp_path / file).write_text(content, encoding="utf-8")
    words = r"2 of 3 questions are left out \(few_options 1, wrong_answer 1\); the card says why\."
    with pytest.warns(VttdataWarning, match=words):
        read_set("mlvu-dev", tmp_path)


@pytest.mark.parametrize("name", [name for name, each in SETS.items() if "published" in each])
def test_published_files_have_their_counts_and_answers(name: str, shared: Path) -> None:
    folder = Path(PUBLISHED or shared / "data" / "questions") / name
    if not folder.is_dir():
        pytest.skip("the published files are not at hand; VTTDATA_QUESTION_FILES names their folder")
    found = read_set(name, folder)
    published = SETS[name]["published"]
    assert len(found.questions) == published["questions"]
    assert len({clip.video_id for clip in found.clips}) == published["videos"]
    letters = {each.question_id: "ABCDEFGHIJKLMNOPQRSTUVWXYZ"[each.answer] for each in found.questions}
    chosen = [found.questions[place].question_id for place in (0, 9, -1)]
    assert {each: letters[each] for each in chosen} == published["answers"]


def test_videos_that_are_made_from_one_take_are_one_source() -> None:
    videos = ["11", "11_reverse", "22_concat_0", "22", "33_22_1", "44", "v1"]
    assert group_takes(videos) == dict(zip(videos, ["11", "11", "22", "22", "22", "44", "v1"], strict=True))


LAYOUT = {
    "files": "*.json",
    "id": "{file}/{number}",
    "rows": "[number]",
    "video": "clip.name",
    "question": "ask",
    "options": "choices[].text",
    "answer_letter": "key",
    "type": "skill?",
    "start": "from?",
    "end": "to?",
}
ROW = {"clip": {"name": "v.mp4"}, "ask": "q?", "choices": [{"text": "x"}, {"text": "y"}], "key": "B"}


@pytest.mark.parametrize(
    ("change", "layout", "words"),
    [
        ({"key": "C"}, {}, "q.json: [1]: answer_letter 'C' is no option, of 2"),
        (
            {"key": ""},
            {},
            "q.json: [1]: fields.answer_letter: the row has nothing under 'key'; it has clip, ask, choices",
        ),
        ({"clip": {}}, {}, "q.json: [1]: fields.video: the row has nothing under 'clip.name'"),
        ({"clip": {"name": "../v"}}, {}, "q.json: [1]: '../v' is not a usable id"),
        ({"clip": {"name": {"a": 1}}}, {}, "q.json: [1]: fields.video: 'clip.name' is \"{'a': 1}\", which is neither"),
        ({"choices": [{"text": "x"}]}, {}, "q.json: [1]: two or more options are expected"),
        (
            {"choices": [{"text": "x"}, {}]},
            {},
            "q.json: [1]: fields.options: the row has nothing under 'choices[].text'",
        ),
        ({"choices": 3}, {"options": "choices"}, "q.json: [0]: two or more options are expected"),
        ({"from": 3}, {}, "q.json: [1]: fields.start, fields.end: 3.0 to None is no span"),
        ({"from": 3, "to": 1}, {}, "q.json: [1]: fields.start, fields.end: 3.0 to 1.0 is no span"),
        ({"from": "soon", "to": 1}, {}, "q.json: [1]: fields.start: 'soon' should be seconds"),
        ({"ask": "z?"}, {"id": "=1"}, "q.json: [1]: there is another question with the id '1'"),
        (
            {"ask": "z"},
            {"match": {"ask": "{what}?"}},
            "q.json: [1]: fields.match.ask: 'z' does not have the form '{what}?'",
        ),
        ({}, {"rows": "{name}"}, "q.json: its top level: fields.rows: there is no '{name}'"),
        ({}, {"rows": "[].ask"}, "q.json: [0][\"ask\"]: fields.rows: '[].ask' leads to 'q?', not to an object"),
        ({}, {"files": "*.csv"}, "holds no file *.csv"),
        (
            {},
            {"answers_from": {"file": "key.json", "by": "ask"}},
            "the answer of 'other' is one to none of the questions",
        ),
    ],
)
def test_mistake_is_one_sentence_with_file_row_and_field(
    tmp_path: Path, change: dict[str, Any], layout: dict[str, Any], words: str
) -> None:
    (tmp_path / "q.json").write_text(json.dumps([ROW, ROW | change]))
    (tmp_path / "answers").mkdir()
    (tmp_path / "answers" / "key.json").write_text('{"q?": "A", "other": "B"}')
    fields = pydantic.TypeAdapter(Fields).validate_json(json.dumps(LAYOUT | {"files": "q.json"} | layout))
    with pytest.raises(VttdataError) as refused:
        read(tmp_path, fields)
    assert words in str(refused.value)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize(
    ("layout", "words"),
    [
        ({"video": "a..b"}, "video: found 'a..b'; a path is names with dots"),
        ({"id": "{a"}, "id: found '{a'; braces hold paths"),
        ({"rows": "[a]["}, "found '[a]['; a path to rows is such as"),
        ({"match": {"id": "{a}{b}"}}, "match: found '{a}{b}'; a pattern has names with text between them"),
        ({"answer": "key"}, "answer and answer_letter exclude each other"),
        ({"question": None}, "question is missing"),
        ({"files": {"a": "a.json"}, "by_file": {"b": {}}}, "by_file: 'b' is none of the files a"),
    ],
)
def test_mistake_in_a_recipe_is_one_sentence(layout: dict[str, Any], words: str) -> None:
    with pytest.raises(pydantic.ValidationError) as refused:
        pydantic.TypeAdapter(Fields).validate_json(json.dumps(LAYOUT | layout))
    assert words in str(refused.value)
