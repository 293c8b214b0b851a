"""`vttdata people score --against`: two evaluations of the same systems."""

from __future__ import annotations

import csv
import re
from pathlib import Path

import pytest

from tests.cli.people.test_score import campaign
from vttdata.cli.main import main

# Means of z: a -1, b 0, c 1, d 2; of the second evaluation 1, 2, 3, 0. Pearson's r of these is -0.2.
FIRST = {"a": -1.0, "b": 0.0, "c": 1.0, "d": 2.0, "human": 9.0}
SECOND = {"a": 1.0, "b": 2.0, "c": 3.0, "d": 0.0, "human": 9.0}
VIDEOS = ("v0", "=v1", "v2")


def captions(file: Path, means: dict[str, float]) -> str:
    rows = [[video, name, 50, z + place - 1, 2] for name, z in means.items() for place, video in enumerate(VIDEOS)]
    return table(file, "video_id system raw z assessments", rows)


def table(file: Path, head: str, rows: list[list[object]]) -> str:
    with file.open("w", newline="") as stream:
        csv.writer(stream).writerows([head.split(), *rows])
    return str(file)


def compare(first: str, second: str) -> list[str]:
    return ["people", "score", first, "--against", second]


def lines(text: str, start: str) -> list[list[str]]:
    return [re.split(r" {2,}", line) for line in text.splitlines() if line.startswith(start)]


def test_two_evaluations_are_correlated_over_systems_without_people(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    files = captions(tmp_path / "1.csv", FIRST), captions(tmp_path / "2.csv", SECOND)
    assert main(compare(*files)) == 0
    printed = capsys.readouterr().out
    assert lines(printed, "z ") == [["z", "4", "-0.200", "-0.200", "0.000"]]
    assert lines(printed, "raw ") == [["raw", "4", "-", "-", "-"]]
    assert main([*compare(*files), "--leave-out", "d"]) == 0
    assert lines(capsys.readouterr().out, "z ")[0][1] == "4"
    assert main([*compare(*files), "--leave-out", "d", "--leave-out", "human"]) == 0
    assert lines(capsys.readouterr().out, "z ") == [["z", "3", "1.000", "1.000", "1.000"]]


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("video_id,system,raw,z,assessments\n", "contains no scores"),
        ("video_id,system,raw,z,assessments\nv,a,1,nan,1\n", ":2: 'z' is 'nan', which is not a finite number"),
        ("video_id,system,raw,z,assessments\nv,a,1,1,1\nv,a,1,1,1\n", ":3: the caption of 'v' by 'a' is duplicated"),
        ("video_id,system\nv,a\n", "there is no column 'raw'"),
    ],
)
def test_unusable_table_is_refused_in_one_sentence(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], content: str, words: str
) -> None:
    (tmp_path / "1.csv").write_text(content)
    assert main(compare(str(tmp_path / "1.csv"), str(tmp_path / "1.csv"))) == 2
    message = capsys.readouterr().err
    assert words in message
    assert message.count("\n") == 1


def test_results_are_scored_and_then_compared(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    scored = campaign(tmp_path, {"a": "diligent", "b": "diligent"})
    assert main(scored) == 0
    earlier = str(tmp_path / "o" / "captions.csv")
    capsys.readouterr()
    assert main([*scored, "--against", earlier, "--leave-out", "person"]) == 0
    printed = capsys.readouterr().out
    assert "Systems" in printed
    assert lines(printed, "z ") == [["z", "3", "1.000", "1.000", "1.000"]]
    assert main(["people", "score", earlier, "second.csv", "--against", earlier]) == 2
    assert "--out" in capsys.readouterr().err
