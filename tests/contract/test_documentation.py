"""Tables in the documentation say what the code says."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def test_documentation_tables_match_the_code() -> None:
    command = [sys.executable, str(ROOT / "docs" / "tables.py"), "--check"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=ROOT)
    assert (done.returncode, done.stdout) == (0, "")


def test_notebooks_were_run_from_start_to_end() -> None:
    for file in (ROOT / "docs").rglob("*.ipynb"):
        cells = [cell for cell in json.loads(file.read_bytes())["cells"] if cell["cell_type"] == "code"]
        assert [cell["execution_count"] for cell in cells] == [*range(1, len(cells) + 1)]
        assert sum(bool(cell["outputs"]) for cell in cells) > len(cells) / 2
