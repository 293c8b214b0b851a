"""The notebook of the examples runs from start to end, and prints what it shows."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.helpers.needs import library
from tests.helpers.notebooks import run_notebook

library("spacy")

NOTEBOOK = Path(__file__).resolve().parents[2] / "docs" / "examples" / "first-look.ipynb"


def printed(notebook: dict[str, Any]) -> list[list[str]]:
    """Return what each cell of code printed."""
    cells = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
    return [[line for output in cell["outputs"] for line in output.get("text", ())] for cell in cells]


@pytest.mark.not_on("win32")
@pytest.mark.long
def test_notebook_prints_what_it_shows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert printed(run_notebook(NOTEBOOK)) == printed(json.loads(NOTEBOOK.read_bytes()))
