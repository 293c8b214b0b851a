"""Multiple-choice questions are tried without videos: each shortcut is found by the attacker that it is made for."""

from __future__ import annotations

import json
import random
import re
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import stats

from builders.question_table import read
from vttdata.cli.main import main
from vttdata.compose.foils import read_questions
from vttdata.generate.blind.fixed_rules import try_fixed_rules
from vttdata.generate.blind.trial import answer_choices
from vttdata.media.ffmpeg_program import ffmpeg_path

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
        rows.append({"question": question, "options": options, "answer": "ABCD"[answer], "video_id": f"v{number}"})
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
        " ".join([*words[:index], draw.choice(sorted({*WORDS} - {*words})), *words[index + 1 :]]) for index in range(3)
    ]
    return plain(draw, [*changed[:answer], options[answer], *changed[answer:]], answer)


def test_random_questions_are_not_answered(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    attacks = attack(write(tmp_path / "q.jsonl", plain), capsys)
    # It expects yes or no, so that it guesses, which no draw of videos changes.
    assert {attacks["question-only"][key] for key in ("accuracy", "low", "high")} == {0.25}
    ensemble = attacks["ensemble"]
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
@pytest.mark.sampled(2)
def test_shortcut_is_found_by_its_attacker(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], make: Make, layout: dict[str, Any], attacker: str
) -> None:
    path = write(tmp_path / "q.jsonl", make, **layout)
    attacks = attack(path, capsys)
    assert attacks[attacker]["accuracy"] > 0.95
    assert attacks["ensemble"]["accuracy"] > 0.95
    assert main(["audit", str(path)]) == 0
    assert "the set is open to blind solving" in capsys.readouterr().out


