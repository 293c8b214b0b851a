"""Candidates are built for any corpus, rated, and judged metrics by."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from random import Random

import pytest

from vttdata import load_dataset
from vttdata.cli.main import main
from vttdata.evaluate.meta.judgments import read_dataset_judgments

NOUNS, VERBS, OBJECTS = (
    ["man", "woman", "dog", "child", "cook"],
    ["rides", "chases", "paints", "holds"],
    ["bike", "ball", "fence", "pan"],
)
QUALITY = {"human": 4.4, "ours": 3.4, "adversarial-1": 2.8, "adversarial-2": 2.5}


def write(file: Path, header: list[str], rows: list[list[object]]) -> Path:
    with file.open("w", newline="") as stream:
        csv.writer(stream).writerows([header, *rows])
    return file


@pytest.fixture
def corpus(tmp_path: Path) -> list[str]:
    draw = Random(1)
    humans, system = [], []
    for n in range(24):
        what = f"{draw.choice(NOUNS)} {draw.choice(VERBS)} a {draw.choice(OBJECTS)} no {n}"
        humans += [[f"v{n}", f"s{n // 2}", f"{article} {what}"] for article in ("a", "the", "some")]
        system.append([f"v{n}", f"one {what}"])
    humans.append(["single", "single", "a video with a single caption is left out"])
    write(tmp_path / "humans.csv", ["video_id", "source_id", "caption"], humans)
    write(tmp_path / "ours.csv", ["video_id", "caption"], system)
    settings = [f"input={tmp_path / 'humans.csv'}", f"systems={{ours: {tmp_path / 'ours.csv'}}}", "adversarial=2"]
    return [part for setting in settings for part in ("--set", setting)]


def test_candidates_are_rated_and_become_judgments(
    corpus: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "build"
    assert main(["build", "vatex-eval", *corpus, "--out", str(out), "--quiet"]) == 0
    with (out / "candidates.csv").open() as stream:
        candidates = list(csv.DictReader(stream))
    assert len(candidates) == 24 * 4
    source = {f"v{n}": f"s{n // 2}" for n in range(24)}
    held_out = {row["caption"]: row["video_id"] for row in candidates if row["system"] == "human"}
    for row in candidates:
        if row["system"].startswith("adversarial"):
            assert source[held_out[row["caption"]]] != source[row["video_id"]]
    captions = load_dataset(str(out), "captions")["test"]
    references = {row["caption"] for row in captions if row["author"] == "human" and row["annotator"] != "held-out"}
    assert references.isdisjoint(held_out), "a candidate is none of its references"
    draw = Random(2)
    rows = []
    for row in candidates:
        grade = QUALITY[row["system"]] + draw.gauss(0, 0.5)
        rows += [
            [row["video_id"], row["system"], row["caption"], min(5, max(1, round(grade + draw.gauss(0, 0.6)))), name]
            for name in ("w1", "w2", "w3")
        ]
    header = ["video_id", "system", "candidate", "score", "annotator"]
    ratings = write(tmp_path / "ratings.csv", header, rows)
    again = ["build", str(out), "--set", f"ratings={ratings}", "--quiet"]
    assert main(again) == 2
    assert "set 'date'" in capsys.readouterr().err
    assert main([*again, "--set", "date=2026-11-22"]) == 0
    (table,) = read_dataset_judgments(out / "dataset")
    assert table.judged.sum() == 24 * 4
    means = {name: table.raw[[s == name for s in table.systems]].mean() for name in set(table.systems)}
    assert sorted(means, key=means.__getitem__) == sorted(QUALITY, key=QUALITY.__getitem__)
    assert all(text not in texts for text, texts in zip(table.candidates, table.references, strict=True))
    agreement = dict(csv.reader((out / "agreement.csv").open()))
    assert 0.4 < float(agreement["Kendall's tau-b, mean of pairs of annotators"]) < 0.8
    scores = write(
        tmp_path / "length.csv",
        ["video_id", "system", "score"],
        [[row["video_id"], row["system"], len(row["caption"])] for row in candidates],
    )
    capsys.readouterr()
    test = ["metric", "test", str(out), "--human", "--scores", str(scores), "--drift", "1-5", "--draws", "20", "--json"]
    assert main(test) == 0
    drift = json.loads(capsys.readouterr().out)["sets"][0]["drift"]["length"]
    assert list(drift) == ["1", "2", "3", "4", "5"]
    assert all(0 < estimate["items"] < 24 * 4 for estimate in drift.values())
    write(tmp_path / "ratings.csv", header, [["v0", "ours", "another text", 3, "w1"]])
    assert main([*again, "--set", "date=2026-11-22"]) == 2
    assert "has no candidate 'another text'" in capsys.readouterr().err


def test_what_cannot_be_matched_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = [[f"v{n}", "one", f"{article} dog {n}"] for n in range(4) for article in ("a", "the")]
    humans = write(tmp_path / "humans.csv", ["video_id", "source_id", "caption"], rows)
    assert main(["build", "vatex-eval", "--set", f"input={humans}", "--out", str(tmp_path / "b"), "--quiet"]) == 2
    assert "Only 0 captions of other sources" in capsys.readouterr().err
    singles = write(tmp_path / "singles.csv", ["video_id", "caption"], [["v1", "a dog"], ["v2", "a cat"]])
    assert main(["build", "vatex-eval", "--set", f"input={singles}", "--out", str(tmp_path / "c"), "--quiet"]) == 2
    assert "no video has two human captions" in capsys.readouterr().err
