"""Exports of stimuli: a task of each condition, which shows what the condition shows and nothing else."""

from __future__ import annotations

import importlib.util
import json
import shutil
import sys
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow.parquet as pq
import pytest

from tests.helpers.drawn_questions import build_questions, draw_benchmark
from vttdata.cli.main import main
from vttdata.dataset.stimuli import read_stimuli
from vttdata.evaluate.conditions import find_models

pytestmark = pytest.mark.not_on("win32")

CHOSEN = ("text", "first", "frames", "all")


@pytest.fixture(scope="module")
def shown(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """Build of questions about a film of each kind, and the stimuli of all but one, whose video is missing."""
    folder = tmp_path_factory.mktemp("films")
    draw_benchmark(folder, 1)
    build = build_questions(folder)
    (folder / "speed0.mp4").unlink()
    command = ["stimuli", str(build), "--videos", str(folder), "--out", str(folder / "shown"), "--quiet"]
    assert main([*command, *(word for name in CHOSEN for word in ("--condition", name))]) == 1
    return build, folder / "shown"


def export(shown: tuple[Path, Path], name: str, out: Path) -> int:
    return main(["export", str(shown[0]), "--format", name, "--stimuli", str(shown[1]), "--out", str(out)])


@pytest.mark.parametrize("name", ["evaluation", "inspect-ai", "lmms-eval", "vlmevalkit"])
def test_each_condition_is_a_task_with_what_it_shows(shown: tuple[Path, Path], tmp_path: Path, name: str) -> None:
    out = tmp_path / "tasks"
    assert export(shown, name, out) == 0
    assert sorted(path.name for path in out.iterdir() if path.is_dir()) == sorted(CHOSEN)
    expected = {(each.condition, each.video_id): each for each in read_stimuli(shown[1])}
    for condition in CHOSEN:
        rows = [json.loads(line) for line in (out / condition / "shown.jsonl").read_text().splitlines()]
        assert len(rows) == 4
        for row in rows:
            stimulus = expected[condition, row["video_id"]]
            assert row["indices"] == list(stimulus.indices)
            files = [(out / condition / file).read_bytes() for file in row["files"]]
            assert files == [(shown[1] / file).read_bytes() for file in stimulus.files]
        if name in ("inspect-ai", "vlmevalkit"):
            task = json.loads((out / condition / "task.json").read_text())
            assert (task["condition"], task["name"]) == (condition, f"vttdata_questions_test_{condition}")
            documents = (out / condition / "documents.jsonl").read_text().splitlines()
            assert {json.loads(line)["video_id"] for line in documents} == {row["video_id"] for row in rows}


def load_functions(folder: Path) -> Any:
    spec = importlib.util.spec_from_file_location(f"utils_{folder.name}", folder / "utils.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def test_lmms_eval_shows_pictures_a_video_or_nothing(
    shown: tuple[Path, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("VTTDATA_VIDEOS", str(tmp_path))
    assert export(shown, "lmms-eval", tmp_path / "tasks") == 0
    seen = {}
    for condition in CHOSEN:
        functions = load_functions(tmp_path / "tasks" / condition)
        documents = pq.read_table(tmp_path / "tasks" / condition / "questions").to_pylist()
        assert {document["video_id"] for document in documents} == {"colour0", "count0", "direction0", "order0"}
        seen[condition] = functions.stimuli_to_visual(documents[0])
    assert seen["text"] == []
    assert [picture.size for picture in seen["first"]] == [(96, 64)]
    assert len(seen["frames"]) == 8
    (video,) = seen["all"]
    assert Path(video).is_relative_to(tmp_path / "tasks" / "all" / "videos")


def test_an_export_shows_no_stimuli_that_are_unfinished_or_of_other_formats(
    shown: tuple[Path, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert export(shown, "jsonl", tmp_path / "x") == 2
    assert "shows no stimuli" in capsys.readouterr().err
    unfinished = tmp_path / "unfinished"
    unfinished.mkdir()
    (unfinished / "stimuli.json").write_text('{"status": "incomplete"}')
    assert export((shown[0], unfinished), "evaluation", tmp_path / "x") == 2
    assert "are not finished" in capsys.readouterr().err
    assert export((shown[0], tmp_path), "evaluation", tmp_path / "x") == 2
    others = shutil.copytree(shown[1], tmp_path / "others")
    stimuli = pd.read_parquet(others / "stimuli.parquet")
    stimuli.assign(video_id="other-" + stimuli["video_id"]).to_parquet(others / "stimuli.parquet")
    assert export((shown[0], others), "evaluation", tmp_path / "x") == 2
    assert "show no clip of questions/" in capsys.readouterr().err
    assert not (tmp_path / "x").exists()


def test_names_of_logs_lead_back_to_conditions(tmp_path: Path) -> None:
    for condition in CHOSEN:
        (tmp_path / f"20261127_samples_vttdata_questions_test_{condition}.jsonl").write_text("")
    assert set(find_models([tmp_path])[tmp_path.name]) == set(CHOSEN)
