"""Evaluation tasks are found by being in their folder, and keep their contract."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.evaluate.conftest import Write
from vttdata.errors import VttdataError
from vttdata.evaluate.evaluation import EvaluationSettings, evaluate
from vttdata.evaluate.task import DEFAULT_TASK, OPTIONS, guess_task, load_evaluation_task
from vttdata.evaluate.tasks import TASKS
from vttdata.plugins import PLUGINS_VARIABLE

LENGTH_TASK = '''
"""Number of words."""
import numpy as np
from vttdata.evaluate.columns import ScoreColumn
from vttdata.evaluate.task import Scored
from vttdata.evaluate.tasks.captioning import CaptioningTask
from vttdata.statistics.scores import ColumnScores

class Length(CaptioningTask):
    default_metrics = ()

    def fits(self, dataset, predictions):
        return predictions is not None and predictions.suffix == ".len"

    def score(self, predictions, scoring):
        words = np.array([len((text or "").split()) for text in predictions.values], dtype=float)
        column = ScoreColumn(ColumnScores.from_means(words), np.arange(len(words)))
        return Scored({"words": column}, predictions.counts, [])

TASK = Length()
'''


@pytest.fixture
def plugins(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Provide the user's folder of tasks."""
    folder = tmp_path / "plugins" / "evaluation_tasks"
    folder.mkdir(parents=True)
    monkeypatch.setenv(PLUGINS_VARIABLE, str(folder.parent))
    return folder


@pytest.mark.parametrize("name", TASKS.files())
def test_every_task_keeps_the_contract(name: str) -> None:
    assert set(load_evaluation_task(name).options) <= OPTIONS.keys()


@pytest.mark.parametrize(
    ("file", "task"),
    [("a.npz", "retrieval"), ("a.TREC", "retrieval"), ("a.csv", DEFAULT_TASK), ("a", DEFAULT_TASK)],
)
def test_name_of_a_file_tells_its_task(dataset: Path, file: str, task: str) -> None:
    assert guess_task(dataset, Path(file), None) == task
    (dataset / "foils").mkdir()
    assert guess_task(dataset, Path(file), None) == "foils"


def test_function_is_public_in_its_package_and_imported_on_first_use() -> None:
    program = "import sys, vttdata.evaluate; print('numpy' in sys.modules); "
    program += "from vttdata.evaluate import evaluate; print(evaluate is vttdata.evaluate.evaluation.evaluate)"
    found = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert found.stdout.split() == ["False", "True"]


def test_task_of_a_user_is_found_by_its_file(dataset: Path, predictions: Write, plugins: Path) -> None:
    (plugins / "length.py").write_text(LENGTH_TASK)
    file = predictions()
    report = evaluate(dataset, file, settings=EvaluationSettings(task="length"))
    assert (report.task, list(report.scores)) == ("length", ["words"])
    assert "task:length" in report.signature
    assert guess_task(dataset, Path("a.len"), None) == "length"


def test_module_that_defines_no_task_is_named(dataset: Path, predictions: Write, plugins: Path) -> None:
    (plugins / "empty.py").write_text("TASK = 3")
    with pytest.raises(VttdataError, match=r"empty.py:1: .*EvaluationTask"):
        evaluate(dataset, predictions(), settings=EvaluationSettings(task="empty"))
