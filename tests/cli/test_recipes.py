"""`vttdata recipes`."""

from __future__ import annotations

import pytest

from vttdata.cli.main import main
from vttdata.recipe import packaged


def test_every_packaged_recipe_is_listed_on_a_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["recipes"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines] == sorted(packaged.recipes())
    assert all(len(line.split()) > 3 for line in lines)
