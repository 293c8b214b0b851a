"""What is exported for an evaluation is what the evaluation expects."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from tests.export.conftest import BARE, texts_of
from tests.helpers.hub.built import build_foils
from vttdata.cli.main import main
from vttdata.evaluate.evaluation import EvaluationSettings, evaluate
from vttdata.export import export


def test_files_are_what_an_evaluation_expects(dataset: Path, tmp_path: Path) -> None:
    written = export(dataset, "evaluation", tmp_path / "x")
    items = [json.loads(line) for line in (tmp_path / "x/items.jsonl").read_text().splitlines()]
    assert {item["video_id"]: item["references"] for item in items} == {
        name: texts_of(name) for name in ("video11", "video12")
    }
    assert BARE not in (tmp_path / "x/items.jsonl").read_text()
    assert any("without a human caption" in note for note in written.notes)
    captions = json.loads((tmp_path / "x/captions.json").read_text())
    for row, item in zip(captions, items, strict=True):
        row["caption"] = item["references"][0]
    (tmp_path / "filled.json").write_text(json.dumps(captions))
    report = evaluate(dataset, tmp_path / "filled.json", metrics=["rouge-l"], settings=EvaluationSettings(draws=10))
    assert (report.items.scored, report.scores["rouge-l"].all.score) == (2, 1)


def test_queries_and_relevance_belong_together(dataset: Path, tmp_path: Path) -> None:
    export(dataset, "evaluation", tmp_path / "x", config="one-k", split="test")
    queries = [json.loads(line) for line in (tmp_path / "x/queries.jsonl").read_text().splitlines()]
    relevance = [line.split(" ") for line in (tmp_path / "x/relevance.trec").read_text().splitlines()]
    assert [[row["query_id"], "0", row["video_id"], "1"] for row in queries] == relevance
    videos = ["video12", "video7"]
    own = np.array([[row["video_id"] == video for video in videos] for row in queries], dtype=float)
    np.savez(tmp_path / "s.npz", similarity=own, query_ids=[row["query_id"] for row in queries], video_ids=videos)
    report = evaluate(
        dataset,
        tmp_path / "s.npz",
        settings=EvaluationSettings(config="one-k", relevance=tmp_path / "x/relevance.trec", draws=10),
    )
    assert report.items.expected == len(queries) == 7
    assert report.scores["t2v-judged/s@1"].all.score == report.scores["t2v/r@1"].all.score == 1


def test_filled_templates_are_accepted(dataset: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["export", str(dataset), "--format", "evaluation", "--out", str(tmp_path / "x")]) == 0
    captions = json.loads((tmp_path / "x/captions.json").read_text())
    (tmp_path / "filled.json").write_text(json.dumps([row | {"caption": "a man is singing"} for row in captions]))
    ids = np.load(tmp_path / "x/similarity.npz")
    own = [[query.startswith(f"{video}#") for video in ids["video_ids"]] for query in ids["query_ids"]]
    np.savez(tmp_path / "filled.npz", similarity=np.array(own, dtype=float), **ids)
    for name, column in (("filled.json", "rouge-l"), ("filled.npz", "t2v/r@1")):
        capsys.readouterr()
        assert main(["evaluate", str(dataset), str(tmp_path / name), "--metric", column, "--json"]) == 0
        report = json.loads(capsys.readouterr().out)
        assert report["items"]["missing"] == report["items"]["unknown"] == 0
        assert report["scores"][column]["all"]["score"] == 1
    assert main(["evaluate", str(dataset), str(tmp_path / "x/similarity.npz")]) == 2
    assert "has no array 'similarity'" in capsys.readouterr().err


def test_template_of_foils_is_accepted_when_it_is_filled(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    dataset = build_foils(tmp_path / "dataset")
    assert main(["export", str(dataset), "--format", "evaluation", "--out", str(tmp_path / "x")]) == 0
    pairs = [json.loads(line) for line in (tmp_path / "x/items.jsonl").read_text().splitlines()]
    assert all(pair["true"] != pair["foil"] for pair in pairs)
    template = (tmp_path / "x/scores.jsonl").read_text()
    (tmp_path / "filled.jsonl").write_text(template.replace("null", "2", 1).replace("null", "1"))
    capsys.readouterr()
    assert main(["evaluate", str(dataset), str(tmp_path / "x/scores.jsonl")]) == 2
    assert "the column 'true_score' is empty" in capsys.readouterr().err
    assert main(["evaluate", str(dataset), str(tmp_path / "filled.jsonl"), "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert (report["items"]["expected"], report["items"]["scored"]) == (len(pairs), len(pairs))
    assert report["scores"]["accuracy"]["all"]["score"] == 1 / len(pairs)
