"""Run the exported task with a copy of the loop of lmms-eval 0.7.3, which itself needs torch and more.

The copy follows `load_yaml_config` and `ConfigurableTask`: functions come from the file beside the YAML, relative paths
of tables start there, answers are stripped, and each metric is aggregated over the results of all documents.
"""

from __future__ import annotations

import ast
import importlib.util
import re
import shutil
import sys
from pathlib import Path
from typing import Any

import datasets
import pytest
import yaml

from tests.export.conftest import BARE, texts_of
from tests.helpers.needs import PROGRAM
from vttdata.errors import VttdataError
from vttdata.export import export, exported_functions
from vttdata.export.files import LINE_BREAKS


def load_exported_task(path: Path) -> dict[str, Any]:
    def imported(loader: Any, node: Any) -> Any:
        module, function = loader.construct_scalar(node).split(".")
        spec = importlib.util.spec_from_file_location(module, path.parent / f"{module}.py")
        assert spec is not None
        assert spec.loader is not None
        loaded = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(loaded)
        return getattr(loaded, function)

    class Loader(yaml.FullLoader):
        pass

    Loader.add_constructor("!function", imported)
    task: dict[str, Any] = yaml.load(path.read_text(), Loader)
    task = yaml.load((path.parent / task["include"]).read_text(), Loader) | task
    files = task["dataset_kwargs"]["data_files"]
    task["dataset_kwargs"]["data_files"] = {
        split: [str(path.parent / name) for name in names] for split, names in files.items()
    }
    return task


def run(task: dict[str, Any], cache: Path, answer: Any) -> dict[str, list[Any]]:
    """Collect the results of each metric for a model that answers with `answer(visuals, prompt)`."""
    rows = datasets.load_dataset(task["dataset_path"], cache_dir=str(cache), **task["dataset_kwargs"])
    collected: dict[str, list[Any]] = {}
    for document in rows[task["test_split"]]:
        prompt = task["doc_to_text"](document, task["lmms_eval_specific_kwargs"]["default"])
        text = answer(task["doc_to_visual"](document), prompt).strip()
        for metric, value in task["process_results"](document, [text]).items():
            collected.setdefault(metric, []).append(value)
    return collected


