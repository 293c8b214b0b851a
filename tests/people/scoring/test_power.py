"""Test how power depends on the number of HITs, the difference between systems, and bad workers."""

from __future__ import annotations

import math

import pytest

from vttdata.cli.main import main
from vttdata.errors import VttdataError
from vttdata.people.scoring.power import crowd, placeholder_hits, power
from vttdata.people.scoring.simulation import BEHAVIOURS


def test_placeholder_hits_show_every_caption() -> None:
    hits = placeholder_hits(3, 60)
    shown = [item for items in hits.values() for item in items.values() if item.kind == "system"]
    assert {(item.system, item.video_id) for item in shown} == {
        (f"system{s}", f"video{v}") for s in (1, 2, 3) for v in range(1, 61)
    }
    assert all(len(items) == 100 for items in hits.values())


def test_crowd_has_the_given_share_of_bad_workers() -> None:
    assert set(BEHAVIOURS) > set(crowd(50, 0.2).values())
    assert sum(behaviour in ("lazy", "random") for behaviour in crowd(50, 0.2).values()) == 10
    assert set(crowd(10, 1.0, ("colluding",)).values()) == {"colluding"}
    assert crowd(50, 0.2) == crowd(50, 0.2)


def test_power_grows_with_hits_and_gap_and_equal_systems_rarely_win() -> None:
    hits = placeholder_hits(4, 140)
    few, many = power(hits, 2, 8, seeds=8), power(hits, 16, 8, seeds=8)
    none, large = power(hits, 16, 0, seeds=8), power(hits, 16, 40, seeds=8)
    assert few.power < many.power < large.power == 1
    assert none.power < 0.3
    assert max(estimate.false for estimate in (few, many, none, large)) < 0.15
    assert many.caught > 0.8
    assert many.lost < 0.1
    assert power(hits, 16, 8, seeds=2) == power(hits, 16, 8, seeds=2)


def test_power_is_zero_without_reliable_workers() -> None:
    alone = power(placeholder_hits(2, 140), 1, 50, bad=1.0, seeds=2)
    assert (alone.power, alone.caught) == (0, 1)
    assert math.isnan(alone.lost)
    assert (alone.hits, alone.gap) == (1, 50)


def test_power_needs_two_systems() -> None:
    with pytest.raises(VttdataError, match="the HITs show 1"):
        power(placeholder_hits(1, 80), 4, 5)


def test_command_takes_placeholder_and_real_campaigns(capsys: pytest.CaptureFixture[str]) -> None:
    command = ["people", "plan", "--systems", "2", "--videos", "70", "--gap", "30", "--seeds", "2"]
    assert main(command) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "2 HITs; 20% of workers are bad; 2 seeds"
    assert lines[2].split() == ["hits", "gap", "power", "false", "caught", "lost"]
    assert [line.split()[:2] for line in lines[3:]] == [["1", "30"], ["2", "30"], ["4", "30"], ["8", "30"]]
    assert len({len(line) for line in lines[2:]}) == 1
    assert main(["people", "plan", "missing.csv"]) == 2
    assert "missing.csv" in capsys.readouterr().err


@pytest.mark.parametrize("wrong", [["--gap", "x"], ["--hits", "0"], ["--bad", "1"], ["--seeds", "9999999999"]])
def test_invalid_numbers_are_bad_usage(wrong: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["people", "plan", *wrong]) == 2
    assert capsys.readouterr().err.count("\n") == 1
