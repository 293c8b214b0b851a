"""`vttdata hits compare` on two evaluations and on metrics."""

from __future__ import annotations

import csv
import re
from pathlib import Path

import pytest

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


def metric(file: Path, *, sign: float, captions: int | None = None) -> str:
    rows: list[list[object]] = [
        [video, name, sign * z + place * (name == "b") - len(name)]
        for name, z in FIRST.items()
        for place, video in enumerate(VIDEOS)
    ]
    return table(file, "video_id system score", rows[:captions])


def lines(text: str, start: str) -> list[list[str]]:
    return [re.split(r" {2,}", line) for line in text.splitlines() if line.startswith(start)]


def test_two_evaluations_are_correlated_over_systems_without_people(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    files = captions(tmp_path / "1.csv", FIRST), captions(tmp_path / "2.csv", SECOND)
    assert main(["hits", "compare", *files]) == 0
    printed = capsys.readouterr().out
    assert lines(printed, "z ") == [["z", "4", "-0.200", "-0.200", "0.000"]]
    assert lines(printed, "raw ") == [["raw", "4", "-", "-", "-"]]
    assert main(["hits", "compare", *files, "--leave-out", "d"]) == 0
    assert lines(capsys.readouterr().out, "z ")[0][1] == "4"
    assert main(["hits", "compare", *files, "--leave-out", "d", "--leave-out", "human"]) == 0
    assert lines(capsys.readouterr().out, "z ") == [["z", "3", "1.000", "1.000", "1.000"]]


def test_metrics_are_correlated_with_people_and_tested_against_each_other(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    files = [metric(tmp_path / "good.csv", sign=1), metric(tmp_path / "bad.csv", sign=-1, captions=11)]
    assert main(["hits", "compare", captions(tmp_path / "1.csv", FIRST), "--metric", *files]) == 0
    printed = capsys.readouterr().out
    assert "bad has no score of 1 of 12 judged captions" in printed
    assert "good has" not in printed
    assert "Judged captions 12, systems 4, videos 3, assessments 24." in printed
    # Of the table of agreement, then of Williams' test by caption and by system.
    (good, *better), (bad, *worse) = (lines(printed, f"{name}  ")[-3:] for name in ("good", "bad"))
    assert float(good[1].split()[0]) > 0.7
    assert float(bad[1].split()[0]) < 0
    assert float(better[1][2]) < 0.05 < 0.5 < float(worse[1][1])


def test_too_few_systems_are_noted_and_captions_still_tested(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    files = [metric(tmp_path / "good.csv", sign=1), metric(tmp_path / "bad.csv", sign=-1)]
    few = captions(tmp_path / "1.csv", {name: FIRST[name] for name in "ab"})
    assert main(["hits", "compare", few, "--metric", *files]) == 0
    printed = capsys.readouterr().out
    assert "Williams' test by system needs at least 4 systems." in printed
    assert "Williams' test, by caption" in printed
    assert "Williams' test, by system" not in printed


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
    assert main(["hits", "compare", str(tmp_path / "1.csv"), str(tmp_path / "1.csv")]) == 2
    told = capsys.readouterr().err
    assert words in told
    assert told.count("\n") == 1


def test_comparison_with_nothing_or_of_one_name_twice_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    first = captions(tmp_path / "1.csv", FIRST)
    assert main(["hits", "compare", first]) == 2
    assert "nothing to compare with" in capsys.readouterr().err
    files = [metric(tmp_path / "m.csv", sign=1)] * 2
    assert main(["hits", "compare", first, "--metric", *files]) == 2
    assert "the same name" in capsys.readouterr().err