@pytest.fixture
def task(dataset: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    videos = tmp_path / "films"
    videos.mkdir()
    for name in ("video11.mp4", "video12.webm"):
        (videos / name).write_bytes(b"film")
    monkeypatch.setenv("VTTDATA_VIDEOS", str(videos))
    monkeypatch.setitem(sys.modules, "lmms_eval", None)
    export(dataset, "lmms-eval", tmp_path / "x")
    return load_exported_task(tmp_path / "x/vttdata_small_test.yaml")


def test_task_has_the_keys_of_lmms_eval(task: dict[str, Any]) -> None:
    assert task["task"] == "vttdata_small_test"
    assert (task["output_type"], task["test_split"]) == ("generate_until", "test")
    assert [entry["metric"] for entry in task["metric_list"]] == [
        f"small_{name}" for name in exported_functions.METRICS
    ]
    assert all(callable(entry["aggregation"]) and entry["higher_is_better"] for entry in task["metric_list"])
    assert task["metadata"]["version"] == "2.0.1"


def test_documents_have_their_video_and_all_human_captions(task: dict[str, Any], tmp_path: Path) -> None:
    seen: list[tuple[list[str], str]] = []
    collected = run(task, tmp_path / "cache", lambda visuals, prompt: seen.append((visuals, prompt)) or " an answer ")
    assert [visuals for visuals, _ in seen] == [
        [str(tmp_path / "films/video11.mp4")],
        [str(tmp_path / "films/video12.webm")],
    ]
    assert all("caption" in prompt for _, prompt in seen)
    assert set(collected) == {entry["metric"] for entry in task["metric_list"]}
    assert collected["small_CIDEr"][0] == {
        "video_id": "video11",
        "references": texts_of("video11"),
        "answer": "an answer",
    }
    assert BARE not in [result["video_id"] for result in collected["small_CIDEr"]]


@pytest.mark.skipif(shutil.which("java") is None, reason=PROGRAM.format("java"))
@pytest.mark.parametrize("metric", ["Bleu_4", "ROUGE_L"])
def test_reference_as_answer_scores_one(task: dict[str, Any], tmp_path: Path, metric: str) -> None:
    texts = iter([texts_of("video11")[0], texts_of("video12")[0]])
    collected = run(task, tmp_path / "cache", lambda *_: next(texts))
    aggregate = next(entry["aggregation"] for entry in task["metric_list"] if entry["metric"] == f"small_{metric}")
    assert aggregate(collected[f"small_{metric}"]) == pytest.approx(1, abs=1e-6)


@pytest.mark.skipif(shutil.which("java") is None, reason=PROGRAM.format("java"))
def test_line_break_in_answer_does_not_shift_other_answers(task: dict[str, Any]) -> None:
    cider = next(entry["aggregation"] for entry in task["metric_list"] if entry["metric"] == "small_CIDEr")
    texts = ["a dog runs in a park", "two men cook fish", "a red car drives by"]
    plain = [{"video_id": str(n), "references": [text], "answer": text} for n, text in enumerate(texts)]
    broken = [{**plain[0], "answer": "a dog\rruns in\u2028a park"}, *plain[1:]]
    assert cider(broken) == cider(plain) > 5


def test_copied_functions_use_the_same_line_breaks() -> None:
    (pattern,) = re.findall(r'compile\((".*")\)', exported_functions.sources(exported_functions.coco_score))
    assert ast.literal_eval(pattern) == LINE_BREAKS.pattern


def test_videos_are_found_where_lmms_eval_unpacks_them(
    dataset: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """lmms-eval unpacks a zip of the Hub in ``$HF_HOME/CACHE_DIR``, and the folder of a task has that name."""
    monkeypatch.delenv("VTTDATA_VIDEOS", raising=False)
    monkeypatch.setenv("HF_HOME", str(tmp_path / "home"))
    export(dataset, "lmms-eval", tmp_path / "small")
    document = {"video_id": "video11", "video": None}
    find = load_exported_task(tmp_path / "small/vttdata_small_test.yaml")["doc_to_visual"]
    with pytest.raises(FileNotFoundError, match="no video"):
        find(document)
    for folder in (tmp_path / "home" / "small" / "videos", tmp_path / "small" / "videos"):
        folder.mkdir(parents=True)
        (folder / "video11.mp4").write_bytes(b"film")
        assert find(document) == [str(folder / "video11.mp4")]


def test_files_are_as_in_the_repository_of_lmms_eval(dataset: Path, tmp_path: Path) -> None:
    export(dataset, "lmms-eval", tmp_path / "x")
    text = (tmp_path / "x/_default_template_yaml").read_text()
    assert "doc_to_visual: !function utils.doc_to_visual\n" in text
    assert "cluster_key" not in text
    assert not (tmp_path / "x/task.json").exists()
    functions = (tmp_path / "x/utils.py").read_text()
    assert not re.search("noqa|stimuli|find_shown|is_pictures|vttdata\\.", functions)
    rows = datasets.load_dataset(str(tmp_path / "x"), "captioning", split="test", cache_dir=str(tmp_path / "cache"))
    assert rows["video_id"][:] == ["video11", "video12"]
    assert "prompt" not in rows.column_names


def test_error_names_missing_video(task: dict[str, Any], tmp_path: Path) -> None:
    (tmp_path / "films/video11.mp4").unlink()
    with pytest.raises(FileNotFoundError, match=r"no video video11\.\* in .*VTTDATA_VIDEOS"):
        run(task, tmp_path / "cache", lambda *_: "")


def test_split_must_be_named_without_a_test_split(dataset: Path, tmp_path: Path) -> None:
    export(dataset, "lmms-eval", tmp_path / "x", config="one-k", split="train")
    assert (tmp_path / "x/vttdata_small_one_k_train.yaml").is_file()
    with pytest.raises(VttdataError, match="no split of 'one-k' is called 'validation'; choose from train, test"):
        export(dataset, "lmms-eval", tmp_path / "x", config="one-k", split="validation")
