"""Multiple-choice questions are tried without videos: each shortcut is found by the attacker that it is made for."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from vttdata.cli.main import main
from vttdata.compose.foils import find_answer
from vttdata.generate.foils.blind.questions import answer_questions

WORDS = [f"{a}{b}" for a in ("ba", "ke", "mo", "ti", "su") for b in ("lan", "rod", "fis", "gum", "net", "pal")]
Make = Callable[[random.Random, list[str], int], tuple[str, list[str]]]


def write(path: Path, make: Make, count: int = 120, **layout: Any) -> Path:
    """Write questions with four options; `make` changes a question and its options, given the place of the answer."""
    draw = random.Random(4)
    rows = []
    for number in range(count):
        options = [" ".join(draw.sample(WORDS, 4)) for _ in range(4)]
        answer = layout.get("answer", draw.randrange(4))
        question, options = make(draw, options, answer)
        rows.append({"question": question, "options": options, "answer": answer, "video_id": f"v{number}"})
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def attack(path: Path, capsys: pytest.CaptureFixture[str]) -> dict[str, dict[str, float]]:
    capsys.readouterr()
    assert main(["audit", str(path), "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    return {row["attacker"]: row for row in report["attacks"]}


def plain(draw: random.Random, options: list[str], answer: int) -> tuple[str, list[str]]:
    return f"what is {draw.choice(WORDS)}", options


def longer(draw: random.Random, options: list[str], answer: int) -> tuple[str, list[str]]:
    options[answer] += " " + " ".join(draw.sample(WORDS, 3))
    return plain(draw, options, answer)


def echo(draw: random.Random, options: list[str], answer: int) -> tuple[str, list[str]]:
    return f"what about {options[answer]}", options


def contrast(draw: random.Random, options: list[str], answer: int) -> tuple[str, list[str]]:
    """One option of one of two groups, three of the other; each word is as often the answer as by chance."""
    groups = [WORDS[:5], WORDS[5:10]]
    draw.shuffle(groups)
    options = [f"a {word} runs" for word in draw.sample(groups[0], 4)]
    options[answer] = f"a {draw.choice(groups[1])} runs"
    return plain(draw, options, answer)


def edited(draw: random.Random, options: list[str], answer: int) -> tuple[str, list[str]]:
    """Wrong options that are the right one with another word in a place of their own."""
    words = options[answer].split()
    changed = [
        " ".join([*words[:place], draw.choice(sorted({*WORDS} - {*words})), *words[place + 1 :]]) for place in range(3)
    ]
    return plain(draw, [*changed[:answer], options[answer], *changed[answer:]], answer)


def test_random_questions_are_not_answered(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    ensemble = attack(write(tmp_path / "q.jsonl", plain), capsys)["ensemble"]
    assert ensemble["guessing"] == 0.25
    assert ensemble["low"] <= 0.25 <= ensemble["high"]


@pytest.mark.parametrize(
    ("make", "layout", "attacker"),
    [
        (longer, {}, "length"),
        (echo, {}, "question-words"),
        (plain, {"answer": 2}, "place"),
        (contrast, {}, "companions"),
        (edited, {}, "odd-one-out"),
    ],
)
def test_shortcut_is_found_by_its_attacker(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], make: Make, layout: dict[str, Any], attacker: str
) -> None:
    path = write(tmp_path / "q.jsonl", make, **layout)
    attacks = attack(path, capsys)
    assert attacks[attacker]["accuracy"] > 0.95
    assert attacks["ensemble"]["accuracy"] > 0.95
    assert main(["audit", str(path)]) == 0
    assert "the set is open to blind solving" in capsys.readouterr().out


def test_ties_share_a_question() -> None:
    margins = np.array([1.0, 0.0, -1.0, 2.0, 0.0, 0.0])
    assert answer_questions(margins, np.array([0, 0, 1, 1, 2, 2]), 3).tolist() == [0.5, 0.0, 1 / 3]


@pytest.mark.parametrize(
    ("answer", "index"),
    [
        ("dogs", 1),
        ("B", 1),
        ("(b)", 1),
        ("1", 1),
        (1, 1),
        ("E", None),
        (4, None),
        (True, None),
        (None, None),
        ("x", None),
    ],
)
def test_answer_is_a_text_a_letter_or_an_index(answer: object, index: int | None) -> None:
    assert find_answer(answer, ["cats", "dogs", "birds"]) == index


def test_tables_of_other_benchmarks_are_read(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    lines = [f"v{n},what,{n % 2},cat {n},dog {n}" for n in range(20)]
    (tmp_path / "nextqa.csv").write_text("\n".join(["video,question,answer,a0,a1", *lines]))
    assert attack(tmp_path / "nextqa.csv", capsys)["ensemble"]["guessing"] == 0.5
    rows = [{"video": f"v{n}", "question": "what", "candidates": ["a", "b", "c"], "answer": "b"} for n in range(20)]
    (tmp_path / "mvbench.json").write_text(json.dumps(rows))
    assert attack(tmp_path / "mvbench.json", capsys)["ensemble"]["guessing"] == pytest.approx(1 / 3, abs=1e-6)


@pytest.mark.parametrize(
    ("row", "words"),
    [
        ({"question": "what", "options": ["a"], "answer": 0}, "q.jsonl:1: two or more options are expected"),
        ({"question": "what", "options": ["a", None], "answer": 0}, "q.jsonl:1: two or more options are expected"),
        ({"question": "what", "options": ["a", "b"], "answer": "c"}, "q.jsonl:1: the answer 'c' is no option"),
        ({"question": "what", "options": ["a", "b"]}, "q.jsonl:1: the answer 'None' is no option"),
        ({"question": "what", "options": ["a", "b"], "answer": 0}, "give those of several videos"),
    ],
)
def test_bad_question_is_one_sentence(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], row: dict[str, Any], words: str
) -> None:
    (tmp_path / "q.jsonl").write_text(json.dumps(row) + "\n")
    assert main(["audit", str(tmp_path / "q.jsonl")]) == 2
    assert words in capsys.readouterr().err
