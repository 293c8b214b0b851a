"""Tables in the documentation say what the code says."""

from __future__ import annotations

import importlib
import json
import random
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from vttdata.cli.main import main

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


def test_tables_of_questions_tell_what_is_in_a_build(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    draw, words = random.Random(5), [f"{a}{b}" for a in ("ba", "ke", "mo", "ti", "su") for b in ("lan", "rod", "fis")]
    rows = []
    for number in range(120):
        options = draw.sample(words, 4)
        answer = draw.randrange(4)
        options[answer] += " and so on"
        rows.append({"question": "what?", "options": options, "answer": "ABCD"[answer], "video_id": f"v{number}"})
    rows[0] |= {"options": ["a dog", "A dog.", "y", "z and so on"], "answer": "D"}
    rows[1] |= {"options": ["x and so on", "x and so on", "y", "z"], "answer": "A"}
    asked = tmp_path / "asked.json"
    asked.write_text(json.dumps(rows))
    build = tmp_path / "asked"
    assert main(["build", "questions", "--set", f"annotations={asked}", "--out", str(build), "--quiet"]) == 0
    monkeypatch.syspath_prepend(str(ROOT / "docs"))
    question_sets = importlib.import_module("question_sets")
    attackers = question_sets.load_attackers()
    [row] = question_sets.list_attacked("asked", build / "dataset", attackers)
    # Two of four options of the second question are right.
    assert row[:3] == ["`asked`", "120 multiple choice", f"{(119 / 4 + 2 / 4) / 120:.3f}"]
    assert [cell[:5] for cell in row[3:5]] == ["1.000", "1.000"]
    assert ", 1.000: " in row[5]
    ids = {each["question_id"]: each["video_id"] for each in question_sets.read_rows(build / "dataset")}
    assert len({ids[name.strip("`")] for name in row[6].split(", ")}) == 2
    shared = {"asked": Counter({"a": 5, "b": 4, "c": 3, "d": 2})}
    assert question_sets.list_found("asked", build / "dataset", shared) == [
        *("`asked`", "-", "1", "1", "0", "not known", "a 5, b 4, c 3, 1 more")
    ]
