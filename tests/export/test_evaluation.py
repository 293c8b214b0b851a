"""What is exported for an evaluation is what the evaluation expects."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np

from tests.export.conftest import BARE, texts_of
from vttdata.evaluate.evaluation import evaluate
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
    report = evaluate(dataset, tmp_path / "filled.json", metrics=["rouge-l"], draws=10)
    assert (report.items.scored, report.scores["rouge-l"].all.score) == (2, 1)


def test_queries_and_relevance_belong_together(dataset: Path, tmp_path: Path) -> None:
    export(dataset, "evaluation", tmp_path / "x", config="one-k", split="test")
    queries = [json.loads(line) for line in (tmp_path / "x/queries.jsonl").read_text().splitlines()]
    relevance = [line.split(" ") for line in (tmp_path / "x/relevance.trec").read_text().splitlines()]
    assert [[row["query_id"], "0", row["video_id"], "1"] for row in queries] == relevance
    videos = ["video12", "video7"]
    own = np.array([[row["video_id"] == video for video in videos] for row in queries], dtype=float)
    np.savez(tmp_path / "s.npz", similarity=own, query_ids=[row["query_id"] for row in queries], video_ids=videos)
    report = evaluate(dataset, tmp_path / "s.npz", config="one-k", relevance=tmp_path / "x/relevance.trec", draws=10)
    assert report.items.expected == len(queries) == 7
    assert report.scores["t2v-judged/s@1"].all.score == report.scores["t2v/r@1"].all.score == 1
