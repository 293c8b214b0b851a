"""`vttdata hits power` on a small campaign."""

from __future__ import annotations

import pytest

from vttdata.cli.main import main


def test_power_prints_a_row_for_each_gap_and_number_of_hits(capsys: pytest.CaptureFixture[str]) -> None:
    command = ["hits", "power", "--systems", "2", "--videos", "40", "--gap", "2,40", "--hits", "4,12", "--seeds", "2"]
    assert main(command) == 0
    shown = capsys.readouterr().out
    assert "20% of workers are bad; 2 seeds" in shown
    assert len(shown.strip().splitlines()) >= 6
    assert main([*command, "--bad", "1"]) == 2
    assert "--bad" in capsys.readouterr().err
