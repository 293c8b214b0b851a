"""lmms-eval, inspect_ai and VLMEvalKit run exported tasks, and their scores are those of `vttdata evaluate`."""

from __future__ import annotations

import json
import math
import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.clients.client import PROGRAMS, Client, client
from tests.clients.environments import ROOT
from tests.helpers.hub.built import build_foils
from tests.helpers.needs import CLIENT
from vttdata.cli.main import main
from vttdata.evaluate.evaluation import EvaluationSettings, evaluate
from vttdata.export import export

KINDS = ("captioning", "questions", "foils")
Sets = Mapping[str, Path]

# Texts that readers of tables take for missing values, numbers, and more than one line.
OPTIONS = ("a dog", "None", "3", 'a "cat",\tsee')


@pytest.fixture(scope="module")
def questions(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the dataset folder of eight multiple-choice questions, and of two groups of yes-no questions."""
    folder = tmp_path_factory.mktemp("questions")
    rows: list[dict[str, object]] = [
        {"question_id": f"mc{n}", "video": f"v{n}.mp4", "question": f"what is in {n}?\nLook", "type": "ab"[n % 2]}
        | {"options": OPTIONS[: 3 + n % 2], "answer_letter": "ABC"[n % 3]}
        for n in range(8)
    ]
    rows += [
        {"question_id": f"yn{n}", "video": f"v{n}.mp4", "question": f"is it {n}?", "type": "ab"[n % 2]}
        | {"options": ["yes", "no"], "answer_letter": "AB"[n // 2 % 2], "group": f"g{n // 4}"}
        for n in range(8)
    ]
    table = folder / "q.jsonl"
    table.write_text("".join(json.dumps(row) + "\n" for row in rows))
    build = ["build", "questions", "--quiet", "--workers", "1", "--out", str(folder / "build")]
    assert main([*build, "--set", f"annotations={table}"]) == 0
    return folder / "build" / "dataset"


@pytest.fixture(scope="module")
def sets(demo: Path, questions: Path, tmp_path_factory: pytest.TempPathFactory) -> Sets:
    """Return a dataset of each kind of task."""
    foils = build_foils(tmp_path_factory.mktemp("foils") / "dataset")
    return {"captioning": demo, "questions": questions, "foils": foils}


@pytest.fixture(scope="module")
def videos(demo: Path, tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, Path]:
    """Return the folder of the videos of each dataset; those of questions and foils are not decoded."""
    folder = tmp_path_factory.mktemp("videos")
    for number in range(8):
        (folder / f"v{number}.mp4").write_bytes(f"film {number}".encode())
    return {"captioning": demo / "videos", "questions": folder, "foils": folder}


def evaluated(dataset: Path, predictions: Path, kind: str) -> dict[str, float]:
    """Return the scores that `vttdata evaluate` gives to a log of a harness, all of whose items must be in it."""
    metrics = ["bleu4", "rouge-l", "cider-d"] if kind == "captioning" else []
    report = evaluate(dataset, predictions, metrics=metrics, settings=EvaluationSettings(draws=1, task=kind))
    assert report.items.scored == report.items.expected > 1
    return {name: column.all.score for name, column in report.scores.items()}


def assert_equal(scores: Mapping[str, float], expected: Mapping[str, float], columns: Mapping[str, str]) -> None:
    """Compare the scores of a harness with those of `vttdata evaluate`; `columns` maps its names to ours."""
    assert columns
    for name, column in columns.items():
        value = scores[name]
        assert math.isclose(value, expected[column], rel_tol=0, abs_tol=1e-12), (name, value, expected[column])


@pytest.fixture(scope="session")
def inspect() -> Client:
    return client("inspect-ai", "inspect")


@pytest.fixture(scope="session")
def lmms() -> Client:
    return client("lmms-eval", "lmms-eval")


def environment(videos: Path) -> dict[str, str]:
    """Return the variables of a harness that finds the checkout's package and the videos."""
    return {"PYTHONPATH": f"{ROOT}{os.pathsep}{PROGRAMS}", "VTTDATA_VIDEOS": str(videos)}


@pytest.mark.parametrize("kind", KINDS)
def test_inspect_ai_scores_as_evaluate_does(
    inspect: Client, sets: Sets, videos: Mapping[str, Path], tmp_path: Path, kind: str
) -> None:
    export(sets[kind], "inspect-ai", tmp_path / "x", split="test")
    options = ["eval", "task.py", "--model", "dummy/model", "--log-dir", str(tmp_path / "logs"), "--display", "none"]
    printed = inspect.call(str(PROGRAMS / "inspect_task.py"), *options, cwd=tmp_path / "x", **environment(videos[kind]))
    found = json.loads(printed.splitlines()[-1])
    (log,) = (tmp_path / "logs").glob("*.eval")
    expected = evaluated(sets[kind], log, kind)
    assert_equal(found["scores"], expected, dict(zip(expected, expected, strict=True)))
    if kind == "questions":
        assert found["targets"][:3] == [["mc0", "A"], ["mc1", "B"], ["mc2", "C"]]
        assert 0 < expected["accuracy"] < 1
    assert all(len(shown) == 1 for shown in found["videos"])
    inspect.showed("inspect eval FOLDER/task.py --model MODEL", describe(kind, expected))


def describe(kind: str, expected: Mapping[str, Any]) -> str:
    """Return what a run showed, for the table of the manual."""
    return f"{kind}: {len(expected)} scores equal to `evaluate` (1e-12), its log read back"


# lmms-eval's columns of captioning are those of coco-caption.
COCO: Mapping[str, str] = {"Bleu_4": "bleu4", "ROUGE_L": "rouge-l", "CIDEr": "cider-d"}


@pytest.mark.parametrize("kind", KINDS)
def test_lmms_eval_scores_as_evaluate_does(
    lmms: Client, sets: Sets, videos: Mapping[str, Path], tmp_path: Path, kind: str
) -> None:
    export(sets[kind], "lmms-eval", tmp_path / "x", split="test")
    (task,) = (path.stem for path in (tmp_path / "x").glob("*.yaml"))
    options = ["--include_path", str(tmp_path / "x"), "--tasks", task, "--model", "dummy", "--batch_size", "1"]
    options += ["--log_samples", "--output_path", "scores"]
    variables = environment(videos[kind]) | {"HF_HOME": str(tmp_path / "cache")}
    lmms.call(str(PROGRAMS / "lmms_eval_model.py"), *options, cwd=tmp_path, **variables)
    (samples,) = tmp_path.glob(f"scores/**/*_samples_{task}.jsonl")
    (results,) = tmp_path.glob("scores/**/*_results.json")
    scores = json.loads(results.read_text())["results"][task]
    expected = evaluated(sets[kind], samples, kind)
    columns = COCO if kind == "captioning" else {name: name for name in expected if name != "accuracy-understood"}
    assert_equal({name.removesuffix(",none"): value for name, value in scores.items()}, expected, columns)
    lmms.showed("python -m lmms_eval --include_path FOLDER --tasks TASK", describe(kind, columns))


@pytest.mark.parametrize("kind", KINDS)
def test_vlmevalkit_scores_as_evaluate_does(
    kit: Client, sets: Sets, videos: Mapping[str, Path], tmp_path: Path, kind: str
) -> None:
    export(sets[kind], "vlmevalkit", tmp_path / "x", split="test")
    options = ["--model", "Dummy", "--work-dir", str(tmp_path / "outputs")]
    variables = environment(videos[kind]) | {"LMUData": str(tmp_path / "data")}
    variables["PYTHONPATH"] += os.pathsep + os.environ["VTTDATA_VLMEVALKIT"]
    kit.call(str(PROGRAMS / "vlmevalkit_model.py"), str(tmp_path / "x/run.py"), *options, cwd=tmp_path, **variables)
    (answers,) = {path.resolve() for path in tmp_path.glob("outputs/Dummy/**/*_answers.jsonl")}
    scores: dict[str, Any] = json.loads(
        answers.with_name(answers.name.replace("_answers.jsonl", "_scores.json")).read_text()
    )
    expected = evaluated(sets[kind], answers, kind)
    assert_equal(scores, expected, dict(zip(expected, expected, strict=True)))
    kit.showed("python FOLDER/run.py --model MODEL", describe(kind, expected))


@pytest.fixture(scope="session")
def kit() -> Client:
    """Return the environment of VLMEvalKit, whose checkout ``VTTDATA_VLMEVALKIT`` names, or skip the test."""
    checkout = os.environ.get("VTTDATA_VLMEVALKIT")
    if checkout is None:
        pytest.skip(CLIENT.format("VLMEvalKit", "is a checkout that VTTDATA_VLMEVALKIT does not name"))
    if not (Path(checkout) / "run.py").is_file():
        pytest.skip(CLIENT.format("VLMEvalKit", f"is not in {checkout}, which VTTDATA_VLMEVALKIT names"))
    version = re.search(r"__version__ = '(.+)'", (Path(checkout) / "vlmeval/__init__.py").read_text(encoding="utf-8"))
    return client("portalocker", "vlmevalkit")._replace(name="VLMEvalKit", version=version[1] if version else "")
