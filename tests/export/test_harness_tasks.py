"""Exported tasks for harnesses ask what the dataset asks, and score as a count by hand does; see also tests/clients."""

from __future__ import annotations

import csv
import hashlib
import importlib.util
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import datasets
import pyarrow.parquet as pq
import pytest
import yaml

from tests.helpers.hub.built import build_foils
from vttdata.cli.main import main
from vttdata.dataset import Metadata, OfficialLayout, write_dataset
from vttdata.dataset.questions import QuestionSet
from vttdata.errors import VttdataError
from vttdata.evaluate.evaluation import EvaluationSettings, evaluate
from vttdata.export import export
from vttdata.export.documents import LETTER_PROMPT, MIXED_PROMPT, OPTION_PROMPT, YES_NO_PROMPT, QuestionDocument, ask
from vttdata.records import Caption, Clip, QueryWindows, Source, VideoQuestion, to_row

HARNESSES = ("lmms-eval", "inspect-ai", "vlmevalkit")


def question(name: str, options: Sequence[str], answer: int, label: str = "", **facts: Any) -> VideoQuestion:
    kind = "yes_no" if options[0] == "yes" else "multiple_choice"
    labels = tuple(f"{label}{letter}" for letter in "ABCD"[: len(options)])
    return VideoQuestion(name, "v" + name[-1], kind, f"what is {name}?", tuple(options), labels, answer, **facts)


QUESTIONS = [
    question("a1", ["a cat", "None"], 1),
    question("b1", ["2", "3", "4"], 0, "Sentence ", type="Order of events"),
    question("c2", ["yes", "no"], 0, group="g", type="Order of events"),
    question("d2", ["yes", "no"], 1, group="g"),
]
# "2" is the text of the first option of b1, and no number of an option; what a1 is told names nothing.
OPTIONS_NAMED = {"a1": "A.", "b1": "2", "c2": "Yes, it is.", "d2": "No"}
ANSWERS = {"a1": "no idea", "b1": "2", "c2": "Yes, it is.", "d2": "No"}
# By hand: three of four; one of two; two of two; the pair; the mean of 1/2, 1/3, 1/2 and 1/2.
SCORES = {
    "accuracy": 3 / 4,
    "accuracy/multiple_choice": 1 / 2,
    "accuracy/yes_no": 1,
    "balanced-accuracy": 1,
    "yes-share": 1 / 2,
    "group-accuracy": 1,
    "group-prefix": 1,
    "chance": 11 / 24,
}


@pytest.fixture
def questions(tmp_path: Path) -> Path:
    """Return the dataset folder of four questions about two clips without videos."""
    clips = [Clip(f"v{n}", f"s{n}", 0, 0, None, None, None, split="test") for n in (1, 2)]
    sources = [Source(clip.source_id, "", "nowhere", "", 0) for clip in clips]
    metadata = Metadata("me/asked", version="1.0.0", licence="cc-by-4.0")
    official = OfficialLayout(questions=QuestionSet(QUESTIONS))
    folder = tmp_path / "questions"
    write_dataset(folder, clips=clips, captions=[], sources=sources, metadata=metadata, media=None, official=official)
    return folder


