"""lmms-eval, inspect_ai and VLMEvalKit run exported tasks by the lines of their READMEs.

What decides: of questions, verdicts by hand on forty answers (hand_scored.jsonl); of foils, the true texts of the
dataset and the prompts that the model was shown; of captions in lmms-eval, its own coco-caption. `vttdata evaluate`
reads the log of each run and must say the same.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
import re
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow.parquet as pq
import pytest

from tests.clients.client import PROGRAMS, Client, client, options_of, shell_lines
from tests.clients.conftest import references
from tests.helpers.hub.built import build_foils
from vttdata.cli.main import main
from vttdata.dataset import Metadata, OfficialLayout, write_dataset
from vttdata.dataset.questions import QuestionSet
from vttdata.evaluate.evaluation import EvaluationSettings, evaluate
from vttdata.export import export
from vttdata.export.reader import DatasetReader
from vttdata.records import Clip, Source, VideoQuestion

KINDS = ("captioning", "questions", "foils")
HAND = [json.loads(line) for line in (Path(__file__).parent / "hand_scored.jsonl").read_text().splitlines()]
# Both questions of four of the ten groups are right.
GROUPS_RIGHT = 4 / 10


class TaskSet(NamedTuple):
    """Dataset, its videos by the id of a clip, and what the model answers to the beginnings of prompts."""

    dataset: Path
    videos: Path
    answers: Mapping[str, str]

    def content(self, clip: str) -> str:
        """Return the digest of the video of a clip."""
        (path,) = self.videos.rglob(f"{clip}.mp4")
        return hashlib.sha256(path.read_bytes()).hexdigest()


@pytest.fixture(scope="module")
def sets(demo: Path, tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, TaskSet]:
    """Return a dataset of each kind of task; videos of questions and foils are not decoded."""
    folder = tmp_path_factory.mktemp("sets")
    (folder / "videos").mkdir()
    for number in range(len(HAND)):
        (folder / "videos" / f"v{number}.mp4").write_bytes(f"film {number}".encode())
    names = ("question_id", "question", "options", "answer_letter", "type", "group")
    rows = [{name: row[name] for name in names if name in row} | {"video": f"v{n}.mp4"} for n, row in enumerate(HAND)]
    (folder / "q.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    build = ["build", "questions", "--quiet", "--workers", "1", "--out", str(folder / "build")]
    assert main([*build, "--set", f"annotations={folder / 'q.jsonl'}"]) == 0
    by_hand = {f"{row['question']}\n": row["answer"] for row in HAND}
    return {
        "captioning": TaskSet(demo, demo / "videos", {}),
        "questions": TaskSet(folder / "build" / "dataset", folder / "videos", by_hand),
        "foils": TaskSet(build_foils(folder / "foils"), folder / "videos", {}),
    }


def variables(chosen: TaskSet, scratch: Path) -> dict[str, str]:
    """Return the variables of a harness with a dummy model that finds the videos."""
    (scratch / "answers.json").write_text(json.dumps(chosen.answers))
    files = {"DUMMY_ANSWERS": str(scratch / "answers.json"), "DUMMY_LOG": str(scratch / "shown.jsonl")}
    return files | {"PYTHONPATH": str(PROGRAMS), "VTTDATA_VIDEOS": str(chosen.videos)}


def evaluated(chosen: TaskSet, folder: Path, scratch: Path, **values: str) -> dict[str, float]:
    """Run the last lines of the README, and return the scores that `vttdata evaluate` prints."""
    name = DatasetReader(chosen.dataset).name
    lines = [line for line in shell_lines(folder) if line.startswith(("mkdir", "vttdata evaluate"))]
    for placeholder, value in (values | {name: str(chosen.dataset)}).items():
        lines = [line.replace(placeholder, value) for line in lines]
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    command = " && ".join(lines) + " --json"
    done = subprocess.run(
        command, shell=True, cwd=scratch, env=os.environ | {"PATH": path}, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"
    report = json.loads(done.stdout)
    assert report["items"]["scored"] == report["items"]["expected"] > 1
    return {name: column["all"]["score"] for name, column in report["scores"].items()}


def shown_to_model(chosen: TaskSet, kind: str, scratch: Path) -> list[dict[str, Any]]:
    """Return what the model was shown and answered, once it is what the makers of the dataset ask."""
    shown = [json.loads(line) for line in (scratch / "shown.jsonl").read_text().splitlines()]
    assert all(len(each["videos"]) == 1 for each in shown)
    if kind == "captioning":
        reader = DatasetReader(chosen.dataset)
        clips = [row["video_id"] for row in reader.rows("clips", "test", ["video_id"])]
        assert Counter(each["videos"][0] for each in shown) == Counter(map(chosen.content, clips))
        assert all("caption" in each["prompt"] for each in shown)
    elif kind == "questions":
        prompts = [
            (each["prompt"], each["videos"][0]) for each in sorted(shown, key=lambda each: asked_in(each["prompt"]))
        ]
        for number, (row, (prompt, video)) in enumerate(zip(HAND, prompts, strict=True)):
            assert video == chosen.content(f"v{number}")
            lines = [f"{letter}. {option}" for letter, option in zip("ABCDE", row["options"], strict=False)]
            is_yes_no = row["options"] == ["yes", "no"]
            asks = "yes or no" if is_yes_no else "letter"
            assert prompt.startswith("\n".join([row["question"], *([] if is_yes_no else lines), ""]))
            assert asks in prompt.splitlines()[-1]
    else:
        videos = {row["video_id"]: row["true"] for row in pairs_of(chosen.dataset)}
        assert Counter(each["videos"][0] for each in shown) == Counter(map(chosen.content, videos))
        assert all("letter" in each["prompt"].splitlines()[-1] for each in shown)
    return shown


def asked_in(prompt: str) -> int:
    return next(n for n, row in enumerate(HAND) if prompt.startswith(f"{row['question']}\n"))


def pairs_of(dataset: Path) -> list[dict[str, Any]]:
    """Return the clip, the true text and the foil of each pair, from the table itself."""
    rows = pq.read_table(dataset / "foils").to_pylist()
    return [{"video_id": row["video_id"], "true": row["caption"], "foil": row["foil"]} for row in rows]


def right_pairs(dataset: Path, shown: Sequence[Mapping[str, Any]]) -> float:
    """Return the share of answers whose letter is that of the true text in the prompt."""
    true = {row["true"]: row["foil"] for row in pairs_of(dataset)}
    right = 0
    for each in shown:
        texts = dict(line.split(". ", 1) for line in each["prompt"].splitlines()[1:3])
        assert {true.get(text) for text in texts.values()} - {None} < set(texts.values())
        (letter,) = re.findall(r"\b[AB]\b", each["answer"])
        right += texts[letter] in true
    return right / len(shown)


def check_scores(kind: str, chosen: TaskSet, scores: Mapping[str, float], shown: Sequence[Mapping[str, Any]]) -> str:
    """Compare the scores of a run, under our names, with what decides; return what that was."""
    if kind == "questions":
        right = [row["right"] for row in HAND]
        assert scores["accuracy"] == pytest.approx(sum(right) / len(right), abs=1e-12)
        kinds = {"multiple_choice": "m", "yes_no": "y"}
        for name, letter in kinds.items():
            of_kind = [row["right"] for row in HAND if row["question_id"].startswith(letter)]
            assert scores[f"accuracy/{name}"] == pytest.approx(sum(of_kind) / len(of_kind), abs=1e-12)
        return "40 answers, each judged by hand, with letters and options of the table"
    if kind == "foils":
        assert 0 < scores["accuracy"] < 1
        assert scores["accuracy"] == pytest.approx(right_pairs(chosen.dataset, shown), abs=1e-12)
        return "true texts of the table, and the prompts that the model was shown"
    return "`evaluate`, which pycocoevalcap checks on the same clips"


def assert_equal(scores: Mapping[str, float], expected: Mapping[str, float]) -> None:
    """Compare the scores of a harness with those of `vttdata evaluate`."""
    assert scores.keys() >= expected.keys()
    for name, value in expected.items():
        assert math.isclose(scores[name], value, rel_tol=0, abs_tol=1e-12), (name, scores[name], value)


@pytest.fixture(scope="session")
def inspect() -> Client:
    return client("inspect-ai", "inspect")


def run_inspect(
    inspect: Client, chosen: TaskSet, folder: Path, scratch: Path, *options: str, **environment: str
) -> dict[str, Any]:
    words = options_of(folder, "inspect ", MODEL="dummy/model")
    printed = inspect.call(
        *(str(PROGRAMS / "inspect_task.py"), *words, "--display", "none", *options),
        cwd=scratch,
        **(variables(chosen, scratch) | environment),
    )
    found: dict[str, Any] = json.loads(printed.splitlines()[-1])
    return found


@pytest.mark.parametrize("kind", KINDS)
def test_inspect_ai_scores_as_what_decides(
    inspect: Client, sets: Mapping[str, TaskSet], tmp_path: Path, kind: str
) -> None:
    export(sets[kind].dataset, "inspect-ai", tmp_path / "x", split="test")
    inspect.install(tmp_path / "x", tmp_path)
    found = run_inspect(inspect, sets[kind], tmp_path / "x", tmp_path)
    expected = evaluated(sets[kind], tmp_path / "x", tmp_path)
    oracle = check_scores(kind, sets[kind], found["scores"], shown_to_model(sets[kind], kind, tmp_path))
    assert_equal(found["scores"], expected)
    if kind == "questions":
        assert [sample[:2] for sample in found["samples"]] == [
            [row["question_id"], row["answer_letter"]] for row in HAND
        ]
        assert found["scores"]["group-accuracy"] == pytest.approx(GROUPS_RIGHT)
    inspect.showed("inspect eval FOLDER/task.py@TASK --model MODEL", describe(kind, expected), oracle)


def test_inspect_ai_averages_epochs(inspect: Client, sets: Mapping[str, TaskSet], tmp_path: Path) -> None:
    """Where it is asked again, the model answers nothing."""
    chosen = sets["questions"]
    export(chosen.dataset, "inspect-ai", tmp_path / "x", split="test")
    found = run_inspect(inspect, chosen, tmp_path / "x", tmp_path, "--epochs", "2", DUMMY_FORGETS="1")
    rows = {row["question_id"]: row for row in HAND}
    right: dict[int, list[bool]] = {1: [], 2: []}
    for name, _, epoch, answer in found["samples"]:
        right[epoch].append(rows[name]["right"] and answer == rows[name]["answer"])
    assert [len(values) for values in right.values()] == [len(HAND), len(HAND)]
    first, second = (sum(values) / len(HAND) for values in right.values())
    assert first + second == pytest.approx(sum(row["right"] for row in HAND) / len(HAND))
    expected = evaluated(chosen, tmp_path / "x", tmp_path)
    assert found["scores"]["accuracy"] == pytest.approx((first + second) / 2, abs=1e-12)
    assert found["scores"]["accuracy-variance"] == pytest.approx((first - second) ** 2 / 2, abs=1e-12)
    assert expected["accuracy"] == pytest.approx((first + second) / 2, abs=1e-12)


def describe(kind: str, expected: Mapping[str, Any]) -> str:
    """Return what a run showed, for the table of the manual."""
    return f"{kind}: {len(expected)} scores as `evaluate` has them of its log (1e-12)"


# lmms-eval's columns of captioning are those of coco-caption.
COCO: Mapping[str, str] = {"Bleu_4": "bleu4", "ROUGE_L": "rouge-l", "CIDEr": "cider-d"}


@pytest.fixture(scope="session")
def lmms() -> Client:
    return client("lmms-eval", "lmms-eval")


def run_lmms_eval(lmms: Client, chosen: TaskSet, folder: Path, scratch: Path) -> dict[str, dict[str, float]]:
    """Run the line of the README, and return the scores of each task."""
    words = [*options_of(folder, "-m lmms_eval", MODEL="dummy"), "--batch_size", "1"]
    environment = variables(chosen, scratch) | {"HF_HOME": str(scratch / "cache")}
    lmms.call(str(PROGRAMS / "lmms_eval_model.py"), *words, cwd=scratch, **environment)
    (results,) = scratch.glob("scores/**/*_results.json")
    return {
        task: {name.removesuffix(",none"): value for name, value in scores.items()}
        for task, scores in json.loads(results.read_text())["results"].items()
    }


@pytest.mark.parametrize("kind", KINDS)
def test_lmms_eval_scores_as_what_decides(lmms: Client, sets: Mapping[str, TaskSet], tmp_path: Path, kind: str) -> None:
    chosen, folder = sets[kind], tmp_path / "x"
    export(chosen.dataset, "lmms-eval", folder, split="test")
    lmms.install(folder, tmp_path)
    results = run_lmms_eval(lmms, chosen, folder, tmp_path)
    shown = shown_to_model(chosen, kind, tmp_path)
    expected = evaluated(chosen, folder, tmp_path)
    if kind == "captioning":
        (scores,) = results.values()
        for theirs, ours in COCO.items():
            assert scores[f"demo_{theirs}"] == pytest.approx(expected[ours], abs=1e-12)
        oracle, columns = "its own coco-caption", len(COCO)
    elif kind == "questions":
        of_kind = {task.rpartition("test_")[2]: scores for task, scores in results.items() if "accuracy" in scores}
        scores = {f"accuracy/{name}": each["accuracy"] for name, each in of_kind.items()}
        scores["accuracy"] = sum(scores.values()) / 2
        oracle = check_scores(kind, chosen, scores, shown)
        for name, letter in {"multiple_choice": "m", "yes_no": "y"}.items():
            for dimension in ("objects", "counting"):
                rows = [row for row in HAND if row["question_id"].startswith(letter) and row["type"] == dimension]
                right = sum(row["right"] for row in rows) / len(rows)
                assert of_kind[name][f"{dimension}_accuracy"] == pytest.approx(right, abs=1e-12)
        columns = 2 * 3
        assert expected["group-accuracy"] == pytest.approx(GROUPS_RIGHT)
    else:
        (scores,) = results.values()
        oracle, columns = check_scores(kind, chosen, scores, shown), 1
    if kind != "captioning":
        check_scores(kind, chosen, expected, shown)
    lmms.showed(
        "python -m lmms_eval --include_path FOLDER --tasks TASK",
        f"{kind}: {columns} scores; `evaluate` on its log agrees",
        oracle,
    )


def test_functions_pass_the_lint_of_lmms_eval(lmms: Client, sets: Mapping[str, TaskSet], tmp_path: Path) -> None:
    """The options are those of its .pre-commit-config.yaml."""
    export(sets["questions"].dataset, "lmms-eval", tmp_path / "x")
    lmms.call("-m", "black", "--check", "--line-length=240", str(tmp_path / "x" / "utils.py"))
    lmms.call("-m", "isort", "--check", "--profile", "black", str(tmp_path / "x" / "utils.py"))


def test_lmms_eval_and_evaluate_agree_on_tempcompass(lmms: Client, shared: Path, tmp_path: Path) -> None:
    """The yes-no rule of lmms-eval's own task of TempCompass, on the predictions that its authors published."""
    data = shared / "data/questions/tempcompass"
    for model in ("gemini", "video-llava"):
        file = data / "predictions" / model / "yes_no.json"
        theirs = lmms.run("tempcompass_rule.py", file, HF_HOME=str(tmp_path))
        assert theirs["asked"] == 2453
        report = evaluate_tempcompass(data, file, tmp_path)
        assert report["accuracy"] == pytest.approx(theirs["right"] / theirs["asked"], abs=1e-12)
    lmms.showed(
        "vttdata evaluate vttdata/tempcompass FILE --config questions/yes_no",
        f"accuracy of 2,453 answers of each of two models; {theirs['right']:,} of video-llava are right",
        "`extract_pred` of its task `tempcompass_yes_no`",
    )


