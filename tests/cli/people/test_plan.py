"""`vttdata people plan`: intervals and costs of ratings, power of HITs."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.people.test_make import MAKE, inputs
from vttdata.cli.main import main


def test_power_prints_a_row_for_each_gap_and_number_of_hits(capsys: pytest.CaptureFixture[str]) -> None:
    command = ["people", "plan", "--systems", "2", "--videos", "40", "--gap", "2,40", "--hits", "4,12", "--seeds", "2"]
    assert main(command) == 0
    shown = capsys.readouterr().out
    assert "20% of workers are bad; 2 seeds" in shown
    assert len(shown.strip().splitlines()) >= 6
    assert main([*command, "--bad", "1"]) == 2
    assert "--bad" in capsys.readouterr().err


def test_price_of_hits_is_that_of_the_paper(capsys: pytest.CaptureFixture[str]) -> None:
    # Graham et al. (PLOS ONE 2018): 0.99 dollars a HIT and a fee of 20 %, 110 dollars for five systems.
    command = ["people", "plan", "--systems", "2", "--videos", "40", "--gap", "40", "--hits", "93", "--seeds", "1"]
    assert main([*command, "--price", "0.99", "--fee", "0.2"]) == 0
    head, row = (line.split() for line in capsys.readouterr().out.splitlines()[-2:])
    assert (head[-1], row[-1]) == ("cost", "110.48")
    assert main([*command, "--fee", "0.2"]) == 2
    assert "name it by --price" in capsys.readouterr().err


def test_campaign_and_its_exported_manifest_give_the_same_plan(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([*MAKE, *inputs(tmp_path), "--out", str(tmp_path / "campaign")]) == 0
    export = ["people", "export", str(tmp_path / "campaign"), "--format", "csv", "--out", str(tmp_path / "hits")]
    assert main(export) == 0
    plans = []
    for place in (tmp_path / "campaign", tmp_path / "hits" / "manifest.csv"):
        capsys.readouterr()
        assert main(["people", "plan", str(place), "--gap", "20", "--hits", "6", "--seeds", "1"]) == 0
        plans.append(capsys.readouterr().out)
    assert plans[0] == plans[1]
    assert plans[0].startswith("6 HITs; ")


def test_workers_of_small_hits_are_judged_by_the_pairs_that_these_have(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Eight videos have at most eight pairs a HIT, and good workers find a degraded caption worse by 40 points."""
    assert main([*MAKE, *inputs(tmp_path, 8), "--out", str(tmp_path / "campaign")]) == 0
    assert "workers are judged from 8 pairs on" in capsys.readouterr().err
    export = ["people", "export", str(tmp_path / "campaign"), "--format", "csv", "--out", str(tmp_path / "hits")]
    assert main(export) == 0
    campaigns = [str(tmp_path / "campaign")], [str(tmp_path / "hits" / "manifest.csv")]
    for arguments in (*campaigns, ["--systems", "3", "--videos", "8"]):
        capsys.readouterr()
        command = ["people", "plan", *arguments, "--hits", "8", "--gap", "40", "--seeds", "5", "--bad", "0"]
        assert main(command) == 0, capsys.readouterr().err
        row = capsys.readouterr().out.splitlines()[-1].split()
        assert float(row[2]) > 0.5
        assert float(row[-1]) < 0.35
    assert main(["people", "plan", "--systems", "3", "--videos", "4"]) == 2
    error = capsys.readouterr().err
    assert "at least 5 are needed" in error
    assert "--set" not in error


def test_items_give_intervals_hours_and_cost(capsys: pytest.CaptureFixture[str]) -> None:
    command = ["people", "plan", "--items", "100", "--judgments", "4,16", "--sd", "2", "--seconds", "36"]
    assert main([*command, "--controls", "0", "--hourly", "10"]) == 0
    rows = [line.split() for line in capsys.readouterr().out.splitlines()[1:3]]
    assert [(row[0], row[3], row[4]) for row in rows] == [("4", "4.0", "40.00"), ("16", "16.0", "160.00")]
    # Student's t for 95 % is 3.182 with 3 degrees of freedom and 2.131 with 15.
    assert [float(row[1]) for row in rows] == pytest.approx([3.182 * 2 / 2, 2.131 * 2 / 4], abs=1e-3)


def test_judge_needs_fewer_rated_items(capsys: pytest.CaptureFixture[str]) -> None:
    command = [
        "people",
        "plan",
        "--items",
        "100",
        "--judgments",
        "1",
        "--sd",
        "0",
        "--judge-correlation",
        "0.7",
        "--hourly",
        "10",
    ]
    assert main([*command, "--seconds", "36", "--controls", "0", "--judged", "1000"]) == 0
    row = capsys.readouterr().out.splitlines()[1].split()
    # .51 / (1 / 100 - .49 / 1000) is 53.6.
    assert row[-2:] == ["54", "5.40"]


@pytest.mark.parametrize(
    "arguments",
    [
        ["--items", "9", "--gap", "3"],
        ["--sd", "2"],
        ["campaign", "--items", "9"],
        ["nowhere"],
        ["--items", "9", "--judge-correlation", "0.9", "--sd", "3"],
        ["--items", "9", "--judge-correlation", "0.2", "--judged", "8"],
        ["--items", "9", "--judged", "80"],
    ],
)
def test_options_of_both_kinds_of_plan_are_refused_together(
    arguments: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["people", "plan", *arguments]) == 2
    assert capsys.readouterr().err.count("\n") == 1
