"""Open answers through the command line; scores are worked out by hand."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from vttdata.cli.main import main
from vttdata.dataset.questions import StoredQuestion
from vttdata.evaluate.items import number_sources
from vttdata.evaluate.tasks.open_answers import guess_by_type
from vttdata.evaluate.tasks.questions import QuestionItems

# Question, right answer, type, answer of the system, verdict of a judge.
ROWS = [
    ("v1", "q1", "who sings", "man", "who", "man", 1),
    ("v1", "q2", "what is cut", "onion", "what", "The onion.", 1),
    ("v2", "q3", "who runs", "man", "who", "a person", 0.5),
    ("v2", "q4", "is it day", "yes", "yes/no", "no", 0),
    ("v3", "q5", "who sits", "woman", "who", "Woman", 1),
    ("v3", "q6", "what burns", "onion", "what", "onion", 1),
]


@pytest.fixture(scope="module")
def dataset(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("open")
    names = ("video_id", "question_id", "question", "answer", "type")
    rows = [dict(zip(names, row, strict=False)) | {"kind": "open"} for row in ROWS]
    (folder / "qa.json").write_text(json.dumps(rows))
    command = ["build", "questions", "--quiet", "--set", f"annotations={folder / 'qa.json'}", "--set", "name=me/qa"]
    assert main([*command, "--out", str(folder / "out"), "--workers", "1"]) == 0
    return folder / "out" / "dataset"


def evaluate(dataset: Path, rows: list[dict[str, Any]], capsys: pytest.CaptureFixture[str]) -> dict[str, Any]:
    file = dataset.parent.parent / "answers.json"
    file.write_text(json.dumps(rows))
    capsys.readouterr()
    assert main(["evaluate", str(dataset), str(file), "--json"]) == 0
    report: dict[str, Any] = json.loads(capsys.readouterr().out)
    return report


@pytest.mark.not_on("win32")
def test_answers_are_compared_letter_by_letter_and_with_the_commonest_one_of_other_videos(
    dataset: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    report = evaluate(dataset, [{"question_id": row[1], "answer": row[5]} for row in ROWS], capsys)
    scores = {name: values["all"]["score"] for name, values in report["scores"].items()}
    # Of other videos: q1 man or woman, q2 onion, q3 man or woman, q4 nothing, q5 man, q6 onion.
    prior = (1 + 1 + 1 + 0 + 0 + 1) / 6
    expected = {"accuracy": 2 / 6, "accuracy-folded": 4 / 6, "prior": prior, "gain-over-prior": 2 / 6 - prior}
    assert scores == pytest.approx(expected)
    assert "task:open-answers" in report["signature"]
    assert "rules:exact-1" in report["signature"]
    assert report["groups"]["type"]["who"]["accuracy"]["score"] == pytest.approx(1 / 3)


@pytest.mark.not_on("win32")
def test_verdicts_of_a_judge_are_scored_beside_and_say_who_gave_them(
    dataset: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    judge = {"judge": "some-model", "revision": "2026-01-31", "prompt_digest": "0123abcd", "date": "2026-02-01"}
    rows = [{"item": row[1], "prediction": row[5], "score": row[6], **judge} for row in ROWS]
    report = evaluate(dataset, rows, capsys)
    assert report["scores"]["judged"]["all"]["score"] == pytest.approx(4.5 / 6)
    assert "The judge is some-model 2026-01-31, prompt 0123abcd, 2026-02-01." in report["findings"]
    file = dataset.parent.parent / "bad.json"
    file.write_text(json.dumps([row | {"score": 4} for row in rows]))
    assert main(["evaluate", str(dataset), str(file)]) == 2
    assert "the score of 'q1' is 4, not from 0 to 1" in capsys.readouterr().err


@pytest.mark.not_on("win32")
def test_questions_without_options_are_not_taken_for_multiple_choice(
    dataset: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "a.csv").write_text("question_id,prediction\nq1,man\n")
    assert main(["evaluate", str(dataset), str(tmp_path / "a.csv"), "--task", "questions"]) == 2
    assert "has open questions, without options; 'vttdata evaluate --task open-answers'" in capsys.readouterr().err
    (tmp_path / "t.json").write_text(json.dumps([{"video_id": "v", "question": "who", "kind": "open", "answer": " "}]))
    assert (
        main(["build", "questions", "--set", f"annotations={tmp_path / 't.json'}", "--out", str(tmp_path / "o")]) == 2
    )
    assert "t.json:1: an open question has a text in the column 'answer'" in capsys.readouterr().err


def test_prior_gains_nothing_where_answers_are_drawn() -> None:
    draw, gains = random.Random(4), []
    for _ in range(100):
        truths = [draw.choice("abcd") for _ in range(60)]
        asked = [StoredQuestion(str(n), str(n // 3), "open", "q", (text,), ("A",), 0) for n, text in enumerate(truths)]
        sources, names = number_sources([each.video_id for each in asked], map(str, range(60)))
        items = QuestionItems(
            dataset="d",
            version="1",
            config="questions",
            split="test",
            ids=[],
            sources=sources,
            source_ids=names,
            questions=asked,
        )
        gains.append(
            np.mean([guess == truth for guess, truth in zip(guess_by_type(items, truths), truths, strict=True)])
        )
    # Guessing reaches 1/4, with a standard error of .006 on 6,000 questions; leaving out a source costs a little.
    assert 0.17 < np.mean(gains) < 0.27