def evaluate_tempcompass(data: Path, file: Path, scratch: Path) -> dict[str, float]:
    """Return the scores of a file of predictions, on the questions and answers of the authors' file."""
    asked = [
        VideoQuestion(f"{video}/{aspect}/{number}", video, "yes_no", row["question"], ("yes", "no"), ("A", "B"),
                      ("yes", "no").index(row["answer"]))
        for video, aspects in json.loads((data / "yes_no.json").read_text()).items()
        for aspect, rows in aspects.items()
        for number, row in enumerate(rows)
    ]  # fmt: skip
    videos = dict.fromkeys(question.video_id for question in asked)
    dataset = scratch / "tempcompass"
    if not dataset.exists():
        write_dataset(
            dataset,
            clips=[Clip(video, video, 0, 0, None, None, None, split="test") for video in videos],
            captions=[],
            sources=[Source(video, "", "nowhere", "", 0) for video in videos],
            metadata=Metadata("me/tempcompass", version="1.0.0", licence="cc-by-4.0"),
            media=None,
            official=OfficialLayout(questions=QuestionSet(asked)),
        )
    report = evaluate(dataset, file, settings=EvaluationSettings(draws=1))
    return {name: column.all.score for name, column in report.scores.items()}


@pytest.fixture(scope="session")
def kit() -> Client:
    return client("VLMEvalKit", "vlmevalkit")


