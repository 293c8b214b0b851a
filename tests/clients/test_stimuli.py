"""A model in lmms-eval answers in three conditions, each a task, and its logs give the gains."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from tests.clients.client import PROGRAMS, client
from tests.helpers.drawn_questions import build_questions, draw_benchmark
from vttdata.cli.main import main

CHOSEN = ("text", "first", "all")


def test_lmms_eval_answers_in_three_conditions(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    lmms = client("lmms-eval", "lmms-eval")
    draw_benchmark(tmp_path, 2)
    build, shown, tasks = build_questions(tmp_path), tmp_path / "shown", tmp_path / "tasks"
    conditions = [word for name in CHOSEN for word in ("--condition", name)]
    made = ["stimuli", str(build), "--videos", str(tmp_path), "--out", str(shown), "--quiet", *conditions]
    assert main(made) == 0
    assert main(["export", str(build), "--format", "lmms-eval", "--stimuli", str(shown), "--out", str(tasks)]) == 0
    names = [f"vttdata_questions_test_{name}" for name in CHOSEN]
    options = ["--include_path", str(tasks), "--tasks", ",".join(names), "--model", "dummy", "--batch_size", "1"]
    options += ["--log_samples", "--output_path", "scores"]
    variables = {"PYTHONPATH": str(PROGRAMS), "HF_HOME": str(tmp_path / "cache")}
    lmms.call(str(PROGRAMS / "lmms_eval_stimuli.py"), *options, cwd=tmp_path, **variables)
    (results,) = tmp_path.glob("scores/**/*_results.json")
    theirs = json.loads(results.read_text())["results"]
    (tmp_path / "dummy").mkdir()
    for path in tmp_path.glob("scores/**/*_samples_*.jsonl"):
        shutil.copy(path, tmp_path / "dummy")
    capsys.readouterr()
    assert main(["evaluate", str(build), "--conditions", str(tmp_path / "dummy"), "--json"]) == 0
    model = json.loads(capsys.readouterr().out)["models"]["dummy"]
    assert set(model["scores"]) == set(CHOSEN)
    for condition, name in zip(CHOSEN, names, strict=True):
        accuracy = next(value for key, value in theirs[name].items() if key.partition(",")[0] == "accuracy")
        assert model["scores"][condition]["score"] == pytest.approx(accuracy, abs=1e-12)
        assert model["scores"][condition]["items"] == 10
    # Of every kind one film has the first option, and one the second; nothing but letters decides.
    assert [model["scores"][name]["score"] for name in CHOSEN] == [0.5, 0.5, 0.0]
    gain = model["scores"]["all"]["score"] - model["scores"]["text"]["score"]
    assert model["gains"]["visual"]["score"] == pytest.approx(gain)
    lmms.showed(
        "python -m lmms_eval --include_path TASKS --tasks TASK_text,TASK_first,TASK_all",
        "stimuli in three conditions: accuracies equal to `evaluate --conditions` (1e-12)",
        "a model that names the letter of what it is shown; places of the right options",
    )