def test_words_of_a_question_give_away_yes_and_no(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    draw = random.Random(1)
    rows = []
    for number in range(200):
        answer = draw.choice(("yes", "no"))
        # What is not there is asked about with "any".
        asked = f"is there {'a' if answer == 'yes' else 'any'} {draw.choice(WORDS)} {draw.choice(WORDS)}?"
        rows.append({"video": f"v{number}", "question": asked, "answer": answer})
    (tmp_path / "q.json").write_text(json.dumps(rows))
    attacks = attack(tmp_path / "q.json", capsys)
    assert attacks["question-only"]["accuracy"] == 1.0
    assert attacks["ensemble"]["accuracy"] > 0.95
    # Attackers that see only the words yes and no are not above guessing.
    assert attacks["linear-classifier"]["low"] <= 0.5


def test_words_of_a_question_go_with_words_of_an_option(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    draw = random.Random(2)
    asked_of = {"who": "a boy", "where": "at home", "when": "at night", "why": "for fun"}
    rows = []
    for number in range(200):
        word = draw.choice([*asked_of])
        options = draw.sample([*asked_of.values()], 4)
        answer = options.index(asked_of[word])
        rows.append({"video": f"v{number}", "question": f"{word} is it?", "options": options, "answer_index": answer})
    (tmp_path / "q.json").write_text(json.dumps(rows))
    attacks = attack(tmp_path / "q.json", capsys)
    assert attacks["question-options"]["accuracy"] > 0.95
    assert attacks["linear-classifier"]["accuracy"] < 0.5


def test_pairs_are_answered_where_both_questions_are(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    # "a" is always there and "any" never, but of the second question of every fifth pair nothing is known.
    rows = []
    for number in range(100):
        rows.append({"video": f"v{number}", "question": "is there a dog?", "answer": "yes", "group": f"p{number}"})
        known = number % 5 != 0
        second = {"question": "is there any cat?" if known else "is there a dog?", "answer": "no"}
        rows.append({"video": f"v{number}", "group": f"p{number}"} | second)
    (tmp_path / "q.json").write_text(json.dumps(rows))
    groups = attack(tmp_path / "q.json", capsys)["question-only"]["groups"]
    assert (groups["groups"], groups["accuracy"], groups["guessing"]) == (100, 0.8, 0.25)
    assert main(["audit", str(tmp_path / "q.json")]) == 0
    assert "of 100 groups" in capsys.readouterr().out


def test_videos_made_from_one_take_are_one_source(tmp_path: Path) -> None:
    names = ["7", "7_reverse", "7_concat_0", "8_reverse", "71"]
    rows = [{"video": f"{name}.mp4", "question": "is it?", "answer": "yes"} for name in names]
    (tmp_path / "q.json").write_text(json.dumps(rows))
    found = read_questions(tmp_path / "q.json")
    assert found is not None
    assert [question.video_id for question in found] == ["7", "7", "7", "8_reverse", "71"]
    official = read(tmp_path / "q.json")
    assert [clip.source_id for clip in official.clips] == ["7", "7", "7", "8_reverse", "71"]
    assert [(each.kind, each.ids) for each in official.findings if each.kind == "derived_video"] == [
        ("derived_video", ("7_reverse", "7_concat_0"))
    ]


def test_ties_share_a_question() -> None:
    scores = np.array([2.0, 1.0, 2.0, 0.0, 1.0, -2.0, 4.0, 4.0, 4.0])
    assert answer_choices(scores, np.array([0, 3, 6]), np.array([0, 0, 2])).tolist() == [0.5, 0.0, 1 / 3]
    copies = np.array([False, False, True, False, True, False, False, False, False])
    assert answer_choices(scores, np.array([0, 3, 6]), np.array([0, 0, 2]), copies).tolist() == [1.0, 1.0, 1 / 3]


def test_tables_of_other_benchmarks_are_read(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    lines = [f"v{n},what,{n % 2},cat {n},dog {n}" for n in range(100)]
    (tmp_path / "nextqa.csv").write_text("\n".join(["video,question,answer,a0,a1", *lines]))
    assert attack(tmp_path / "nextqa.csv", capsys)["ensemble"]["guessing"] == 0.5
    rows = [{"video": f"v{n}", "question": "what", "candidates": ["a", "b", "c"], "answer": "b"} for n in range(100)]
    (tmp_path / "mvbench.json").write_text(json.dumps(rows))
    assert attack(tmp_path / "mvbench.json", capsys)["ensemble"]["guessing"] == pytest.approx(1 / 3, abs=1e-6)


@pytest.mark.parametrize(
    ("row", "words"),
    [
        ({"question": "what", "options": ["a"], "answer": 0}, "q.jsonl:1: two or more options are expected"),
        ({"question": "what", "options": ["a", None], "answer": 0}, "q.jsonl:1: two or more options are expected"),
        ({"question": "what", "options": ["a", "b"], "answer": "c"}, "q.jsonl:1: the answer 'c' is no option"),
        ({"question": "what", "options": ["a", "b"]}, "q.jsonl:1: the answer 'None' is no option"),
        ({"question": "what", "options": ["a", "b", "c"], "answer": 1}, "reads as index from 0 and as number from 1"),
    ],
)
def test_bad_question_is_one_sentence(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], row: dict[str, Any], words: str
) -> None:
    (tmp_path / "q.jsonl").write_text(json.dumps(row) + "\n")
    assert main(["audit", str(tmp_path / "q.jsonl")]) == 2
    assert words in capsys.readouterr().err


def test_fixed_rules_are_tried_on_few_questions(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    places = [2] * 36 + [0] * 10 + [1] * 7 + [3] * 7
    # In all but twelve one option is the longest, at the next place to the right one.
    rows = [
        {
            "question": f"what {n}?",
            "options": [f"thing {k}" + " long" * (k == (answer + 1) % 4 and n % 5 > 0) for k in range(4)],
            "answer": "ABCD"[answer],
            "video_id": f"v{n}",
        }
        for n, answer in enumerate(places)
    ]
    table = tmp_path / "q.json"
    table.write_text(json.dumps(rows))
    assert main(["audit", str(table)]) == 0
    printed = capsys.readouterr().out
    opened = (
        "Choosing C always is right in 36 of 60 questions, 0.600, and guessing in 0.250 (exact p < 0.001, one-sided, "
        "by question and not by video): open to blind solving."
    )
    assert "Questions: 60; answers by place: A 10, B 7, C 36, D 7." in printed
    assert "attackers learn from other videos, which takes 100 questions about 5 videos" in printed
    assert opened in printed
    longest = (
        "the longest option is right in 0 of 48 questions that have one, 0.000, and guessing in 0.250 (exact p = 1"
    )
    assert longest in printed
    assert main(["audit", str(table), "--json"]) == 0
    place, _ = json.loads(capsys.readouterr().out)["rules"]
    # For the best of four places.
    assert place["p"] == pytest.approx(4 * stats.binom.sf(35, 60, 0.25), rel=1e-9)
    out = str(tmp_path / "out")
    assert main(["build", "questions", "--quiet", "--workers", "1", "--out", out, "--set", f"annotations={table}"]) == 0
    assert f"multiple\\_choice: {opened}" in (tmp_path / "out" / "dataset" / "README.md").read_text()
    capsys.readouterr()
    assert main(["audit", out, "--page", str(tmp_path / "a.md"), "--page", str(tmp_path / "a.html")]) == 0
    page = (tmp_path / "a.md").read_text()
    assert f"**`multiple_choice`: {opened}**" in page
    # Of clips in one split nothing is compared, and there is nothing to read of it.
    assert re.findall("(?m)^## (.*)", page) == [
        "Blind attackers on questions, `multiple_choice`",
        "For a score on questions",
        "In the annotations",
    ]
    printed = capsys.readouterr().out
    assert printed.splitlines()[0] == "Blind attackers on questions, `multiple_choice`"
    assert printed.rstrip().endswith("Nothing was compared: all clips are in test.")
    assert "What splits share" not in printed
    alert = re.search(r'<p class="alert tone-bad"[^>]*>(.*?)</p>', (tmp_path / "a.html").read_text(), re.DOTALL)
    assert alert is not None
    assert 'tone-good"' not in (tmp_path / "a.html").read_text().partition("</main>")[0].partition("<section")[0]
    assert "Choosing C always is right in 36 of 60" in alert[1]


def test_even_answers_are_open_to_no_rule(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    draw = random.Random(7)
    found = []
    for _ in range(200):
        asked = [([f"{draw.random():.{draw.randint(1, 9)}f}" for _ in range(4)], draw.randrange(4)) for _ in range(40)]
        found += try_fixed_rules(asked)
    # At most one in twenty.
    assert sum(rule.open for rule in found) <= 0.05 * len(found) + 2 * (0.05 * len(found)) ** 0.5
    assert try_fixed_rules([(["the answer"], 0)]) == []


def test_columns_of_questions_and_of_pairs_are_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = [f"v{n},what,{'xy'[n % 2]},x,y" for n in range(100)]
    (tmp_path / "q.csv").write_text("\n".join(["clip,ask,gold,A,B", *rows]))
    named = ["question=ask", "answer=gold", "video_id=clip"]
    options = [part for name in named for part in ("--columns", name)]
    assert main(["audit", str(tmp_path / "q.csv"), "--json", *options]) == 0
    assert json.loads(capsys.readouterr().out)["questions"] == 100
    rows = [f"a cat {n},a dog {n},v{n}" for n in range(20)]
    (tmp_path / "p.csv").write_text("\n".join(["caption,negative_caption,video_id", *rows]))
    options = ["--columns", "true=caption", "--columns", "foil=negative_caption"]
    assert main(["audit", str(tmp_path / "p.csv"), "--json", *options]) == 0
    assert json.loads(capsys.readouterr().out)["attacks"][0]["pairs"] == 20
    assert main(["audit", str(tmp_path / "p.csv")]) == 2
    message = capsys.readouterr().err
    assert "columns question, options (or option_0, option_1, ...," in message
    assert "and one of foils the columns true and foil; the columns are caption, negative_caption, video_id." in message
    assert "--columns question=COLUMN" in message


@pytest.mark.not_on("win32")
def test_dataset_of_questions_is_audited_by_kind(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = [
        {"video_id": f"v{n}", "question": "what?", "options": ["x", "y", f"z{n}"], "answer": "B"}
        | {"split": ("train", "test")[n % 2]}
        for n in range(120)
    ]
    rows += [{"video_id": f"v{n}", "question": f"is it {n % 3}?", "answer": "yes", "split": "test"} for n in (1, 3, 5)]
    # The same in another order, in the other split.
    rows += [{"video_id": "v0", "question": "What?", "options": ["z1", "y", "x"], "answer": "B", "split": "train"}]
    (tmp_path / "q.json").write_text(json.dumps(rows))
    out = str(tmp_path / "out")
    build = ["build", "questions", "--quiet", "--workers", "1", "--out", out]
    assert main([*build, "--set", f"annotations={tmp_path / 'q.json'}"]) == 0
    capsys.readouterr()
    assert main(["audit", out, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    choice = found["questions"]["multiple_choice"]
    assert (choice["questions"], choice["answers_by_place"]) == (121, {"A": 0, "B": 121, "C": 0})
    assert choice["repeated_in_other_splits"] == 2
    assert {attack["attacker"]: attack["accuracy"] for attack in choice["attacks"]}["place"] == 1.0
    assert found["questions"]["yes_no"]["questions"] == 3
    assert main(["audit", out, "--page", str(tmp_path / "page.md")]) == 0
    printed = capsys.readouterr().out
    page = (tmp_path / "page.md").read_text()
    assert (
        "## Blind attackers on questions, `multiple_choice`\n\nQuestions: 121; answers by place: A 0, B 121, C 0."
        in page
    )
    assert "| place | 1.000" in page
    assert page.index("## Blind attackers on questions") < page.index("## What splits share")
    lines = [line for line in page.splitlines() if line.startswith("**")]
    assert lines[0].startswith("**Without the videos, 1.000 of the 121 `multiple_choice` questions are answered (1.000")
    assert lines[0].endswith("guessing 0.333): open to blind solving.**")
    assert "## Blind attackers on questions, `yes_no`\n\nQuestions: 3; answers by place: A 3, B 0." in page
    assert (
        "Blind attackers on questions, `multiple_choice`\nQuestions: 121; answers by place: A 0, B 121, C 0" in printed
    )


@pytest.mark.not_on("win32")
def test_page_of_questions_has_types_places_attackers_and_frames(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = [
        {"video_id": f"v{n}", "question": f"what {n if n % 3 else 'now'}?", "options": ["<x>", "y", f"z{n}"]}
        | {"answer": "B", "type": ("colour", "count")[n % 3 == 0]}
        for n in range(120)
    ]
    (tmp_path / "q.json").write_text(json.dumps(rows))
    (tmp_path / "videos").mkdir()
    picture = ["-f", "lavfi", "-i", "testsrc2=s=64x48:r=5:d=1", "-pix_fmt", "yuv420p"]
    subprocess.run([ffmpeg_path(), "-v", "error", *picture, str(tmp_path / "videos" / "v0.mp4")], check=True)
    out = str(tmp_path / "out")
    build = ["build", "questions", "--quiet", "--workers", "1", "--out", out]
    assert main([*build, "--set", f"annotations={tmp_path / 'q.json'}"]) == 0
    built = capsys.readouterr().out
    audit = ["audit", out, "--page", str(tmp_path / "page.html"), "--videos", str(tmp_path / "videos")]
    assert main(audit) == 0
    page = (tmp_path / "page.html").read_text()
    assert page.count("data:image/webp") == 1
    # One question of each text, though the same is asked of every third video.
    shown = re.findall(r"what (?:now|\d+)\? \(\w+\)", page)
    assert len(shown) == len({*shown}) == 12
    assert re.search(r"colour.*?>80<.*count.*?>40<", page, re.DOTALL)
    assert "Questions by the place of their answer" in page
    assert "An ensemble of" in page
    assert re.search("<h2[^>]*>Blind attackers on questions, <code>multiple_choice</code>", page)
    assert "&lt;x&gt;" in page
    assert "<x>" not in page
    assert "<strong>B. y</strong>" in page
    capsys.readouterr()
    assert main(["show", out, "--page", str(tmp_path / "report.html")]) == 0
    report = (tmp_path / "report.html").read_text()
    assert "Questions: multiple_choice" in report
    headline = (
        "Without the videos, 1.000 of the 120 multiple_choice questions are answered (guessing 0.333): open to blind "
        "solving."
    )
    assert headline in built.splitlines()
    for each in (page, report):
        # The first thing in the page.
        first = re.search(r'<main[^>]*>\s*<p class="alert tone-(\w+)"[^>]*>(.*?)</p>', each, re.DOTALL)
        assert first is not None
        assert first.groups() == ("bad", headline)
    titles = re.findall(r"<h2[^>]*>(.*?)</h2>", report)
    assert titles.index("Questions: multiple_choice") < titles.index("Some questions") < titles.index("Clips")
    assert "0.0 minutes" not in report
    assert "There are no pictures, since the videos are not here; &#39;videos=FOLDER&#39; in a build" in report