def run_vlmevalkit(kit: Client, chosen: TaskSet, folder: Path, scratch: Path, *options: str) -> dict[str, Any]:
    """Run the line of the README, and return what VLMEvalKit notes of its one dataset."""
    words = options_of(folder, "run.py", MODEL="Dummy")
    environment = variables(chosen, scratch) | {"LMUData": str(scratch / "data")}
    program = str(PROGRAMS / "vlmevalkit_model.py")
    kit.call(program, str(folder / "run.py"), *words, *options, cwd=scratch, **environment)
    (status,) = {path.resolve() for path in scratch.glob("outputs/Dummy/**/status.json")}
    ((_, noted),) = json.loads(status.read_text())["datasets"].items()
    assert noted["status"] == "done"
    return dict(noted)


@pytest.mark.parametrize("kind", KINDS)
def test_vlmevalkit_scores_as_what_decides(kit: Client, sets: Mapping[str, TaskSet], tmp_path: Path, kind: str) -> None:
    chosen, folder = sets[kind], tmp_path / "x"
    export(chosen.dataset, "vlmevalkit", folder, split="test")
    kit.install(folder, tmp_path)
    scores = run_vlmevalkit(kit, chosen, folder, tmp_path)["metrics"]
    shown = shown_to_model(chosen, kind, tmp_path)
    # VLMEvalKit chooses prompts and kinds of input by these two, which it looks up by the name.
    assert {(each["type"], each["modality"]) for each in shown} == {
        ("Video-VQA" if kind == "captioning" else "Video-MCQ", "VIDEO")
    }
    expected = evaluated(chosen, folder, tmp_path, MODEL="Dummy")
    if kind == "captioning":
        right = coco_scores(kit, chosen, shown, tmp_path)
        assert {name: scores[name] for name in right} == pytest.approx(right, abs=1e-9)
        oracle = "pycocoevalcap on the captions of the table and the logged answers"
    elif kind == "questions":
        ours = {"accuracy": scores["overall"]}
        ours |= {f"accuracy/{name}": scores[name] for name in ("multiple_choice", "yes_no")}
        oracle = check_scores(kind, chosen, ours, shown)
        for dimension in ("objects", "counting"):
            of_dimension = [row for row in HAND if row["type"] == dimension]
            for task, letters in {"": "my", ". multiple_choice": "m", ". yes_no": "y"}.items():
                right = [row["right"] for row in of_dimension if row["question_id"][0] in letters]
                assert scores[f"{dimension}{task}"] == pytest.approx(sum(right) / len(right), abs=1e-12)
    else:
        oracle = check_scores(kind, chosen, {"accuracy": scores["overall"]}, shown)
    assert not {"chance", "blind", "gain-over-blind"} & scores.keys()
    if kind != "captioning":
        check_scores(kind, chosen, expected, shown)
    columns = sum(isinstance(value, float) for value in scores.values())
    kit.showed("python FOLDER/run.py --model MODEL", f"{kind}: {columns} scores; `evaluate` on its log agrees", oracle)


