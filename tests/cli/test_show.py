"""`vttdata show` on small datasets."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.helpers.hub.built import build
from vttdata.cli.main import main


def test_figures_count_clips_and_words(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = str(build(tmp_path / "x", ("a dog runs", "a cat")))
    assert main(["show", folder, "--json"]) == 0
    assert "agreement" not in json.loads(capsys.readouterr().out)
    assert main(["show", folder]) == 0
    rows = {line[:12].strip(): line.split()[-1] for line in capsys.readouterr().out.splitlines() if line.strip()}
    assert (rows["clips"], rows["words"], rows["vocabulary"]) == ("2", "5", "4")


@pytest.mark.parametrize("option", [["--json"], ["--similarity"], ["--svo", "en_core_web_sm"]])
def test_page_is_written_instead_of_figures(
    option: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder, page = str(build(tmp_path / "x", ("a dog runs", "a cat"))), tmp_path / "x.html"
    assert main(["show", folder, "--page", str(page), *option]) == 2
    assert capsys.readouterr().err.count("\n") == 1
    assert not page.exists()
