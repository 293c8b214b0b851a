"""`vttdata diff` on small datasets."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.helpers.hub.built import build
from vttdata.cli.main import main


def test_diff_names_changed_and_added_rows_and_the_version_they_need(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    old = str(build(tmp_path / "old", ("a dog", "a cat")))
    new = str(build(tmp_path / "new", ("a dog", "a cow", "a hen")))
    assert main(["diff", old, old]) == 0
    assert capsys.readouterr().out == "No row differs.\n"
    assert main(["diff", old, new, "--json"]) == 4
    content = json.loads(capsys.readouterr().out)
    assert (content["version"], content["next_version"]) == ("1.0.0", "2.0.0")
    assert main(["diff", old, new]) == 4
    assert "needs a new MAJOR version (after 1.0.0: 2.0.0)" in capsys.readouterr().out