def coco_scores(kit: Client, chosen: TaskSet, shown: Sequence[Mapping[str, Any]], scratch: Path) -> dict[str, float]:
    """Return the scores of the answers without any file of the export, in percent as VLMEvalKit has them."""
    answers = {each["videos"][0]: each["answer"] for each in shown}
    rows = [(texts, answers[chosen.content(clip)]) for clip, texts in references(chosen.dataset, "test").items()]
    (scratch / "captions.json").write_text(json.dumps(rows))
    scores = kit.run("untokenized_coco_scores.py", scratch / "captions.json")
    return {name: 100 * value for name, value in scores.items()}


@pytest.mark.parametrize("takes_videos", [True, False])
def test_vlmevalkit_gives_frames_to_models_of_pictures_alone(
    kit: Client, demo: Path, sets: Mapping[str, TaskSet], tmp_path: Path, takes_videos: bool
) -> None:
    """A model of videos samples them itself, and is told how many frames it is to take."""
    export(demo, "vlmevalkit", tmp_path / "x", split="test")
    options = ["--frames", "3", "--mode", "infer"]
    words = [*options_of(tmp_path / "x", "run.py", MODEL="Dummy"), *options]
    environment = variables(sets["captioning"], tmp_path) | {"LMUData": str(tmp_path / "data")}
    environment["DUMMY_TAKES"] = "videos" if takes_videos else "pictures"
    kit.call(str(PROGRAMS / "vlmevalkit_model.py"), str(tmp_path / "x/run.py"), *words, cwd=tmp_path, **environment)
    shown = [json.loads(line) for line in (tmp_path / "shown.jsonl").read_text().splitlines()]
    assert {(each["kinds"], each["nframe"]) for each in shown} == {
        ("video" if takes_videos else "image image image", 3)
    }


