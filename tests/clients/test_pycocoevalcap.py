from __future__ import annotations

import csv
import random
from pathlib import Path

import pytest

from tests.clients.client import client
from tests.clients.conftest import evaluated, references
from tests.helpers.needs import program
from vttdata.export import export

CLIENT = client("pycocoevalcap", "tables")
MEASURES = {"Bleu_1": "bleu1", "Bleu_4": "bleu4", "ROUGE_L": "rouge-l", "CIDEr": "cider-d"}


@pytest.mark.parametrize(("name", "split"), [("demo", "train"), ("official", "test")])
def test_scores_are_those_of_evaluate(request: pytest.FixtureRequest, tmp_path: Path, name: str, split: str) -> None:
    program("java")
    dataset: Path = request.getfixturevalue(name)
    export(dataset, "coco", tmp_path / "truth", split=split)
    # A system that confuses clips and drops words.
    texts = references(dataset)
    pool = [text for captions in texts.values() for text in captions]
    draw = random.Random(5)
    system = {
        clip: " ".join(draw.choice([own[-1], *pool[:3]]).split()[: draw.randint(3, 9)]) for clip, own in texts.items()
    }
    listed = set((tmp_path / "truth" / f"captions_{split}.json").read_text().split('"'))
    with (tmp_path / "system.csv").open("w", newline="", encoding="utf-8") as stream:
        rows = [(clip, text) for clip, text in system.items() if clip in listed]
        csv.writer(stream).writerows([("video_id", "caption"), *rows])
    export(dataset, "coco-results", tmp_path / "results", split=split, captions=tmp_path / "system.csv")
    (results,) = (tmp_path / "results").glob("*.json")
    theirs = CLIENT.run("coco_scores.py", tmp_path / "truth" / f"captions_{split}.json", results)
    ours = evaluated(dataset, results, split=split)
    for measure, column in MEASURES.items():
        assert ours[column] == pytest.approx(theirs[measure], abs=1e-12)
    if name == "demo":
        CLIENT.showed(
            "vttdata export DATASET --format coco --out FOLDER",
            f"BLEU, ROUGE-L and CIDEr-D of {len(rows)} clips as `evaluate` to 1e-12; CIDEr-D {theirs['CIDEr']:.4f}",
            "its own scores",
        )
