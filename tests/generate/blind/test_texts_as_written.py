"""VideoCorpus reach blind attackers as they are written, whatever the format of the file."""

from __future__ import annotations

import csv
import json
import random
from pathlib import Path

import pytest

from vttdata.cli.main import main
from vttdata.compose.foils import read_questions, read_text_pairs

ENDS = ["", " ", "  ", "\n", "\u00a0", "\t"]


def write_pairs(folder: Path, rows: list[tuple[str, str, str]]) -> list[Path]:
    """Write pairs as JSON, JSON lines, CSV and TSV, by the writers of Python."""
    named = [dict(zip(("true", "foil", "video_id"), row, strict=True)) for row in rows]
    (folder / "pairs.json").write_text(json.dumps(named), encoding="utf-8")
    (folder / "pairs.jsonl").write_text("".join(json.dumps(row) + "\n" for row in named), encoding="utf-8")
    for suffix, delimiter in ((".csv", ","), (".tsv", "\t")):
        with (folder / f"pairs{suffix}").open("w", encoding="utf-8", newline="") as stream:
            csv.writer(stream, delimiter=delimiter).writerows([("true", "foil", "video_id"), *rows])
    return [folder / f"pairs{suffix}" for suffix in (".json", ".jsonl", ".csv", ".tsv")]


@pytest.mark.parametrize("before", ["", " "])
@pytest.mark.parametrize("after", ENDS)
def test_texts_are_read_as_they_are_written(tmp_path: Path, before: str, after: str) -> None:
    rows = [(f"{before}a dog, {number}{after}", f"a cat, {number}", f"v{number}") for number in range(3)]
    for path in write_pairs(tmp_path, rows):
        pairs = read_text_pairs(str(path))["foils"]
        assert [(pair.true, pair.foil, pair.video_id) for pair in pairs] == rows, path.suffix


def test_spaces_between_the_cells_of_a_table_are_no_text(tmp_path: Path) -> None:
    (tmp_path / "pairs.csv").write_text('true, foil, video_id\na dog, "a cat, a cow", v\na cow, a pig, w\n')
    pairs = read_text_pairs(str(tmp_path / "pairs.csv"))["foils"]
    assert [(pair.true, pair.foil, pair.video_id) for pair in pairs] == [
        ("a dog", "a cat, a cow", "v"),
        ("a cow", "a pig", "w"),
    ]


def test_a_space_at_the_end_of_true_texts_is_found_in_every_format(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    draw = random.Random(4)
    rows = []
    for number in range(200):
        true, foil = draw.sample(["dog", "cat", "cow", "pig"], 2)
        rows.append((f"a {true} runs ", f"a {foil} runs", f"v{number}"))
    outputs = set()
    for path in write_pairs(tmp_path, rows):
        assert main(["audit", str(path), "--json"]) == 0
        outputs.add(capsys.readouterr().out)
    (only,) = outputs
    assert json.loads(only)["attacks"][0]["accuracy"] == 1.0


def test_options_keep_their_spaces(tmp_path: Path) -> None:
    rows = [("what?", "a dog ", "a cat", "a dog", "v1"), ("what?", "a cow ", "a pig", "a cow", "v2")]
    with (tmp_path / "questions.csv").open("w", encoding="utf-8", newline="") as stream:
        csv.writer(stream).writerows([("question", "a0", "a1", "answer", "video_id"), *rows])
    questions = read_questions(tmp_path / "questions.csv")
    assert questions is not None
    assert [question.options for question in questions] == [("a dog ", "a cat"), ("a cow ", "a pig")]
    assert [question.answer for question in questions] == [0, 0]