def load_utils(folder: Path) -> Any:
    spec = importlib.util.spec_from_file_location("utils", folder / "utils.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def load_yaml(path: Path) -> Any:
    return yaml.load(path.read_text().replace("!function", ""), yaml.SafeLoader)


def test_lmms_eval_has_a_task_of_each_kind(questions: Path, tmp_path: Path) -> None:
    export(questions, "lmms-eval", tmp_path / "x")
    group = load_yaml(tmp_path / "x/vttdata_asked_test.yaml")
    names = ["vttdata_asked_test_multiple_choice", "vttdata_asked_test_yes_no"]
    assert group == {"group": "vttdata_asked_test", "task": names}
    utils = load_utils(tmp_path / "x")
    template = (tmp_path / "x/_default_template_yaml").read_text()
    assert "\ncluster_key: video_id\n" in template
    shown, targets, scores = [], [], {}
    for name in names:
        task = load_yaml(tmp_path / "x" / f"{name}.yaml")
        kind = name.removeprefix("vttdata_asked_test_")
        assert task["include"] == "_default_template_yaml"
        assert [entry["metric"] for entry in task["metric_list"]] == ["accuracy", "order_of_events_accuracy"]
        rows = [
            row
            for file in task["dataset_kwargs"]["data_files"]["test"]
            for row in pq.read_table(tmp_path / "x" / file).to_pylist()
        ]
        loaded = datasets.load_dataset(str(tmp_path / "x"), kind, split="test", cache_dir=str(tmp_path / "cache"))
        assert loaded.to_list() == rows
        assert not {"prompt", "blind", "source_id"} & set(loaded.column_names)
        prompts = task["lmms_eval_specific_kwargs"]["default"]
        shown += [utils.choice_to_text(row, prompts) for row in rows]
        targets += [utils.choice_to_target(row) for row in rows]
        results = [utils.process_choice(row, [OPTIONS_NAMED[row["question_id"]]]) for row in rows]
        for metric in ("accuracy", "order_of_events_accuracy"):
            scores[name, metric] = utils.mean_score([result[metric] for result in results if metric in result])
    assert shown[1:3] == [
        "what is b1?\nSentence A: 2\nSentence B: 3\nSentence C: 4\nPlease directly give the best option:",
        "what is c2?\nAnswer with yes or no only.",
    ]
    assert targets == ["B", "Sentence A", "yes", "no"]
    assert list(scores.values()) == [1 / 2, 1, 1, 1]


def test_an_obedient_answer_to_options_without_letters_is_right(tmp_path: Path, questions: Path) -> None:
    export(questions, "lmms-eval", tmp_path / "x")
    utils = load_utils(tmp_path / "x")
    asked = {"options": ["a dog", "None"], "labels": ["Option 1", "Option 2"]}
    read = {text: utils.read_choice(text, asked) for text in ("Option 2", "Option 2: None", "Option 1.", "2", "None")}
    assert read == {"Option 2": 1, "Option 2: None": 1, "Option 1.": 0, "2": 1, "None": 1}


def test_a_letter_is_asked_for_where_every_label_is_one() -> None:
    def document(label: str, *options: str) -> QuestionDocument:
        return QuestionDocument.of_row(to_row(question("a1", options or ["a", "b"], 0, label)))

    assert ask([document(""), document("")]) == LETTER_PROMPT
    assert ask([document(""), document("Option ")]) == OPTION_PROMPT
    assert ask([document("", "yes", "no")]) == YES_NO_PROMPT
    assert ask([document("", "yes", "no"), document("")]) == MIXED_PROMPT


def test_samples_of_lmms_eval_are_read_as_free_text(questions: Path, tmp_path: Path) -> None:
    rows = [
        {"doc_id": number, "filtered_resps": text, "accuracy": {"question_id": name, "free_text": text}}
        for number, (name, text) in enumerate(ANSWERS.items())
    ]
    (tmp_path / "samples.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    report = evaluate(questions, tmp_path / "samples.jsonl", settings=EvaluationSettings(draws=10))
    assert {name: report.scores[name].all.score for name in SCORES} == pytest.approx(SCORES, rel=0, abs=1e-12)
    assert report.not_understood == {"a1": "no idea"}


def test_a_set_without_captions_is_exported_to_mteb_as_its_questions(questions: Path, tmp_path: Path) -> None:
    files = []
    for name, config in (("x", None), ("y", "questions")):
        export(questions, "mteb", tmp_path / name, config=config)
        paths = [path for path in sorted((tmp_path / name).rglob("*")) if path.suffix in (".parquet", ".py")]
        files.append({path.relative_to(tmp_path / name): path.read_bytes() for path in paths})
    assert files[0] == files[1]
    asked = pq.read_table(next((tmp_path / "x").glob("queries/*.parquet"))).to_pylist()
    assert {row["id"] for row in asked} == {*ANSWERS}


@pytest.mark.parametrize("name", ["inspect-ai", "vlmevalkit"])
def test_documents_have_prompts_and_answers(questions: Path, tmp_path: Path, name: str) -> None:
    export(questions, name, tmp_path / "x", config="questions/multiple_choice")
    lines = (tmp_path / "x/documents.jsonl").read_text().splitlines()
    documents = [json.loads(line) for line in lines]
    assert [(row["question_id"], row["options"][row["answer"]]) for row in documents] == [("a1", "None"), ("b1", "2")]
    facts = json.loads((tmp_path / "x/task.json").read_text())
    assert (facts["name"], facts["kind"]) == ("vttdata_asked_questions_multiple_choice_test", "questions")
    with pytest.raises(VttdataError, match="choose from multiple_choice, yes_no"):
        export(questions, name, tmp_path / "y", config="questions/open")


def test_table_of_vlmevalkit_has_the_columns_of_tempcompass(questions: Path, tmp_path: Path) -> None:
    export(questions, "vlmevalkit", tmp_path / "x")
    with (tmp_path / "x/vttdata_asked_test.tsv").open(encoding="utf-8", newline="") as stream:
        rows = list(csv.DictReader(stream, delimiter="\t"))
    assert [(row["task_type"], row["dim"], row["question"], row["answer"]) for row in rows] == [
        ("multiple_choice", "", "what is a1?", "B"),
        ("multiple_choice", "Order of events", "what is b1?", "Sentence A"),
        ("yes_no", "Order of events", "what is c2?", "yes"),
        ("yes_no", "", "what is d2?", "no"),
    ]
    assert [row["prefix"] + "/" + row["video"] + row["suffix"] for row in rows[1:3]] == [
        "./videos/v1.mp4",
        "./videos/v2.mp4",
    ]
    assert [json.loads(row["candidates"]) for row in rows] == [list(asked.options) for asked in QUESTIONS]
    assert [json.loads(row["labels"]) for row in rows] == [list(asked.labels) for asked in QUESTIONS]


@pytest.mark.parametrize(
    ("config", "kind"),
    [(None, "Video-MCQ"), ("questions/yes_no", "Video-Y/N"), ("questions/multiple_choice", "Video-MCQ")],
)
def test_class_of_vlmevalkit_has_the_type_of_its_questions(
    questions: Path, tmp_path: Path, config: str | None, kind: str
) -> None:
    export(questions, "vlmevalkit", tmp_path / "x", config=config)
    (module,) = (tmp_path / "x").glob("vttdata_*.py")
    text, table = module.read_text(), module.with_suffix(".tsv")
    assert f"    TYPE = '{kind}'\n" in text
    assert f"    MD5 = '{hashlib.md5(table.read_bytes()).hexdigest()}'\n" in text
    assert "import vttdata" not in text
    assert "from vttdata" not in text


@pytest.mark.parametrize("name", HARNESSES)
def test_pairs_are_options_in_drawn_order(tmp_path: Path, name: str) -> None:
    export(build_foils(tmp_path / "dataset"), name, tmp_path / "x")
    if name == "lmms-eval":
        documents = pq.read_table(tmp_path / "x/foils").to_pylist()
    else:
        documents = [json.loads(line) for line in (tmp_path / "x/documents.jsonl").read_text().splitlines()]
    assert [row["options"][row["answer"]] for row in documents] == [f"a dog runs {n}" for n in range(3)]
    assert [row["options"][1 - row["answer"]] for row in documents] == [f"a cat runs {n}" for n in range(3)]
    options = [f"A. {row['options'][0]}\nB. {row['options'][1]}" for row in documents]
    if name == "lmms-eval":
        assert [load_utils(tmp_path / "x").choice_to_text(row).partition("\n")[2] for row in documents] == options
    else:
        assert all(text in row["prompt"] for text, row in zip(options, documents, strict=True))


def test_answers_to_pairs_prefer_a_text(tmp_path: Path) -> None:
    export(build_foils(tmp_path / "dataset"), "lmms-eval", tmp_path / "x")
    utils = load_utils(tmp_path / "x")
    documents = pq.read_table(tmp_path / "x/foils").to_pylist()
    right = "AB"[documents[0]["answer"]]
    wrong = "BA"[documents[0]["answer"]]
    logged = [utils.process_choice(documents[0], [text])["accuracy"] for text in (right, wrong)]
    assert [row["preferred"] for row in logged] == ["true", "foil"]


@pytest.mark.parametrize("name", [*HARNESSES, "webdataset"])
def test_missing_videos_are_told_before_anything_is_written(
    dataset: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str
) -> None:
    out = tmp_path / "x"
    there: list[bool] = []
    export(dataset, name, out, warn=lambda sentence: there.append(out.exists()))
    assert there == [False]
    assert "holds no videos" in (out / "README.md").read_text()
    assert main(["export", str(dataset), "--format", name, "--out", str(tmp_path / "y")]) == 0
    assert capsys.readouterr().err.count("note: The dataset holds no videos, so ") == 1


def test_templates_of_questions_are_accepted_when_filled(questions: Path, tmp_path: Path) -> None:
    export(questions, "evaluation", tmp_path / "x")
    items = [json.loads(line) for line in (tmp_path / "x/items.jsonl").read_text().splitlines()]
    rows = [json.loads(line) for line in (tmp_path / "x/answers.jsonl").read_text().splitlines()]
    assert [row["question_id"] for row in rows] == [item["question_id"] for item in items] == list(ANSWERS)
    filled = "".join(json.dumps(row | {"free_text": ANSWERS[row["question_id"]]}) + "\n" for row in rows)
    (tmp_path / "filled.jsonl").write_text(filled)
    report = evaluate(questions, tmp_path / "filled.jsonl", settings=EvaluationSettings(draws=10))
    assert report.scores["accuracy"].all.score == 3 / 4


def test_templates_of_moments_are_accepted_when_filled(tmp_path: Path) -> None:
    """Two true windows are predicted, the first of them as the better one, so that every score is 1."""
    windows = [QueryWindows("v1", 7, (2.0, 20.0), (8.0, 26.0), (1,), (2, 3, 4))]
    folder = tmp_path / "moments"
    write_dataset(
        folder,
        clips=[Clip("v1", "s1", 0, 30, None, None, None, split="validation")],
        captions=[Caption("v1", 7, "a dog runs")],
        sources=[Source("s1", "", "nowhere", "", 0)],
        metadata=Metadata("me/moments", version="1.0.0", licence="cc-by-4.0"),
        media=None,
        official=OfficialLayout(moments=windows),
    )
    export(folder, "evaluation", tmp_path / "x")
    (item,) = (json.loads(line) for line in (tmp_path / "x/items.jsonl").read_text().splitlines())
    assert (item["qid"], item["query"], item["windows"]) == (7, "a dog runs", [[2.0, 8.0], [20.0, 26.0]])
    (row,) = (json.loads(line) for line in (tmp_path / "x/windows.jsonl").read_text().splitlines())
    filled = row | {"pred_relevant_windows": [[*window, 1 - place] for place, window in enumerate(item["windows"])]}
    (tmp_path / "filled.jsonl").write_text(json.dumps(filled) + "\n")
    report = evaluate(folder, tmp_path / "filled.jsonl", settings=EvaluationSettings(draws=10))
    assert report.task == "moments"
    assert report.scores["moments/map"].all.score == report.scores["moments/r1@0.5"].all.score == 1