def test_vlmevalkit_takes_the_class_without_vttdata(kit: Client, tmp_path: Path) -> None:
    """Copied into a checkout as publish.md says, it asks with the labels of the dataset, and reads what obeys."""
    labels = ("Option 1", "Option 2")
    asked = VideoQuestion("0007", "007", "caption_matching", "Which fits?", ("a dog", "None"), labels, 1, type="action")
    lettered = VideoQuestion("0008", "007", "multiple_choice", "Who runs?", ("a dog", "a cat"), ("A", "B"), 0)
    write_dataset(
        tmp_path / "dataset",
        clips=[Clip("007", "s", 0, 0, None, None, None, split="test")],
        captions=[],
        sources=[Source("s", "", "nowhere", "", 0)],
        metadata=Metadata("me/few", version="1.0.0", licence="cc-by-4.0"),
        media=None,
        official=OfficialLayout(questions=QuestionSet([asked, lettered])),
    )
    export(tmp_path / "dataset", "vlmevalkit", tmp_path / "x")
    checkout = kit.checkout(tmp_path)
    hub = tmp_path / "hub"
    (hub / "videos").mkdir(parents=True)
    (hub / "videos" / "007.mp4").write_bytes(b"film")
    shutil.copy(tmp_path / "x" / "vttdata_few_test.tsv", hub)
    shutil.copy(tmp_path / "x" / "vttdata_few_test.py", checkout / "vlmeval/dataset/few.py")
    shown = kit.run("vlmevalkit_dataset.py", hub, PYTHONPATH=str(checkout), LMUData=str(tmp_path / "data"))
    assert shown["vttdata"] is False
    assert shown["supported"] == ["vttdata_few_test"]
    assert {Path(video) for video in shown["videos"]} == {hub / "videos" / "007.mp4"}
    assert shown["prompts"] == [
        "Which fits?\nOption 1: a dog\nOption 2: None\nPlease directly give the best option:",
        "Who runs?\nA. a dog\nB. a cat\nAnswer with the letter of the right option only.",
    ]
    # Of the first question these name the right option, the right one, the wrong one and none.
    assert shown["scores"] == [1.0, 1.0, 0.0, 0.0]
    assert shown["results"] == {
        "overall": 1.0, "action": 1.0, "caption_matching": 1.0, "multiple_choice": 1.0, "action. caption_matching": 1.0,
    }  # fmt: skip


def test_modules_pass_the_lint_of_vlmevalkit(sets: Mapping[str, TaskSet], tmp_path: Path, kit: Client) -> None:
    """The options are those of its .pre-commit-config.yaml and .isort.cfg."""
    for kind, chosen in sets.items():
        export(chosen.dataset, "vlmevalkit", tmp_path / kind, split="test")
    modules = [str(path) for path in tmp_path.glob("*/vttdata_*.py")]
    assert len(modules) == len(sets)
    kit.call("-m", "flake8", "--max-line-length=120", "--ignore=W503", *modules)
    kit.call("-m", "yapf", "--diff", "--style={column_limit=120}", *modules)
    kit.call("-m", "isort", "--check", "--diff", "--settings-path", str(kit.environment.checkout(kit.name)), *modules)
