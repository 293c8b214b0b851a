"""Scores of answers through the command line, and their properties against counting by hand."""

from __future__ import annotations

import dataclasses
import itertools
import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.helpers.films import write_film
from vttdata.cli.main import main
from vttdata.dataset.questions import StoredQuestion
from vttdata.evaluate.answers import Answer
from vttdata.evaluate.columns import ScoreColumn
from vttdata.evaluate.evaluation import describe_gains
from vttdata.evaluate.report import Estimate, MetricScores
from vttdata.evaluate.tasks.questions import QuestionItems, score_answers

NUMBER = 24


def write(path: Path, rows: list[dict[str, Any]]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


@pytest.fixture(scope="module")
def dataset(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Provide 24 questions of three options, whose answers are A, B, C in turn, and 24 of yes and no in pairs."""
    folder = tmp_path_factory.mktemp("asked")
    rows: list[dict[str, Any]] = [
        {
            "question_id": f"m{n}",
            "video": f"v{n}",
            "question": f"what is it {n}",
            "options": [f"x{n}", f"y{n}", f"z{n}"],
        }
        | {"answer": "ABC"[n % 3], "type": ("what", "where")[n % 2]}
        for n in range(NUMBER)
    ]
    rows += [
        {"question_id": f"b{n}", "video": f"v{n}", "question": f"is it {n}", "answer": ("yes", "no")[n % 2]}
        | {"group": f"pair{n // 2}", "type": "pairs"}
        for n in range(NUMBER)
    ]
    table = write(folder / "q.jsonl", rows)
    out = folder / "out"
    command = ["build", "questions", "--quiet", "--workers", "1", "--out", str(out), "--set", f"annotations={table}"]
    assert main(command) == 0
    return out


def evaluate(dataset: Path, answers: Path, capsys: pytest.CaptureFixture[str], *options: str) -> dict[str, Any]:
    capsys.readouterr()
    assert main(["evaluate", str(dataset), str(answers), "--json", *options]) == 0
    report: dict[str, Any] = json.loads(capsys.readouterr().out)
    return report


@pytest.mark.not_on("win32")
@pytest.mark.parametrize("metric", ["chance", "accuracy-understood", "yes-share"])
def test_any_single_score_is_printed_by_group(
    dataset: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], metric: str
) -> None:
    answers = write(tmp_path / "a.jsonl", yes_everywhere())
    assert main(["evaluate", str(dataset), str(answers), "--metric", metric]) == 0
    assert capsys.readouterr().out.partition("By type\n\n")[2].split("\n")[0].split() == ["type", "items", metric]


def scores_of(report: dict[str, Any]) -> dict[str, float]:
    return {name: values["all"]["score"] for name, values in report["scores"].items()}


def yes_everywhere() -> list[dict[str, Any]]:
    """Return yes to every question of yes and no, and the first option of all others, with three of them unreadable."""
    rows = [{"question_id": f"m{n}", "prediction": "A" if n > 2 else "hard to say"} for n in range(NUMBER)]
    return rows + [{"question_id": f"b{n}", "prediction": "Yes!"} for n in range(NUMBER)]


@pytest.mark.not_on("win32")
def test_figures_are_those_counted_by_hand(dataset: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "report"
    report = evaluate(dataset, write(tmp_path / "a.jsonl", yes_everywhere()), capsys, "--out", str(out))
    scores = scores_of(report)
    # What guessing reaches follows from the options, and no draw changes it.
    assert report["scores"]["chance"]["all"]["low"] is None
    # Of 24 with A for an answer every third, the first one among three that are unreadable.
    expected = {
        "accuracy": (7 + 12) / 48,
        "accuracy-understood": (7 + 12) / 45,
        "accuracy/multiple_choice": 7 / 24,
        "accuracy/yes_no": 1 / 2,
        "chance": (1 / 3 + 1 / 2) / 2,
        "balanced-accuracy": 1 / 2,
        "yes-share": 1.0,
        "group-accuracy": 0.0,
        "group-prefix": 1 / 2,
    }
    assert {name: scores[name] for name in expected} == pytest.approx(expected)
    assert "gain-over-blind" not in scores
    assert any("takes 100 questions about 5 videos" in finding for finding in report["findings"])
    assert report["not_understood"] == {f"m{n}": "hard to say" for n in range(3)}
    assert report["answers"] == {"understood": 45, "not_understood": 3}
    assert "rules:standard-2" in report["signature"]
    assert "understood 3 of 48 answers" in report["findings"][0]
    by_place = {
        place: columns["accuracy/multiple_choice"]["score"] for place, columns in report["groups"]["place"].items()
    }
    assert by_place == pytest.approx({"A": 7 / 8, "B": 0.0, "C": 0.0})
    assert report["groups"]["type"]["what"]["accuracy"]["items"] == 12
    lines = [json.loads(line) for line in (out / "items.jsonl").read_text().splitlines()]
    first = {line["item"]: line for line in lines if line["metric"] == "accuracy"}
    assert (first["m3"]["value"], first["m3"]["predicted"]) == (1.0, ["answered: A (x3)"])
    assert (first["m0"]["predicted"], first["b0"]["predicted"]) == (["answered: hard to say"], ["answered: Yes!"])


@pytest.mark.not_on("win32")
def test_one_kind_can_be_scored_alone(dataset: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    answers = write(tmp_path / "a.jsonl", yes_everywhere()[NUMBER:])
    report = evaluate(dataset, answers, capsys, "--config", "questions/yes_no")
    assert (report["items"]["expected"], report["scores"]["accuracy"]["all"]["score"]) == (24, 0.5)
    assert main(["evaluate", str(dataset), str(answers)]) == 2
    assert "24 of 48 items have no answer" in capsys.readouterr().err


@pytest.mark.not_on("win32")
def test_runs_with_permuted_options_agree_where_they_name_the_same(
    dataset: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    plain = [{"question_id": f"m{n}", "prediction": "A"} for n in range(NUMBER)]
    turned = [{**row, "options": [f"z{n}", f"x{n}", f"y{n}"], "prediction": "B"} for n, row in enumerate(plain)]
    turned[0]["prediction"] = "A"
    files = [write(tmp_path / f"{name}.jsonl", rows) for name, rows in (("plain", plain), ("turned", turned))]
    options = ["--config", "questions/multiple_choice", "--permuted", str(files[1])]
    scores = scores_of(evaluate(dataset, files[0], capsys, *options))
    assert (scores["agreement"], scores["circular-accuracy"]) == pytest.approx((23 / 24, 7 / 24))
    assert main(["evaluate", str(dataset), str(files[0]), *options[:3], str(files[0])]) == 2
    assert "plain.jsonl:1: there are no 'options'" in capsys.readouterr().err


@pytest.mark.not_on("win32")
def test_page_shows_what_was_answered_and_a_frame_of_the_video(
    dataset: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    # Rows name their questions by video and text, under other names.
    rows = [{"clip": f"v{n}", "q": f"what is it {n}", "prediction": "B"} for n in range(NUMBER)]
    answers, page = write(tmp_path / "a.jsonl", rows), tmp_path / "page.html"
    command = ["--config", "questions/multiple_choice", "--columns", "video_id=clip", "--columns", "question=q"]
    (tmp_path / "films").mkdir()
    for n in range(NUMBER):
        write_film(tmp_path / "films" / f"v{n}.mp4", 1, 1)
    evaluate(dataset, answers, capsys, *command, "--page", str(page), "--videos", str(tmp_path / "films"))
    best, worst = page.read_text(encoding="utf-8").partition('id="worst"')[::2]
    assert best.count("answered: B (y") == worst.count("answered: B (y") == 8
    assert worst.count("data:image/webp") == 8


@pytest.mark.not_on("win32")
def test_answers_by_another_id_are_told_both_ways_out(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = [
        {"nr": n, "video": f"v{n % 3}", "question": f"is it {n}", "options": ["x", "y"], "answer": "A"}
        for n in range(9)
    ]
    table = write(tmp_path / "q.jsonl", rows)
    given = [{"nr": n, "clip": f"v{n % 3}", "q": f"is it {n}", "prediction": "A"} for n in range(9)]
    answers = write(tmp_path / "a.jsonl", given)
    for name, columns in (("plain", ()), ("numbered", ("--columns", "question_id=nr"))):
        build = ["build", "questions", "--quiet", "--workers", "1", "--out", str(tmp_path / name)]
        assert main([*build, "--set", f"annotations={table}", *columns]) == 0
    capsys.readouterr()
    by_number = ["--columns", "question_id=nr"]
    assert main(["evaluate", str(tmp_path / "plain"), str(answers), *by_number]) == 2
    error = capsys.readouterr().err
    assert (
        "(--columns video_id=COLUMN --columns question=COLUMN), and a build with --columns question_id=COLUMN" in error
    )
    by_text = ["--columns", "video_id=clip", "--columns", "question=q"]
    for name, columns in (("plain", by_text), ("numbered", by_number)):
        assert evaluate(tmp_path / name, answers, capsys, *columns)["scores"]["accuracy"]["all"]["score"] == 1


@pytest.mark.parametrize(
    ("low", "high", "words"),
    [(-0.0133, 0.0223, "-0.0133 to 0.0223, holds 0"), (-0.2, -0.1, "-0.2000 to -0.1000, is below 0")],
)
def test_gain_that_is_not_above_0_is_told(low: float, high: float, words: str) -> None:
    gain = MetricScores(Estimate(0.0042, low, high, 99))
    (sentence,) = describe_gains({"accuracy": MetricScores(Estimate(0.0, 0.0, 0.0, 99)), "gain-over-blind": gain})
    assert sentence == f"gain-over-blind is 0.0042, and its interval, {words}: no sign that the system uses the videos."
    assert describe_gains({"gain-over-blind": MetricScores(Estimate(0.2, 0.1, 0.3, 99))}) == []


@pytest.mark.not_on("win32")
def test_systems_are_compared_and_trained_videos_apart(
    dataset: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    first = write(tmp_path / "first.jsonl", yes_everywhere())
    second = write(tmp_path / "second.jsonl", [row | {"prediction": "no"} for row in yes_everywhere()])
    (tmp_path / "seen.txt").write_text("".join(f"v{n}\n" for n in range(6)))
    report = evaluate(dataset, first, capsys, "--against", str(second), "--train-split", str(tmp_path / "seen.txt"))
    assert report["against"]["accuracy/multiple_choice"]["difference"] == pytest.approx(7 / 24)
    assert report["leaks"]["leaked"] == 12
    # Of m0 to m5, m3 is right; of b0 to b5 three.
    assert report["scores"]["accuracy"]["leaked"]["score"] == pytest.approx(4 / 12)


@pytest.mark.not_on("win32")
@pytest.mark.parametrize(
    ("rows", "words"),
    [
        (
            [{"question_id": "m99", "prediction": "A"}],
            "none of the 1 answers is about one of the 48 items: an id in the file is 'm99'",
        ),
        ([*yes_everywhere(), yes_everywhere()[0]], "1 answers are about an item that has one already (first 'm0')"),
    ],
)
def test_answers_to_other_questions_are_refused(
    dataset: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], rows: list[dict[str, Any]], words: str
) -> None:
    assert main(["evaluate", str(dataset), str(write(tmp_path / "a.jsonl", rows))]) == 2
    assert words in capsys.readouterr().err


def items_of(groups: list[str | None], types: list[str | None] | None = None) -> QuestionItems:
    number = len(groups)
    ids = [f"q{index}" for index in range(number)]
    asked = zip(ids, groups, types or [None] * number, strict=True)
    return QuestionItems(
        dataset="d",
        version="1",
        config="questions",
        split="test",
        ids=ids,
        sources=np.arange(number),
        source_ids=ids,
        questions=[
            StoredQuestion(name, name, "multiple_choice", "?", ("x", "y"), ("A", "B"), 0, group=group, type=kind)
            for name, group, kind in asked
        ],
    )


def answers_of(right: list[bool | None]) -> list[Answer]:
    return [Answer(None if is_right is None else frozenset({int(not is_right)})) for is_right in right]


def value_of(column: ScoreColumn) -> float:
    assert not hasattr(column.scores, "median")
    return float(np.mean(column.scores.items))


@given(st.lists(st.tuples(st.integers(0, 3), st.booleans()), min_size=2, max_size=24))
def test_group_scores_are_those_of_brute_force(answered: list[tuple[int, bool]]) -> None:
    columns, _ = score_answers(
        answers_of([right for _, right in answered]), items_of([f"g{group}" for group, _ in answered])
    )
    groups: dict[int, list[bool]] = {}
    for group, right in answered:
        groups.setdefault(group, []).append(right)
    members = [rights for rights in groups.values() if len(rights) > 1]
    if not members:
        assert "group-accuracy" not in columns
        return
    prefixes = [next((place for place, right in enumerate(rights) if not right), len(rights)) for rights in members]
    assert value_of(columns["group-accuracy"]) == pytest.approx(sum(map(all, members)) / len(members))
    shares = [prefix / len(rights) for prefix, rights in zip(prefixes, members, strict=True)]
    assert value_of(columns["group-prefix"]) == pytest.approx(sum(shares) / len(shares))


@given(st.lists(st.lists(st.sampled_from([0.0, 0.25, 0.5, 1.0]), min_size=2, max_size=4), min_size=1, max_size=4))
def test_blind_score_of_a_group_is_that_of_guesses_for_each_question(groups: list[list[float]]) -> None:
    items = items_of([f"g{number}" for number, blind in enumerate(groups) for _ in blind])
    chances = zip(items.questions, itertools.chain.from_iterable(groups), strict=True)
    items = dataclasses.replace(items, questions=[dataclasses.replace(asked, blind=blind) for asked, blind in chances])
    columns, _ = score_answers(answers_of([True] * len(items.ids)), items)
    # All outcomes of a group, each with its probability; in one of them all answers are right.
    expected = [
        sum(
            math.prod(chance if hit else 1 - chance for chance, hit in zip(blind, hits, strict=True))
            for hits in itertools.product((True, False), repeat=len(blind))
            if all(hits)
        )
        for blind in groups
    ]
    assert value_of(columns["group-blind"]) == pytest.approx(sum(expected) / len(expected))
    assert value_of(columns["group-gain-over-blind"]) == pytest.approx(1 - sum(expected) / len(expected))


@given(st.lists(st.tuples(*[st.booleans()] * 4), min_size=1, max_size=8))
def test_text_video_and_group_scores_are_those_of_winoground(groups: list[tuple[bool, bool, bool, bool]]) -> None:
    right = [answer for group in groups for answer in group]
    names = [f"g{number}" for number, _ in enumerate(groups) for _ in range(4)]
    columns, _ = score_answers(
        answers_of([*right]), items_of([*names], ["text", "text", "video", "video"] * len(groups))
    )
    assert value_of(columns["group-accuracy/text"]) == pytest.approx(np.mean([a and b for a, b, _, _ in groups]))
    assert value_of(columns["group-accuracy/video"]) == pytest.approx(np.mean([c and d for _, _, c, d in groups]))
    assert value_of(columns["group-accuracy"]) == pytest.approx(np.mean([all(group) for group in groups]))


@given(st.lists(st.booleans(), min_size=10, max_size=40), st.randoms(use_true_random=False))
def test_answers_that_no_rule_understands_never_raise_the_score(right: list[bool], draw: Any) -> None:
    damaged: list[bool | None] = [*right]
    for index in draw.sample(range(len(right)), len(right) // 10):
        damaged[index] = None
    items = items_of([None] * len(right))
    before, after = (score_answers(answers_of([*given]), items)[0] for given in (right, damaged))
    assert value_of(after["accuracy"]) <= value_of(before["accuracy"])
    assert value_of(after["accuracy"]) == sum(answer is True for answer in damaged) / len(right)
    assert len(after["accuracy-understood"].items) == len(right) - damaged.count(None)


@pytest.mark.not_on("win32")
def test_errata_of_an_audit_are_left_out_of_a_second_accuracy(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def asked(name: str, options: list[str], answer: str, **more: Any) -> dict[str, Any]:
        return {
            "question_id": name,
            "video": "v",
            "question": f"q {name[0]}",
            "options": options,
            "answer": answer,
        } | more

    rows = [
        asked("a1", ["one dog", "one cat", "One cat."], "A"),
        asked("b1", ["one dog", "ONE DOG", "a cat"], "A"),
        asked("c1", ["one dog", "one cat"], "A"),
        asked("c2", ["one cat", "one dog"], "A"),
        asked("d1", ["one dog", "one cat"], "A", start=0, end=5),
        asked("d2", ["one dog", "one cat"], "B", start=5, end=9),
        asked("e1", ["l, 3", "L, 3", "m"], "A"),
    ]
    table, out = write(tmp_path / "q.jsonl", rows), tmp_path / "out"
    command = ["build", "questions", "--quiet", "--workers", "1", "--out", str(out), "--set", f"annotations={table}"]
    assert main(command) == 0
    errata = tmp_path / "errata.csv"
    assert main(["audit", str(out), "--errata", str(errata)]) == 0
    assert errata.read_text().splitlines() == [
        "question_id,error,detail",
        "a1,doubled_options,B = C",
        "b1,two_keys,A = B",
        "c1,two_answers,c2",
        "c2,two_answers,c1",
    ]
    answers = write(
        tmp_path / "answers.jsonl", [{"question_id": row["question_id"], "prediction": "A"} for row in rows]
    )
    report = evaluate(out, answers, capsys, "--errata", str(errata))
    assert report["scores"]["accuracy"]["all"]["score"] == pytest.approx(6 / 7)
    assert report["scores"]["accuracy-without-errata"]["all"]["score"] == pytest.approx(2 / 3)
    assert any("4 of 7 (doubled_options 1, two_answers 2, two_keys 1)" in finding for finding in report["findings"])
    errata.write_text("question_id,error\na1,wrong\n")
    assert main(["evaluate", str(out), str(answers), "--errata", str(errata)]) == 2
    assert "errata.csv:2: the error 'wrong' is none of" in capsys.readouterr().err
