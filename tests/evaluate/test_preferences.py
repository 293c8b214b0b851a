"""Options that a system prefers are named, with accuracies that are counted by hand."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from tests.evaluate.test_answers import asked
from vttdata.cli.main import main
from vttdata.evaluate.answers import Answer
from vttdata.evaluate.preferences import describe_preferences, find_preferences

YES_NO = {"kind": "yes_no", "options": ("no", "yes")}


def test_system_that_says_yes_is_told() -> None:
    """Of 40 questions, 20 with yes, the system says yes to 38: right in 20 of 20, and in 2 of 20."""
    questions = [asked(number, answer=number % 2, **YES_NO) for number in range(40)]
    answers = [Answer(frozenset({int(number not in (0, 2))})) for number in range(40)]
    right = np.array([answer.score(question) for answer, question in zip(answers, questions, strict=True)])
    (sentence,) = describe_preferences(right, answers, questions, np.arange(40) // 2)
    assert "of yes or no 1.000 where it is yes and 0.100 elsewhere (difference 0.900, " in sentence
    assert "yes is 95.0% of the answers, and right in 50.0%" in sentence
    assert (
        "answers with the options in another order (--permuted) tell. Intervals are at 95 % over sources." in sentence
    )
    (sentence,) = describe_preferences(right, answers, questions, np.arange(40) // 2, 0.4)
    assert "with the options in another order (--permuted), 40.0% of the answers stay the same." in sentence
    # Right in 15 of 20 either way, with errors on both sides.
    fair = [question.answer if number % 8 < 6 else 1 - question.answer for number, question in enumerate(questions)]
    answers = [Answer(frozenset({place})) for place in fair]
    right = np.array([answer.score(question) for answer, question in zip(answers, questions, strict=True)])
    assert describe_preferences(right, answers, questions, np.arange(40)) == []


def test_place_with_the_largest_difference_is_named_and_kinds_are_apart() -> None:
    rng = np.random.default_rng(0)
    places = {index: ("four", "ABCD"[index % 4]) for index in range(400)}
    # Questions with two options are easier, which is no preference.
    places |= {index: ("two", "AB"[index % 2]) for index in range(400, 800)}
    right = np.where(np.arange(800) < 400, rng.random(800) < 0.3, rng.random(800) < 0.9).astype(float)
    right[:400:4] = np.arange(100) < 80
    found, compared = find_preferences(right, places, np.arange(800))
    ((kind, option, accuracy, elsewhere, low, high),) = found
    assert (kind, option, accuracy, compared) == ("four", "A", 0.8, 5)
    assert elsewhere == pytest.approx(right[:400].reshape(100, 4)[:, 1:].mean())
    assert 0 < low < accuracy - elsewhere < high
    assert find_preferences(right[:36], dict(list(places.items())[:36]), np.arange(36)) == ([], 0)


@pytest.mark.not_on("win32")
def test_preference_is_a_note_of_an_evaluation(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = [
        {"question_id": f"b{n}", "video": f"v{n}", "question": f"is it {n}", "answer": ("yes", "no")[n % 2]}
        for n in range(40)
    ]
    (tmp_path / "q.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (tmp_path / "a.jsonl").write_text(
        "".join(json.dumps({"question_id": row["question_id"], "prediction": "Yes."}) + "\n" for row in rows)
    )
    build = ["build", "questions", "--quiet", "--workers", "1", "--out", str(tmp_path / "out")]
    assert main([*build, "--set", f"annotations={tmp_path / 'q.jsonl'}"]) == 0
    capsys.readouterr()
    assert main(["evaluate", str(tmp_path / "out"), str(tmp_path / "a.jsonl")]) == 0
    note = "- Accuracy depends on which option is right: of yes or no 1.000 where it is yes and 0.000 elsewhere"
    assert note in capsys.readouterr().out.partition("Notes")[2]
    turned = [{"question_id": row["question_id"], "options": ["No", "Yes"], "prediction": "Yes"} for row in rows]
    (tmp_path / "b.jsonl").write_text("".join(json.dumps(row) + "\n" for row in turned))
    permuted = ["--permuted", str(tmp_path / "b.jsonl")]
    assert main(["evaluate", str(tmp_path / "out"), str(tmp_path / "a.jsonl"), *permuted]) == 0
    assert "(--permuted), 100.0% of the answers stay the same" in capsys.readouterr().out.partition("Notes")[2]
